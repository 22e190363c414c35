import { setTimeout as pause } from "node:timers/promises";

/** Number of a request in flight, from 1. */
type Ticket = number;

/**
 * Counts the application's requests in flight, to distinguish "nothing more is coming" from "not yet".
 * Where nothing is said of the project, the numbers are about all of them.
 */
export interface Gauge {
  begin(): Ticket;
  /** Sets the project of a request as soon as it is known; null: none. */
  tell(ticket: Ticket, project: number | null): void;
  end(ticket: Ticket): void;
  readonly inFlight: number;
  /** Requests in flight that are the project's, or may be. */
  inFlightOf(project?: number): number;
  /** How long ago the last of the requests ended, in ms of real time; null when there was none. */
  idleFor(project?: number): number | null;
  /** Resolves when every request that is in flight now, and may be the project's, has ended. */
  drained(signal: AbortSignal, project?: number): Promise<void>;
  /**
   * Resolves when nothing more is coming: nothing has been in flight for `idleMs`. Of a project: none of its
   * requests has ended for `idleMs`, and then every request in flight at that moment that may be its has ended
   * and was not. Rejects with the signal's reason.
   */
  quiet(idleMs: number, signal: AbortSignal, project?: number): Promise<void>;
}

/** What a project's requests did. */
interface Activity {
  ended: number;
  /** When the last one ended, `performance.now()`. */
  at: number;
}

/** Minimum idle time in ms, also for `idleMs: 0`, so that bytes already sent are read. */
const leastIdle = 1;

/** Of more projects than this the activity of the first ones is forgotten: they are long gone. */
const mostProjects = 10_000;

type Owner = number | null | undefined;

/** True if a request of this owner may belong to the project. Undefined: not known yet. */
const mayBe = (owner: Owner, project: number | undefined): boolean =>
  owner === undefined || project === undefined || owner === project;

export function createGauge(): Gauge {
  /** In order of their numbers. */
  const open = new Map<Ticket, Owner>();
  const activities = new Map<number, Activity>();
  const all: Activity = { ended: 0, at: Number.NEGATIVE_INFINITY };
  const changed = new Set<() => void>();
  let last: Ticket = 0;

  function change(): void {
    if (changed.size > 0) for (const look of [...changed]) look();
  }

  function activityOf(project: number | undefined): Activity {
    if (project === undefined) return all;
    let activity = activities.get(project);
    if (!activity) {
      activity = { ended: 0, at: Number.NEGATIVE_INFINITY };
      activities.set(project, activity);
      for (const oldest of activities.keys()) {
        if (activities.size <= mostProjects) break;
        activities.delete(oldest);
      }
    }
    return activity;
  }

  /** Resolves as soon as the condition holds; it is asked again whenever a request begins, is known, or ends. */
  function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        changed.delete(look);
        signal.removeEventListener("abort", abort);
      };
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      const look = () => {
        if (!holds()) return;
        stop();
        resolve();
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort);
      changed.add(look);
      look();
    });
  }

  function drained(signal: AbortSignal, project?: number): Promise<void> {
    const barrier = last;
    return until(() => {
      for (const [ticket, owner] of open) {
        if (ticket > barrier) return true;
        if (mayBe(owner, project)) return false;
      }
      return true;
    }, signal);
  }

  /** How long these must still not have ended anything, in ms, counted from `since` at the earliest. */
  const restOf = (activity: Activity, idleMs: number, since: number): number =>
    Math.max(activity.at, since) + idleMs - performance.now();

  async function quietWhole(idleMs: number, signal: AbortSignal): Promise<void> {
    const since = performance.now();
    for (;;) {
      await until(() => open.size === 0, signal);
      const rest = restOf(all, idleMs, since);
      if (rest <= 0) return;
      await pause(Math.ceil(rest), undefined, { signal });
    }
  }

  async function quietOf(project: number, idleMs: number, signal: AbortSignal): Promise<void> {
    const activity = activityOf(project);
    const since = performance.now();
    for (;;) {
      const rest = restOf(activity, idleMs, since);
      if (rest > 0) {
        await pause(Math.ceil(rest), undefined, { signal });
        continue;
      }
      const { ended } = activity;
      await drained(signal, project);
      if (activity.ended === ended) return;
    }
  }

  return {
    begin() {
      open.set(++last, undefined);
      if (changed.size > 0) change();
      return last;
    },
    tell(ticket, project) {
      if (!open.has(ticket)) return;
      open.set(ticket, project);
      if (changed.size > 0) change();
    },
    end(ticket) {
      const owner = open.get(ticket);
      if (!open.delete(ticket)) return;
      all.ended++;
      all.at = performance.now();
      if (typeof owner === "number") {
        const activity = activityOf(owner);
        activity.ended++;
        activity.at = all.at;
      }
      if (changed.size > 0) change();
    },
    get inFlight() {
      return open.size;
    },
    inFlightOf(project) {
      let count = 0;
      for (const owner of open.values()) if (mayBe(owner, project)) count++;
      return count;
    },
    idleFor(project) {
      const at = project === undefined ? all.at : activities.get(project)?.at;
      return at === undefined || at === Number.NEGATIVE_INFINITY ? null : performance.now() - at;
    },
    drained,
    quiet: (idleMs, signal, project) =>
      project === undefined
        ? quietWhole(Math.max(idleMs, leastIdle), signal)
        : quietOf(project, Math.max(idleMs, leastIdle), signal),
  };
}

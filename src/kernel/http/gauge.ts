import { setTimeout as pause } from "node:timers/promises";
import { performance } from "../base/real-time.ts";
import { getOrMake, RecentMap } from "../base/recent-map.ts";

/** Number of a request in flight, from 1. */
type Ticket = number;

interface Activity {
  ended: number;
  /** When the last one ended, `performance.now()`. */
  at: number;
}

/** Minimum idle time in ms, also for `idleMs: 0`, so that bytes already sent are read. */
const leastIdle = 1;

/** Maximum number of projects with activity; the oldest are removed first. */
const mostProjects = 10_000;

type Owner = number | null | undefined;

/** True if a request of this owner may belong to the project. Undefined: not known yet. */
const mayBe = (owner: Owner, project: number | undefined): boolean =>
  owner === undefined || project === undefined || owner === project;

export function createGauge() {
  /** In order of their numbers. */
  const open = new Map<Ticket, Owner>();
  const activities = new RecentMap<number, Activity>(mostProjects);
  const all: Activity = { ended: 0, at: Number.NEGATIVE_INFINITY };
  const changed = new Set<() => void>();
  let last: Ticket = 0;

  function change(): void {
    if (changed.size > 0) for (const check of [...changed]) check();
  }

  function activityOf(project: number | undefined): Activity {
    if (project === undefined) return all;
    return getOrMake(activities, project, () => ({ ended: 0, at: Number.NEGATIVE_INFINITY }));
  }

  /** Resolves when the condition holds; it is checked when a request begins, gets its project, or ends. */
  function until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        changed.delete(check);
        signal.removeEventListener("abort", abort);
      };
      const abort = () => {
        stop();
        reject(signal.reason);
      };
      const check = () => {
        if (!holds()) return;
        stop();
        resolve();
      };
      if (signal.aborted) return abort();
      signal.addEventListener("abort", abort);
      changed.add(check);
      check();
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

  /** Remaining time without an ended request, ms; it starts at `since` at the earliest. */
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
    /** Sets the project of a request as soon as it is known; null: none. */
    setProject(ticket: Ticket, project: number | null) {
      if (!open.has(ticket)) return;
      open.set(ticket, project);
      if (changed.size > 0) change();
    },
    end(ticket: Ticket) {
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
    /** Number of requests in flight that belong to the project, or may belong to it. */
    inFlightOf(project?: number) {
      let count = 0;
      for (const owner of open.values()) if (mayBe(owner, project)) count++;
      return count;
    },
    /** Real time since the last request ended, ms; null before the first. */
    idleFor(project?: number) {
      const at = project === undefined ? all.at : activities.get(project)?.at;
      return at === undefined || at === Number.NEGATIVE_INFINITY ? null : performance.now() - at;
    },
    /** Resolves when every request that is in flight now, and may belong to the project, has ended. */
    drained,
    /**
     * Resolves when no request has been in flight for `idleMs`. For a project: when none of its requests has ended
     * for `idleMs`, and the requests in flight at that moment that might belong to it have ended and belonged to
     * others. Rejects with the signal's reason.
     */
    quiet: (idleMs: number, signal: AbortSignal, project?: number) =>
      project === undefined
        ? quietWhole(Math.max(idleMs, leastIdle), signal)
        : quietOf(project, Math.max(idleMs, leastIdle), signal),
  };
}

/**
 * Counts the application's requests in flight, to distinguish "nothing more is coming" from "not yet". Without
 * `project`, a method counts the requests of all projects.
 */
export type Gauge = ReturnType<typeof createGauge>;

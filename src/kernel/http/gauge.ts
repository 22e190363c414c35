import { setTimeout as pause } from "node:timers/promises";
import { performance } from "../base/real-time.ts";
import { getOrMake, RecentMap } from "../base/recent-map.ts";

type Ticket = number;

class Activity {
  ended = 0;
  /** When the last one ended, `performance.now()`. */
  at = Number.NEGATIVE_INFINITY;

  add(at: number): void {
    this.ended++;
    this.at = at;
  }

  /** Remaining time without an ended request, ms; it starts at `since` at the earliest. */
  restOf(idleMs: number, since: number): number {
    return Math.max(this.at, since) + idleMs - performance.now();
  }
}

/** Minimum idle time in ms, also for `idleMs: 0`, so that bytes already sent are read. */
const leastIdle = 1;

/** Maximum number of projects with activity; the oldest are removed first. */
const mostProjects = 10_000;

type Owner = number | null | undefined;

/** True if a request of this owner may belong to the project. Undefined: not known yet. */
const mayBe = (owner: Owner, project: number | undefined): boolean =>
  owner === undefined || project === undefined || owner === project;

/** Counts the application's requests in flight, to know whether more is coming. Without `project`: of all projects. */
export class Gauge {
  readonly #open = new Map<Ticket, Owner>();
  readonly #activities = new RecentMap<number, Activity>(mostProjects);
  readonly #all = new Activity();
  readonly #checks = new Set<() => void>();
  #last: Ticket = 0;

  begin(): Ticket {
    this.#open.set(++this.#last, undefined);
    this.#changed();
    return this.#last;
  }

  setProject(ticket: Ticket, project: number | null): void {
    if (!this.#open.has(ticket)) return;
    this.#open.set(ticket, project);
    this.#changed();
  }

  end(ticket: Ticket): void {
    const owner = this.#open.get(ticket);
    if (!this.#open.delete(ticket)) return;
    const at = performance.now();
    this.#all.add(at);
    if (typeof owner === "number") this.#activityOf(owner).add(at);
    this.#changed();
  }

  get inFlight(): number {
    return this.#open.size;
  }

  inFlightOf(project?: number): number {
    let count = 0;
    for (const owner of this.#open.values()) if (mayBe(owner, project)) count++;
    return count;
  }

  /** Real time since the last request ended, ms; null before the first. */
  idleFor(project?: number): number | null {
    const { at } = (project === undefined ? this.#all : this.#activities.get(project)) ?? new Activity();
    return at === Number.NEGATIVE_INFINITY ? null : performance.now() - at;
  }

  /** Resolves when every request that is in flight now, and may belong to the project, has ended. */
  drained(signal: AbortSignal, project?: number): Promise<void> {
    const barrier = this.#last;
    return this.#until(() => {
      for (const [ticket, owner] of this.#open) {
        if (ticket > barrier) return true;
        if (mayBe(owner, project)) return false;
      }
      return true;
    }, signal);
  }

  /**
   * Resolves when no request has been in flight for `idleMs`. For a project: when none of its requests has ended
   * for `idleMs`, and the requests in flight at that moment that might belong to it have ended and belonged to
   * others. Rejects with the signal's reason.
   */
  quiet(idleMs: number, signal: AbortSignal, project?: number): Promise<void> {
    const idle = Math.max(idleMs, leastIdle);
    return project === undefined ? this.#quietWhole(idle, signal) : this.#quietOf(project, idle, signal);
  }

  async #quietWhole(idleMs: number, signal: AbortSignal): Promise<void> {
    const since = performance.now();
    for (;;) {
      await this.#until(() => this.#open.size === 0, signal);
      const rest = this.#all.restOf(idleMs, since);
      if (rest <= 0) return;
      await pause(Math.ceil(rest), undefined, { signal });
    }
  }

  async #quietOf(project: number, idleMs: number, signal: AbortSignal): Promise<void> {
    const activity = this.#activityOf(project);
    const since = performance.now();
    for (;;) {
      const rest = activity.restOf(idleMs, since);
      if (rest > 0) {
        await pause(Math.ceil(rest), undefined, { signal });
        continue;
      }
      const { ended } = activity;
      await this.drained(signal, project);
      if (activity.ended === ended) return;
    }
  }

  #activityOf(project: number): Activity {
    return getOrMake(this.#activities, project, () => new Activity());
  }

  #changed(): void {
    if (this.#checks.size > 0) for (const check of [...this.#checks]) check();
  }

  #until(holds: () => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        this.#checks.delete(check);
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
      this.#checks.add(check);
      check();
    });
  }
}

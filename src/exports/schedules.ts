import type { BatchExport } from "../model/world.ts";
import { nextDue } from "./intervals.ts";

/** Up to where the schedule of each export has been performed. */
export interface Schedules {
  /** When (ms) the export runs next. */
  next(batchExport: BatchExport): number | undefined;
  /** The schedule of the export was performed, or left out, up to a time. */
  passed(batchExport: BatchExport, at: number): void;
  /** Told after an export was created or changed, at a time. */
  changed(batchExport: BatchExport, now: number): void;
  /** Looks at all exports: some may have come, or changed, without a word. */
  look(batchExports: readonly BatchExport[], now: number): void;
}

interface Followed {
  from: number;
  readonly interval: BatchExport["interval"];
  readonly paused: boolean;
}

/**
 * Follows schedules from a time (ms) on. A new, unpaused or otherwise timed export runs at its next boundary; the
 * intervals of a pause are not run. What was due before `begun`, while the sim was off, is not run either:
 * upstream's Temporal would catch up for a year, but a sim that was off has missed no events.
 */
export function createSchedules(begun: number): Schedules {
  const followed = new Map<string, Followed>();
  let looked = begun;

  /** What was not known begins at `at`. */
  function follow({ id, interval, paused }: BatchExport, at: number): Followed {
    const known = followed.get(id);
    if (known && known.interval === interval && known.paused === paused) return known;
    const fresh = { from: at, interval, paused };
    followed.set(id, fresh);
    return fresh;
  }

  /** The clock was set back: schedules go on from there. */
  function rewind(now: number): void {
    for (const it of followed.values()) it.from = Math.min(it.from, now);
    looked = now;
  }

  return {
    next: (batchExport) => nextDue(batchExport, follow(batchExport, looked).from),
    passed(batchExport, at) {
      follow(batchExport, at).from = at;
    },
    changed: (batchExport, now) => void follow(batchExport, now),
    look(batchExports, now) {
      if (now < looked) rewind(now);
      for (const it of batchExports) follow(it, looked);
      looked = now;
    },
  };
}

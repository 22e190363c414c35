import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun } from "../../state/documents/world.ts";

type Interval = BatchExport["interval"];

/** The data that one run covers; an open start means everything up to the end. */
export type DataInterval = Pick<BatchExportRun, "data_interval_start" | "data_interval_end">;

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const lengths: Record<Interval, number> = {
  "every 5 minutes": 5 * minute,
  "every 15 minutes": 15 * minute,
  hour,
  day,
  week: 7 * day,
};

/**
 * The end of the last whole interval that is over at `now` (ms). Intervals are counted from the epoch: whole
 * hours, midnights UTC, Thursdays for weeks. Upstream: a Temporal schedule with `every` and no offset.
 */
export const lastBoundary = (interval: Interval, now: number): number =>
  Math.floor(now / lengths[interval]) * lengths[interval];

export const countIntervals = (interval: Interval, start: number, end: number): number =>
  Math.max(0, Math.floor((end - start) / lengths[interval]));

/**
 * The whole intervals from `start` up to `end` (ms), the earliest first; the rest at the end is too short
 * to be run. Upstream counts from the requested start as well: only a start on a boundary gives the
 * intervals of the schedule.
 */
export function intervalsBetween(interval: Interval, start: number, end: number): DataInterval[] {
  const length = lengths[interval];
  return Array.from({ length: countIntervals(interval, start, end) }, (_, i) => ({
    data_interval_start: wireTime(start + i * length),
    data_interval_end: wireTime(start + (i + 1) * length),
  }));
}

export const lengthOf = (interval: Interval): number => lengths[interval];

type Scheduled = Pick<BatchExport, "interval" | "paused" | "deleted" | "start_at" | "end_at">;

/**
 * The first time after `from` (both ms) at which an export runs by its schedule: a boundary, not before `start_at`
 * and not after `end_at`. undefined when there is none, and for exports that are paused or deleted.
 */
export function nextDue(it: Scheduled, from: number): number | undefined {
  if (it.paused || it.deleted) return undefined;
  const length = lengths[it.interval];
  const first = it.start_at === null ? Number.NEGATIVE_INFINITY : Date.parse(it.start_at);
  const next = Math.max(lastBoundary(it.interval, from) + length, Math.ceil(first / length) * length);
  return it.end_at !== null && next > Date.parse(it.end_at) ? undefined : next;
}

interface Followed {
  from: number;
  readonly interval: BatchExport["interval"];
  readonly paused: boolean;
  /** After the run at `after`, the schedule continues at `to`. */
  gap?: { after: number; to: number } | undefined;
}

/**
 * Follows schedules from a time (ms) on. A new, unpaused or otherwise timed export runs at its next boundary; the
 * intervals of a pause are not run. One that an earlier process followed continues from its `scheduled_until`: what was due
 * up to `seen` is run, and then the interval in which that process ended. Intervals after it are not run: upstream's
 * Temporal would catch up for a year, but a sim that was off has missed no events.
 * @param seen the last time that the earlier process is known to have reached
 */
export function createSchedules(begun: number, seen?: number) {
  const followed = new Map<string, Followed>();
  let looked = begun;

  /** What was not known begins at `at`. */
  function follow(it: BatchExport, at: number): Followed {
    const { id, interval, paused } = it;
    const known = followed.get(id);
    if (known && known.interval === interval && known.paused === paused) return known;
    const fresh = { from: at, interval, paused, ...(!known && continued(it, at)) };
    followed.set(id, fresh);
    return fresh;
  }

  function continued(it: BatchExport, at: number): Partial<Followed> {
    const until = it.scheduled_until === undefined || it.paused ? at : Date.parse(it.scheduled_until);
    if (until >= at) return {};
    const after = nextDue(it, Math.min(Math.max(until, seen ?? until), at));
    return { from: until, ...(after !== undefined && after < at && { gap: { after, to: at } }) };
  }

  /** The clock was set back: schedules continue from there. */
  function rewind(now: number): void {
    for (const it of followed.values()) it.from = Math.min(it.from, now);
    looked = now;
  }

  return {
    next: (batchExport: BatchExport) => nextDue(batchExport, follow(batchExport, looked).from),
    /** Where the schedule continues after the run at a time: later than `at` where the sim was off. */
    after(batchExport: BatchExport, at: number) {
      const { gap, interval } = follow(batchExport, at);
      return gap?.after === at && lastBoundary(interval, gap.to) > at ? gap.to : at;
    },
    /** The schedule of the export was performed, or left out, up to a time. */
    passed(batchExport: BatchExport, at: number) {
      const it = follow(batchExport, at);
      if (it.gap && it.gap.after <= at) it.gap = undefined;
      it.from = at;
    },
    changed: (batchExport: BatchExport, now: number) => void follow(batchExport, now),
    /** Follows all exports: some may have been added or changed without a call of `changed`. */
    look(batchExports: readonly BatchExport[], now: number) {
      if (now < looked) rewind(now);
      for (const it of batchExports) follow(it, looked);
      looked = now;
    },
    /** The export with the place of its schedule, for a later process; undefined when it already has it. */
    placed(batchExport: BatchExport) {
      const scheduled_until = wireTime(follow(batchExport, looked).from);
      return batchExport.scheduled_until === scheduled_until ? undefined : { ...batchExport, scheduled_until };
    },
  };
}

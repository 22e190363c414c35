import { setImmediate as turn } from "node:timers/promises";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { performance } from "../../kernel/base/real-time.ts";
import { eventSubject } from "./feed/make-rows.ts";
import type { EventSubject, Filter } from "./filter/types.ts";
import { indexedPart } from "./filter-parameter.ts";
import type { IndexedEvent, TrafficLog } from "./log/traffic-log.ts";
import type { TotalsProgress } from "./totals-answer.ts";

/** Rows of the index in a step, which takes about a millisecond. */
const step = 4_096;
/** From one turn of the event loop to the next, and for one call, ms. */
const slice = 8;
const enough = 300;

export interface RowCount {
  low: number;
  high: number;
  isPart: boolean;
}

export interface Counter<C extends RowCount> {
  readonly first: () => number;
  readonly last: () => number;
  /** Counts rows from one number to another (`isDown`: newest first); yields its place, `undefined` during large lines. */
  range(count: C, from: number, to: number, isDown: boolean): Generator<number | undefined, void, void>;
}

/** The rows that a pass over the index finds, in the order of a range. The pass has one object for all of them. */
export function* oneByOne<Row extends object>(
  pass: (use: (row: Row) => void) => void,
  isDown: boolean,
): Generator<Row, void, void> {
  const found: Row[] = [];
  pass((row) => found.push({ ...row }));
  yield* isDown ? found.reverse() : found;
}

function* rest<C extends RowCount>(count: C, { first, last, range }: Counter<C>): Generator<boolean, void, void> {
  const end = last();
  for (let from = count.high + 1; from <= end; from = count.high + 1) {
    const to = Math.min(from + step - 1, end);
    for (const at of range(count, from, to, false)) {
      count.high = at ?? count.high;
      yield at !== undefined;
    }
    count.high = to;
    yield true;
  }
  while (count.low > first()) {
    const to = count.low - 1;
    const from = Math.max(first(), to - step + 1);
    for (const at of range(count, from, to, true)) {
      count.low = at ?? count.low;
      yield at !== undefined;
    }
    count.low = from;
    yield true;
  }
}

export const freshCount = (last: number): RowCount => ({ low: last + 1, high: last, isPart: false });

export function progressOf<C extends RowCount>(count: C, { first, last }: Counter<C>): TotalsProgress {
  const counting = count.low > first() || count.high < last();
  return { complete: !counting && !count.isPart, counting };
}

/** Continues counting for 300 ms, or until a large line is read, with turns for other work. */
export async function continueCounting<C extends RowCount>(count: C, counter: Counter<C>): Promise<void> {
  const begin = performance.now();
  let pause = begin + slice;
  for (const mayStop of rest(count, counter)) {
    const now = performance.now();
    if (mayStop && now - begin > enough) return;
    if (now < pause) continue;
    await turn();
    pause = performance.now() + slice;
  }
}

interface Begun<C extends RowCount> {
  readonly count: C;
  readonly counter: Counter<C>;
  readonly isTimed?: boolean;
}

/** Keeps the `most` counts that were used last, by name; one call works on a count at a time. Clearing events drops all. */
export function countsOf<C extends RowCount>(log: Pick<TrafficLog, "onVeiled">, most: number) {
  const known = new Map<string, Begun<C> & { first: number; working: Promise<void> }>();
  log.onVeiled(() => known.clear());
  return {
    async get(name: string, make: () => Begun<C>): Promise<{ count: C; progress: TotalsProgress }> {
      let entry = known.get(name);
      // numbers that the disk refused are used again
      const isOld = (it: NonNullable<typeof entry>) =>
        it.first !== it.counter.first() || it.count.high > it.counter.last();
      if (!entry || isOld(entry)) {
        const made = make();
        entry = { ...made, first: made.counter.first(), working: Promise.resolve() };
      }
      known.delete(name);
      known.set(name, entry);
      for (const oldest of known.keys()) if (known.size > most) known.delete(oldest);
      const { count, counter } = entry;
      const done = entry.working.then(() => continueCounting(count, counter));
      entry.working = done.catch(() => {});
      await done;
      const progress = progressOf(count, counter);
      if (entry.isTimed && !progress.counting && known.get(name) === entry) known.delete(name);
      return { count, progress };
    },
  };
}

/** True if filter and parameter both name a project: they may differ, so the filter must be tested. */
export const isTwice = (filter: Filter<unknown>, project: number | undefined): boolean =>
  filter.indexed.project !== undefined && project !== undefined;

interface EventCounterParts<C extends RowCount> {
  readonly log: TrafficLog;
  readonly clock: TimeSource;
  readonly filter: Filter<EventSubject>;
  readonly project: number | undefined;
  add(count: C, it: IndexedEvent): void;
  settle?(count: C): void;
}

/** Counts events by the index alone if it can evaluate the filter, otherwise line by line. */
export function eventCounter<C extends RowCount>(parts: EventCounterParts<C>): Counter<C> {
  const { log, clock, filter, project, add, settle = () => {} } = parts;
  const within = indexedPart(filter, project);
  const isIndexed = filter.isIndexed && !isTwice(filter, project);
  const now = clock.now();
  function* range(count: C, from: number, to: number, isDown: boolean) {
    if (isIndexed) {
      log.eachEvent(from, to, within, (it) => add(count, it));
      settle(count);
      return;
    }
    for (const it of oneByOne<IndexedEvent>((use) => log.eachEvent(from, to, within, use), isDown)) {
      const line = yield* log.reading(it.n);
      const index = it.seq - (line?.seq ?? it.seq);
      if (!line?.events?.[index]) count.isPart = true;
      else if (filter.test(eventSubject(line, index), now)) add(count, it);
      settle(count);
      yield it.seq;
    }
  }
  return { first: () => log.firstSeq, last: () => log.lastSeq, range };
}

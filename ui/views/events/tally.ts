import type { EventRow } from "../../../src/journal/feed/feed-row.ts";
import type { KnownValues } from "../../../src/journal/filter/types.ts";
import type { EventOutcome } from "../../../src/journal/outcomes.ts";
import type { EventTotals } from "../../../src/journal/totals-answer.ts";
import { codesOf } from "./outcome.ts";

/** Rows by index; 0 is the newest. */
export interface RowsByIndex {
  count(): number;
  at(index: number): EventRow | undefined;
}

export interface Tally {
  readonly total: number;
  /** Counts by outcome filter; warned events count as kept as well. */
  readonly sorts: Readonly<Record<EventOutcome, number>>;
  /** Most frequent names first. */
  readonly names: readonly (readonly [name: string, count: number])[];
}

/**
 * The larger of the page's and the sim's counts: the sim also counts rows that are not loaded, the page may be ahead
 * briefly.
 */
export function withTotals({ total, sorts, names }: Tally, all: EventTotals | undefined): Tally {
  if (!all) return { total, sorts, names };
  const counts = new Map(all.names.map(({ event, count }) => [event, count]));
  for (const [name, count] of names) counts.set(name, Math.max(count, counts.get(name) ?? 0));
  return {
    total: Math.max(total, all.total),
    sorts: {
      kept: Math.max(sorts.kept, all.kept),
      warned: Math.max(sorts.warned, all.warned),
      dropped: Math.max(sorts.dropped, all.dropped),
    },
    names: topNames(counts),
  };
}

const mostNames = 6;

/** The most frequent names, in one pass. */
function topNames(names: ReadonlyMap<string, number>): Tally["names"] {
  const best: [name: string, count: number][] = [];
  for (const [name, count] of names) {
    const isBefore = (it: readonly [string, number]) => it[1] < count || (it[1] === count && it[0] > name);
    const last = best[mostNames - 1];
    if (name === "" || (last && !isBefore(last))) continue;
    const at = best.findIndex(isBefore);
    best.splice(at === -1 ? best.length : at, 0, [name, count]);
    best.length = Math.min(best.length, mostNames);
  }
  return best;
}

/**
 * Counts a changing list. Rows added at either end are counted incrementally; after other changes, all are counted
 * again.
 */
export function runningTally(): (rows: RowsByIndex) => Tally {
  let sorts = { kept: 0, warned: 0, dropped: 0 };
  let names = new Map<string, number>();
  let [total, top, bottom] = [0, 0, Number.POSITIVE_INFINITY];

  function add(rows: RowsByIndex, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const row = rows.at(i);
      if (row === undefined) continue;
      sorts[row.outcome]++;
      if (row.warnings.length > 0) sorts.warned++;
      names.set(row.event, (names.get(row.event) ?? 0) + 1);
    }
  }

  return (rows) => {
    const count = rows.count();
    const seqAt = (index: number) => rows.at(index)?.seq ?? 0;
    let [above, below] = [0, 0];
    while (above < count && seqAt(above) > top) above++;
    while (above + below < count && seqAt(count - 1 - below) < bottom) below++;
    const isGrown = total + above + below === count && seqAt(count - 1) <= bottom;
    if (isGrown) {
      add(rows, 0, above);
      add(rows, count - below, count);
    } else {
      sorts = { kept: 0, warned: 0, dropped: 0 };
      names = new Map();
      add(rows, 0, count);
    }
    [total, top, bottom] = [count, seqAt(0), count === 0 ? Number.POSITIVE_INFINITY : seqAt(count - 1)];
    return { total, sorts: { ...sorts }, names: topNames(names) };
  };
}

export const graphSeconds = 60;

/** Arrivals per second, newest last. */
export function perSecond(rows: RowsByIndex, now: number): number[] {
  const seconds = new Array<number>(graphSeconds).fill(0);
  const end = Math.floor(now / 1_000);
  const total = rows.count();
  for (let i = 0; i < total; i++) {
    const row = rows.at(i);
    if (row === undefined) continue;
    const ago = end - Math.floor(row.at / 1_000);
    if (ago >= graphSeconds) break;
    // arrived before the clock was set back
    if (ago < 0) continue;
    const place = graphSeconds - 1 - ago;
    seconds[place] = (seconds[place] ?? 0) + 1;
  }
  return seconds;
}

/** Number of rows that are scanned for completions. */
const looked = 5_000;
const offered = 500;

/** Adds to a set of limited size. */
function keep(set: Set<string>, value: string): void {
  if (set.has(value) || value === "") return;
  set.add(value);
  if (set.size > offered * 2) for (const first of set) if (set.delete(first) && set.size <= offered) return;
}

/** Seen values for completion, independent of the current filter. */
export interface Seen {
  look(rows: RowsByIndex): void;
  addProperties(names: Iterable<string>): void;
  known(): KnownValues;
}

export function createSeen(): Seen {
  const sets = {
    events: new Set<string>(),
    distinctIds: new Set<string>(),
    reasons: new Set<string>(),
    properties: new Set<string>(),
  };
  return {
    look(rows) {
      for (let i = Math.min(rows.count(), looked) - 1; i >= 0; i--) {
        const row = rows.at(i);
        if (row === undefined) continue;
        keep(sets.events, row.event);
        keep(sets.distinctIds, row.distinct_id);
        for (const code of codesOf(row)) keep(sets.reasons, code);
      }
    },
    addProperties(names) {
      for (const name of names) keep(sets.properties, name);
    },
    known: () => ({
      events: [...sets.events].reverse(),
      distinctIds: [...sets.distinctIds].reverse(),
      reasons: [...sets.reasons].reverse(),
      properties: [...sets.properties],
    }),
  };
}

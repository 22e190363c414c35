import type { EventTotals } from "../../../src/control/totals-answer.ts";
import type { KnownValues } from "../../../src/filter/types.ts";
import type { EventOutcome } from "../../../src/kernel/outcomes.ts";
import type { EventRow } from "../../../src/model/row.ts";
import { codesOf } from "./outcome.ts";

/** Rows by their place, the newest at 0. */
export interface Rows {
  count(): number;
  at(index: number): EventRow | undefined;
}

/** What there is in a list. */
export interface Tally {
  readonly total: number;
  /** What the filter of each outcome lists: a warned event is kept, too. */
  readonly sorts: Readonly<Record<EventOutcome, number>>;
  /** The names with most events, the first of them first. */
  readonly names: readonly (readonly [name: string, count: number])[];
}

/** The figures of a list: those of the sim, which counts what the page does not hold; the page is ahead of it for a moment. */
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

/** Names that are told of. */
const mostNames = 6;

/** The names with most events: one look at each, however many there are. */
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
 * Adds up a list that changes. Rows that came at an end since the last time are added to what is known; where others
 * went or came, all of it is added up anew.
 */
export function runningTally(): (rows: Rows) => Tally {
  let sorts = { kept: 0, warned: 0, dropped: 0 };
  let names = new Map<string, number>();
  let [total, top, bottom] = [0, 0, Number.POSITIVE_INFINITY];

  function add(rows: Rows, from: number, to: number): void {
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

/** Seconds that the small graph shows. */
export const graphSeconds = 60;

/** How many rows arrived in each of the last seconds, the newest second last. */
export function perSecond(rows: Rows, now: number): number[] {
  const seconds = new Array<number>(graphSeconds).fill(0);
  const end = Math.floor(now / 1_000);
  const total = rows.count();
  for (let i = 0; i < total; i++) {
    const row = rows.at(i);
    if (row === undefined) continue;
    const ago = end - Math.floor(row.at / 1_000);
    if (ago >= graphSeconds) break;
    // came before the clock was put back
    if (ago < 0) continue;
    const place = graphSeconds - 1 - ago;
    seconds[place] = (seconds[place] ?? 0) + 1;
  }
  return seconds;
}

/** Rows that are looked through for values to be offered. */
const looked = 5_000;
const offered = 500;

/** Adds to a set that keeps the latest of so many. */
function keep(set: Set<string>, value: string): void {
  if (set.has(value) || value === "") return;
  set.add(value);
  if (set.size > offered * 2) for (const first of set) if (set.delete(first) && set.size <= offered) return;
}

/** What has been seen, for completing what is typed: it outlives the filter under which it was seen. */
export interface Seen {
  /** Looks through the list. */
  look(rows: Rows): void;
  /** Adds names of properties. */
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

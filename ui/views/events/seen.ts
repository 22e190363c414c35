import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import type { KnownValues } from "../../../src/state/journal/filter/types.ts";
import { codesOf } from "./outcome.ts";

/** Rows by index; 0 is the newest. */
export interface RowsByIndex {
  count(): number;
  at(index: number): EventRow | undefined;
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

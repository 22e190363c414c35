import { createCache } from "./cache.ts";
import { createLineRows, firstOwnColumn, type LineRows, type Place } from "./rows.ts";

/** Documents (persons, groups) whose newest lines are on disk; the table holds 16 bytes for each. */
export interface Documents<T> {
  readonly table: LineRows;
  /** Row of the document with this key in the project's slot, or -1. */
  find(slot: number, hash: number, key: string): number;
  at(row: number): T;
  /** Takes a document over, whose newest line is at the place; row -1 makes a new row. */
  put(row: number, slot: number, hash: number, document: T, place: Place): void;
  kill(row: number): void;
  /** Forgets the rows and what is in memory. */
  clear(): void;
  /** Takes back what changed since the table's `mark`. */
  revert(): void;
}

/** A column for references to the documents. */
export const linkColumn = firstOwnColumn;

/** Documents kept parsed: at most 2 × 5,000, and lines of about 2 × 8 MB. */
const cached = { count: 5_000, weight: 8 * 1024 * 1024 };

export function createDocuments<T>(read: (place: Place) => T, keyOf: (document: T) => string): Documents<T> {
  const table = createLineRows(1);
  const cache = createCache<T>(cached.count, cached.weight);

  function at(row: number): T {
    const known = cache.get(row);
    if (known !== undefined) return known;
    const place = table.place(row);
    const document = read(place);
    cache.set(row, document, place.length);
    return document;
  }

  return {
    table,
    at,
    find: (slot, hash, key) => table.find(hash, slot, (row) => keyOf(at(row)) === key),
    put(known, slot, hash, document, place) {
      const row = known === -1 ? table.add(hash, slot, place) : known;
      if (known !== -1) table.move(row, place);
      cache.set(row, document, place.length);
    },
    kill(row) {
      table.kill(row);
      cache.delete(row);
    },
    clear() {
      table.clear();
      cache.clear();
    },
    revert() {
      table.revert();
      cache.clear();
    },
  };
}

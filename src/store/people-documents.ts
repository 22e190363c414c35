import { createCache } from "./people-cache.ts";
import { createLineRows, firstOwnColumn, type LineRows } from "./people-rows.ts";

/** Where a line is: its offset in people.ndjson and its length with the newline. */
export interface Place {
  offset: number;
  length: number;
}

/** Documents (persons, groups) whose newest lines are on disk; the table holds 24 bytes for each. */
export interface Documents<T> {
  readonly table: LineRows;
  /** Row of the document with this key in the project's slot, or -1. */
  find(slot: number, hash: number, key: string): number;
  at(row: number): T;
  /** Stores the place of a document's newest line; row -1 makes a new row. Returns the row. */
  put(row: number, slot: number, hash: number, document: T, place: Place): number;
  slot(row: number): number;
  /** Length of the newest line. */
  length(row: number): number;
  kill(row: number): void;
  /** Forgets documents in memory and rows alike. */
  clear(): void;
}

const lengthColumn = firstOwnColumn;
const slotColumn = firstOwnColumn + 1;
/** The column behind the documents' own, for whoever needs one. */
export const linkColumn = firstOwnColumn + 2;

/** Documents kept parsed: 2 × 5,000, and lines of at most about 2 × 8 MB. */
const cached = { count: 5_000, weight: 8 * 1024 * 1024 };

export function createDocuments<T>(read: (place: Place) => T, keyOf: (document: T) => string): Documents<T> {
  const table = createLineRows(3);
  const cache = createCache<T>(cached.count, cached.weight);

  const length = (row: number): number => table.rows.get(row, lengthColumn);
  const slotOf = (row: number): number => table.rows.get(row, slotColumn);

  function at(row: number): T {
    const known = cache.get(row);
    if (known !== undefined) return known;
    const document = read({ offset: table.offset(row), length: length(row) });
    cache.set(row, document, length(row));
    return document;
  }

  return {
    table,
    at,
    length,
    slot: slotOf,
    find: (slot, hash, key) => table.find(hash, (row) => slotOf(row) === slot && keyOf(at(row)) === key),
    put(known, slot, hash, document, place) {
      const row = known === -1 ? table.add(hash, place.offset) : known;
      table.place(row, place.offset);
      table.rows.set(row, lengthColumn, place.length);
      table.rows.set(row, slotColumn, slot);
      cache.set(row, document, place.length);
      return row;
    },
    kill(row) {
      table.kill(row);
      cache.delete(row);
    },
    clear() {
      table.clear();
      cache.clear();
    },
  };
}

import { createLineRows, firstOwnColumn, type LinePlace, type LineRows } from "./rows.ts";

/** Documents (persons, groups) whose newest lines are on disk; the table holds 16 bytes for each. */
export interface PersonDocuments<T> {
  readonly table: LineRows;
  /** Row of the document with this key in the project's slot, or -1. */
  find(slot: number, hash: number, key: string): number;
  at(row: number): T;
  /** Stores a document whose newest line is at the place; row -1 adds a row. */
  put(row: number, slot: number, hash: number, document: T, place: LinePlace): void;
  kill(row: number): void;
  clear(): void;
  /** Reverts changes since the table's `mark`. */
  revert(): void;
}

export const linkColumn = firstOwnColumn;

/** Limits of parsed documents: 2 × 5,000, and lines of about 2 × 8 MB. */
const cached = { count: 5_000, weight: 8 * 1024 * 1024 };

export function createDocuments<T>(read: (place: LinePlace) => T, keyOf: (document: T) => string): PersonDocuments<T> {
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

/** Recently used values by row number; two generations approximate the order of use. */
interface Cache<T> {
  get(row: number): T | undefined;
  /** @param weight Bytes; heavy values are dropped sooner */
  set(row: number, value: T, weight: number): void;
  delete(row: number): void;
  clear(): void;
}

/** At most 2 × `count` values and about 2 × `weight` bytes. */
export function createCache<T>(count: number, weight: number): Cache<T> {
  let young = new Map<number, T>();
  let old = new Map<number, T>();
  let load = 0;

  function set(row: number, value: T, bytes: number): void {
    if (young.size >= count || load >= weight) {
      old = young;
      young = new Map();
      load = 0;
    }
    young.set(row, value);
    load += bytes;
  }

  return {
    set,
    get(row) {
      const recent = young.get(row);
      if (recent !== undefined) return recent;
      const earlier = old.get(row);
      // its weight was counted before; now it only takes a place
      if (earlier !== undefined) set(row, earlier, 0);
      return earlier;
    },
    delete(row) {
      young.delete(row);
      old.delete(row);
    },
    clear() {
      young = new Map();
      old = new Map();
      load = 0;
    },
  };
}

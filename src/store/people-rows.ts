import { createHashIndex, type HashIndex } from "./hash-index.ts";
import { createRows, type Rows } from "./rows.ts";

/**
 * A table of stored lines: for each row the hash of its key and the offset of its newest line, plus
 * further columns. Keys and documents stay on disk; whoever looks up must compare the stored line.
 */
export interface LineRows {
  readonly rows: Rows;
  readonly length: number;
  add(hash: number, offset: number): number;
  /** First living row with this hash that passes the test, or -1. */
  find(hash: number, test: (row: number) => boolean): number;
  offset(row: number): number;
  /** The row's newest line is now here. */
  place(row: number, offset: number): void;
  isAlive(row: number): boolean;
  /** The row stays in the table, but is never found again. */
  kill(row: number): void;
  clear(): void;
  /** Call after rows were loaded into the (empty) table: they become searchable. */
  indexLoaded(): void;
}

const hashColumn = 0;
const lowColumn = 1;
const highColumn = 2;
/** Columns from here on belong to the caller. */
export const firstOwnColumn = 3;

const word = 2 ** 32;
/** Upper half of the offset of a row that is no more. */
const dead = 0xffffffff;

export function createLineRows(ownColumns: number): LineRows {
  const rows = createRows(firstOwnColumn + ownColumns);
  let index = createHashIndex(hashAt);

  function hashAt(row: number): number {
    return rows.get(row, hashColumn);
  }
  const isAlive = (row: number): boolean => rows.get(row, highColumn) !== dead;

  function place(row: number, offset: number): void {
    rows.set(row, lowColumn, offset % word);
    rows.set(row, highColumn, Math.floor(offset / word));
  }

  return {
    rows,
    get length() {
      return rows.length;
    },
    add(hash, offset) {
      const row = rows.add();
      rows.set(row, hashColumn, hash);
      place(row, offset);
      index.add(hash, row);
      return row;
    },
    find: (hash, test) => index.find(hash, (row) => isAlive(row) && test(row)),
    offset: (row) => rows.get(row, highColumn) * word + rows.get(row, lowColumn),
    place,
    isAlive,
    kill: (row) => rows.set(row, highColumn, dead),
    clear() {
      rows.truncate(0);
      index.clear();
    },
    indexLoaded() {
      index = indexOf(rows, hashAt);
    },
  };
}

/** Loaded rows are indexed in slices after the start; until then their hash column is scanned. */
const indexOf = (rows: Rows, hashAt: (row: number) => number): HashIndex =>
  createHashIndex(hashAt, rows.length, (hash, from, to) => rows.find(hashColumn, hash, -1, 0, from, to));

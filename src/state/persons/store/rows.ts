import { createHashIndex } from "../../journal/log/hash-index.ts";
import { createRows, type Rows } from "../../journal/log/rows.ts";

/** The place of a line in people.ndjson; the length includes the newline. */
export interface LinePlace {
  offset: number;
  length: number;
}

/**
 * A table of stored lines, 12 bytes a row and the caller's columns: the hash of the key, the offset of the newest
 * line, the project's slot and the line's size, rounded up to a power of two. Keys and documents stay on disk: a
 * look-up compares the stored line.
 */
export interface LineRows {
  readonly rows: Rows;
  /** Bytes of the current lines, by their size classes: correct within a third. */
  living: number;
  add(hash: number, slot: number, place: LinePlace): number;
  /** The first row of the slot with this hash that passes the test, or -1. */
  find(hash: number, slot: number, test: (row: number) => boolean): number;
  slot(row: number): number;
  /** The row's newest line; `length` is rounded up, except for lines above 4 MB. */
  place(row: number): LinePlace;
  /** Sets the place of the row's newest line. */
  move(row: number, place: LinePlace): void;
  isAlive(row: number): boolean;
  /** Marks the row as removed: it stays in the table, but is never found again. */
  kill(row: number): void;
  clear(): void;
  mark(): void;
  settle(): void;
  /** Reverts changes since `mark`. */
  revert(): void;
  /** Makes rows searchable that were loaded into the empty table. */
  loaded(): void;
}

const hashColumn = 0;
const lowColumn = 1;
/** Slot (20 bits), size class (4 bits), upper bits of the offset (8 bits). */
const whereColumn = 2;
/** Columns from here on belong to the caller. */
export const firstOwnColumn = 3;

export const slotLimit = 2 ** 20;
const word = 2 ** 32;
const highMask = 0xff;
const classBits = 8;
const slotBits = 12;
/** Upper offset bits of a removed row: offsets end at a terabyte. */
const dead = 0xff;

const smallestClass = 7;
const sizeClass = (length: number): number => Math.min(15, Math.max(0, 32 - Math.clz32(length - 1) - smallestClass));
const classLength = (of: number): number => 1 << (of + smallestClass);

export function createLineRows(ownColumns: number): LineRows {
  const rows = createRows(firstOwnColumn + ownColumns);
  const hashAt = (row: number): number => rows.get(row, hashColumn);
  // loaded rows are indexed in slices after the start; until then the hash column is scanned
  const indexOver = (existing: number) =>
    createHashIndex(hashAt, existing, (hash, from, to) => rows.find(hashColumn, hash, -1, 0, from, to));
  let index = indexOver(0);
  let markedLiving = 0;

  const where = (row: number): number => rows.get(row, whereColumn);
  const slotOf = (row: number): number => where(row) >>> slotBits;
  const isAlive = (row: number): boolean => (where(row) & highMask) !== dead;
  const lengthOf = (row: number): number => classLength((where(row) >>> classBits) & 15);
  // lines fill three quarters of their class on average
  const weight = (row: number): number => lengthOf(row) * 0.75;

  function put(row: number, slot: number, { offset, length }: LinePlace): void {
    const high = Math.floor(offset / word);
    rows.set(row, lowColumn, offset % word);
    rows.set(row, whereColumn, ((slot << slotBits) | (sizeClass(length) << classBits) | high) >>> 0);
    table.living += weight(row);
  }

  const table: LineRows = {
    rows,
    living: 0,
    add(hash, slot, place) {
      const row = rows.add();
      rows.set(row, hashColumn, hash);
      put(row, slot, place);
      index.add(hash, row);
      return row;
    },
    find: (hash, slot, test) => index.find(hash, (row) => slotOf(row) === slot && isAlive(row) && test(row)),
    slot: slotOf,
    place: (row) => ({ offset: (where(row) & highMask) * word + rows.get(row, lowColumn), length: lengthOf(row) }),
    move(row, place) {
      table.living -= weight(row);
      put(row, slotOf(row), place);
    },
    isAlive,
    kill(row) {
      table.living -= weight(row);
      rows.set(row, whereColumn, (where(row) | dead) >>> 0);
    },
    clear() {
      rows.truncate(0);
      index.clear();
      table.living = 0;
    },
    mark() {
      rows.mark();
      markedLiving = table.living;
    },
    settle: rows.settle,
    revert() {
      // the index may still have removed rows: their hashes show it
      rows.revert();
      table.living = markedLiving;
    },
    loaded() {
      index = indexOver(rows.length);
    },
  };
  return table;
}

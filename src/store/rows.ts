import { closeSync, existsSync, fstatSync, openSync, readSync, writeSync } from "node:fs";

/** Rows in a page: 16,384 keeps growth smooth and a page's rewrite under a millisecond. */
const pageRows = 16_384;

/**
 * A growing table of unsigned 32-bit numbers, column by column in fixed pages: no copying as it
 * grows, and a scan of one column touches nothing else.
 */
export interface Rows {
  readonly width: number;
  readonly length: number;
  /** Appends a row (cells not given are 0) and returns its number. */
  add(a?: number, b?: number, c?: number, d?: number, e?: number): number;
  get(row: number, column: number): number;
  set(row: number, column: number, value: number): void;
  /** First row in [from, to) whose columns a and b hold these values, or -1. Pass b = -1 to ask for a alone. */
  find(a: number, valueA: number, b: number, valueB: number, from: number, to: number): number;
  /** The same, backwards from `to - 1`. */
  findLast(a: number, valueA: number, b: number, valueB: number, from: number, to: number): number;
  truncate(length: number): void;
  /** From here on what changes can be taken back, until `settle`. */
  mark(): void;
  settle(): void;
  /** Takes back what was added and set since `mark`. */
  revert(): void;
  /** Takes over rows that are kept elsewhere; `load` is asked for a page on first use. */
  resume(length: number, load?: (page: number) => Uint32Array): void;
  /** The raw pages, for the sidecar file; undefined where a page was not needed yet. */
  readonly pages: (Uint32Array | undefined)[];
}

export function createRows(width: number): Rows {
  const pages: (Uint32Array | undefined)[] = [];
  let length = 0;
  let load = (_: number): Uint32Array => new Uint32Array(0);
  /** How many rows there were at the mark, and what was set in them since: row, column and the value before. */
  let marked = 0;
  let before: number[] = [];
  const page = (row: number): Uint32Array =>
    pages[Math.floor(row / pageRows)] ?? fetched(Math.floor(row / pageRows));

  function fetched(index: number): Uint32Array {
    const cells = load(index);
    if (cells.length > 0) pages[index] = cells;
    return cells;
  }

  return {
    width,
    pages,
    get length() {
      return length;
    },
    add(a = 0, b = 0, c = 0, d = 0, e = 0) {
      const at = length % pageRows;
      if (at === 0 && length === pages.length * pageRows) pages.push(new Uint32Array(pageRows * width));
      const cells = page(length);
      // Written out: a loop over an arguments array costs more than all five.
      cells[at] = a;
      if (width > 1) cells[at + pageRows] = b;
      if (width > 2) cells[at + 2 * pageRows] = c;
      if (width > 3) cells[at + 3 * pageRows] = d;
      if (width > 4) cells[at + 4 * pageRows] = e;
      return length++;
    },
    get: (row, column) => page(row)[column * pageRows + (row % pageRows)] ?? 0,
    set(row, column, value) {
      const cells = page(row);
      const at = column * pageRows + (row % pageRows);
      if (row < marked) before.push(row, column, cells[at] ?? 0);
      cells[at] = value;
    },
    find(a, valueA, b, valueB, from, to) {
      for (let row = from; row < to; ) {
        const cells = page(row);
        const first = row - (row % pageRows);
        const last = Math.min(to - first, pageRows);
        const baseA = a * pageRows;
        const baseB = b * pageRows;
        for (let i = row % pageRows; i < last; i++) {
          if (cells[baseA + i] === valueA && (b < 0 || cells[baseB + i] === valueB)) return first + i;
        }
        row = first + pageRows;
      }
      return -1;
    },
    findLast(a, valueA, b, valueB, from, to) {
      for (let row = to - 1; row >= from; ) {
        const cells = page(row);
        const first = row - (row % pageRows);
        const baseA = a * pageRows;
        const baseB = b * pageRows;
        for (let i = row % pageRows; i >= Math.max(0, from - first); i--) {
          if (cells[baseA + i] === valueA && (b < 0 || cells[baseB + i] === valueB)) return first + i;
        }
        row = first - 1;
      }
      return -1;
    },
    resume(to, loader) {
      length = to;
      if (!loader) return;
      load = loader;
      pages.length = Math.ceil(to / pageRows);
    },
    mark() {
      marked = length;
      before = [];
    },
    settle() {
      marked = 0;
      before = [];
    },
    revert() {
      this.truncate(marked);
      marked = 0;
      for (let i = before.length - 3; i >= 0; i -= 3)
        this.set(before[i] ?? 0, before[i + 1] ?? 0, before[i + 2] ?? 0);
      before = [];
    },
    truncate(to) {
      // Whole pages go; what is left of the last one is emptied.
      pages.length = Math.ceil(to / pageRows);
      for (let row = to; row < Math.min(length, pages.length * pageRows); row++) {
        for (let column = 0; column < width; column++) this.set(row, column, 0);
      }
      length = to;
    },
  };
}

const magic = 0x50485832; // "PHX2"
const headerBytes = 32;

/** A sidecar file that keeps a table's rows, so that opening does not read the log they index. */
export interface RowFile {
  /** Rows and log bytes that the file covers; zeros when there was nothing usable to load. */
  readonly covered: { rows: number; bytes: number };
  /** Writes the rows added since the last save, then the header: a crash in between leaves the old header true. */
  save(logBytes: number): void;
  /** Says that rows saved before have changed: the next save writes them all. */
  touch(): void;
  close(): void;
}

/**
 * Opens (or starts) the sidecar of `rows`, which loads its pages as they are needed. `birth` identifies the log: a
 * sidecar of another log is ignored. A sidecar is a cache: damage means it is dropped, never an error.
 */
export function openRowFile(path: string, rows: Rows, birth: number, logSize: number): RowFile {
  const pageBytes = pageRows * rows.width * 4;
  const fd = openSync(path, existsSync(path) ? "r+" : "w+", 0o600);
  const covered = takeOver(fd, rows, birth, logSize, pageBytes);
  let saved = covered.rows;
  return {
    covered,
    save(logBytes) {
      const header = new Float64Array([magic, rows.width, rows.length, logBytes]);
      for (let i = Math.floor(saved / pageRows); i < rows.pages.length; i++) {
        const cells = rows.pages[i];
        if (cells) writeSync(fd, bytesOf(cells), 0, pageBytes, headerBytes + 8 + i * pageBytes);
      }
      writeSync(fd, bytesOf(header), 0, headerBytes, 0);
      writeSync(fd, bytesOf(new Float64Array([birth])), 0, 8, headerBytes);
      saved = rows.length;
    },
    touch() {
      saved = 0;
    },
    close: () => closeSync(fd),
  };
}

const bytesOf = (array: Uint32Array | Float64Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

function takeOver(fd: number, rows: Rows, birth: number, logSize: number, pageBytes: number) {
  const nothing = { rows: 0, bytes: 0 };
  const header = new Float64Array(5);
  if (readSync(fd, bytesOf(header), 0, headerBytes + 8, 0) < headerBytes + 8) return nothing;
  const [mark, width, count = 0, covered = 0, origin] = header;
  const size = fstatSync(fd).size;
  const pages = Math.ceil(count / pageRows);
  const usable =
    mark === magic &&
    width === rows.width &&
    origin === birth &&
    covered <= logSize &&
    size >= headerBytes + 8 + pages * pageBytes;
  if (!usable) return nothing;
  rows.resume(count, (page) => {
    const cells = new Uint32Array(pageRows * rows.width);
    readSync(fd, bytesOf(cells), 0, pageBytes, headerBytes + 8 + page * pageBytes);
    return cells;
  });
  return { rows: count, bytes: covered };
}

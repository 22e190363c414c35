import { closeSync, fstatSync, lstatSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import type { Bytes } from "../../../kernel/store/bytes.ts";

/** Rows in a page: 16,384 keeps growth smooth and a page's rewrite under a millisecond. */
export const pageRows = 16_384;

/** A growing table of unsigned 32-bit numbers in pages by column: growth copies nothing, a scan touches one column only. */
export class RowTable {
  readonly width: number;
  /** The raw pages, for the sidecar file; undefined where a page was not needed yet. */
  readonly pages: (Uint32Array | undefined)[] = [];
  #length = 0;
  #load = (_page: number): Uint32Array => new Uint32Array(0);
  /** How many rows there were at the mark, and what was set in them since: row, column and the value before. */
  #marked = 0;
  #before: number[] = [];

  constructor(width: number) {
    this.width = width;
  }

  get length(): number {
    return this.#length;
  }

  #page(row: number): Uint32Array {
    const index = Math.floor(row / pageRows);
    return this.pages[index] ?? this.#fetched(index);
  }

  #fetched(index: number): Uint32Array {
    const cells = this.#load(index);
    if (cells.length > 0) this.pages[index] = cells;
    return cells;
  }

  add(a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0): number {
    const { width } = this;
    const at = this.#length % pageRows;
    if (at === 0 && this.#length === this.pages.length * pageRows) this.pages.push(new Uint32Array(pageRows * width));
    const cells = this.#page(this.#length);
    // Written out: a loop over an arguments array costs more than all of them.
    cells[at] = a;
    if (width > 1) cells[at + pageRows] = b;
    if (width > 2) cells[at + 2 * pageRows] = c;
    if (width > 3) cells[at + 3 * pageRows] = d;
    if (width > 4) cells[at + 4 * pageRows] = e;
    if (width > 5) cells[at + 5 * pageRows] = f;
    if (width > 6) cells[at + 6 * pageRows] = g;
    if (width > 7) cells[at + 7 * pageRows] = h;
    return this.#length++;
  }

  get(row: number, column: number): number {
    return this.#page(row)[column * pageRows + (row % pageRows)] ?? 0;
  }

  set(row: number, column: number, value: number): void {
    const cells = this.#page(row);
    const at = column * pageRows + (row % pageRows);
    if (row < this.#marked) this.#before.push(row, column, cells[at] ?? 0);
    cells[at] = value;
  }

  /** First row in [from, to) whose columns a and b hold these values, or -1. With b = -1 only a is compared. */
  find(a: number, valueA: number, b: number, valueB: number, from: number, to: number): number {
    for (let row = from; row < to; ) {
      const cells = this.#page(row);
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
  }

  findLast(a: number, valueA: number, b: number, valueB: number, from: number, to: number): number {
    for (let row = to - 1; row >= from; ) {
      const cells = this.#page(row);
      const first = row - (row % pageRows);
      const baseA = a * pageRows;
      const baseB = b * pageRows;
      for (let i = row % pageRows; i >= Math.max(0, from - first); i--) {
        if (cells[baseA + i] === valueA && (b < 0 || cells[baseB + i] === valueB)) return first + i;
      }
      row = first - 1;
    }
    return -1;
  }

  truncate(length: number): void {
    // whole pages are dropped, and the rest of the last one is emptied
    this.pages.length = Math.ceil(length / pageRows);
    for (let row = length; row < Math.min(this.#length, this.pages.length * pageRows); row++) {
      for (let column = 0; column < this.width; column++) this.set(row, column, 0);
    }
    this.#length = length;
  }

  /** Drops whole pages at the front; later rows get lower numbers. Returns the number of dropped rows. */
  dropPagesBefore(row: number): number {
    const count = Math.floor(Math.min(row, this.#length) / pageRows);
    // the file has them at their old offsets, and is written again
    for (let i = count; i < this.pages.length; i++) this.#page(i * pageRows);
    this.pages.splice(0, count);
    this.#length -= count * pageRows;
    return count * pageRows;
  }

  /** From here on what changes can be taken back, until `settle`. */
  mark(): void {
    this.#marked = this.#length;
    this.#before = [];
  }

  settle(): void {
    this.#marked = 0;
    this.#before = [];
  }

  /** Takes back what was added and set since `mark`. */
  revert(): void {
    const before = this.#before;
    this.truncate(this.#marked);
    this.settle();
    for (let i = before.length - 3; i >= 0; i -= 3) this.set(before[i] ?? 0, before[i + 1] ?? 0, before[i + 2] ?? 0);
  }

  /** Takes over stored rows; `load` reads a page on first use. */
  resume(length: number, load?: (page: number) => Uint32Array): void {
    this.#length = length;
    if (!load) return;
    this.#load = load;
    this.pages.length = Math.ceil(length / pageRows);
  }

  /** Takes over all rows of another table, which is of no use then. */
  adopt(other: RowTable): void {
    this.pages.splice(0, this.pages.length, ...other.pages);
    this.#length = other.length;
  }
}

const magic = 0x50485834; // "PHX4"
/** Of the header: magic, width, rows, bytes of the log, its birth, a print of its last bytes; and a checksum. */
const headerFields = 6;
const headerBytes = (headerFields + 1) * 8;
const checkBytes = 4;
const printed = 4096;

interface IndexedLog {
  bytes: Bytes;
  birth: number;
  /** Distinguishes what the cells mean: another version's rows are of no use. */
  layout: number;
}

/** False for a link: a sidecar is a cache, and the target of a link is another program's. */
const isRegular = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;

function openNew(path: string): number {
  rmSync(path, { force: true });
  return openSync(path, "wx+", 0o600);
}

/**
 * Opens (or starts) the sidecar of `rows`, which loads its pages as they are needed. A sidecar is a cache: one that is damaged, or
 * does not fit the log, is ignored. A page may turn out to be damaged later: then `recover` must make the rows again.
 */
export function openRowFile(path: string, rows: RowTable, log: IndexedLog, recover: () => void) {
  const pageBytes = pageRows * rows.width * 4;
  let fd = isRegular(path) ? openSync(path, "r+") : openNew(path);
  const placeOf = (page: number): number => headerBytes + page * (pageBytes + checkBytes);

  function readPage(page: number): Uint32Array | undefined {
    const block = Buffer.alloc(pageBytes + checkBytes);
    if (readSync(fd, block, 0, block.length, placeOf(page)) < block.length) return undefined;
    if (crc32(block.subarray(0, pageBytes)) !== block.readUInt32LE(pageBytes)) return undefined;
    return new Uint32Array(block.buffer, block.byteOffset, pageBytes / 4);
  }

  function load(page: number): Uint32Array {
    const found = readPage(page);
    if (found) return found;
    recover();
    return rows.pages[page] ?? new Uint32Array(pageRows * rows.width);
  }

  function takeOver(): number {
    const header = new Float64Array(headerFields + 1);
    if (readSync(fd, bytesOf(header), 0, headerBytes, 0) < headerBytes) return 0;
    const [mark, width, count = 0, covered = 0, birth, print, check] = header;
    const isOurs =
      mark === magic + log.layout && width === rows.width && check === crc32(bytesOf(header.subarray(0, headerFields)));
    if (!isOurs || birth !== log.birth || covered > log.bytes.size || print !== printOf(log.bytes, covered)) return 0;
    const last = Math.ceil(count / pageRows) - 1;
    const page = last < 0 ? undefined : readPage(last);
    if (fstatSync(fd).size < placeOf(last + 1) || (last >= 0 && !page)) return 0;
    rows.resume(count, load);
    // New rows go into it: it cannot wait.
    if (page) rows.pages[last] = page;
    return covered;
  }

  const covered = takeOver();
  let saved = rows.length;
  /** Another program deleted the file: all rows go into a new one. */
  function makeAgain(): void {
    const next = openNew(path);
    for (let row = 0; row < rows.length; row += pageRows) rows.get(row, 0);
    closeSync(fd);
    fd = next;
    saved = 0;
  }

  return {
    /** Bytes of the log that the file covers; 0 when there was nothing usable to load. */
    covered,
    /** Writes the rows added since the last save, then the header: a crash in between leaves the old header true. */
    save(logBytes: number) {
      if (!isRegular(path)) makeAgain();
      const print = printOf(log.bytes, logBytes);
      const header = new Float64Array([magic + log.layout, rows.width, rows.length, logBytes, log.birth, print, 0]);
      header[headerFields] = crc32(bytesOf(header.subarray(0, headerFields)));
      for (let i = Math.floor(saved / pageRows); i < rows.pages.length; i++) {
        const cells = rows.pages[i];
        if (!cells) continue;
        const block = Buffer.alloc(pageBytes + checkBytes);
        bytesOf(cells).copy(block);
        block.writeUInt32LE(crc32(bytesOf(cells)), pageBytes);
        writeSync(fd, block, 0, block.length, placeOf(i));
      }
      writeSync(fd, bytesOf(header), 0, headerBytes, 0);
      saved = rows.length;
    },
    /** Says that rows saved before have changed: the next save writes them all. */
    touch() {
      saved = 0;
    },
    close: () => closeSync(fd),
  };
}

export type RowFile = ReturnType<typeof openRowFile>;

export function printOf(bytes: Bytes, end: number): number {
  const from = Math.max(bytes.start, end - printed);
  return crc32(bytes.read(from, end - from));
}

export const bytesOf = (array: Uint32Array | Float64Array): Buffer =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength);

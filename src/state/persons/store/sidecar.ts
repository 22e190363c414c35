import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { endianness } from "node:os";
import { crc32 } from "node:zlib";
import { openDraft } from "../../../kernel/base/draft.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import { bytesOf, pageRows, printOf } from "../../journal/log/rows.ts";
import type { LineRows, ProjectEntry, ProjectSlots } from "./rows.ts";
import type { PersonStoreState } from "./state.ts";

interface Head {
  covered: number;
  /** Checksum of the last covered bytes, to detect an edited log. */
  print: number;
  /** Of each table: rows, bytes of living lines, and the checksum of each page. */
  tables: { rows: number; living: number; checks: number[] }[];
  projects: ProjectEntry[];
}

const mark = `phx-people-3-${endianness()}\n`;
/** Width of the head's length and its checksum, as text. */
const numberWidth = 12;
const numberText = (number: number): string => String(number).padStart(numberWidth);

interface FoundHead {
  head: Head;
  end: number;
}

/** people.idx: the rows of people.ndjson, so that opening does not read it. A cache: it may be damaged, or deleted any time. */
export class Sidecar {
  readonly #path: string;
  readonly #draft: string;
  readonly #projects: ProjectSlots;
  readonly #tables: readonly LineRows[];
  #covered = 0;
  #found: FoundHead | undefined;
  /** Counts drafts and drops: an outdated draft does not replace the file. */
  #turn = 0;

  constructor(path: string, { projects, ids, persons, groups, hashKeys }: PersonStoreState) {
    this.#path = path;
    this.#draft = `${path}.tmp`;
    this.#projects = projects;
    this.#tables = [ids.table, persons.table, groups.table, hashKeys.table];
  }

  get covered(): number {
    return this.#covered;
  }

  get size(): number {
    return this.#tables.reduce((sum, { rows }) => sum + rows.length * rows.width * 4, 0);
  }

  open(bytes: Bytes): void {
    const found = readHead(this.#path, bytes, this.#tables);
    this.#found = found;
    this.#covered = found?.head.covered ?? 0;
    this.#projects.load(found?.head.projects ?? []);
    for (const [i, table] of this.#tables.entries()) table.living = found?.head.tables[i]?.living ?? 0;
  }

  /** Fills the empty tables, a page with each step. @returns false if the file is damaged */
  *fill(): Generator<void, boolean> {
    if (!this.#found) return false;
    const isWhole = yield* readTables(this.#path, this.#found, this.#tables);
    if (!isWhole) this.#covered = 0;
    return isWhole;
  }

  #write(bytes: Bytes): { fd: number; end: number } {
    const end = bytes.size;
    const head: Head = {
      covered: end,
      print: printOf(bytes, end),
      tables: this.#tables.map(({ rows, living }) => ({
        rows: rows.length,
        living,
        checks: rows.pages.map((page) => (page ? crc32(bytesOf(page)) : 0)),
      })),
      projects: this.#projects.entries,
    };
    const text = Buffer.from(JSON.stringify(head));
    const fd = openDraft(this.#draft);
    const start = mark + numberText(text.length) + numberText(crc32(text));
    writeSync(fd, Buffer.concat([Buffer.from(start), text]));
    for (const { rows } of this.#tables) for (const page of rows.pages) if (page) writeSync(fd, bytesOf(page));
    writeSync(fd, mark);
    return { fd, end };
  }

  #finish(fd: number, end: number): void {
    closeSync(fd);
    renameSync(this.#draft, this.#path);
    this.#covered = end;
  }

  /** Writes the rows to a draft, which replaces the old file once it is on disk. */
  save(bytes: Bytes): void {
    const mine = ++this.#turn;
    const { fd, end } = this.#write(bytes);
    fdatasync(fd, (error) => {
      if (error || mine !== this.#turn) closeSync(fd);
      else this.#finish(fd, end);
    });
  }

  saveNow(bytes: Bytes): void {
    this.#turn++;
    const { fd, end } = this.#write(bytes);
    fdatasyncSync(fd);
    this.#finish(fd, end);
  }

  drop(): void {
    this.#turn++;
    this.#covered = 0;
    for (const file of [this.#path, this.#draft]) rmSync(file, { force: true });
  }
}

/** Undefined if the file is missing, of another version or cut short, or covers another log. */
function readHead(path: string, bytes: Bytes, tables: readonly LineRows[]): FoundHead | undefined {
  if (!existsSync(path)) return undefined;
  const fd = openSync(path, "r");
  try {
    const start = mark.length + 2 * numberWidth;
    const opening = readText(fd, 0, start);
    if (!opening.startsWith(mark)) return undefined;
    const length = Number(opening.slice(mark.length, mark.length + numberWidth));
    const size = fstatSync(fd).size;
    if (!(length <= size)) return undefined;
    const end = start + length;
    const text = readText(fd, start, length);
    if (Number(opening.slice(-numberWidth)) !== crc32(text)) return undefined;
    // written by phx-sim: its checksum matches
    const head = JSON.parse(text) as Head;
    const pages = tables.map(({ rows }, i) => pagesOf(head.tables[i]?.rows ?? 0) * pageRows * rows.width * 4);
    const expected = pages.reduce((sum, next) => sum + next, end + mark.length);
    if (size !== expected || readText(fd, size - mark.length, mark.length) !== mark) return undefined;
    if (head.covered > bytes.size || head.print !== printOf(bytes, head.covered)) return undefined;
    return { head, end };
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

function readText(fd: number, position: number, length: number): string {
  const buffer = Buffer.alloc(length);
  return buffer.toString("utf8", 0, readSync(fd, buffer, 0, length, position));
}

const pagesOf = (rows: number): number => Math.ceil(rows / pageRows);

function* readTables(path: string, { head, end }: FoundHead, tables: readonly LineRows[]): Generator<void, boolean> {
  const fd = openSync(path, "r");
  let position = end;
  try {
    for (const [i, table] of tables.entries()) {
      const length = head.tables[i]?.rows ?? 0;
      for (let page = pagesOf(length); page > 0; page--) {
        const cells = new Uint32Array(pageRows * table.rows.width);
        if (readSync(fd, bytesOf(cells), 0, cells.byteLength, position) < cells.byteLength) return false;
        if (crc32(bytesOf(cells)) !== head.tables[i]?.checks[table.rows.pages.length]) return false;
        position += cells.byteLength;
        table.rows.pages.push(cells);
        yield;
      }
      table.rows.resume(length);
      table.loaded();
    }
    return true;
  } finally {
    closeSync(fd);
  }
}

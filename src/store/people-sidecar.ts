import { createHash } from "node:crypto";
import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { endianness } from "node:os";
import type { Bytes } from "./bytes.ts";
import type { ProjectEntry } from "./people-projects.ts";
import type { PeopleState } from "./people-state.ts";
import type { Rows } from "./rows.ts";

/** people.idx: the rows over people.ndjson, so that opening does not read it. A cache: never an error, always replaceable. */
export interface Sidecar {
  /** Bytes of people.ndjson that the file on disk covers. */
  readonly covered: number;
  /** What a save would write now, in bytes. */
  readonly size: number;
  /** Fills the (empty) state from the file. Returns the bytes it covers; 0 when there is nothing usable. */
  load(bytes: Bytes): number;
  /** Writes the rows beside the old file and puts them in its place once the disk has them. */
  save(bytes: Bytes): void;
  /** The same at once, for the end. */
  saveNow(bytes: Bytes): void;
  drop(): void;
}

/** What stands before the rows. */
interface Head {
  covered: number;
  /** Digest of the last bytes covered: a file that was edited in between has others there. */
  print: string;
  lengths: number[];
  projects: ProjectEntry[];
}

const mark = `phx-people-1-${endianness()}\n`;
/** The head's length in bytes, as text of this width. */
const lengthWidth = 12;
const printed = 4096;
/** Rows in a page of `Rows`. */
const pageRows = 16_384;

function printOf(bytes: Bytes, end: number): string {
  const from = Math.max(0, end - printed);
  return createHash("sha1")
    .update(bytes.read(from, end - from))
    .digest("hex");
}

export function createSidecar(path: string, state: PeopleState): Sidecar {
  const draft = `${path}.tmp`;
  const tables = [state.ids.table, state.persons.table, state.groups.table];
  let covered = 0;
  /** Counts drafts and drops: a draft that was overtaken is not put in place. */
  let turn = 0;

  function write(bytes: Bytes): { fd: number; end: number } {
    const end = bytes.size;
    const head: Head = {
      covered: end,
      print: printOf(bytes, end),
      lengths: tables.map((table) => table.length),
      projects: [...state.projects.entries],
    };
    const text = Buffer.from(JSON.stringify(head));
    const fd = openSync(draft, "w", 0o600);
    writeSync(fd, Buffer.concat([Buffer.from(mark + String(text.length).padStart(lengthWidth)), text]));
    for (const { rows } of tables) for (const page of rows.pages) writeSync(fd, bytesOf(page));
    writeSync(fd, mark);
    return { fd, end };
  }

  function finish(fd: number, end: number): void {
    closeSync(fd);
    renameSync(draft, path);
    covered = end;
  }

  return {
    get covered() {
      return covered;
    },
    get size() {
      return tables.reduce((sum, { rows }) => sum + rows.length * rows.width * 4, 0);
    },
    load(bytes) {
      const loaded = readSidecar(
        path,
        bytes,
        tables.map((table) => table.rows),
      );
      if (!loaded) return 0;
      state.projects.load(loaded.projects);
      for (const table of tables) table.indexLoaded();
      covered = loaded.covered;
      return covered;
    },
    save(bytes) {
      const mine = ++turn;
      const { fd, end } = write(bytes);
      fdatasync(fd, (error) => {
        if (error || mine !== turn) closeSync(fd);
        else finish(fd, end);
      });
    },
    saveNow(bytes) {
      turn++;
      const { fd, end } = write(bytes);
      fdatasyncSync(fd);
      finish(fd, end);
    },
    drop() {
      turn++;
      covered = 0;
      for (const file of [path, draft]) rmSync(file, { force: true });
    },
  };
}

const bytesOf = (page: Uint32Array): Buffer => Buffer.from(page.buffer, page.byteOffset, page.byteLength);

function readSidecar(path: string, bytes: Bytes, tables: Rows[]): Head | undefined {
  let fd: number | undefined;
  try {
    fd = openSync(path, "r");
    const head = readHead(fd);
    if (!head || head.covered > bytes.size || head.print !== printOf(bytes, head.covered)) return undefined;
    if (!readTables(fd, tables, head.lengths)) throw new Error("cut short");
    return head;
  } catch {
    // Missing, cut short or not ours: the log is scanned instead, which always works.
    for (const rows of tables) {
      rows.pages.length = 0;
      rows.truncate(0);
    }
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readText(fd: number, length: number): string {
  const buffer = Buffer.alloc(length);
  return buffer.toString("utf8", 0, readSync(fd, buffer));
}

function readHead(fd: number): Head | undefined {
  if (readText(fd, mark.length) !== mark) return undefined;
  // Written by us a moment before the mark at the end, which is checked, too.
  return JSON.parse(readText(fd, Number(readText(fd, lengthWidth)))) as Head;
}

function readTables(fd: number, tables: Rows[], lengths: readonly number[]): boolean {
  for (const [i, rows] of tables.entries()) {
    const length = lengths[i] ?? 0;
    const pages = Math.ceil(length / pageRows);
    for (let page = 0; page < pages; page++) {
      const cells = new Uint32Array(pageRows * rows.width);
      if (readSync(fd, bytesOf(cells)) < cells.byteLength) return false;
      rows.pages.push(cells);
    }
    while (rows.length < length) rows.add();
  }
  return readText(fd, mark.length) === mark;
}

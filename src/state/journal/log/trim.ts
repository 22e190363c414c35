import { closeSync, fdatasync, fdatasyncSync, renameSync, rmSync, write } from "node:fs";
import { promisify } from "node:util";
import { openDraft } from "../../../kernel/base/draft.ts";
import { readDuration } from "../../../kernel/base/time-text.ts";
import { type Bytes, writeAll } from "../../../kernel/store/bytes.ts";
import type { GroupWriter } from "./group-writer.ts";
import type { LineReader } from "./line-reader.ts";
import { type Opening, openingLine } from "./log-lines.ts";
import type { LogTables } from "./log-tables.ts";
import { pageRows } from "./rows.ts";
import { event, lostBit } from "./traffic-index.ts";

/** How much of a log is kept: at most this many bytes, or requests not older than this many ms. */
export interface Keep {
  bytes?: number;
  ms?: number;
}

const megabyte = 1024 * 1024;
const sizes: Readonly<Record<string, number>> = { MB: megabyte, GB: 1024 * megabyte };
const sizeShape = /^(\d{1,6}(?:\.\d{1,3})?)\s?(MB|GB)$/i;

/** Completes "expected …" for `readKeep`. */
export const keepExpected = "a size of at least 1MB (500MB, 2GB), an age (12h, 7d), or both: 2GB,7d";

/** A size, an age, or both with a comma between them; undefined for anything else. */
export function readKeep(text: string): Keep | undefined {
  const keep: Keep = {};
  for (const part of text.split(",").map((it) => it.trim())) {
    const [, count, unit = ""] = sizeShape.exec(part) ?? [];
    const bytes = count === undefined ? undefined : Number(count) * (sizes[unit.toUpperCase()] ?? 0);
    const ms = bytes === undefined ? readDuration(part) : undefined;
    const isNew = bytes === undefined ? keep.ms === undefined : keep.bytes === undefined;
    if (!isNew || !((bytes ?? 0) >= megabyte || (ms ?? 0) > 0)) return undefined;
    Object.assign(keep, bytes === undefined ? { ms } : { bytes });
  }
  return keep;
}

const chunkSize = 1024 * 1024;

const writeTo = promisify(write);
const syncTo = promisify(fdatasync);

const draftOf = (path: string): string => `${path}.trimmed.tmp`;

export const dropDraft = (path: string): void => rmSync(draftOf(path), { force: true });

interface Draft {
  /** Copies newer lines, and replaces the file. @throws the system's error; then nothing has changed */
  finish(): void;
  drop(): void;
}

/** Copies a file from an offset on, behind `head`, while lines are appended, until `isOver`. @throws the system's error */
async function draftFrom(
  { bytes, path }: { bytes: Bytes; path: string },
  from: number,
  head: Buffer,
  isOver: () => boolean,
): Promise<Draft> {
  const draft = draftOf(path);
  const fd = openDraft(draft);
  let at = from;
  const drop = () => {
    closeSync(fd);
    rmSync(draft, { force: true });
  };
  const copied: Draft = {
    drop,
    finish() {
      try {
        for (let part = bytes.read(at, chunkSize); part.length > 0; part = bytes.read(at, chunkSize)) {
          writeAll(fd, part);
          at += part.length;
        }
        fdatasyncSync(fd);
        renameSync(draft, path);
      } catch (error) {
        drop();
        throw error;
      }
      closeSync(fd);
    },
  };
  try {
    writeAll(fd, head);
    while (bytes.size - at > chunkSize && !isOver()) {
      const part = bytes.read(at, chunkSize);
      for (let done = 0; done < part.length; )
        done += (await writeTo(fd, part, done, part.length - done, null)).bytesWritten;
      at += part.length;
    }
    await syncTo(fd);
    return copied;
  } catch (error) {
    drop();
    throw error;
  }
}

/** The share of the kept bytes by which a file is trimmed at once, so that copies are rare. */
const worthCopying = 0.25;

interface TrimmingParts {
  tables: LogTables;
  lines: LineReader;
  writer: GroupWriter<unknown>;
  keep: Keep | undefined;
  now: () => number;
  isClosed: () => boolean;
}

export function createTrimming({ tables, lines, writer, keep, now, isClosed }: TrimmingParts) {
  const { bytes, name } = tables;
  const offsetOf = (row: number): number => tables.index.offsetOf(row);

  function firstEventOf(n: number): number {
    const { events } = tables;
    let row = tables.firstEventHeld();
    const isBefore = () => events.get(row, event.request) < n || events.get(row, event.meta) & lostBit;
    while (row < events.length && isBefore()) row++;
    return row;
  }

  /** The first row to keep of a file that is too large or too old; trims enough to be worth the copy. */
  function firstToKeep(): number {
    const { bytes: most, ms } = keep ?? {};
    const held = tables.firstHeld();
    const since = now() - (ms ?? 0);
    const isYoung = (row: number) => (lines.headAt(row)?.at ?? Number.POSITIVE_INFINITY) >= since;
    const old = ms === undefined ? held : tables.firstRow(held, isYoung);
    const end = bytes.size;
    const isOld = old > held && lines.endOf(old - 1) - bytes.start >= (end - bytes.start) * worthCopying;
    if (most === undefined || end - bytes.start <= most) return isOld ? old : held;
    const left = most * (1 - worthCopying);
    return Math.max(
      old,
      tables.firstRow(held, (row) => end - offsetOf(row) <= left),
    );
  }

  function openingAt(first: number, held: number, offset: number): Opening {
    const { opening } = tables;
    const firstEvent = firstEventOf(opening.n + first);
    const wholePages = (row: number) => row - (row % pageRows);
    return {
      ...opening,
      n: opening.n + wholePages(first),
      seq: opening.seq + wholePages(firstEvent),
      from: {
        n: opening.n + first,
        seq: opening.seq + firstEvent,
        offset,
        evicted: (opening.from?.evicted ?? 0) + first - held,
      },
    };
  }

  return {
    /** Evicts from memory at once; files are trimmed. */
    evict() {
      const most = keep?.bytes;
      if (most === undefined || tables.hasSidecars || bytes.size - bytes.start <= most) return;
      // at the beginning of the line that the limit falls in
      const limit = bytes.size - most;
      const held = tables.firstHeld();
      const behind = tables.firstRow(held, (row) => offsetOf(row) > limit);
      if (behind - 1 > held) bytes.dropBefore(offsetOf(behind - 1));
    },
    /** Copies the kept part of a file, and replaces the file. Returns true if it did. */
    async trim() {
      writer.flush();
      const held = tables.firstHeld();
      const first = firstToKeep();
      if (first <= held) return false;
      const offset = first < tables.requests.length ? offsetOf(first) : bytes.size;
      if (!tables.hasSidecars) {
        bytes.dropBefore(offset);
        return false;
      }
      const { opening } = tables;
      const next = openingAt(first, held, offset);
      const head = Buffer.from(openingLine(next));
      const isOver = () => isClosed() || tables.opening !== opening;
      const draft = await draftFrom({ bytes, path: name }, offset, head, isOver);
      if (isOver()) {
        draft.drop();
        return false;
      }
      writer.flush();
      draft.finish();
      bytes.rebase(offset - head.length, offset);
      bytes.renew(Buffer.alloc(0), 0);
      tables.dropBefore(next);
      return true;
    },
  };
}

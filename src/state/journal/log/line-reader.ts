import { isObject, parsedJson } from "../../../kernel/base/json.ts";
import { smallText } from "../../../kernel/base/json-bounds.ts";
import { parsingJson } from "../../../kernel/base/json-turns.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { isSealed, lineNumber, unsealed, unsealing } from "../../../kernel/store/lines.ts";
import type { TrafficLine } from "../traffic.ts";
import type { GroupWriter } from "./group-writer.ts";
import { isIntact, isOfRequest, requestIn } from "./log-lines.ts";
import type { LogTables } from "./log-tables.ts";
import { droppedBit, event, spanText } from "./traffic-index.ts";

/** Lines that were read recently stay parsed, up to this many characters of text (a parsed line takes several times that). */
const lineCacheSize = 4 * 1024 * 1024;
/** A line is read in one step up to this size when the index does not bound it, in bytes. */
const readAhead = 4096;
const newline = 0x0a;
/** Above this size, in bytes, only the head of a line is read if that is enough: bodies may have 20 MB. */
const longLine = 16 * 1024;
/** The lines that the sidecars cover are checked in pieces of this many bytes. */
const checkSize = 1024 * 1024;

/** A line without its events, headers and bodies, as lists show it. */
export type RequestHead = Pick<TrafficLine, HeadField> & {
  /** Number of its events, and of those that were dropped. */
  carried: number;
  dropped: number;
};
type HeadField =
  | ("n" | "at" | "method" | "target" | "status" | "us" | "project")
  | ("rejected" | "fault" | "scripted" | "source" | "partition");

export interface EventRef {
  seq: number;
  line: TrafficLine;
  index: number;
}

interface ReaderParts {
  tables: LogTables;
  /** Holds the lines that are not in the file yet. */
  writer: GroupWriter<unknown>;
  report: (damage: Damage) => void;
  /** Checks whether another program has changed the file; true if it was indexed again. */
  looksAgain: () => boolean;
}

export function createLineReader({ tables, writer, report, looksAgain }: ReaderParts) {
  const { bytes, name } = tables;
  const cache = createLineCache();
  const misfit = `${name}: an index file does not fit it`;
  const offsetOf = (row: number): number => tables.index.offsetOf(row);
  /** The requests in the sidecars whose lines are not checked yet; `to` is excluded. */
  const unchecked = {
    from: tables.opening.from?.n ?? tables.opening.n,
    to: tables.covered > 0 ? tables.nextRequest : 0,
  };

  const endOffset = (): number => bytes.size + writer.size;

  /** Lines in another order do not bound each other. */
  function endOf(row: number): number {
    const next = row + 1 < tables.requests.length ? offsetOf(row + 1) : endOffset();
    return next > offsetOf(row) ? next : endOffset();
  }

  /** The first bytes of the line at a request row; reads the group that is not written yet as well. */
  function startOf(row: number, size: number): Buffer {
    const offset = offsetOf(row);
    return offset >= bytes.size
      ? writer.pending(offset - bytes.size, offset + size - bytes.size)
      : bytes.read(offset, size);
  }

  /** The bytes of the line at a request row, without its newline. */
  function bytesAt(row: number): Buffer {
    const offset = offsetOf(row);
    const isNext = row + 1 < tables.requests.length && offsetOf(row + 1) > offset;
    for (let size = isNext ? endOf(row) - offset : readAhead; ; size *= 2) {
      const found = startOf(row, size);
      const stop = found.indexOf(newline);
      if (stop !== -1) return found.subarray(0, stop);
      if (found.length < size) return found;
    }
  }

  /** The checked line at a request row; undefined, and reported, if it is lost. */
  function readAt(row: number): ReturnType<typeof requestIn> {
    if (tables.index.isLost(row)) return undefined;
    const found = bytesAt(row);
    const read = requestIn(found, !bytes.isFile);
    if (read?.line.n === tables.opening.n + row) return read;
    if (looksAgain()) return readAt(row);
    const isInPlace = read === undefined && found.length + 1 === endOf(row) - offsetOf(row) && startsLine(row);
    if (!isInPlace && !tables.isReindexed) {
      tables.reindex(`${name} was changed`);
      return readAt(row);
    }
    lose(row);
    return undefined;
  }

  /** True if a line begins where the index says. */
  function startsLine(row: number): boolean {
    return !bytes.isFile || bytes.read(offsetOf(row) - 1, 1)[0] === newline;
  }

  function lose(row: number): void {
    const lost = tables.index.lose(row);
    report({ file: name, line: lineNumber(bytes, offsetOf(row)), detail: `this line is damaged: ${lost} lost` });
  }

  function* checkCovered(): Generator<void> {
    let start = -1;
    let piece: Buffer = Buffer.alloc(0);
    while (unchecked.from < unchecked.to && !tables.isReindexed) {
      // rows change when old requests are evicted meanwhile; numbers stay
      const row = unchecked.from - tables.opening.n;
      const held = tables.firstHeld();
      if (row >= held && !tables.index.isLost(row)) {
        const [offset, end] = [offsetOf(row), endOf(row)];
        const isRead = start === offset || (offset > start && end <= start + piece.length);
        if (!isRead) {
          start = offset;
          piece = bytes.read(offset, Math.max(checkSize, end - offset));
          yield;
          continue;
        }
        const line = piece.subarray(offset - start, end - start);
        if (!isIntact(line, unchecked.from)) readAt(row);
        else if (!hasItsEvents(line, unchecked.from)) tables.reindex(misfit);
      } else if (row === held || (row > held && !tables.index.isLost(row - 1))) {
        reportLost(row);
      }
      unchecked.from++;
    }
  }

  /** True if the table of events has the first event of an intact line where the line says. */
  function hasItsEvents(line: Buffer, n: number): boolean {
    const seq = seqIn(line.toString("latin1", 0, readAhead));
    const row = (seq ?? 0) - tables.opening.seq;
    return seq === undefined || row < tables.firstEventHeld() || tables.events.get(row, event.request) === n;
  }

  /** Reports rows that an earlier run found to be lost. */
  function reportLost(from: number): void {
    let to = from;
    while (to + 1 < tables.requests.length && tables.index.isLost(to + 1)) to++;
    const { n } = tables.opening;
    const lost = spanText("request", n + from, n + to);
    report({ file: name, line: lineNumber(bytes, offsetOf(from)), detail: `${lost} lost before this line` });
  }

  const isHeld = (row: number): boolean => row >= 0 && row < tables.requests.length && !tables.isGone(row);

  function lineAt(row: number): TrafficLine | undefined {
    if (!isHeld(row)) return undefined;
    const n = tables.opening.n + row;
    const known = cache.get(n);
    if (known) return known;
    const read = readAt(row);
    if (read) cache.set(n, read.line, read.text.length);
    return read?.line;
  }

  const isLarge = (row: number): boolean => endOf(row) - offsetOf(row) >= smallText;

  /** The text of a line that is as it was written, without parsing it. */
  function* readingTextAt(row: number): Stepwise<string | undefined> {
    if (!isHeld(row) || tables.index.isLost(row)) return undefined;
    const found = bytesAt(row);
    const n = tables.opening.n + row;
    const isSame = isOfRequest(found, n) && (!bytes.isFile || isSealed(found));
    const text = !isSame ? undefined : isLarge(row) ? yield* unsealing(found) : unsealed(found);
    if (text !== undefined) return text;
    // rows change when old requests are evicted meanwhile
    const at = n - tables.opening.n;
    return isHeld(at) ? readAt(at)?.text : undefined;
  }

  function* readingAt(row: number): Stepwise<TrafficLine | undefined> {
    if (!isHeld(row)) return undefined;
    const n = tables.opening.n + row;
    if (cache.get(n) || !isLarge(row)) return lineAt(row);
    const { revision } = tables;
    const text = yield* readingTextAt(row);
    if (text === undefined) return undefined;
    yield;
    // checked as a whole, so that it has what a line has; the capture has counted its objects
    const room = { left: Number.POSITIVE_INFINITY };
    const line = (yield* parsingJson(text, Number.POSITIVE_INFINITY, room)) as unknown as TrafficLine;
    if (revision === tables.revision) cache.set(n, line, text.length);
    return line;
  }

  function headAt(row: number): RequestHead | undefined {
    if (!isHeld(row) || tables.index.isLost(row)) return undefined;
    const n = tables.opening.n + row;
    const isChecked = tables.isReindexed || n < unchecked.from || n >= unchecked.to;
    const isLong = isChecked && endOf(row) - offsetOf(row) > longLine && !cache.get(n);
    const head = isLong ? parseHead(startOf(row, readAhead).toString("utf8")) : undefined;
    if (head?.fields.n === n) return { ...head.fields, ...countsOf(n, head.seq) };
    const line = lineAt(row);
    return line && headOf(line);
  }

  /** Number of a request's events, by the index. */
  function countsOf(n: number, seq: number | undefined): { carried: number; dropped: number } {
    const { events, opening } = tables;
    let carried = 0;
    let dropped = 0;
    const first = seq === undefined ? events.length : seq - opening.seq;
    for (let at = first; at < events.length && events.get(at, event.request) === n; at++) {
      carried++;
      if (events.get(at, event.meta) & droppedBit) dropped++;
    }
    return { carried, dropped };
  }

  function refAt(row: number): EventRef | undefined {
    const line = lineAt(tables.events.get(row, event.request) - tables.opening.n);
    if (line?.seq === undefined) return undefined;
    const seq = tables.opening.seq + row;
    const at = seq - line.seq;
    if (line.events?.[at] !== undefined) return { seq, line, index: at };
    if (tables.isReindexed) return undefined;
    tables.reindex(misfit);
    return refAt(row);
  }

  function* preparing(row: number): Stepwise<void> {
    const at = tables.events.get(row, event.request) - tables.opening.n;
    if (isHeld(at) && isLarge(at)) yield* readingAt(at);
  }

  function inOrder(): (row: number) => Buffer | undefined {
    const room = Buffer.allocUnsafe(checkSize);
    let start = 0;
    let piece: Buffer = room.subarray(0, 0);
    return (row) => {
      if (!isHeld(row) || tables.index.isLost(row)) return undefined;
      const offset = offsetOf(row);
      const end = endOf(row);
      if (end - offset > checkSize) return checked(row, bytesAt(row));
      if (offset < start || end > start + piece.length) {
        start = offset;
        piece = bytes.read(offset, checkSize, room);
      }
      const stop = piece.indexOf(newline, offset - start);
      return checked(row, piece.subarray(offset - start, stop === -1 ? piece.length : stop));
    };
  }

  function checked(row: number, found: Buffer): Buffer | undefined {
    if (!bytes.isFile || isIntact(found, tables.opening.n + row)) return found;
    const line = lineAt(row);
    if (!line) return undefined;
    const { body, ...rest } = line;
    return Buffer.from(JSON.stringify({ ...rest, body }));
  }

  return {
    /** The line of a request; undefined if it is evicted or lost. */
    lineAt,
    /**
     * Reads the checked bytes of lines, without their newlines, in the order of the file: several with one read. They are
     * valid until the next line is read, and end with the body. undefined if the line is evicted or lost.
     */
    inOrder,
    /** The same, in steps. */
    readingAt,
    /** Its text, in steps. */
    readingTextAt,
    headAt,
    refAt,
    /** Parses the line of such a row in steps if it is large, so that `refAt` finds it parsed. */
    preparing,
    endOf,
    /** Checks the lines that the sidecars cover, a piece with each step, so that damage is reported early. */
    checkCovered,
    /** True if the last line that begins before the offset is where the index has it, or there is none. */
    isInPlaceBefore(offset: number) {
      let row = tables.requests.length - 1;
      while (row >= tables.firstHeld() && (tables.index.isLost(row) || offsetOf(row) >= offset)) row--;
      return row < tables.firstHeld() || isIntact(bytesAt(row), tables.opening.n + row);
    },
    /** Empties the cache of parsed lines. */
    forget: () => cache.clear(),
  };
}

/** Reads lines by their rows, and reports damaged ones. */
export type LineReader = ReturnType<typeof createLineReader>;

const fieldsOf = (line: Pick<TrafficLine, HeadField>): Pick<TrafficLine, HeadField> => ({
  n: line.n,
  at: line.at,
  method: line.method,
  target: line.target,
  status: line.status,
  us: line.us,
  project: line.project,
  ...(line.rejected && { rejected: line.rejected }),
  ...(line.fault !== undefined && { fault: line.fault }),
  ...(line.scripted && { scripted: line.scripted }),
  ...(line.source !== undefined && { source: line.source }),
  ...(line.partition !== undefined && { partition: line.partition }),
});

export function headOf(line: TrafficLine): RequestHead {
  const { events = [] } = line;
  let dropped = 0;
  for (const it of events) if (it.dropped !== undefined) dropped++;
  return { ...fieldsOf(line), carried: events.length, dropped };
}

/**
 * The first fields of a line, and the seq of its first event; undefined where they do not end within the text. Quotes in
 * values are escaped, so that what looks like a key is one.
 */
function parseHead(text: string): { fields: Pick<TrafficLine, HeadField>; seq: number | undefined } | undefined {
  const seq = seqIn(text);
  const end = text.search(/,"(?:seq|events|headers)":/);
  const head = end === -1 ? undefined : parsedJson(`${text.slice(0, end)}}`);
  // The line was checked when it was written, or read for the first time.
  return isObject(head) ? { fields: fieldsOf(head as unknown as TrafficLine), seq } : undefined;
}

function seqIn(text: string): number | undefined {
  const [, seq] = /,"(?:seq":(\d+),"events|events|headers)":/.exec(text) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

function createLineCache() {
  const lines = new Map<number, { line: TrafficLine; size: number }>();
  let total = 0;
  return {
    get: (row: number) => lines.get(row)?.line,
    /** `size` in characters of text. Lets go of the oldest lines until this one fits. */
    set(row: number, line: TrafficLine, size: number) {
      for (const [oldest, held] of lines) {
        if (total + size <= lineCacheSize) break;
        lines.delete(oldest);
        total -= held.size;
      }
      lines.set(row, { line, size });
      total += size;
    },
    clear() {
      lines.clear();
      total = 0;
    },
  };
}

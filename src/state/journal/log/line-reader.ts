import { isObject, parsedJson } from "../../../kernel/base/json.ts";
import { smallText } from "../../../kernel/base/json-bounds.ts";
import { parsingJson } from "../../../kernel/base/json-turns.ts";
import type { Stepwise } from "../../../kernel/base/work.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
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
export type RequestHead = Pick<TrafficLine, HeadField> & { carried: number; dropped: number };
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
  writer: GroupWriter<unknown>;
  report: (damage: Damage) => void;
  /** Checks whether another program has changed the file; true if it was indexed again. */
  looksAgain: () => boolean;
}

export class LineReader {
  readonly #tables: LogTables;
  readonly #bytes: Bytes;
  readonly #name: string;
  readonly #parts: ReaderParts;
  readonly #cache = new LineCache();
  /** The requests in the sidecars whose lines are not checked yet; `to` is excluded. */
  readonly #unchecked: { from: number; to: number };

  constructor(parts: ReaderParts) {
    const { tables } = parts;
    const { opening } = tables;
    this.#parts = parts;
    this.#tables = tables;
    this.#bytes = tables.bytes;
    this.#name = tables.name;
    this.#unchecked = { from: opening.from?.n ?? opening.n, to: tables.covered > 0 ? tables.nextRequest : 0 };
  }

  #offsetOf(row: number): number {
    return this.#tables.index.offsetOf(row);
  }

  #misfit(): void {
    this.#tables.reindex(`${this.#name}: an index file does not fit it`);
  }

  /** Lines in another order do not bound each other. */
  endOf(row: number): number {
    const end = this.#bytes.size + this.#parts.writer.size;
    const next = row + 1 < this.#tables.requests.length ? this.#offsetOf(row + 1) : end;
    return next > this.#offsetOf(row) ? next : end;
  }

  #startOf(row: number, size: number): Buffer {
    const offset = this.#offsetOf(row);
    const inGroup = offset - this.#bytes.size;
    return inGroup >= 0 ? this.#parts.writer.pending(inGroup, inGroup + size) : this.#bytes.read(offset, size);
  }

  #bytesAt(row: number): Buffer {
    const offset = this.#offsetOf(row);
    const isNext = row + 1 < this.#tables.requests.length && this.#offsetOf(row + 1) > offset;
    for (let size = isNext ? this.endOf(row) - offset : readAhead; ; size *= 2) {
      const bytes = this.#startOf(row, size);
      const stop = bytes.indexOf(newline);
      if (stop !== -1) return bytes.subarray(0, stop);
      if (bytes.length < size) return bytes;
    }
  }

  /** The checked line at a request row; undefined, and reported, if it is lost. */
  #readAt(row: number): ReturnType<typeof requestIn> {
    const tables = this.#tables;
    if (tables.index.isLost(row)) return undefined;
    const bytes = this.#bytesAt(row);
    const read = requestIn(bytes, !this.#bytes.isFile);
    if (read?.line.n === tables.opening.n + row) return read;
    if (this.#parts.looksAgain()) return this.#readAt(row);
    const isWhole = bytes.length + 1 === this.endOf(row) - this.#offsetOf(row);
    const isInPlace = read === undefined && isWhole && this.#startsLine(row);
    if (!isInPlace && !tables.isReindexed) {
      tables.reindex(`${this.#name} was changed`);
      return this.#readAt(row);
    }
    this.#report(row, `this line is damaged: ${tables.index.lose(row)} lost`);
    return undefined;
  }

  #startsLine(row: number): boolean {
    return !this.#bytes.isFile || this.#bytes.read(this.#offsetOf(row) - 1, 1)[0] === newline;
  }

  #report(row: number, detail: string): void {
    this.#parts.report({ file: this.#name, line: lineNumber(this.#bytes, this.#offsetOf(row)), detail });
  }

  /** Checks the lines that the sidecars cover, a piece with each step, so that damage is reported early. */
  *checkCovered(): Generator<void> {
    const tables = this.#tables;
    const unchecked = this.#unchecked;
    let start = -1;
    let piece: Buffer = Buffer.alloc(0);
    while (unchecked.from < unchecked.to && !tables.isReindexed) {
      // rows change when old requests are evicted meanwhile; numbers stay
      const row = unchecked.from - tables.opening.n;
      const held = tables.firstHeld();
      if (row >= held && !tables.index.isLost(row)) {
        const [offset, end] = [this.#offsetOf(row), this.endOf(row)];
        const isRead = start === offset || (offset > start && end <= start + piece.length);
        if (!isRead) {
          start = offset;
          piece = this.#bytes.read(offset, Math.max(checkSize, end - offset));
          yield;
          continue;
        }
        const line = piece.subarray(offset - start, end - start);
        if (!isIntact(line, unchecked.from)) this.#readAt(row);
        else if (!this.#hasItsEvents(line, unchecked.from)) this.#misfit();
      } else if (row === held || (row > held && !tables.index.isLost(row - 1))) {
        this.#reportLost(row);
      }
      unchecked.from++;
    }
  }

  /** True if the table of events has the first event of an intact line where the line says. */
  #hasItsEvents(line: Buffer, n: number): boolean {
    const tables = this.#tables;
    const seq = seqIn(line.toString("latin1", 0, readAhead));
    const row = (seq ?? 0) - tables.opening.seq;
    return seq === undefined || row < tables.firstEventHeld() || tables.events.get(row, event.request) === n;
  }

  #reportLost(from: number): void {
    const tables = this.#tables;
    let to = from;
    while (to + 1 < tables.requests.length && tables.index.isLost(to + 1)) to++;
    const { n } = tables.opening;
    this.#report(from, `${spanText("request", n + from, n + to)} lost before this line`);
  }

  #isHeld(row: number): boolean {
    return row >= 0 && row < this.#tables.requests.length && !this.#tables.isGone(row);
  }

  #isReadable(row: number): boolean {
    return this.#isHeld(row) && !this.#tables.index.isLost(row);
  }

  #isLarge(row: number): boolean {
    return this.endOf(row) - this.#offsetOf(row) >= smallText;
  }

  /** The line of a request; undefined if it is evicted or lost. */
  lineAt(row: number): TrafficLine | undefined {
    if (!this.#isHeld(row)) return undefined;
    const n = this.#tables.opening.n + row;
    const known = this.#cache.get(n);
    if (known) return known;
    const read = this.#readAt(row);
    if (read) this.#cache.set(n, read.line, read.text.length);
    return read?.line;
  }

  *readingTextAt(row: number): Stepwise<string | undefined> {
    if (!this.#isReadable(row)) return undefined;
    const bytes = this.#bytesAt(row);
    const n = this.#tables.opening.n + row;
    const isSame = isOfRequest(bytes, n) && (!this.#bytes.isFile || isSealed(bytes));
    const text = !isSame ? undefined : this.#isLarge(row) ? yield* unsealing(bytes) : unsealed(bytes);
    if (text !== undefined) return text;
    // rows change when old requests are evicted meanwhile
    const at = n - this.#tables.opening.n;
    return this.#isHeld(at) ? this.#readAt(at)?.text : undefined;
  }

  *readingAt(row: number): Stepwise<TrafficLine | undefined> {
    if (!this.#isHeld(row)) return undefined;
    const tables = this.#tables;
    const n = tables.opening.n + row;
    if (this.#cache.get(n) || !this.#isLarge(row)) return this.lineAt(row);
    const { revision } = tables;
    const text = yield* this.readingTextAt(row);
    if (text === undefined) return undefined;
    yield;
    // checked as a whole, so that it has what a line has; the capture has counted its objects
    const room = { left: Number.POSITIVE_INFINITY };
    const line = (yield* parsingJson(text, Number.POSITIVE_INFINITY, room)) as unknown as TrafficLine;
    if (revision === tables.revision) this.#cache.set(n, line, text.length);
    return line;
  }

  headAt(row: number): RequestHead | undefined {
    if (!this.#isReadable(row)) return undefined;
    const n = this.#tables.opening.n + row;
    const { from, to } = this.#unchecked;
    const isChecked = this.#tables.isReindexed || n < from || n >= to;
    const isLong = isChecked && this.endOf(row) - this.#offsetOf(row) > longLine && !this.#cache.get(n);
    const head = isLong ? parseHead(this.#startOf(row, readAhead).toString("utf8")) : undefined;
    if (head?.fields.n === n) return { ...head.fields, ...this.#countsOf(n, head.seq) };
    const line = this.lineAt(row);
    return line && headOf(line);
  }

  #countsOf(n: number, seq: number | undefined): { carried: number; dropped: number } {
    const { events, opening } = this.#tables;
    let carried = 0;
    let dropped = 0;
    const first = seq === undefined ? events.length : seq - opening.seq;
    for (let at = first; at < events.length && events.get(at, event.request) === n; at++) {
      carried++;
      if (events.get(at, event.meta) & droppedBit) dropped++;
    }
    return { carried, dropped };
  }

  #carrierOf(row: number): number {
    return this.#tables.events.get(row, event.request) - this.#tables.opening.n;
  }

  refAt(row: number): EventRef | undefined {
    const line = this.lineAt(this.#carrierOf(row));
    if (line?.seq === undefined) return undefined;
    const seq = this.#tables.opening.seq + row;
    const index = seq - line.seq;
    if (line.events?.[index] !== undefined) return { seq, line, index };
    if (this.#tables.isReindexed) return undefined;
    this.#misfit();
    return this.refAt(row);
  }

  /** Parses the line of an event in steps if it is large, so that `refAt` finds it parsed. */
  *preparing(row: number): Stepwise<void> {
    const at = this.#carrierOf(row);
    if (this.#isHeld(at) && this.#isLarge(at)) yield* this.readingAt(at);
  }

  /**
   * Reads the checked bytes of lines, without their newlines, in the order of the file: several with one read. They are
   * valid until the next line is read, and end with the body. undefined if the line is evicted or lost.
   */
  inOrder(): (row: number) => Buffer | undefined {
    const room = Buffer.allocUnsafe(checkSize);
    let start = 0;
    let piece: Buffer = room.subarray(0, 0);
    return (row) => {
      if (!this.#isReadable(row)) return undefined;
      const offset = this.#offsetOf(row);
      const end = this.endOf(row);
      if (end - offset > checkSize) return this.#checked(row, this.#bytesAt(row));
      if (offset < start || end > start + piece.length) {
        start = offset;
        piece = this.#bytes.read(offset, checkSize, room);
      }
      const stop = piece.indexOf(newline, offset - start);
      return this.#checked(row, piece.subarray(offset - start, stop === -1 ? piece.length : stop));
    };
  }

  #checked(row: number, bytes: Buffer): Buffer | undefined {
    if (!this.#bytes.isFile || isIntact(bytes, this.#tables.opening.n + row)) return bytes;
    const line = this.lineAt(row);
    if (!line) return undefined;
    const { body, ...rest } = line;
    return Buffer.from(JSON.stringify({ ...rest, body }));
  }

  /** True if the last line that begins before the offset is where the index has it, or there is none. */
  isInPlaceBefore(offset: number): boolean {
    const tables = this.#tables;
    const held = tables.firstHeld();
    let row = tables.requests.length - 1;
    while (row >= held && (tables.index.isLost(row) || this.#offsetOf(row) >= offset)) row--;
    return row < held || isIntact(this.#bytesAt(row), tables.opening.n + row);
  }

  forget(): void {
    this.#cache.clear();
  }
}
function fieldsOf(line: Pick<TrafficLine, HeadField>): Pick<TrafficLine, HeadField> {
  const { n, at, method, target, status, us, project, rejected, fault, scripted, source, partition } = line;
  return { n, at, method, target, status, us, project, rejected, fault, scripted, source, partition };
}

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

class LineCache {
  readonly #lines = new Map<number, { line: TrafficLine; size: number }>();
  #total = 0;

  get(n: number): TrafficLine | undefined {
    return this.#lines.get(n)?.line;
  }

  /** `size` in characters of text. Lets go of the oldest lines until this one fits. */
  set(n: number, line: TrafficLine, size: number): void {
    for (const [oldest, held] of this.#lines) {
      if (this.#total + size <= lineCacheSize) break;
      this.#lines.delete(oldest);
      this.#total -= held.size;
    }
    this.#lines.set(n, { line, size });
    this.#total += size;
  }

  clear(): void {
    this.#lines.clear();
    this.#total = 0;
  }
}

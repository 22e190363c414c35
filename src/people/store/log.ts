import type { Bytes } from "../../store/bytes.ts";
import { blankSeal, unsealed, writeSeal } from "../../store/lines.ts";

/** The lines of people.ndjson: what is on disk, and behind it the lines that wait for the next flush. */
export interface LineLog {
  /** Where flushed lines are. */
  readonly bytes: Bytes;
  /** Offset behind the last line, waiting ones included. */
  readonly end: number;
  /** Bytes that wait for `flush`. */
  readonly waiting: number;
  /** Takes a line (without its newline) and returns its offset; its length is `end - offset`. */
  append(line: string): number;
  /**
   * The line that starts at the offset, without its newline; undefined when it is damaged. `length` is a hint that
   * saves a second read.
   */
  lineAt(offset: number, length?: number): string | undefined;
  /** Writes what waits with one call. When that throws nothing is lost: the lines wait on. */
  flush(): void;
  /** Forgets the lines from the offset on, written or not. */
  cut(offset: number): void;
  /** Goes on in other bytes; nothing may be waiting. */
  use(other: Bytes): void;
}

const firstCapacity = 64 * 1024;
const newline = 0x0a;
/** Enough for nearly every line whose length is not known. */
const usualLength = 256;
/** A buffer that became larger is let go once it is written. */
const usualCapacity = 1024 * 1024;

/** `limit`: waiting bytes beyond this are written at once, which keeps memory bounded. */
export function createLineLog(initial: Bytes, limit = Number.POSITIVE_INFINITY): LineLog {
  let bytes = initial;
  let waiting = Buffer.allocUnsafeSlow(firstCapacity);
  let used = 0;

  function reserve(length: number): void {
    if (used + length <= waiting.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(waiting.length * 2, used + length));
    waiting.copy(wider, 0, 0, used);
    waiting = wider;
  }

  function flush(): void {
    if (used === 0) return;
    // A copy: bytes held in memory keep what they are given, and this buffer is used again.
    bytes.append(Buffer.from(waiting.subarray(0, used)));
    used = 0;
    if (waiting.length > usualCapacity) waiting = Buffer.allocUnsafeSlow(firstCapacity);
  }

  function stored(offset: number, length: number): Buffer {
    for (let size = length; ; size *= 2) {
      const block = bytes.read(offset, size);
      const end = block.indexOf(newline);
      if (end !== -1 || block.length < size) return end === -1 ? block : block.subarray(0, end);
    }
  }

  function waitingAt(start: number): Buffer {
    return waiting.subarray(start, waiting.indexOf(newline, start));
  }

  return {
    get bytes() {
      return bytes;
    },
    get end() {
      return bytes.size + used;
    },
    get waiting() {
      return used;
    },
    append(line) {
      if (used >= limit) flush();
      const offset = bytes.size + used;
      const start = used;
      const text = bytes.isFile ? blankSeal + line.slice(1) : line;
      // UTF-8 takes at most three bytes for each UTF-16 unit.
      reserve(text.length * 3 + 1);
      used += waiting.write(text, used, "utf8");
      if (bytes.isFile) writeSeal(waiting, start, used);
      waiting[used++] = newline;
      return offset;
    },
    lineAt(offset, length = usualLength) {
      return unsealed(offset < bytes.size ? stored(offset, length) : waitingAt(offset - bytes.size));
    },
    flush,
    cut(offset) {
      used = 0;
      if (bytes.size > offset) bytes.truncate(offset);
    },
    use(other) {
      bytes = other;
    },
  };
}

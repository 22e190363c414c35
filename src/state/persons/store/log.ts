import type { Bytes } from "../../../kernel/store/bytes.ts";
import { blankSeal, unsealed, writeSeal } from "../../../kernel/store/lines.ts";

const firstCapacity = 64 * 1024;
const newline = 0x0a;
/** The first read of a line of unknown length. */
const usualLength = 256;
/** A larger buffer is freed after it is written. */
const usualCapacity = 1024 * 1024;

/** @param limit Waiting bytes from which lines are written, which bounds the memory */
export function createLineLog(initial: Bytes, limit = Number.POSITIVE_INFINITY) {
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
    // a copy: bytes in memory keep the buffer, and this one is used again
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
    /** Offset after the last line, including waiting ones. */
    get end() {
      return bytes.size + used;
    },
    /** Bytes that wait for `flush`. */
    get waiting() {
      return used;
    },
    /** Adds a line (without its newline). @returns its offset; its length is `end - offset` */
    append(line: string) {
      if (used >= limit) flush();
      const offset = bytes.size + used;
      const start = used;
      const text = bytes.isFile ? blankSeal + line.slice(1) : line;
      // UTF-8 takes at most three bytes for each UTF-16 unit
      reserve(text.length * 3 + 1);
      used += waiting.write(text, used, "utf8");
      if (bytes.isFile) writeSeal(waiting, start, used);
      waiting[used++] = newline;
      return offset;
    },
    /**
     * The line at the offset, without its newline; undefined if it is damaged.
     * @param length A hint that saves a second read
     */
    lineAt(offset: number, length: number = usualLength) {
      return unsealed(offset < bytes.size ? stored(offset, length) : waitingAt(offset - bytes.size));
    },
    /** Writes the waiting lines with one call; if it throws, they keep waiting. */
    flush,
    /** Removes the lines from the offset on, written or not. */
    cut(offset: number) {
      used = 0;
      if (bytes.size > offset) bytes.truncate(offset);
    },
    /** Continues with other bytes; no line may be waiting. */
    use(other: Bytes) {
      bytes = other;
    },
  };
}

/** The lines of people.ndjson: those on disk, and later ones that wait for the next flush. */
export type LineLog = ReturnType<typeof createLineLog>;

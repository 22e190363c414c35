import type { Bytes } from "../../../kernel/store/bytes.ts";
import { blankSeal, unsealed, writeSeal } from "../../../kernel/store/lines.ts";

const firstCapacity = 64 * 1024;
const newline = 0x0a;
const usualCapacity = 1024 * 1024;

/** The lines of people.ndjson: those on disk, and later ones that wait for the next flush. */
export class LineLog {
  #bytes: Bytes;
  readonly #limit: number;
  #waiting = Buffer.allocUnsafeSlow(firstCapacity);
  #used = 0;

  /** @param limit Waiting bytes from which lines are written, which bounds the memory */
  constructor(bytes: Bytes, limit = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
    this.#limit = limit;
  }

  get bytes(): Bytes {
    return this.#bytes;
  }

  get end(): number {
    return this.#bytes.size + this.#used;
  }

  get waiting(): number {
    return this.#used;
  }

  #reserve(length: number): void {
    if (this.#used + length <= this.#waiting.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(this.#waiting.length * 2, this.#used + length));
    this.#waiting.copy(wider, 0, 0, this.#used);
    this.#waiting = wider;
  }

  /** Adds a line (without its newline). @returns its offset; its length is `end - offset` */
  append(line: string): number {
    if (this.#used >= this.#limit) this.flush();
    const offset = this.end;
    const start = this.#used;
    const { isFile } = this.#bytes;
    const text = isFile ? blankSeal + line.slice(1) : line;
    // UTF-8 takes at most three bytes for each UTF-16 unit
    this.#reserve(text.length * 3 + 1);
    this.#used += this.#waiting.write(text, start, "utf8");
    if (isFile) writeSeal(this.#waiting, start, this.#used);
    this.#waiting[this.#used++] = newline;
    return offset;
  }

  /** The line at the offset, without its newline; undefined if damaged. @param length A hint that saves a second read */
  lineAt(offset: number, length: number): string | undefined {
    const start = offset - this.#bytes.size;
    if (start < 0) return unsealed(this.#stored(offset, length));
    return unsealed(this.#waiting.subarray(start, this.#waiting.indexOf(newline, start)));
  }

  #stored(offset: number, length: number): Buffer {
    for (let size = length; ; size *= 2) {
      const block = this.#bytes.read(offset, size);
      const end = block.indexOf(newline);
      if (end !== -1 || block.length < size) return end === -1 ? block : block.subarray(0, end);
    }
  }

  /** Writes the waiting lines with one call; if it throws, they keep waiting. */
  flush(): void {
    if (this.#used === 0) return;
    // a copy: bytes in memory keep the buffer, and this one is used again
    this.#bytes.append(Buffer.from(this.#waiting.subarray(0, this.#used)));
    this.#used = 0;
    if (this.#waiting.length > usualCapacity) this.#waiting = Buffer.allocUnsafeSlow(firstCapacity);
  }

  cut(offset: number): void {
    this.#used = 0;
    if (this.#bytes.size > offset) this.#bytes.truncate(offset);
  }

  use(other: Bytes): void {
    this.#bytes = other;
  }
}

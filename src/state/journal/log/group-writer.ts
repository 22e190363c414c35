import { setImmediate } from "../../../kernel/base/real-time.ts";
import { writeSeal } from "../../../kernel/store/lines.ts";
import type { Unit } from "../../../kernel/store/unit.ts";

/** Size of an empty group's buffer, from which a group is written, and above which the buffer is released, in bytes. */
const usualSize = 256 * 1024;
const largeSize = 4 * 1024 * 1024;

const brace = 0x7d;
const newline = 0x0a;

interface GroupWriterOptions<T> {
  /** Looks for what other programs did to the files, before a group begins. */
  look(): void;
  mustBeWritable(): void;
  /** Appends the bytes of a group, all or nothing. @throws the system's error */
  write(group: Buffer): void;
  /** What must be on disk before the group. A group that fails takes them back. */
  units: readonly Unit[];
  /** The group of these was refused: nothing of them may be found later. */
  onRefused(items: readonly T[]): void;
  onWritten(items: readonly T[]): void;
  notice(text: string): void;
}

/** Collects what is appended within a turn of the event loop, and writes it with few calls. */
export class GroupWriter<T> {
  readonly #options: GroupWriterOptions<T>;
  #buffer = Buffer.allocUnsafe(usualSize);
  #used = 0;
  #items: T[] = [];
  #waiting: ReturnType<typeof deferred> | undefined;
  #lastGroup: Promise<void> = Promise.resolve();

  constructor(options: GroupWriterOptions<T>) {
    this.#options = options;
  }

  get size(): number {
    return this.#used;
  }

  pending(from: number, to: number): Buffer {
    return this.#buffer.subarray(from, Math.min(to, this.#used));
  }

  /** Must be called before the first line of a group gets its numbers: other programs may have added lines. */
  begin(): void {
    if (this.#used === 0) this.#options.look();
  }

  #makeRoom(most: number): void {
    const needed = this.#used + most;
    if (needed <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, needed));
    this.#buffer.copy(larger, 0, 0, this.#used);
    this.#buffer = larger;
  }

  /** Adds to the group. It is written by `commit`, or at the end of the turn in which `schedule` is called. */
  add(part: string | Buffer): void {
    if (typeof part === "string") {
      this.#makeRoom(part.length * 3);
      // UTF-8; naming it would make node look the encoding up
      this.#used += this.#buffer.write(part, this.#used);
    } else {
      this.#makeRoom(part.length);
      this.#buffer.set(part, this.#used);
      this.#used += part.length;
    }
  }

  endLine(): void {
    this.#makeRoom(2);
    this.#buffer[this.#used++] = brace;
    this.#buffer[this.#used++] = newline;
  }

  /** Fills in the blank seal of the line from this place to the end, its newline included. */
  seal(from: number): void {
    writeSeal(this.#buffer, from, this.#used - 1);
  }

  /** Has the group written at the end of this turn, or now if it is large; `item` is reported with it. */
  schedule(item: T): void {
    this.#items.push(item);
    if (!this.#waiting) {
      this.#waiting = deferred();
      this.#lastGroup = this.#waiting.promise;
      setImmediate(() => this.flush());
    }
    // waiting would save little, and keep all that these requests consist of alive
    if (this.#used >= usualSize) this.flush();
  }

  /** Resolves when all that was scheduled so far is written; rejects when that failed. */
  written(): Promise<void> {
    return this.#lastGroup;
  }

  /** Writes the group and its units now. @throws the system's error; then all of it was taken back */
  commit(): void {
    const { look, mustBeWritable, write, units, onRefused, onWritten } = this.#options;
    const done = this.#waiting;
    this.#waiting = undefined;
    const group = this.#items;
    this.#items = [];
    try {
      if (this.#used === 0) look();
      mustBeWritable();
      for (const it of units) it.write();
      const bytes = this.#buffer.subarray(0, this.#used);
      this.#used = 0;
      if (bytes.length > 0) write(bytes);
    } catch (error) {
      this.#used = 0;
      onRefused(group);
      for (const it of units) this.#takeBack(it);
      done?.reject(error);
      throw error;
    }
    for (const it of units) it.settle();
    if (this.#buffer.length > largeSize) this.#buffer = Buffer.allocUnsafe(usualSize);
    done?.resolve();
    onWritten(group);
  }

  flush(): void {
    if (!this.#waiting) return;
    try {
      this.commit();
    } catch {
      // Its requests are answered with the error.
    }
  }

  /** The file may refuse to be cut as well; it is cut before its next write then. */
  #takeBack(unit: Unit): void {
    try {
      unit.rollBack();
    } catch (error) {
      this.#options.notice(`what was refused could not be cut off: ${String(error)}`);
    }
  }
}

function deferred() {
  let resolve = () => {};
  let reject = (_error: unknown) => {};
  const promise = new Promise<void>((onWritten, onRefused) => {
    resolve = onWritten;
    reject = onRefused;
  });
  // Perhaps nothing waits for this group; what does gets the rejection anyway.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

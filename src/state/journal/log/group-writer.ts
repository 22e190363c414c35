import { setImmediate } from "../../../kernel/base/real-time.ts";
import { writeSeal } from "../../../kernel/store/lines.ts";
import type { Unit } from "../../../kernel/store/unit.ts";

/** Size of an empty group's buffer, from which a group is written, and above which the buffer is released, in bytes. */
const usualSize = 256 * 1024;
const largeSize = 4 * 1024 * 1024;

const brace = 0x7d;
const newline = 0x0a;

export interface GroupWriterOptions<T> {
  /** Looks for what other programs did to the files, before a group begins. */
  look(): void;
  /** @throws an error if nothing may be written */
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
export interface GroupWriter<T> {
  /** Bytes that are not written yet. */
  readonly size: number;
  /** The bytes that are not written yet, from one place to another. */
  pending(from: number, to: number): Buffer;
  /** Must be called before the first line of a group gets its numbers: other programs may have added lines. */
  begin(): void;
  /** Adds to the group. It is written by `commit`, or at the end of the turn in which `schedule` is called. */
  add(part: string | Buffer): void;
  /** Adds `}` and a newline. */
  endLine(): void;
  /** Fills in the blank seal of the line from this place to the end, its newline included. */
  seal(from: number): void;
  /** Has the group written at the end of this turn, or now if it is large; `item` is reported with it. */
  schedule(item: T): void;
  /** Resolves when all that was scheduled so far is written; rejects when that failed. */
  written(): Promise<void>;
  /** Writes the group and its units now. @throws the system's error; then all of it was taken back */
  commit(): void;
  /** Writes what is scheduled now. Errors reach `written` only. */
  flush(): void;
}

export function createGroupWriter<T>(options: GroupWriterOptions<T>): GroupWriter<T> {
  const { look, mustBeWritable, write, units, onRefused, onWritten, notice } = options;
  let buffer = Buffer.allocUnsafe(usualSize);
  let used = 0;
  let items: T[] = [];
  let waiting: Deferred | undefined;
  let lastGroup: Promise<void> = Promise.resolve();

  function makeRoom(most: number): void {
    if (used + most <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + most));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  }

  function commit(): void {
    const done = waiting;
    waiting = undefined;
    const group = items;
    items = [];
    try {
      if (used === 0) look();
      mustBeWritable();
      for (const it of units) it.write();
      const bytes = buffer.subarray(0, used);
      used = 0;
      if (bytes.length > 0) write(bytes);
    } catch (error) {
      used = 0;
      onRefused(group);
      for (const it of units) takeBack(it);
      done?.reject(error);
      throw error;
    }
    for (const it of units) it.settle();
    if (buffer.length > largeSize) buffer = Buffer.allocUnsafe(usualSize);
    done?.resolve();
    onWritten(group);
  }

  function flush(): void {
    if (!waiting) return;
    try {
      commit();
    } catch {
      // Its requests are answered with the error.
    }
  }

  /** The file may refuse to be cut as well; it is cut before its next write then. */
  function takeBack(unit: Unit): void {
    try {
      unit.rollBack();
    } catch (error) {
      notice(`what was refused could not be cut off: ${String(error)}`);
    }
  }

  return {
    get size() {
      return used;
    },
    begin() {
      if (used === 0) look();
    },
    pending: (from, to) => buffer.subarray(from, Math.min(to, used)),
    add(part) {
      if (typeof part === "string") {
        makeRoom(part.length * 3);
        // UTF-8; naming it would make node look the encoding up
        used += buffer.write(part, used);
      } else {
        makeRoom(part.length);
        buffer.set(part, used);
        used += part.length;
      }
    },
    endLine() {
      makeRoom(2);
      buffer[used++] = brace;
      buffer[used++] = newline;
    },
    seal: (from) => writeSeal(buffer, from, used - 1),
    schedule(item) {
      items.push(item);
      if (!waiting) {
        waiting = deferred();
        lastGroup = waiting.promise;
        setImmediate(flush);
      }
      // waiting would save little, and keep all that these requests consist of alive
      if (used >= usualSize) flush();
    },
    written: () => lastGroup,
    commit,
    flush,
  };
}

interface Deferred {
  promise: Promise<void>;
  resolve: () => void;
  reject: (error: unknown) => void;
}

function deferred(): Deferred {
  const made: Partial<Deferred> = {};
  made.promise = new Promise<void>((resolve, reject) => {
    made.resolve = resolve;
    made.reject = reject;
  });
  // Perhaps nothing waits for this group; what does gets the rejection anyway.
  made.promise.catch(() => {});
  return made as Deferred;
}

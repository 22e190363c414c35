import {
  closeSync,
  existsSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { makeFolder } from "../base/make-folder.ts";

/** What another program did to an open file: added or removed bytes at its end, deleted or moved it, put another in its place. */
type ForeignChange = "grown" | "shrunk" | "gone" | "replaced";

/** Writes all of it or throws; a short write (disk full) is continued until the system says why. */
export function writeAll(fd: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

const roomFor = (length: number, into: Buffer | undefined): Buffer =>
  into && into.length >= length ? into.subarray(0, length) : Buffer.allocUnsafe(length);

const chunkSize = 1024 * 1024;
const newline = 0x0a;

function copyAll(from: number, to: number): void {
  const chunk = Buffer.allocUnsafe(chunkSize);
  for (let at = 0; ; ) {
    const got = readSync(from, chunk, 0, chunkSize, at);
    if (got === 0) return;
    writeAll(to, chunk.subarray(0, got));
    at += got;
  }
}

/** A name for a file with which another program replaced ours. */
export function asideName(path: string): string {
  let name = `${path}.replaced`;
  for (let n = 2; existsSync(name); n++) name = `${path}.replaced-${n}`;
  return name;
}

function fileAt(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** `ax+`: a file that must be new; a link is not followed. */
export type FileMode = "a+" | "ax+" | "r";

/** The bytes of a file, appended with one system call each time. */
export class FileBytes {
  readonly #path: string;
  #fd: number;
  /** Offset of the file's first byte. */
  #base = 0;
  #isDirty = false;
  /** True if a failed write left bytes behind the last one. They are cut off before the next write. */
  #isTorn = false;
  /** Lines in a file are sealed (lines.ts); in memory nothing can be damaged. */
  readonly isFile: boolean = true;
  /** Offset of the first byte still held; above 0 once older ones were let go. */
  start = 0;
  length: number;

  /** @throws the system's error when the file cannot be opened for reading, and with `a+` for appending. */
  constructor(path: string, mode: FileMode = "a+") {
    this.#path = path;
    this.#fd = openSync(path, mode, 0o600);
    this.length = fstatSync(this.#fd).size;
  }

  get size(): number {
    return this.#base + this.length;
  }

  /** Files only: the file begins at this offset; of its bytes those from `start` on are held. */
  rebase(base: number, start: number): void {
    this.#base = base;
    this.start = start;
  }

  /** Appends at once. Returns the offset of the first byte. All or nothing. @throws the system's error */
  append(bytes: Buffer): number {
    const offset = this.length;
    if (this.#isTorn) this.#cut(offset);
    try {
      writeAll(this.#fd, bytes);
    } catch (error) {
      try {
        this.#cut(offset);
      } catch {
        // the next append cuts it off; the first failure is the one to report
      }
      throw error;
    }
    this.length += bytes.length;
    this.#isDirty = true;
    return this.#base + offset;
  }

  /** The bytes of [offset, offset + length); shorter at the end. They are a view of `into` if it is given and large enough. */
  read(offset: number, length: number, into?: Buffer): Buffer {
    const place = offset - this.#base;
    const buffer = roomFor(Math.max(0, Math.min(length, this.length - place)), into);
    let done = 0;
    while (done < buffer.length) {
      const got = readSync(this.#fd, buffer, done, buffer.length - done, place + done);
      if (got === 0) break;
      done += got;
    }
    return done === buffer.length ? buffer : buffer.subarray(0, done);
  }

  truncate(size: number): void {
    this.length = size - this.#base;
    this.#cut(this.length);
  }

  #cut(to: number): void {
    this.#isTorn = true;
    ftruncateSync(this.#fd, to);
    this.#isTorn = false;
  }

  /** Continues with what replaced the bytes or came behind them: opens a file again; memory takes `content` from the offset on. */
  renew(_content: Buffer, _offset: number): void {
    const next = openSync(this.#path, "a+", 0o600);
    closeSync(this.#fd);
    this.#fd = next;
    this.length = fstatSync(next).size;
    this.#isTorn = false;
    this.#isDirty = true;
  }

  /** Memory only: lets go of the bytes before the offset. */
  dropBefore(_offset: number): void {}

  /** Files only: what another program did to it, and its size; `checksPath`: looks at the path, too. @throws the system's error */
  foreignChange(checksPath: boolean): { how: ForeignChange; size: number } | undefined {
    if (this.#isTorn) return undefined;
    const { size, ino, dev } = fstatSync(this.#fd);
    const there = checksPath ? fileAt(this.#path) : { ino, dev };
    if (!there) return { how: "gone", size };
    if (there.ino !== ino || there.dev !== dev) return { how: "replaced", size };
    if (size === this.length) return undefined;
    return { how: size > this.length ? "grown" : "shrunk", size };
  }

  /** Files only: continues behind what another program left, with a newline at its end. Returns how many bytes there are. */
  accept(): number {
    this.length = fstatSync(this.#fd).size;
    this.#isDirty = true;
    const last = Buffer.from("\n");
    if (this.length > 0) readSync(this.#fd, last, 0, 1, this.length - 1);
    if (last[0] !== newline) {
      writeAll(this.#fd, Buffer.from("\n"));
      this.length++;
    }
    return this.length;
  }

  /**
   * Files only: writes the file at its path again, with its content or empty, and continues there. Returns the name that another
   * file there was renamed to.
   * @throws the system's error
   */
  restore(withContent: boolean): string | undefined {
    const path = this.#path;
    makeFolder(dirname(path));
    const draft = `${path}.restored.tmp`;
    rmSync(draft, { force: true });
    const next = openSync(draft, "ax+", 0o600);
    try {
      if (withContent) copyAll(this.#fd, next);
      fdatasyncSync(next);
      const aside = existsSync(path) ? asideName(path) : undefined;
      if (aside !== undefined) renameSync(path, aside);
      renameSync(draft, path);
      closeSync(this.#fd);
      this.#fd = next;
      if (!withContent) this.length = 0;
      return aside;
    } catch (error) {
      closeSync(next);
      rmSync(draft, { force: true });
      throw error;
    }
  }

  sync(): Promise<void> {
    if (!this.#isDirty) return Promise.resolve();
    this.#isDirty = false;
    const synced = this.#fd;
    return new Promise((resolve, reject) => {
      // A file that was renewed meanwhile is synced on its own.
      fdatasync(synced, (error) => (error && synced === this.#fd ? reject(error) : resolve()));
    });
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** An append-only run of bytes, in a file or in memory. Offsets are absolute and never change. */
export type Bytes = Readonly<Pick<FileBytes, keyof FileBytes>>;

/** Bytes of a block of memory. Small, because a test may have hundreds of sims. */
const blockSize = 256 * 1024;

const blockAt = (offset: number): number => Math.floor(offset / blockSize);

/** The same, held in memory outside the JavaScript heap, in blocks of one size that are used again. */
export class MemoryBytes implements Bytes {
  #blocks: Buffer[] = [];
  /** Number of the first block: block n has the bytes from n × `blockSize` on. */
  #first = 0;
  #spare: Buffer | undefined;
  readonly isFile = false;
  start = 0;
  size = 0;

  get length(): number {
    return this.size - this.start;
  }

  #parts(from: number, to: number, each: (part: Buffer) => void): void {
    for (let at = from; at < to; ) {
      const block = this.#blocks[blockAt(at) - this.#first];
      if (!block) throw new RangeError(`no bytes at ${at}`);
      const inBlock = at % blockSize;
      const part = block.subarray(inBlock, Math.min(blockSize, inBlock + to - at));
      each(part);
      at += part.length;
    }
  }

  append(bytes: Buffer): number {
    const offset = this.size;
    const end = offset + bytes.length;
    while ((this.#first + this.#blocks.length) * blockSize < end) {
      this.#blocks.push(this.#spare ?? Buffer.allocUnsafeSlow(blockSize));
      this.#spare = undefined;
    }
    let done = 0;
    this.#parts(offset, end, (part) => {
      done += bytes.copy(part, 0, done);
    });
    this.size = end;
    return offset;
  }

  read(offset: number, length: number, into?: Buffer): Buffer {
    const from = Math.max(offset, this.start);
    const to = Math.min(offset + length, this.size);
    // a copy: the block may get other bytes
    const buffer = roomFor(Math.max(0, to - from), into);
    let done = 0;
    this.#parts(from, to, (part) => {
      done += part.copy(buffer, done);
    });
    return buffer;
  }

  truncate(size: number): void {
    this.size = size;
    this.start = Math.min(this.start, size);
    const end = blockAt(size + blockSize - 1);
    this.#blocks = this.#blocks.slice(0, Math.max(0, end - this.#first));
    this.#first = Math.min(this.#first, blockAt(size));
  }

  /** Lets go of the blocks in front of the first byte, but for one. */
  dropBefore(offset: number): void {
    this.start = Math.max(this.start, Math.min(offset, this.size));
    const gone = this.#blocks.splice(0, blockAt(this.start) - this.#first);
    this.#first += gone.length;
    this.#spare ??= gone[0];
  }

  renew(content: Buffer, offset: number): void {
    this.truncate(offset);
    this.append(content);
  }

  rebase(): void {}
  foreignChange = () => undefined;
  accept = () => this.size;
  restore = () => undefined;
  sync = () => Promise.resolve();

  close(): void {
    this.#blocks = [];
    this.#spare = undefined;
    this.#first = blockAt(this.size);
  }
}

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

/** An append-only run of bytes, in a file or in memory. Offsets are absolute and never change. */
export interface Bytes {
  /** Lines in a file are sealed (lines.ts); in memory nothing can be damaged. */
  readonly isFile: boolean;
  /** Offset of the first byte still held; above 0 once older ones were let go. */
  readonly start: number;
  /** Offset just behind the last byte. */
  readonly size: number;
  /** Appends at once (in a file: one write system call). Returns the offset of the first byte. All or nothing. */
  append(bytes: Buffer): number;
  /** The bytes of [offset, offset + length); shorter at the end. They are a view of `into` if it is given and large enough. */
  read(offset: number, length: number, into?: Buffer): Buffer;
  truncate(size: number): void;
  /**
   * Continues with what replaced the bytes, or with what was added behind them: a file is opened again, memory takes `content`
   * from the offset on.
   */
  renew(content: Buffer, offset: number): void;
  /** How many bytes there are in the file, or in memory. */
  readonly length: number;
  /** Files only: the file begins at this offset; of its bytes those from `start` on are held. */
  rebase(base: number, start: number): void;
  /** Memory only: lets go of the bytes before the offset. */
  dropBefore(offset: number): void;
  /**
   * Files only: what another program did to it, and its size now. The path is looked at only if `checksPath` is set.
   * @throws the system's error
   */
  foreignChange(checksPath: boolean): { how: ForeignChange; size: number } | undefined;
  /** Files only: continues behind what another program left, with a newline at its end. Returns how many bytes there are. */
  accept(): number;
  /**
   * Files only: writes the file at its path again, with its content or empty, and continues there. Returns the name that another
   * file there was renamed to.
   * @throws the system's error
   */
  restore(withContent: boolean): string | undefined;
  /** Has the disk make it durable. */
  sync(): Promise<void>;
  close(): void;
}

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

/** The file at a path; undefined if there is none that can be reached. */
function fileAt(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** `ax+`: a file that must be new; a link is not followed. */
export type FileMode = "a+" | "ax+" | "r";

/** @throws the system's error when the file cannot be opened for reading, and with `a+` for appending. */
export function fileBytes(path: string, mode: FileMode = "a+"): Bytes {
  let fd = openSync(path, mode, 0o600);
  let size = fstatSync(fd).size;
  let dirty = false;
  /** Offset of the file's first byte. */
  let base = 0;
  let start = 0;
  /** True if a failed write left bytes behind the last one. They are cut off before the next write. */
  let isTorn = false;

  function cut(to: number): void {
    isTorn = true;
    ftruncateSync(fd, to);
    isTorn = false;
  }

  return {
    isFile: true,
    get start() {
      return start;
    },
    get size() {
      return base + size;
    },
    get length() {
      return size;
    },
    rebase(offset, first) {
      base = offset;
      start = first;
    },
    append(bytes) {
      const offset = size;
      if (isTorn) cut(offset);
      try {
        writeAll(fd, bytes);
      } catch (error) {
        try {
          cut(offset);
        } catch {
          // the next append cuts it off; the first failure is the one to report
        }
        throw error;
      }
      size += bytes.length;
      dirty = true;
      return base + offset;
    },
    read(offset, length, into) {
      const place = offset - base;
      const buffer = roomFor(Math.max(0, Math.min(length, size - place)), into);
      let done = 0;
      while (done < buffer.length) {
        const got = readSync(fd, buffer, done, buffer.length - done, place + done);
        if (got === 0) break;
        done += got;
      }
      return done === buffer.length ? buffer : buffer.subarray(0, done);
    },
    truncate(to) {
      size = to - base;
      cut(size);
    },
    renew() {
      const next = openSync(path, "a+", 0o600);
      closeSync(fd);
      fd = next;
      size = fstatSync(fd).size;
      isTorn = false;
      dirty = true;
    },
    dropBefore() {},
    foreignChange(checksPath) {
      if (isTorn) return undefined;
      const found = fstatSync(fd);
      if (checksPath) {
        const there = fileAt(path);
        if (!there) return { how: "gone", size: found.size };
        if (there.ino !== found.ino || there.dev !== found.dev) return { how: "replaced", size: found.size };
      }
      if (found.size === size) return undefined;
      return { how: found.size > size ? "grown" : "shrunk", size: found.size };
    },
    accept() {
      size = fstatSync(fd).size;
      dirty = true;
      const last = Buffer.from("\n");
      if (size > 0) readSync(fd, last, 0, 1, size - 1);
      if (last[0] !== newline) {
        writeAll(fd, Buffer.from("\n"));
        size++;
      }
      return size;
    },
    restore(withContent) {
      makeFolder(dirname(path));
      const draft = `${path}.restored.tmp`;
      rmSync(draft, { force: true });
      const next = openSync(draft, "ax+", 0o600);
      try {
        if (withContent) copyAll(fd, next);
        fdatasyncSync(next);
        const aside = existsSync(path) ? asideName(path) : undefined;
        if (aside !== undefined) renameSync(path, aside);
        renameSync(draft, path);
        closeSync(fd);
        fd = next;
        if (!withContent) size = 0;
        return aside;
      } catch (error) {
        closeSync(next);
        rmSync(draft, { force: true });
        throw error;
      }
    },
    sync() {
      if (!dirty) return Promise.resolve();
      dirty = false;
      const synced = fd;
      return new Promise((resolve, reject) => {
        // A file that was renewed meanwhile is synced on its own.
        fdatasync(synced, (error) => (error && synced === fd ? reject(error) : resolve()));
      });
    },
    close: () => closeSync(fd),
  };
}

/** Bytes of a block of memory. Small, because a test may have hundreds of sims. */
const blockSize = 256 * 1024;

/** The same, held in memory outside the JavaScript heap, in blocks of one size that are used again. */
export function memoryBytes(): Bytes {
  let blocks: Buffer[] = [];
  /** Number of the first block: block n has the bytes from n × `blockSize` on. */
  let first = 0;
  let spare: Buffer | undefined;
  let start = 0;
  let size = 0;

  const blockAt = (offset: number): number => Math.floor(offset / blockSize);

  /** Calls `each` with the parts of blocks that hold [from, to), in order. */
  function parts(from: number, to: number, each: (part: Buffer) => void): void {
    for (let at = from; at < to; ) {
      const block = blocks[blockAt(at) - first];
      if (!block) throw new RangeError(`no bytes at ${at}`);
      const inBlock = at % blockSize;
      const part = block.subarray(inBlock, Math.min(blockSize, inBlock + to - at));
      each(part);
      at += part.length;
    }
  }

  /** Lets go of the blocks in front of the first byte, but for one. */
  function release(): void {
    const gone = blocks.splice(0, blockAt(start) - first);
    first += gone.length;
    spare ??= gone[0];
  }

  return {
    isFile: false,
    get start() {
      return start;
    },
    get size() {
      return size;
    },
    get length() {
      return size - start;
    },
    rebase() {},
    append(bytes) {
      const offset = size;
      const end = offset + bytes.length;
      while ((first + blocks.length) * blockSize < end) {
        blocks.push(spare ?? Buffer.allocUnsafeSlow(blockSize));
        spare = undefined;
      }
      let done = 0;
      parts(offset, end, (part) => {
        done += bytes.copy(part, 0, done);
      });
      size = end;
      return offset;
    },
    read(offset, length, into) {
      const from = Math.max(offset, start);
      const to = Math.min(offset + length, size);
      // a copy: the block may get other bytes
      const buffer = roomFor(Math.max(0, to - from), into);
      let done = 0;
      parts(from, to, (part) => {
        done += part.copy(buffer, done);
      });
      return buffer;
    },
    truncate(to) {
      size = to;
      start = Math.min(start, to);
      const end = blockAt(to + blockSize - 1);
      blocks = blocks.slice(0, Math.max(0, end - first));
      first = Math.min(first, blockAt(to));
    },
    dropBefore(offset) {
      start = Math.max(start, Math.min(offset, size));
      release();
    },
    renew(content, offset) {
      this.truncate(offset);
      this.append(content);
    },
    foreignChange: () => undefined,
    accept: () => size,
    restore: () => undefined,
    sync: () => Promise.resolve(),
    close() {
      blocks = [];
      spare = undefined;
      first = blockAt(size);
    },
  };
}

import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

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
  /** The bytes of [offset, offset + length); shorter at the end. */
  read(offset: number, length: number): Buffer;
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
  /** Memory only: lets go of whole appends that end at or before the offset. */
  dropBefore(offset: number): void;
  /** Has the disk make it durable. */
  sync(): Promise<void>;
  close(): void;
}

/** Writes all of it or throws; a short write (disk full) is continued until the system says why. */
export function writeAll(fd: number, bytes: Buffer): void {
  let done = 0;
  while (done < bytes.length) done += writeSync(fd, bytes, done, bytes.length - done);
}

/** @throws the system's error when the file cannot be opened for reading, and with `a+` for appending. */
export function fileBytes(path: string, mode: "a+" | "r" = "a+"): Bytes {
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
    read(offset, length) {
      const place = offset - base;
      const buffer = Buffer.allocUnsafe(Math.max(0, Math.min(length, size - place)));
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

/** The same, held in memory outside the JavaScript heap. */
export function memoryBytes(): Bytes {
  let chunks: { offset: number; bytes: Buffer }[] = [];
  let size = 0;

  /** Index of the chunk that holds the offset. */
  function chunkAt(offset: number): number {
    let low = 0;
    let high = chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((chunks[middle]?.offset ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  return {
    isFile: false,
    get start() {
      return chunks[0]?.offset ?? size;
    },
    get size() {
      return size;
    },
    get length() {
      return size - this.start;
    },
    rebase() {},
    append(bytes) {
      const offset = size;
      chunks.push({ offset, bytes });
      size += bytes.length;
      return offset;
    },
    read(offset, length) {
      const end = Math.min(offset + length, size);
      const parts: Buffer[] = [];
      for (let i = chunkAt(offset); i < chunks.length && (chunks[i]?.offset ?? end) < end; i++) {
        const chunk = chunks[i];
        if (!chunk || chunk.offset + chunk.bytes.length <= offset) continue;
        parts.push(chunk.bytes.subarray(Math.max(0, offset - chunk.offset), end - chunk.offset));
      }
      return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts);
    },
    truncate(to) {
      chunks = chunks
        .filter((it) => it.offset < to)
        .map((it) => ({ offset: it.offset, bytes: it.bytes.subarray(0, to - it.offset) }));
      size = to;
    },
    dropBefore(offset) {
      let gone = 0;
      for (const it of chunks) {
        if (it.offset + it.bytes.length > offset) break;
        gone++;
      }
      if (gone > 0) chunks.splice(0, gone);
    },
    renew(content, offset) {
      this.truncate(offset);
      this.append(content);
    },
    sync: () => Promise.resolve(),
    close() {
      chunks = [];
    },
  };
}

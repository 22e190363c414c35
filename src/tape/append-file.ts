import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";

const newline = 0x0a;
const chunkSize = 1024 * 1024;

/** A file that only grows, a whole piece at a time. */
export interface AppendFile {
  readonly size: number;
  /** Was the file deleted? Then what is written to it is lost. */
  isGone(): boolean;
  /** All of it, or nothing. @throws the system's error */
  append(bytes: Buffer): void;
  /** Has everything on the disk when it calls back. */
  sync(done: (error: Error | null) => void): void;
  close(): void;
}

/** Offset after the last line break; what follows it is an unfinished line. */
function endOfLines(fd: number, size: number): number {
  const chunk = Buffer.alloc(Math.min(chunkSize, size));
  for (let end = size; end > 0; end -= chunkSize) {
    const from = Math.max(0, end - chunkSize);
    const found = chunk.subarray(0, readSync(fd, chunk, 0, end - from, from)).lastIndexOf(newline);
    if (found !== -1) return from + found + 1;
  }
  return 0;
}

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** A full disk may take a part of a line: that part goes, so that the file ends with a whole one. */
function cutBack(fd: number, size: number): void {
  try {
    ftruncateSync(fd, size);
  } catch {
    // The next opening repairs it; what failed first is what is told.
  }
}

/**
 * Opens a file for appending, and creates it where needed. An unfinished last line (a crash while writing) is cut off;
 * `onCut` is told how many bytes. @throws the system's error
 */
export function openAppendFile(file: string, onCut: (bytes: number) => void): AppendFile {
  const fd = openSync(file, "a+", 0o600);
  let size = fstatSync(fd).size;
  const end = endOfLines(fd, size);
  if (end < size) {
    ftruncateSync(fd, end);
    onCut(size - end);
    size = end;
  }
  return {
    get size() {
      return size;
    },
    isGone: () => fstatSync(fd).nlink === 0,
    append(bytes) {
      try {
        writeAll(fd, bytes);
        size += bytes.length;
      } catch (error) {
        cutBack(fd, size);
        throw error;
      }
    },
    sync: (done) => fdatasync(fd, done),
    close() {
      try {
        fdatasyncSync(fd);
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** The first bytes of a file as text. @throws the system's error */
export function startOf(file: string, most: number): string {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(Math.min(most, fstatSync(fd).size));
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** The lines of a file as text, read in chunks; what follows the last line break is left out. */
export function* wholeLines(file: string): Generator<string> {
  const fd = openSync(file, "r");
  try {
    let rest: Buffer = Buffer.alloc(0);
    const chunk = Buffer.alloc(chunkSize);
    for (let read = readSync(fd, chunk); read > 0; read = readSync(fd, chunk)) {
      const bytes = Buffer.concat([rest, chunk.subarray(0, read)]);
      let start = 0;
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        yield bytes.toString("utf8", start, end);
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
  } finally {
    closeSync(fd);
  }
}

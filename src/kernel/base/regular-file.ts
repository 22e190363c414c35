import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** An error with a code, as the system's have one. */
const fileError = (code: string, file: string): Error =>
  Object.assign(new Error(`${code}: ${file}`), { code, path: file });

/**
 * The bytes of a regular file. Pipes, sockets and devices are refused: reading them may block, or never end.
 * @throws Error with a code: the system's, `NOT_REGULAR`, or `TOO_LARGE`
 */
export function readRegularFile(file: string, mostBytes: number): Buffer {
  // without blocking: opening a pipe would wait for its writer
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (stat.isDirectory()) throw fileError("EISDIR", file);
    if (!stat.isFile()) throw fileError("NOT_REGULAR", file);
    if (stat.size > mostBytes) throw fileError("TOO_LARGE", file);
    const parts: Buffer[] = [];
    for (let length = 0; ; ) {
      // files of /proc have a size of 0, and others grow
      const part = Buffer.allocUnsafe(Math.max(stat.size - length, 0) + 4_096);
      const read = readSync(fd, part);
      if (read === 0) return Buffer.concat(parts);
      length += read;
      if (length > mostBytes) throw fileError("TOO_LARGE", file);
      parts.push(part.subarray(0, read));
    }
  } finally {
    closeSync(fd);
  }
}

import type { Bytes } from "./bytes.ts";

const chunkSize = 1024 * 1024;
const newline = 0x0a;

/** The complete lines from an offset on, read in chunks: memory stays bounded whatever the log's size. */
export function* linesOf(bytes: Bytes, from: number): Generator<{ offset: number; text: string }> {
  let offset = Math.max(from, bytes.start);
  let rest: Buffer = Buffer.alloc(0);
  while (offset + rest.length < bytes.size) {
    const chunk = Buffer.concat([rest, bytes.read(offset + rest.length, chunkSize)]);
    let start = 0;
    for (let stop = chunk.indexOf(newline); stop !== -1; stop = chunk.indexOf(newline, start)) {
      if (stop > start) yield { offset: offset + start, text: chunk.toString("utf8", start, stop) };
      start = stop + 1;
    }
    rest = chunk.subarray(start);
    offset += start;
  }
}

/**
 * A crash can leave half a line at the end (power loss, full disk). It was never acknowledged: it is
 * cut off and reported, and nothing else is touched.
 */
export function repairTail(bytes: Bytes, name: string, notice: (text: string) => void): void {
  const end = lastNewline(bytes) + 1;
  if (end === bytes.size) return;
  notice(`${name}: cut off ${bytes.size - end} bytes of an unfinished last line (a crash while writing)`);
  bytes.truncate(end);
}

/** Offset of the last newline, or one before the start when there is none. */
function lastNewline(bytes: Bytes): number {
  for (let end = bytes.size; end > bytes.start; end -= chunkSize) {
    const from = Math.max(bytes.start, end - chunkSize);
    const found = bytes.read(from, end - from).lastIndexOf(newline);
    if (found !== -1) return from + found;
  }
  return bytes.start - 1;
}

/** Number of the line that begins at the offset, from 1. Counted only when there is something to complain about. */
export function lineNumber(bytes: Bytes, offset: number): number {
  let line = 1;
  for (let at = 0; at < offset; at += chunkSize) {
    for (const byte of bytes.read(at, Math.min(chunkSize, offset - at))) if (byte === newline) line++;
  }
  return line;
}

import { crc32 } from "node:zlib";
import { decodingText } from "../base/bytes-turns.ts";
import type { Stepwise } from "../base/work.ts";
import type { Bytes } from "./bytes.ts";

const chunkSize = 1024 * 1024;
const newline = 0x0a;

/**
 * A sealed line is a JSON object whose first key holds the CRC-32 of all bytes behind the seal, so that damage to a
 * line is found when the line is read. Lines of older versions have no seal.
 */
const sealStart = '{"crc":"';
const sealEnd = '",';
const digits = 8;
export const sealLength = sealStart.length + digits + sealEnd.length;

/** The bytes that a sealed line begins with; `writeSeal` puts the checksum in. */
export const blankSeal = `${sealStart}${"0".repeat(digits)}${sealEnd}`;

const digitsOf = (checksum: number): string => checksum.toString(16).padStart(digits, "0");

const hexDigits = Buffer.from("0123456789abcdef");

/**
 * Fills in the blank seal of the line that stands at [start, end), without its newline. Every captured event is sealed:
 * a plain view and single bytes cost a third of a sub-buffer and a string.
 */
export function writeSeal(bytes: Buffer, start: number, end: number): void {
  const from = start + sealLength;
  let rest = crc32(new Uint8Array(bytes.buffer, bytes.byteOffset + from, end - from));
  const first = start + sealStart.length;
  for (let at = first + digits - 1; at >= first; at--, rest >>>= 4) bytes[at] = hexDigits[rest & 15] ?? 0;
}

export const sealed = (json: string): string =>
  `${sealStart}${digitsOf(crc32(json.slice(1)))}${sealEnd}${json.slice(1)}`;

export const isSealed = (line: Buffer): boolean =>
  line.length > sealLength && line.toString("latin1", 0, sealStart.length) === sealStart;

const isSealOf = (line: Buffer, checksum: number): boolean =>
  line.toString("latin1", sealStart.length, sealStart.length + digits) === digitsOf(checksum);

/** True if the line has a seal with a matching checksum. */
export const hasSeal = (line: Buffer): boolean => isSealed(line) && isSealOf(line, crc32(line.subarray(sealLength)));

/** The text of a line without its seal; undefined when its checksum does not match. */
export function unsealed(line: Buffer): string | undefined {
  if (!isSealed(line)) return line.toString("utf8");
  return hasSeal(line) ? `{${line.toString("utf8", sealLength)}` : undefined;
}

export function* unsealing(line: Buffer): Stepwise<string | undefined> {
  if (!isSealed(line)) return yield* decodingText(line);
  let checksum = 0;
  for (let at = sealLength; at < line.length; at += chunkSize) {
    checksum = crc32(line.subarray(at, at + chunkSize), checksum);
    yield;
  }
  return isSealOf(line, checksum) ? `{${yield* decodingText(line.subarray(sealLength))}` : undefined;
}

/** All lines, each with a seal: those that have none get one. */
export function sealedLines(bytes: Bytes): Buffer {
  const lines: Buffer[] = [];
  for (const { bytes: line } of linesOf(bytes, 0))
    lines.push(isSealed(line) ? line : Buffer.from(sealed(line.toString("utf8"))), Buffer.from("\n"));
  return Buffer.concat(lines);
}

interface Line {
  offset: number;
  bytes: Buffer;
}

/** The complete lines from an offset on, read in chunks: memory stays bounded whatever the log's size. */
export function* linesOf(bytes: Bytes, from: number): Generator<Line> {
  let offset = Math.max(from, bytes.start);
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    const read = bytes.read(offset + rest.length, chunkSize);
    if (read.length === 0) return;
    const chunk = Buffer.concat([rest, read]);
    let start = 0;
    for (let stop = chunk.indexOf(newline); stop !== -1; stop = chunk.indexOf(newline, start)) {
      if (stop > start) yield { offset: offset + start, bytes: chunk.subarray(start, stop) };
      start = stop + 1;
    }
    rest = chunk.subarray(start);
    offset += start;
  }
}

interface ReadLine {
  offset: number;
  length: number;
  text: string | undefined;
  isSealed: boolean;
}

/** The complete lines from an offset on, unsealed. Where a newline was lost, the line behind it is found by its seal. */
export function* textsOf(bytes: Bytes, from: number): Generator<ReadLine> {
  for (const line of linesOf(bytes, from)) {
    const whole = readLine(line);
    const joined = whole.text === undefined || !whole.isSealed ? joinedLine(line) : undefined;
    if (!joined) {
      yield whole;
      continue;
    }
    yield { ...whole, text: undefined };
    yield joined;
  }
}

const readLine = ({ offset, bytes }: Line): ReadLine => ({
  offset,
  length: bytes.length + 1,
  text: unsealed(bytes),
  isSealed: isSealed(bytes),
});

function joinedLine({ offset, bytes }: Line): ReadLine | undefined {
  for (let at = bytes.indexOf(sealStart, 1); at !== -1; at = bytes.indexOf(sealStart, at + 1)) {
    const text = unsealed(bytes.subarray(at));
    if (text !== undefined) return { offset: offset + at, length: bytes.length - at + 1, text, isSealed: true };
  }
  return undefined;
}

/** Half a line at the end, which a crash left, was never acknowledged: it is cut off and reported; nothing else is touched. */
export function repairTail(bytes: Bytes, name: string, notice: (text: string) => void): void {
  const unfinished = unfinishedBytes(bytes);
  if (unfinished === 0) return;
  notice(`${name}: cut off ${unfinished} bytes of an unfinished last line (a crash while writing)`);
  bytes.truncate(bytes.size - unfinished);
}

export const unfinishedBytes = (bytes: Bytes): number => bytes.size - lastNewline(bytes) - 1;

/** Offset of the last newline, or one before the start when there is none. */
function lastNewline(bytes: Bytes): number {
  for (let end = bytes.size; end > bytes.start; end -= chunkSize) {
    const from = Math.max(bytes.start, end - chunkSize);
    const found = bytes.read(from, end - from).lastIndexOf(newline);
    if (found !== -1) return from + found;
  }
  return bytes.start - 1;
}

/** Number of the line that begins at the offset, from 1. Counted only when there is damage to report. */
export function lineNumber(bytes: Bytes, offset: number): number {
  // A file whose first lines were let go begins with one that describes the log.
  let line = bytes.start > 0 ? 2 : 1;
  for (let at = bytes.start; at < offset; at += chunkSize) {
    const chunk = bytes.read(at, Math.min(chunkSize, offset - at));
    for (let stop = chunk.indexOf(newline); stop !== -1; stop = chunk.indexOf(newline, stop + 1)) line++;
  }
  return line;
}

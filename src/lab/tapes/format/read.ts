import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Json } from "../../../kernel/base/json.ts";
import type { TapeProblem } from "../shapes.ts";
import type { Exchange } from "./exchange.ts";
import { isExchange, wrongField } from "./exchange-shape.ts";
import { isUnborn, readHeader, type TapeHeader } from "./header.ts";
import { sideFolder, tapeEnding } from "./place.ts";
import { withSides } from "./side-files.ts";
import { fileTrouble } from "./tape-error.ts";

export interface ReadOptions {
  /** Called for lines that are skipped as unusable, and for side files that are missing or were changed. */
  onProblem?: (problem: TapeProblem) => void;
  /** Longer lines are skipped, in bytes; default 32 MB. */
  maxLine?: number;
  /** `whole`: bodies in side files are read; default: they stay there. */
  bodies?: "aside" | "whole";
}

export interface TapeLine {
  file: string;
  line: number;
  offset: number;
  length: number;
}

export interface Placed {
  exchange: Exchange;
  place: TapeLine;
}

const defaultMaxLine = 32 * 1024 * 1024;

const damaged = "the line is skipped; delete it from the file";

function exchangeOf(text: string): Exchange | string {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  return isExchange(value) ? value : `it has no valid \`${wrongField(value)}\``;
}

/** A crash while writing leaves a line that is incomplete. */
const unfinished = "it is unfinished: the recording was cut off";

function readLine(line: Line, most: number): Exchange | string {
  if (line.text === undefined) return `it is longer than ${most} bytes`;
  const found = exchangeOf(line.text);
  return typeof found === "string" && !line.isEnded ? unfinished : found;
}

async function* read(file: string, options: ReadOptions): AsyncGenerator<Placed> {
  await readHeader(file);
  const most = options.maxLine ?? defaultMaxLine;
  const report = (line: number, detail: string) => options.onProblem?.({ file, line, detail, hint: damaged });
  const sides = sideFolder(file);
  for await (const line of fileLines(file, most)) {
    if (line.line === 1 || line.text?.trim() === "") continue;
    const place = { file, line: line.line, offset: line.offset, length: line.length };
    const found = readLine(line, most);
    if (typeof found === "string") report(line.line, found);
    else if (options.bodies !== "whole") yield { exchange: found, place };
    else yield { exchange: withSides(found, sides, (it) => report(line.line, it)), place };
  }
}

/** Exchanges as written, with places. @throws TapeError when it is no tape, of a newer format, unreadable */
export async function* readPlaced(file: string, options: ReadOptions = {}): AsyncGenerator<Placed> {
  try {
    yield* read(file, options);
  } catch (error) {
    throw fileTrouble(file, "read", error);
  }
}

/** The exchanges of a tape, as `readPlaced`. @throws TapeError as `readPlaced` does */
export async function* readTape(file: string, options: ReadOptions = {}): AsyncGenerator<Exchange> {
  for await (const { exchange } of readPlaced(file, options)) yield exchange;
}

export interface TapeInfo {
  name: string;
  file: string;
  /** Bytes. */
  size: number;
  exchanges: number;
  header?: TapeHeader;
  problem?: string;
}

async function countLines(file: string): Promise<number> {
  let lines = 0;
  for await (const line of fileLines(file, 0)) if (line.isEnded && line.length > 1) lines++;
  return lines;
}

async function infoOf(file: string): Promise<TapeInfo> {
  const name = basename(file).slice(0, -tapeEnding.length);
  try {
    const header = await readHeader(file);
    return { name, file, size: (await stat(file)).size, exchanges: (await countLines(file)) - 1, header };
  } catch (error) {
    const { message } = fileTrouble(file, "read", error);
    return { name, file, size: 0, exchanges: 0, problem: message };
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(tapeEnding)).sort();
  } catch (error) {
    throw fileTrouble(folder, "read", error);
  }
}

/** The tapes of a folder by name. @throws TapeError when it cannot be read */
export async function tapesIn(folder: string): Promise<TapeInfo[]> {
  const infos: TapeInfo[] = [];
  for (const name of await namesIn(folder)) infos.push(await infoOf(join(folder, name)));
  return infos;
}

/**
 * Undefined if there is no file, or one without an exchange, as a recording that saw nothing leaves it.
 * @throws TapeError when it is no tape, or of a newer format
 */
export async function filledHeader(file: string): Promise<TapeHeader | undefined> {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  const header = await readHeader(file);
  for await (const _ of readTape(file)) return header;
  return undefined;
}

const chunkSize = 256 * 1024;
const newline = 0x0a;

interface Line {
  /** From 1. */
  line: number;
  offset: number;
  length: number;
  text: string | undefined;
  /** False for a last line without a line break. */
  isEnded: boolean;
}

interface Rest {
  parts: Buffer[];
  length: number;
  isTooLong: boolean;
}

const emptyRest = (): Rest => ({ parts: [], length: 0, isTooLong: false });

function keep(rest: Rest, bytes: Buffer, most: number): void {
  rest.length += bytes.length;
  if (rest.length > most) rest.isTooLong = true;
  if (rest.isTooLong) rest.parts = [];
  else rest.parts.push(bytes);
}

const textOf = ({ parts, isTooLong }: Rest): string | undefined => {
  if (isTooLong) return undefined;
  const [only] = parts;
  return (parts.length === 1 && only ? only : Buffer.concat(parts)).toString("utf8");
};

async function readChunk(handle: FileHandle, position: number): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(chunkSize);
  const { bytesRead } = await handle.read(chunk, 0, chunkSize, position);
  return chunk.subarray(0, bytesRead);
}

/** The lines of an open file in turn, a chunk at a time: memory stays bounded whatever the file's size. */
async function* linesIn(handle: FileHandle, most: number): AsyncGenerator<Line> {
  let position = 0;
  let at = { line: 1, offset: 0 };
  let rest = emptyRest();
  for (;;) {
    const chunk = await readChunk(handle, position);
    if (chunk.length === 0) break;
    position += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      keep(rest, chunk.subarray(start, end), most);
      yield { ...at, length: rest.length, text: textOf(rest), isEnded: true };
      at = { line: at.line + 1, offset: at.offset + rest.length + 1 };
      rest = emptyRest();
      start = end + 1;
    }
    if (start < chunk.length) keep(rest, chunk.subarray(start), most);
  }
  if (rest.length > 0) yield { ...at, length: rest.length, text: textOf(rest), isEnded: false };
}

/** The lines of a file in turn; those of more than `most` bytes have no text. @throws the system's error */
export async function* fileLines(file: string, most: number): AsyncGenerator<Line> {
  const handle = await open(file, "r");
  try {
    yield* linesIn(handle, most);
  } finally {
    await handle.close();
  }
}

import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Json } from "../../../kernel/base/json.ts";
import type { TapeProblem } from "../shapes.ts";
import type { Exchange } from "./exchange.ts";
import { isExchange, wrongField } from "./exchange-shape.ts";
import { isUnborn, readHeader, type TapeHeader } from "./header.ts";
import { sideFolder, tapeEnding, volumeFiles } from "./place.ts";
import { withSides } from "./side-files.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";

export interface ReadOptions {
  /** Called for lines that are skipped as unusable, and for side files that are missing or were changed. */
  onProblem?: (problem: TapeProblem) => void;
  /** Longer lines are skipped, in bytes; default 32 MB. */
  maxLine?: number;
  /** `whole`: bodies in side files are read; default: they stay there. */
  bodies?: "aside" | "whole";
}

/** Where a line of a tape is. */
export interface TapeLine {
  file: string;
  line: number;
  offset: number;
  length: number;
}

/** An exchange, and where it is. */
export interface Placed {
  exchange: Exchange;
  place: TapeLine;
}

const defaultMaxLine = 32 * 1024 * 1024;

const damaged = "the line is skipped; delete it from the file";

/** A line as an exchange, or what is wrong with it. */
function exchangeOf(text: string): Exchange | string {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return "it is not JSON";
  }
  return isExchange(value) ? value : `it has no valid \`${wrongField(value)}\``;
}

/** A crash while writing leaves a line, or a whole new volume, that is incomplete. */
const unfinished = "it is unfinished: the recording was cut off";

function readLine(line: Line, most: number): Exchange | string {
  if (line.text === undefined) return `it is longer than ${most} bytes`;
  const found = exchangeOf(line.text);
  return typeof found === "string" && !line.isEnded ? unfinished : found;
}

/** Reports a problem at a place. */
type Report = (at: { file: string; line: number }, detail: string) => void;

const reporter =
  (onProblem: ReadOptions["onProblem"]): Report =>
  ({ file, line }, detail) =>
    onProblem?.({ file, line, detail, hint: damaged });

/** The exchanges of one file, the header's line not counted. */
async function* readVolume(file: string, header: TapeHeader, options: ReadOptions): AsyncGenerator<Placed> {
  const most = options.maxLine ?? defaultMaxLine;
  const report = reporter(options.onProblem);
  const sides = sideFolder(file, header.volume);
  for await (const line of fileLines(file, most)) {
    if (line.line === 1 || line.text?.trim() === "") continue;
    const place = { file, line: line.line, offset: line.offset, length: line.length };
    const found = readLine(line, most);
    if (typeof found === "string") report(place, found);
    else if (options.bodies !== "whole") yield { exchange: found, place };
    else yield { exchange: withSides(found, sides, (it) => report(place, it)), place };
  }
}

/** A later file of the same tape; undefined if it is another one, or damaged, which is reported. */
async function laterHeader(file: string, first: TapeHeader, report: Report): Promise<TapeHeader | undefined> {
  try {
    if (isUnborn(file)) return void report({ file, line: 1 }, unfinished);
    const header = await readHeader(file);
    return header.id === first.id && header.volume !== undefined ? header : undefined;
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    report({ file, line: 1 }, `${error.message}; this volume and later ones are not read`);
    return undefined;
  }
}

async function* read(file: string, options: ReadOptions): AsyncGenerator<Placed> {
  const first = await readHeader(file);
  for (const volume of volumeFiles(file)) {
    const header = volume === file ? first : await laterHeader(volume, first, reporter(options.onProblem));
    if (!header) return;
    yield* readVolume(volume, header, options);
  }
}

/**
 * The exchanges of a tape in the order they are written, all its volumes, each with its place in the file; memory
 * stays bounded whatever the tape's size.
 * @throws TapeError when the file cannot be read, is no tape, or of a newer format
 */
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

/** What is known of a tape without reading its exchanges. */
export interface TapeInfo {
  name: string;
  file: string;
  /** Bytes, over all volumes. */
  size: number;
  volumes: number;
  exchanges: number;
  /** Absent where the file cannot be read as a tape. */
  header?: TapeHeader;
  problem?: string;
}

async function countLines(file: string): Promise<number> {
  let lines = 0;
  for await (const line of fileLines(file, 0)) if (line.isEnded && line.length > 1) lines++;
  return lines;
}

async function volumesOf(file: string, first: TapeHeader): Promise<string[]> {
  const files: string[] = [];
  for (const volume of volumeFiles(file)) {
    if (volume !== file && !(await laterHeader(volume, first, () => {}))) break;
    files.push(volume);
  }
  return files;
}

async function infoOf(file: string): Promise<TapeInfo> {
  const name = basename(file).slice(0, -tapeEnding.length);
  try {
    const header = await readHeader(file);
    const files = await volumesOf(file, header);
    const sizes = await Promise.all(files.map(async (it) => (await stat(it)).size));
    const lines = await Promise.all(files.map(countLines));
    const sum = (list: number[]): number => list.reduce((a, b) => a + b, 0);
    return { name, file, size: sum(sizes), volumes: files.length, exchanges: sum(lines) - files.length, header };
  } catch (error) {
    const { message } = fileTrouble(file, "read", error);
    return { name, file, size: 0, volumes: 1, exchanges: 0, problem: message };
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith(tapeEnding)).sort();
  } catch (error) {
    throw fileTrouble(folder, "read", error);
  }
}

/** The tapes of a folder by name; later volumes belong to their first. @throws TapeError when it cannot be read */
export async function tapesIn(folder: string): Promise<TapeInfo[]> {
  const infos: TapeInfo[] = [];
  for (const name of await namesIn(folder)) infos.push(await infoOf(join(folder, name)));
  return infos.filter(({ header }) => header?.volume === undefined);
}

/**
 * The header of a tape; undefined where there is no file, or one without an exchange, as a recording that saw nothing
 * leaves it. @throws TapeError when it is no tape, or of a newer format
 */
export async function filledHeader(file: string): Promise<TapeHeader | undefined> {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  const header = await readHeader(file);
  for await (const _ of readTape(file)) return header;
  return undefined;
}

const chunkSize = 256 * 1024;
const newline = 0x0a;

/** A line of a file: its bytes, without the line break. */
interface Line {
  /** From 1. */
  line: number;
  offset: number;
  length: number;
  /** undefined: it is longer than allowed. */
  text: string | undefined;
  /** False for a last line without a line break. */
  isEnded: boolean;
}

/** What is left of a line when its chunk ends. */
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

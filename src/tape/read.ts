import { existsSync } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Json } from "../kernel/json.ts";
import { isExchange, wrongField } from "./check-exchange.ts";
import { isUnborn, readHeader } from "./header.ts";
import { fileLines, type Line } from "./lines.ts";
import { tapeEnding } from "./place.ts";
import { readBody } from "./side-files.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";
import type { Exchange, TapeHeader, TapeProblem } from "./types.ts";
import { volumeFiles } from "./volumes.ts";

export interface ReadOptions {
  /** Lines that cannot be used are passed over and told here, and so is a side file that is missing or was changed. */
  onProblem?: (problem: TapeProblem) => void;
  /** Most bytes of a line; default 32 MB. Longer ones are passed over. */
  maxLine?: number;
  /** Put what is in side files in its place? Default: no; `readBody` does it for one body. */
  bodies?: "aside" | "whole";
}

/** Where a line of a tape is. */
export interface Place {
  file: string;
  line: number;
  offset: number;
  length: number;
}

export interface Placed {
  exchange: Exchange;
  place: Place;
}

const defaultMaxLine = 32 * 1024 * 1024;

const damaged = "the line is passed over; `phx-sim tape prune` writes a tape without it";

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

/** A crash while writing leaves a line, or a whole new volume, that is not there in full. */
const unfinished = "it is unfinished: the recording was cut off";

function readLine(line: Line, most: number): Exchange | string {
  if (line.text === undefined) return `it is longer than ${most} bytes`;
  const found = exchangeOf(line.text);
  return typeof found === "string" && !line.isEnded ? unfinished : found;
}

/** Tells a problem at a place. */
type Tell = (at: { file: string; line: number }, detail: string) => void;

const teller =
  (onProblem: ReadOptions["onProblem"]): Tell =>
  ({ file, line }, detail) =>
    onProblem?.({ file, line, detail, hint: damaged });

async function whole(file: string, volume: number | undefined, exchange: Exchange, tell: OnSide) {
  const req = await readBody(file, exchange.req.body, volume, tell);
  const res = await readBody(file, exchange.res?.body, volume, tell);
  return {
    ...exchange,
    req: { ...exchange.req, ...(req && { body: req }) },
    res: exchange.res && { ...exchange.res, ...(res && { body: res }) },
  };
}

type OnSide = (detail: string) => void;

/** The exchanges of one file, the header's line not counted. */
async function* readVolume(file: string, header: TapeHeader, options: ReadOptions): AsyncGenerator<Placed> {
  const most = options.maxLine ?? defaultMaxLine;
  const tell = teller(options.onProblem);
  for await (const line of fileLines(file, most)) {
    if (line.line === 1 || line.text?.trim() === "") continue;
    const place = { file, line: line.line, offset: line.offset, length: line.length };
    const found = readLine(line, most);
    if (typeof found === "string") tell(place, found);
    else if (options.bodies !== "whole") yield { exchange: found, place };
    else yield { exchange: await whole(file, header.volume, found, (it) => tell(place, it)), place };
  }
}

/** A later file of the same tape; undefined: it is another one, or damaged, which is told. */
async function laterHeader(file: string, first: TapeHeader, tell: Tell): Promise<TapeHeader | undefined> {
  try {
    if (isUnborn(file)) return void tell({ file, line: 1 }, unfinished);
    const header = await readHeader(file);
    return header.id === first.id && header.volume !== undefined ? header : undefined;
  } catch (error) {
    if (!(error instanceof TapeError)) throw error;
    tell({ file, line: 1 }, `${error.message}; this volume and later ones are not read`);
    return undefined;
  }
}

async function* read(file: string, options: ReadOptions): AsyncGenerator<Placed> {
  const first = await readHeader(file);
  for (const volume of volumeFiles(file)) {
    const header = volume === file ? first : await laterHeader(volume, first, teller(options.onProblem));
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

/** Reads one exchange again. @throws TapeError when the file changed since its place was taken */
export async function readAt(place: Place): Promise<Exchange> {
  try {
    const handle = await open(place.file, "r");
    try {
      const { buffer, bytesRead } = await handle.read(
        Buffer.alloc(place.length),
        0,
        place.length,
        place.offset,
      );
      const found = exchangeOf(buffer.toString("utf8", 0, bytesRead));
      if (typeof found !== "string") return found;
      throw new TapeError(`${place.file}:${place.line} changed while it was in use: ${found}`, {
        file: place.file,
        line: place.line,
        hint: "load the tape again",
      });
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw fileTrouble(place.file, "read", error);
  }
}

/** What can be told of a tape without reading its exchanges. */
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
    return {
      name,
      file,
      size: sum(sizes),
      volumes: files.length,
      exchanges: sum(lines) - files.length,
      header,
    };
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

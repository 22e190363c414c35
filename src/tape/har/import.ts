import { createReadStream } from "node:fs";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { RawExchange } from "../types.ts";
import { createEntryScanner, type EntryPiece } from "./entry-stream.ts";
import { HarError } from "./errors.ts";
import { objectIn, textIn } from "./fields.ts";
import { type NoteCode, noteTexts, type SkipCode } from "./notes.ts";
import { type EntryContext, type ReadEntry, readEntry } from "./read-entry.ts";

/** Something odd about an entry of a HAR. */
export interface HarProblem {
  /** Which entry, from 1; the number after the last one for what concerns the whole file. */
  entry: number;
  code: NoteCode | SkipCode;
  /** Was the entry left out because of it? */
  skipped: boolean;
  detail: string;
  hint: string;
}

export interface ImportOptions {
  /** Every entry, not only those of the service. */
  all?: boolean;
  onProblem?: (problem: HarProblem) => void;
  /** Bytes read so far. */
  onProgress?: (bytes: number) => void;
}

/** First bytes of what is often taken for a HAR. */
const disguises: readonly (readonly [first: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], "a zip archive: unpack it, or record with an ending of .har instead of .zip"],
  [[0x1f, 0x8b], "compressed with gzip: unpack it first"],
  [[0xff, 0xfe], "text in UTF-16: save it as UTF-8"],
  [[0xfe, 0xff], "text in UTF-16: save it as UTF-8"],
];

function refuseDisguise(chunk: Buffer): void {
  const found = disguises.find(([first]) => first.every((byte, i) => chunk[i] === byte));
  if (found) throw new HarError(`it is ${found[1]}`);
  const start = chunk
    .toString("utf8", 0, 64)
    .replace(/^\ufeff/, "")
    .trimStart();
  if (start !== "" && !start.startsWith("{"))
    throw new HarError("it is not a HAR file: it does not begin with {");
}

const withoutBom = (chunk: Buffer): Buffer =>
  chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf ? chunk.subarray(3) : chunk;

async function* chunksOf(file: string): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) {
    const bytes: Buffer = chunk;
    if (isFirst) refuseDisguise(bytes);
    yield isFirst ? withoutBom(bytes) : bytes;
    isFirst = false;
  }
}

function parse(text: string): { value: Json } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function readPiece(piece: EntryPiece, context: EntryContext): ReadEntry {
  if ("tooLarge" in piece) return { skip: "too_large" };
  const parsed = parse(piece.entry.toString("utf8"));
  return parsed ? readEntry(parsed.value, context) : { skip: "not_json" };
}

const logOf = (text: string): JsonObject | undefined => {
  const parsed = parse(text);
  const log = parsed && isObject(parsed.value) ? objectIn(parsed.value, "log") : {};
  return Array.isArray(log.entries) ? log : undefined;
};

/**
 * Reads the exchanges of a HAR file of any size, one after the other: of Chrome, Firefox, Safari, Playwright,
 * mitmproxy, Charles and what else writes HAR 1.1 or 1.2, their defects tolerated and told to `onProblem`. The
 * exchanges hold secrets: they must go through a redactor.
 * @throws HarError when the file is no HAR
 * @throws Error of the file system, e.g. ENOENT
 */
export async function* importHar(file: string, options: ImportOptions = {}): AsyncGenerator<RawExchange> {
  const { all = false, onProblem, onProgress } = options;
  const scanner = createEntryScanner();
  const tell = (entry: number, code: NoteCode | SkipCode, skipped: boolean): void => {
    const [detail, hint] = noteTexts[code];
    onProblem?.({ entry, code, skipped, detail, hint });
  };
  let count = 0;
  let bytes = 0;
  let before = 0;
  for await (const chunk of chunksOf(file)) {
    bytes += chunk.length;
    for (const piece of scanner.scan(chunk)) {
      count++;
      const read = readPiece(piece, { all, before });
      if ("skip" in read) tell(count, read.skip, true);
      else {
        for (const note of read.notes) tell(count, note, false);
        before = read.exchange.at;
        yield read.exchange;
      }
    }
    onProgress?.(bytes);
  }
  const around = scanner.end();
  if (around.isWhole && logOf(around.text)) return;
  if (count === 0) throw new HarError(emptyReason(bytes, around.isWhole, around.text));
  tell(count + 1, around.isWhole ? "not_json" : "cut_off", true);
}

function emptyReason(bytes: number, isWhole: boolean, text: string): string {
  if (bytes === 0) return "it is empty";
  if (!isWhole) return "it ends in the middle, before its first entry is whole";
  return parse(text) ? "it is not a HAR file: it has no list log.entries" : "it is not JSON";
}

const nameOf = (tool: JsonObject): string =>
  [textIn(tool, "name"), textIn(tool, "version")].filter(Boolean).join(" ");

/** Which tool wrote a HAR, e.g. `WebInspector 537.36`, as far as it says so before its entries; else `HAR`. */
export async function harCreator(file: string): Promise<string> {
  const scanner = createEntryScanner();
  for await (const chunk of chunksOf(file)) {
    scanner.scan(chunk);
    if (scanner.hasBegun) break;
  }
  const log = logOf(`${scanner.end().text}]}}`) ?? logOf(scanner.end().text) ?? {};
  return nameOf(objectIn(log, "browser")) || nameOf(objectIn(log, "creator")) || "HAR";
}

import { closeSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { isObject, type JsonObject, objectIn, own } from "../../../kernel/base/json.ts";
import type { RawExchange } from "../format/raw-exchange.ts";
import { type NoteCode, noteTexts, type SkipCode, textIn } from "./entry-fields.ts";
import { readEntry } from "./read-entry.ts";

/** A file that cannot be read as a HAR, or a tape that must not become one; the message is for the user. */
export class HarError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "HarError";
  }
}

export interface HarProblem {
  /** Its number, from 1. */
  entry: number;
  code: NoteCode | SkipCode;
  skipped: boolean;
  detail: string;
  hint: string;
}

interface ImportOptions {
  all?: boolean;
  onProblem?: (problem: HarProblem) => void;
}

/** A HAR file is read as a whole: a string of V8 cannot be longer than 512 MB, and its JSON takes several times as much. */
const mostBytes = 256 * 1024 * 1024;

/** First bytes of files that are often taken for a HAR. */
const disguises: readonly (readonly [first: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 3, 4], "a zip archive: unpack it, or record with an ending of .har instead of .zip"],
  [[0x1f, 0x8b], "compressed with gzip: unpack it first"],
  [[0xff, 0xfe], "text in UTF-16: save it as UTF-8"],
  [[0xfe, 0xff], "text in UTF-16: save it as UTF-8"],
];

/** The object `log` of a HAR file. @throws HarError, or an Error of the file system, e.g. ENOENT */
function readLog(file: string): JsonObject {
  const { size } = statSync(file);
  if (size === 0) throw new HarError("it is empty");
  const bytes = size > mostBytes ? firstBytes(file) : readFileSync(file);
  const disguise = disguises.find(([first]) => first.every((byte, i) => bytes[i] === byte));
  if (disguise) throw new HarError(`it is ${disguise[1]}`);
  if (!/^\ufeff?\s*\{/.test(bytes.toString("utf8", 0, 64)))
    throw new HarError("it is not a HAR file: it does not begin with {");
  if (size > mostBytes) {
    const limit = `${mostBytes >> 20} MB`;
    throw new HarError(
      `it is larger than ${limit}; export fewer requests (filter by host), or record with phx-sim record`,
    );
  }
  const log = parsed(bytes);
  if (Array.isArray(own(log, "entries"))) return log;
  throw new HarError("it is not a HAR file: it has no list log.entries");
}

function firstBytes(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(64);
    return bytes.subarray(0, readSync(descriptor, bytes));
  } finally {
    closeSync(descriptor);
  }
}

function parsed(bytes: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8").replace(/^\ufeff/, ""));
    return isObject(value) ? objectIn(value, "log") : {};
  } catch (error) {
    // the parser's message quotes the file, which has secrets
    throw new HarError("it is not JSON, or was cut off; export it again", error);
  }
}

const nameOf = (tool: JsonObject): string => [textIn(tool, "name"), textIn(tool, "version")].filter(Boolean).join(" ");

interface HarImport {
  /** For example `WebInspector 537.36`; `HAR` if the file does not name it. */
  creator: string;
  entries: number;
  /** They hold secrets: they must go through a redactor. */
  exchanges: Iterable<RawExchange>;
}

/** Reads HAR 1.1 or 1.2 of up to 256 MB. @throws HarError when it is none or too large; Error of the file system */
export function importHar(file: string, { all = false, onProblem }: ImportOptions = {}): HarImport {
  const log = readLog(file);
  const entries = Array.isArray(log.entries) ? log.entries : [];
  const report = (entry: number, code: NoteCode | SkipCode, skipped: boolean): void => {
    const [detail, hint] = noteTexts[code];
    onProblem?.({ entry, code, skipped, detail, hint });
  };
  function* exchanges(): Generator<RawExchange> {
    let before = 0;
    for (const [i, entry] of entries.entries()) {
      const read = readEntry(entry, { all, before });
      if ("skip" in read) {
        report(i + 1, read.skip, true);
        continue;
      }
      for (const note of read.notes) report(i + 1, note, false);
      before = read.exchange.at;
      yield read.exchange;
    }
  }
  const creator = nameOf(objectIn(log, "browser")) || nameOf(objectIn(log, "creator")) || "HAR";
  return { creator, entries: entries.length, exchanges: exchanges() };
}

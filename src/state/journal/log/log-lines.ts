import { isObject, type Json, parsedJson } from "../../../kernel/base/json.ts";
import type { Bytes } from "../../../kernel/store/bytes.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { hasSeal, isSealed, linesOf, sealed, sealLength, textsOf, unsealed } from "../../../kernel/store/lines.ts";
import type { TrafficLine } from "../traffic.ts";
import type { HiddenRange } from "./hidden.ts";

/** First line of the file: which log this is, and where its numbering starts. */
export interface Opening {
  log: "phx-sim traffic";
  version: 1;
  birth: number;
  n: number;
  seq: number;
  /** Where the log continues after older requests were evicted, and their number. */
  from?: { n: number; seq: number; offset: number; evicted: number };
}

export interface ClearLine {
  clear: { project: number | null; until: number; requests?: number };
}

export interface ProblemsLine {
  problems_cleared: { project: number | null; seq: number; n: number };
}

export interface HiddenLine {
  hidden: { n: number; seq: number; hidden: { requests: HiddenRange[]; events: HiddenRange[] } };
}

type Line = TrafficLine | ClearLine | HiddenLine | ProblemsLine | Opening;

/** A line's content; undefined if it is none of these. Lines without a checksum are checked more closely. */
export function lineIn(text: string, isSealed: boolean): Line | undefined {
  try {
    const value: Json = JSON.parse(text);
    // The checksum matches: we wrote it.
    return isObject(value) && (isSealed || isLine(value)) ? (value as unknown as Line) : undefined;
  } catch {
    return undefined;
  }
}

/** The request of a line; undefined when the line is damaged, or of something else. */
export function requestIn(line: Buffer, isTrusted: boolean): { line: TrafficLine; text: string } | undefined {
  const text = unsealed(line);
  const found = text === undefined ? undefined : lineIn(text, isTrusted || isSealed(line));
  return text !== undefined && found && "n" in found && "at" in found ? { line: found, text } : undefined;
}

/** True if it is the line of request n as it was written. Lines without a checksum never are. */
export function isIntact(bytes: Buffer, n: number): boolean {
  const stop = bytes.indexOf(0x0a);
  const line = stop === -1 ? bytes : bytes.subarray(0, stop);
  return hasSeal(line) && isOfRequest(line, n);
}

export function isOfRequest(line: Buffer, n: number): boolean {
  const from = isSealed(line) ? sealLength : 1;
  const start = `"n":${n},`;
  return line.toString("latin1", from, from + start.length) === start;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
const isTime = (value: unknown): boolean => typeof value === "number" && Math.abs(value) <= 8.64e15;
const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const optional = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value);
const nullable = (is: (value: unknown) => boolean) => (value: unknown) => value === null || is(value);

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const fits = (value: unknown, shape: Shape): boolean =>
  isObject(value) && Object.entries(shape).every(([key, is]) => is(value[key]));

const runs = (value: unknown): boolean =>
  Array.isArray(value) && value.every((it) => fits(it, { project: isCount, from: isCount, to: isCount }));

const eventShape: Shape = {
  uuid: nullable(isText),
  id: optional(isText),
  time: isTime,
  person: nullable(isText),
  dropped: optional(isText),
  detail: optional(isText),
  warnings: optional(Array.isArray),
  groups: optional(isObject),
  place: optional(isObject),
  adds: optional(isObject),
  strips: optional(isTexts),
};

/** The fields that the code relies on in a line without a checksum, by the line's kind. */
const shapes: Readonly<Record<string, Shape>> = {
  log: { birth: isCount },
  clear: {
    clear: (it) =>
      fits(it, { project: nullable(isCount), until: Number.isSafeInteger, requests: optional(Number.isSafeInteger) }),
  },
  hidden: {
    hidden: (it) =>
      fits(it, {
        n: Number.isSafeInteger,
        seq: Number.isSafeInteger,
        hidden: (both) => fits(both, { requests: runs, events: runs }),
      }),
  },
  problems_cleared: {
    problems_cleared: (it) =>
      fits(it, { project: nullable(isCount), seq: Number.isSafeInteger, n: Number.isSafeInteger }),
  },
  n: {
    n: isCount,
    at: isTime,
    method: isText,
    target: isText,
    peer: isText,
    status: isCount,
    us: isCount,
    project: nullable(isCount),
    rejected: optional((it) => fits(it, { reason: isText, detail: isText })),
    fault: optional(isText),
    source: optional(isText),
    partition: optional(isText),
    seq: optional(isCount),
    events: optional((it) => Array.isArray(it) && it.every((one) => fits(one, eventShape))),
    shape: optional((it) => it === "legacy" || it === "v1" || it === "recording"),
    steps: optional(isTexts),
    headers: isTexts,
    reply_headers: optional(isTexts),
  },
};

function isLine(value: Record<string, unknown>): boolean {
  const kind = Object.keys(shapes).find((key) => Object.hasOwn(value, key));
  return kind !== undefined && fits(value, shapes[kind] ?? {});
}

const openingLog = "phx-sim traffic";

const openingShape: Shape = {
  birth: isCount,
  n: isCount,
  seq: isCount,
  from: optional((it) => fits(it, { n: isCount, seq: isCount, offset: isCount, evicted: isCount })),
};

/** The first line's content; undefined for an empty file. @throws DataFolderError when the file is not a log of ours */
export function readOpening(bytes: Bytes, name: string): Opening | undefined {
  if (bytes.size === 0) return undefined;
  const [first] = linesOf(bytes, 0);
  // A crash while the first line was written: it is cut off with all unfinished lines.
  if (first === undefined && bytes.read(0, 2).equals(Buffer.from('{"'))) return undefined;
  const text = first === undefined ? undefined : unsealed(first.bytes);
  const found = text === undefined ? undefined : parsedJson(text);
  if (first?.offset === 0 && isObject(found) && found.log === openingLog) {
    if (found.version !== 1)
      throw notOurs(bytes, name, `it has version ${JSON.stringify(found.version)}, and this phx-sim knows version 1`);
    if (fits(found, openingShape)) {
      // The shape is the opening's.
      const opening = found as unknown as Opening;
      // offsets continue after those of the evicted lines
      if (opening.from) bytes.rebase(opening.from.offset - first.bytes.length - 1, opening.from.offset);
      return opening;
    }
  }
  throw notOurs(bytes, name, reasonOf(bytes));
}

function reasonOf(bytes: Bytes): string {
  const start = bytes.read(0, 3);
  if (start.equals(Buffer.from("\ufeff"))) return "it begins with a byte order mark, which an editor put there";
  return start[0] === 0x7b ? "its first line is damaged" : "it is not a traffic log of phx-sim";
}

/** The hint holds a first line that fits the rest, where there is a rest. */
function notOurs(bytes: Bytes, name: string, reason: string): DataFolderError {
  let [n, seq] = [0, 0];
  for (const { text, isSealed } of textsOf(bytes, 0)) {
    const line = text === undefined ? undefined : lineIn(text, isSealed);
    if (!line || !("n" in line && "at" in line)) continue;
    n ||= line.n;
    seq ||= line.seq ?? 0;
    if (n > 0 && seq > 0) break;
  }
  const opening = openingText({ birth: 1, n, seq: seq || 1 });
  const repair = n > 0 ? `make this its first line: ${opening}; or ` : "";
  return new DataFolderError(`${name}:1: ${reason}`, {
    file: name,
    line: 1,
    hint: `${repair}move the file away to start without its requests and events`,
  });
}

const openingText = (opening: Omit<Opening, "log" | "version">): string =>
  JSON.stringify({ log: openingLog, version: 1, ...opening } satisfies Opening);

export const openingLine = (opening: Omit<Opening, "log" | "version">): string => `${sealed(openingText(opening))}\n`;

export const newBirth = (): number => Math.floor(Math.random() * 2 ** 48);

export function startLog(bytes: Bytes, n: number, seq: number): Opening {
  const text = openingLine({ birth: newBirth(), n, seq });
  bytes.append(Buffer.from(text));
  return JSON.parse(text);
}

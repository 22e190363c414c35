import { closeSync, createReadStream, fstatSync, openSync, readSync } from "node:fs";
import { isUuid } from "../../base/ids.ts";
import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { version } from "../../base/version.ts";
import type { TapeRules } from "../redact/rules.ts";
import { rulesInHeader } from "../redact/rules.ts";
import type { Exchange } from "./exchange.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";

/** The version of the format that is written, and the newest that is read. */
export const formatVersion = 1;

const isText = (value: Json | undefined): boolean => typeof value === "string";
const isTexts = (value: Json | undefined): boolean => Array.isArray(value) && value.every(isText);

const fields: readonly (readonly [name: string, fits: (value: Json | undefined) => boolean])[] = [
  ["id", (value) => isUuid(value)],
  ["created", (value) => typeof value === "string" && !Number.isNaN(Date.parse(value))],
  ["creator", isText],
  ["upstream", (value) => value === null || isText(value)],
  ["redaction", isText],
  ["noise", isTexts],
  ["rules", (value) => value === undefined || rulesInHeader(value) !== undefined],
  ["volume", (value) => value === undefined || (Number.isSafeInteger(value) && Number(value) > 1)],
];

const isHeader = (value: JsonObject): value is JsonObject & TapeHeader =>
  value.tape === formatVersion && fields.every(([name, fits]) => fits(value[name]));

const notATape = (file: string, why: string): TapeError =>
  new TapeError(`${file} is not a tape: ${why}`, {
    file,
    line: 1,
    hint: "a tape's first line is its header; a HAR becomes one by `phx-sim tape import`",
  });

const newer = (file: string, found: number): TapeError =>
  new TapeError(`${file} is of format ${found}; this phx-sim (${version}) reads up to ${formatVersion}`, {
    file,
    line: 1,
    hint: "update phx-sim, or record the tape again",
  });

function parsed(file: string, line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    throw notATape(file, line.trim() === "" ? "it is empty" : "its first line is not JSON");
  }
}

/** Reads a tape's first line. @throws TapeError when it is none, or of a newer format */
export function parseHeader(file: string, line: string): TapeHeader {
  const value = parsed(file, line.replace(/^\uFEFF/, ""));
  if (!isObject(value) || typeof value.tape !== "number") throw notATape(file, "its first line is no header");
  if (value.tape > formatVersion) throw newer(file, value.tape);
  if (isHeader(value)) return value;
  const wrong = fields.find(([name, fits]) => !fits(value[name]))?.[0] ?? "tape";
  throw notATape(file, `its header has no valid \`${wrong}\``);
}

/** No header is as long as that; a file without line breaks ends here. */
export const maxHeader = 1024 * 1024;

async function firstLine(file: string): Promise<string> {
  let text = "";
  for await (const chunk of createReadStream(file, { encoding: "utf8", highWaterMark: 16 * 1024 })) {
    text += String(chunk);
    const end = text.indexOf("\n");
    if (end !== -1) return text.slice(0, end);
    if (text.length > maxHeader) break;
  }
  return text;
}

/** A tape's header. @throws TapeError when it cannot be read, is no tape, or of a newer format */
export async function readHeader(file: string): Promise<TapeHeader> {
  try {
    return parseHeader(file, await firstLine(file));
  } catch (error) {
    throw fileTrouble(file, "read", error);
  }
}

/** A file that is empty, or was cut off before its header was whole, has nothing to lose. */
export function isUnborn(file: string): boolean {
  const text = startOf(file, maxHeader);
  const begins = '{"tape":';
  return text === "" || (!text.includes("\n") && text.startsWith(begins.slice(0, text.length)));
}

/** First line of a tape. */
export interface TapeHeader {
  /** Version of the format. */
  tape: 1;
  id: string;
  created: string;
  /** e.g. `phx-sim/0.1.0`, or the tool that wrote a HAR. */
  creator: string;
  /** Where it was recorded; null for an import of several. */
  upstream: string | null;
  /** Which rules redacted it, e.g. `default`, `pii`. */
  redaction: string;
  /** Paths that differ without meaning (`req.body.batch[].uuid`), over the built-in ones. */
  noise: readonly string[];
  /** Rules of the project that redacted it over the built-in ones; live requests go through them, too. */
  rules?: TapeRules;
  /** From 2: this file continues another one, which grew too large; absent: the first. */
  volume?: number;
}

/** Takes the secrets out of exchanges before they reach a disk; it remembers which secret is which over a tape. */
export interface Redactor {
  /** Goes into the tape's header. */
  readonly profile: string;
  /** Goes there, too. */
  readonly rules?: TapeRules;
  redact(exchange: Exchange): Exchange;
  /** Text of a tape that is continued: its placeholders are taken, so that one never stands for two secrets. */
  reserve?(text: string): void;
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

import { createReadStream } from "node:fs";
import { isUuid } from "../kernel/ids.ts";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { version } from "../kernel/version.ts";
import { startOf } from "./append-file.ts";
import { rulesInHeader } from "./redact/rules.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";
import type { TapeHeader } from "./types.ts";

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

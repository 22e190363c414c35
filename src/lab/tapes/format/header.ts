import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import { isObject, type Json } from "../../../kernel/base/json.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { isUuid } from "../../../kernel/base/text.ts";
import { version } from "../../../kernel/base/version.ts";
import { rulesInHeader, type TapeRules } from "../redact/rules.ts";
import type { Exchange } from "./exchange.ts";
import { fileTrouble, TapeError } from "./tape-error.ts";

/** The version of the format that is written, and the newest that is read. */
export const formatVersion = 1;

const TapeHeader = z.object({
  tape: z.literal(formatVersion),
  id: z.string().refine(isUuid),
  created: z.string().refine((it) => !Number.isNaN(Date.parse(it))),
  /** `phx-sim/0.1.0`, or the tool that wrote a HAR. */
  creator: z.string(),
  upstream: z.string().nullable(),
  /** Which rules redacted it: `default`, `pii`, `none`. */
  redaction: z.string(),
  /** Paths that differ without meaning (`req.body.batch[].uuid`), in addition to the built-in ones. */
  noise: z.array(z.string()).readonly(),
  /** Rules of the project that redacted it; live requests go through them, too. */
  rules: z.custom<TapeRules>((it) => rulesInHeader(it) !== undefined).optional(),
});
export type TapeHeader = z.infer<typeof TapeHeader>;

/** Removes the secrets of exchanges before they reach a disk; equal secrets get the same placeholder over a tape. */
export interface Redactor {
  readonly profile: string;
  readonly rules?: TapeRules;
  redact(exchange: Exchange): Exchange;
  /** Text of a tape that is continued: its placeholders are taken, so that none stands for two secrets. */
  reserve?(text: string): void;
}

const notATape = (file: string, why: string): TapeError =>
  new TapeError(`${file} is not a tape: ${why}`, {
    file,
    line: 1,
    hint: "a tape's first line is its header; a HAR becomes one by `phx-sim tape import`",
  });

function parsed(file: string, line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    throw notATape(file, line.trim() === "" ? "it is empty" : "its first line is not JSON");
  }
}

/** Reads a tape's first line. @throws TapeError when it is none, or of a newer format */
function parseHeader(file: string, line: string): TapeHeader {
  const value = parsed(file, line.replace(/^\uFEFF/, ""));
  if (!isObject(value) || typeof value.tape !== "number") throw notATape(file, "its first line is no header");
  if (value.tape > formatVersion)
    throw new TapeError(`${file} is of format ${value.tape}; this phx-sim (${version}) reads up to ${formatVersion}`, {
      file,
      line: 1,
      hint: "update phx-sim, or record the tape again",
    });
  if (value.volume !== undefined)
    throw new TapeError(`${file} continues another tape, which this phx-sim (${version}) does not read`, {
      file,
      line: 1,
      hint: "append its lines but the first to that tape",
    });
  const { data, error } = safeParse(TapeHeader, value);
  if (data) return data;
  throw notATape(file, `its header has no valid \`${String(error.issues[0]?.path[0])}\``);
}

/** No header is longer, in bytes; a file without line breaks ends here. */
const maxHeader = 1024 * 1024;

/** The first bytes of a file as text. @throws the system's error */
function startOf(file: string, most: number): string {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(Math.min(most, fstatSync(fd).size));
    return bytes.toString("utf8", 0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

/** A tape's header. @throws TapeError when it is no tape, or of a newer format; the system's error */
export function headerIn(file: string): TapeHeader {
  const start = startOf(file, 64 * 1024);
  const text = start.includes("\n") ? start : startOf(file, maxHeader);
  return parseHeader(file, text.split("\n", 1)[0] ?? "");
}

/** A tape's header. @throws TapeError when it cannot be read, is no tape, or of a newer format */
export async function readHeader(file: string): Promise<TapeHeader> {
  try {
    return headerIn(file);
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

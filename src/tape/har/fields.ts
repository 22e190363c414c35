import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";

/** Readers of a HAR's fields, which are whatever the tool that wrote them made of them. */

export const objectIn = (object: JsonObject, key: string): JsonObject => {
  const value = own(object, key);
  return isObject(value) ? value : {};
};

export const textIn = (object: JsonObject, key: string): string | undefined => {
  const value = own(object, key);
  return typeof value === "string" ? value : undefined;
};

/** Also where it was written as text. */
export const numberIn = (object: JsonObject, key: string): number | undefined => {
  const value = own(object, key);
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};

const scalarText = (value: Json | undefined): string =>
  typeof value === "string"
    ? value
    : typeof value === "number" || typeof value === "boolean"
      ? `${value}`
      : "";

/** Pairs of `name` and `value`, those without a name left out. */
export function pairsIn(object: JsonObject, key: string): [name: string, value: string][] {
  const rows = own(object, key);
  if (!Array.isArray(rows)) return [];
  return rows.filter(isObject).flatMap((row): [string, string][] => {
    const name = textIn(row, "name");
    return name ? [[name, scalarText(own(row, "value"))]] : [];
  });
}

const versions: readonly (readonly [RegExp, string])[] = [
  [/^(?:http\/)?0\.9$/i, "0.9"],
  [/^(?:http\/)?1\.0$/i, "1.0"],
  [/^(?:h2|h2c|(?:http\/)?2(?:\.0)?)$/i, "2.0"],
  [/^(?:h3(?:-\w+)?|(?:http\/)?3(?:\.0)?|http\/2\+quic.*|quic)$/i, "3.0"],
];

/** `HTTP/1.1`, `h2`, `http/2.0`, `h3-29` as `1.1`, `2.0`, `3.0`; `1.1` for what tells nothing. */
export const httpVersionOf = (text: string | undefined): string =>
  versions.find(([pattern]) => pattern.test(text ?? ""))?.[1] ?? "1.1";

/** A header as HTTP can carry it. */
const token = /^[!#$%&'*+.^`|~\w-]+$/;

/** What would end a line or a message, and what is beyond Latin-1; a tab may stay. */
const unfit = /[^\t\x20-\x7e\x80-\xff]/g;

/** Text as a header or a status line can carry it: what is beyond Latin-1 as its UTF-8 bytes, as Node has it. */
export const wireText = (text: string): string =>
  (/[^\0-\xff]/.test(text) ? Buffer.from(text).toString("latin1") : text).replace(unfit, "").trim();

/**
 * The headers of a request or answer. Pseudo-headers of HTTP/2 (`:path`) are no headers; several of one name that
 * a browser joined by line breaks are several again.
 */
export const headersIn = (message: JsonObject): [name: string, value: string][] =>
  pairsIn(message, "headers")
    .filter(([name]) => token.test(name))
    .flatMap(([name, value]) => value.split(/\r?\n/).map((line): [string, string] => [name, wireText(line)]));

/** Milliseconds from arrival to the answer's first byte and to its last. */
export interface Timing {
  ttfb: number;
  total: number;
  /** Were there times below zero, beyond the -1 that means "does not apply"? */
  isOdd: boolean;
}

const beforeAnswer = ["blocked", "dns", "connect", "send", "wait"];

/** Longer than any request takes; sums of absurd times stay numbers. */
const mostMs = 7 * 24 * 60 * 60 * 1000;
const capped = (ms: number): number => Math.min(ms, mostMs);

/** `ssl` is part of `connect`. */
export function timingOf(entry: JsonObject): Timing {
  const timings = objectIn(entry, "timings");
  const given = (key: string) => numberIn(timings, key) ?? 0;
  const isOdd = [...beforeAnswer, "receive"].some((key) => given(key) < 0 && given(key) !== -1);
  const ttfb = beforeAnswer.reduce((sum, key) => sum + Math.max(0, given(key)), 0);
  const sum = ttfb + Math.max(0, given("receive"));
  return { ttfb: capped(ttfb), total: capped(Math.max(sum, numberIn(entry, "time") ?? 0)), isOdd };
}

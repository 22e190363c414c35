import { isObject, isTooDeep, type Json, type JsonObject } from "../../base/json.ts";
import type { Exchange } from "./exchange.ts";
import { isSideName } from "./side-files.ts";

type Fits = (value: Json | undefined) => boolean;
type Rows = readonly (readonly [name: string, fits: Fits])[];

const isText: Fits = (value) => typeof value === "string";
const isCount: Fits = (value) => typeof value === "number" && value >= 0;
const isWhole: Fits = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTexts: Fits = (value) => Array.isArray(value) && value.every(isText);
const optional =
  (fits: Fits): Fits =>
  (value) =>
    value === undefined || fits(value);
const oneOf =
  (...known: readonly Json[]): Fits =>
  (value) =>
    value !== undefined && known.includes(value);

/** Control characters would split a message when it is sent. */
function isHeaderText(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if ((code < 0x20 && code !== 0x09) || code === 0x7f || code > 0xff) return false;
  }
  return true;
}

const isHeaderName = (name: string): boolean => name !== "" && isHeaderText(name) && !/\s/.test(name);

const isPair: Fits = (value) =>
  Array.isArray(value) &&
  value.length === 2 &&
  typeof value[0] === "string" &&
  isHeaderName(value[0]) &&
  typeof value[1] === "string" &&
  isHeaderText(value[1]);

const isHeaders: Fits = (value) => Array.isArray(value) && value.every(isPair);

const isWire: Fits = (value) => isObject(value) && isWhole(value.bytes) && isTexts(value.encodings);

/** The deepest body that is read is 128 levels; deeper ones were written as text. */
const bodies: Readonly<Record<string, (body: JsonObject) => boolean>> = {
  json: ({ json }) => json !== undefined && !isTooDeep(json),
  text: ({ text }) => isText(text),
  b64: ({ b64 }) => isText(b64),
  file: ({ file, bytes, as }) =>
    typeof file === "string" && isSideName(file) && isWhole(bytes) && optional(oneOf("json", "text"))(as),
  omitted: ({ omitted, bytes }) => isText(omitted) && isWhole(bytes),
};

const isBody: Fits = (value) => {
  if (!isObject(value)) return false;
  const kinds = Object.keys(bodies).filter((kind) => Object.hasOwn(value, kind));
  const [kind] = kinds;
  return kinds.length === 1 && kind !== undefined && bodies[kind]?.(value) === true;
};

const isUrl: Fits = (value) =>
  typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
const isMethod: Fits = (value) => typeof value === "string" && /^[A-Za-z][A-Za-z-]{0,31}$/.test(value);

const request: Rows = [
  ["method", isMethod],
  ["url", isUrl],
  ["http", isText],
  ["headers", isHeaders],
  ["wire", isWire],
  ["body", optional(isBody)],
];

const answer: Rows = [
  ["status", (value) => isWhole(value) && Number(value) >= 100 && Number(value) <= 999],
  ["reason", (value) => typeof value === "string" && isHeaderText(value)],
  ["http", isText],
  ["headers", isHeaders],
  ["wire", isWire],
  ["body", optional(isBody)],
  ["ttfb", isCount],
  ["total", isCount],
];

const whole: Rows = [
  ["i", (value) => isWhole(value) && Number(value) > 0],
  ["at", (value) => typeof value === "string" && !Number.isNaN(Date.parse(value))],
  ["route", isText],
  ["req", isObject],
  ["res", (value) => value === null || isObject(value)],
  ["complete", (value) => typeof value === "boolean"],
  ["aborted", optional(oneOf("client", "upstream"))],
  ["redacted", isTexts],
  ["client", optional(isText)],
];

const wrongIn = (rows: Rows, value: JsonObject, prefix: string): string | undefined => {
  const row = rows.find(([name, fits]) => !fits(Object.hasOwn(value, name) ? value[name] : undefined));
  return row && prefix + row[0];
};

/** The field that keeps a value from being an exchange, e.g. `req.headers`; undefined when nothing does. */
export function wrongField(value: unknown): string | undefined {
  const line = value as Json;
  if (!isObject(line)) return "line";
  const { req, res } = line;
  return (
    wrongIn(whole, line, "") ??
    (isObject(req) ? wrongIn(request, req, "req.") : undefined) ??
    (isObject(res) ? wrongIn(answer, res, "res.") : undefined)
  );
}

/** Is a parsed line an exchange, down to what a replay or a sender relies on? Further keys are left alone. */
export const isExchange = (value: unknown): value is Exchange => wrongField(value) === undefined;

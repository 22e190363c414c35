import { isObject, type JsonObject } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { spelledOut } from "../../kernel/base/text.ts";

const longest = 120;

/** Text of unknown origin on one line, safe to print. */
export const printable = (text: string, limit = longest): string =>
  spelledOut(text.length > limit ? `${text.slice(0, limit)}…` : text);

export const shownValue = (value: unknown): string | null =>
  value === undefined ? null : printable(JSON.stringify(value) ?? String(value));

const join = (words: readonly string[], last: string): string => {
  const head = words.slice(0, -1).join(", ");
  return [head, words.at(-1) ?? ""].filter(Boolean).join(` ${last} `);
};

const mostListed = 8;

/** `"a", "b" or "c"`; of a long list the beginning. */
export function alternatives(values: readonly unknown[]): string {
  const shown = values.slice(0, mostListed).map((it) => shownValue(it) ?? "nothing");
  const more = values.length - shown.length;
  return join(more > 0 ? [...shown, `${more} others`] : shown, "or");
}

const orOf = (words: readonly string[]): string => join([...new Set(words)], "or");

const typePhrases: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

export const typesPhrase = (types: unknown): string =>
  orOf([types].flat().map((it) => typePhrases[String(it)] ?? String(it)));

const formatPhrases: Readonly<Record<string, string>> = {
  "date-time": "a time such as 2026-01-31T12:00:00Z",
  date: "a day such as 2026-01-31",
  email: "an e-mail address",
  uri: "an address such as https://example.com/a",
  uuid: "a UUID",
  regex: "a regular expression",
};

export const formatPhrase = (format: unknown): string =>
  formatPhrases[String(format)] ?? `a string in the format ${String(format)}`;

export function wantedBy(schema: unknown): string {
  if (!isObject(schema)) return "a value";
  if (typeof schema.$ref === "string") return `a value for ${printable(schema.$ref)}`;
  if (Array.isArray(schema.enum)) return alternatives(schema.enum);
  if (Object.hasOwn(schema, "const")) return shownValue(schema.const) ?? "nothing";
  if (Array.isArray(schema.anyOf)) return orOf(schema.anyOf.map(wantedBy));
  if (typeof schema.format === "string") return formatPhrase(schema.format);
  return schema.type === undefined ? "a value" : typesPhrase(schema.type);
}

export function propertySchema(schema: unknown, name: string): unknown {
  const properties = propertiesOf(schema);
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export const propertiesOf = (schema: unknown): JsonObject =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {};

const isNumberText = (value: unknown): boolean =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value));

interface Row {
  readonly wanted: readonly string[];
  readonly isIt: (value: unknown) => boolean;
  readonly hint: string;
}

/** Frequent mistakes; the first match counts. */
const rows: readonly Row[] = [
  { wanted: ["number", "integer"], isIt: isNumberText, hint: "number as a string" },
  { wanted: ["boolean"], isIt: (it) => it === "true" || it === "false", hint: "boolean as a string" },
  { wanted: ["boolean"], isIt: (it) => it === 0 || it === 1, hint: "number instead of a boolean" },
  { wanted: ["string"], isIt: (it) => typeof it === "number", hint: "number instead of a string" },
  { wanted: ["integer"], isIt: (it) => typeof it === "number", hint: "not whole" },
  { wanted: ["array"], isIt: (it) => it !== null && typeof it !== "object", hint: "not in a list" },
];

export function oddType(types: unknown, value: unknown): string | null {
  const [wanted, ...others] = [types].flat().filter((it) => it !== "null");
  // With several types allowed, it is unknown which one was meant.
  const row = others.length === 0 ? rows.find((it) => it.isIt(value) && it.wanted.includes(String(wanted))) : undefined;
  return row?.hint ?? (value === null ? "null is a value: leave the property out, or allow null" : null);
}

export function oddValue(allowed: readonly unknown[], value: unknown): string | null {
  const asText = allowed.find((it) => it !== value && String(it) === String(value));
  if (asText !== undefined) return typeof value === "string" ? "number as a string" : "number instead of a string";
  if (typeof value !== "string") return null;
  const strings = allowed.filter((it): it is string => typeof it === "string");
  if (strings.some((it) => it.toLowerCase() === value.toLowerCase())) return "case differs";
  return meant(value, strings);
}

export const meant = (word: string, known: readonly string[]): string | null => meantOf(word, known) ?? null;

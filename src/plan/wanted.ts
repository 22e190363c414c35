import { isObject, type JsonObject } from "../kernel/json.ts";
import { alternatives, orOf, printable, shownValue } from "./shown.ts";

const typePhrases: Readonly<Record<string, string>> = {
  string: "a text",
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
  formatPhrases[String(format)] ?? `a text in the format ${String(format)}`;

/** What a schema wants, in a few words. */
export function wantedBy(schema: unknown): string {
  if (!isObject(schema)) return "a value";
  if (typeof schema.$ref === "string") return `what ${printable(schema.$ref)} says`;
  if (Array.isArray(schema.enum)) return alternatives(schema.enum);
  if (Object.hasOwn(schema, "const")) return shownValue(schema.const) ?? "nothing";
  if (Array.isArray(schema.anyOf)) return orOf(schema.anyOf.map(wantedBy));
  if (typeof schema.format === "string") return formatPhrase(schema.format);
  return schema.type === undefined ? "a value" : typesPhrase(schema.type);
}

/** The schema of a property, if the schema of the object has one by that name. */
export function propertySchema(schema: unknown, name: string): unknown {
  const properties = propertiesOf(schema);
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

export const propertiesOf = (schema: unknown): JsonObject =>
  isObject(schema) && isObject(schema.properties) ? schema.properties : {};

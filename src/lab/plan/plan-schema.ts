import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";

/** The keywords of JSON Schema (2020-12) that contain schemas. */
export const oneSchema = [
  "items",
  "additionalProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
] as const;
export const schemaList = ["allOf", "anyOf", "oneOf", "prefixItems"] as const;
export const schemaMap = ["properties", "patternProperties", "dependentSchemas"] as const;

export const formats = [
  "date-time",
  "date",
  "time",
  "duration",
  "uuid",
  "email",
  "uri",
  "uri-reference",
  "url",
  "hostname",
  "ipv4",
  "ipv6",
  "regex",
  "json-pointer",
] as const;

const types = ["string", "number", "integer", "boolean", "object", "array", "null"] as const;

const typeWords: ReadonlyMap<string, { readonly [keyword: string]: string }> = new Map<
  string,
  { readonly [keyword: string]: string }
>([
  ...types.map((type): [string, { type: string }] => [type, { type }]),
  ["any", {}],
  ...(["date-time", "date", "uuid", "email", "uri"] as const).map(
    (format): [string, { type: string; format: string }] => [format, { type: "string", format }],
  ),
]);

type Expand = (value: Json) => Json;

const each: Expand = (value) => (Array.isArray(value) ? value.map(schemaFrom) : value);
const eachEntry: Expand = (value) =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, it]) => [key, schemaFrom(it)])) : value;

const inner: ReadonlyMap<string, Expand> = new Map<string, Expand>([
  ...oneSchema.map((key): [string, Expand] => [key, schemaFrom]),
  ...schemaList.map((key): [string, Expand] => [key, each]),
  ...schemaMap.map((key): [string, Expand] => [key, eachEntry]),
]);

/** JSON Schema with every shorthand in it spelled out: type words, and lists of allowed values. */
export function schemaFrom(value: Json): Json {
  if (typeof value === "string") return fromWords(value);
  if (Array.isArray(value)) return { enum: value };
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, inner.get(key)?.(it) ?? it]));
}

/** `"integer|null"`, `"uuid[]"`. */
function fromWords(text: string): JsonObject {
  const schemas = text.split("|").map(fromWord);
  const [only] = schemas;
  if (schemas.length === 1 && only) return only;
  const types = schemas.map((it) => (Object.keys(it).join() === "type" ? it.type : undefined));
  return types.every((it): it is string => typeof it === "string") ? { type: [...new Set(types)] } : { anyOf: schemas };
}

function fromWord(word: string): JsonObject {
  if (word.endsWith("[]")) return { type: "array", items: fromWord(word.slice(0, -2)) };
  return { ...typeWords.get(word) };
}

const property = { $ref: "#/definitions/property" };
const text = { type: "string" };
const number = { type: "number" };
const size = { type: "integer", minimum: 0 };
const names = { type: "array", items: text, uniqueItems: true };
const word = `(?:${[...typeWords.keys()].join("|")})(?:\\[\\])?`;

const typeWord: JsonObject = {
  $comment: "a type's word such as string, integer|null or uuid[]",
  pattern: `^${word}(?:\\|${word})*$`,
  examples: [...typeWords.keys()],
};

/** A record; `__proto__` as a name would not be checked. */
const mapOf = (schema: JsonObject): JsonObject => ({
  type: "object",
  propertyNames: { not: { const: "__proto__" } },
  additionalProperties: schema,
});

/** `then` for values of the type, else `otherwise`: one error instead of one for each form. */
const when = (type: string, then: JsonObject, otherwise: JsonObject = {}): JsonObject => ({
  if: { type },
  then,
  else: otherwise,
});

const rows = (keys: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(keys.map((key) => [key, schema]));

/** Keywords for a property and for an event's properties as a whole. */
const forBoth: JsonObject = {
  description: text,
  title: text,
  $comment: text,
  deprecated: { type: "boolean" },
  examples: { type: "array" },
  required: names,
  minProperties: size,
  maxProperties: size,
  dependentRequired: mapOf(names),
  ...rows(oneSchema, property),
  ...rows(schemaList, { type: "array", minItems: 1, items: property }),
  ...rows(schemaMap, mapOf(property)),
};

const notOfAnEvent = ["items", "unevaluatedItems", "contains", "prefixItems"];

const ofAnEvent: JsonObject = {
  ...Object.fromEntries(Object.entries(forBoth).filter(([key]) => !notOfAnEvent.includes(key))),
  type: { const: "object" },
};

const ofAProperty: JsonObject = {
  ...forBoth,
  $ref: { type: "string", pattern: "^#/\\$defs/[^/]+$", $comment: "#/$defs/NAME, of the plan's own $defs" },
  type: {
    type: ["string", "array"],
    ...when("string", { enum: [...types] }, { minItems: 1, items: { enum: [...types] } }),
  },
  enum: { type: "array", minItems: 1 },
  const: {},
  default: {},
  format: { enum: [...formats] },
  pattern: { type: "string", format: "regex" },
  minLength: size,
  maxLength: size,
  minimum: number,
  maximum: number,
  exclusiveMinimum: number,
  exclusiveMaximum: number,
  multipleOf: { type: "number", exclusiveMinimum: 0 },
  minItems: size,
  maxItems: size,
  uniqueItems: { type: "boolean" },
  minContains: size,
  maxContains: size,
};

/**
 * The one definition of a plan file: files are checked with it, and it is published for editors
 * (docs/reference/plan.schema.json). Draft-07, which all editors know.
 */
export const planSchema: JsonObject = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "phx-sim tracking plan",
  description: "The events that an app captures, and what their properties are like.",
  type: "object",
  required: ["version", "events"],
  additionalProperties: false,
  properties: {
    $schema: { type: "string", description: "Where this schema is, for editors" },
    version: { const: 1 },
    title: text,
    description: text,
    unplanned: {
      enum: ["error", "ignore"],
      description: "What an event that is not in the plan is (default: error). Names with $ belong to the SDKs.",
    },
    events: { ...mapOf({ $ref: "#/definitions/event" }), description: "The events by name" },
    $defs: { ...mapOf(property), description: "What several events have in common" },
  },
  definitions: {
    event: {
      type: "object",
      description: "JSON Schema (2020-12) of the event's properties; type: object is implied",
      additionalProperties: false,
      properties: ofAnEvent,
    },
    property: {
      description: "JSON Schema, or a type's word, or a list of the allowed values",
      type: ["object", "string", "array", "boolean"],
      ...when(
        "object",
        { additionalProperties: false, properties: ofAProperty },
        when("string", typeWord, when("array", { minItems: 1 })),
      ),
    },
  },
};

export const planSchemaText = (): string => `${JSON.stringify(planSchema, null, 2)}\n`;

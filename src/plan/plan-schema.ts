import type { JsonObject } from "../kernel/json.ts";
import { formats, oneSchema, schemaList, schemaMap, types, typeWords } from "./keywords.ts";

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

/** `then` where the value is of the type, else `otherwise`: one complaint instead of one for each form. */
const when = (type: string, then: JsonObject, otherwise: JsonObject = {}): JsonObject => ({
  if: { type },
  then,
  else: otherwise,
});

const rows = (keys: readonly string[], schema: JsonObject): JsonObject =>
  Object.fromEntries(keys.map((key) => [key, schema]));

/** What may be said of a property, and of an event's properties as a whole. */
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
 * The one source of what a plan file may say: files are checked with it, and it is published for editors
 * (scenarios/plan.schema.json). Draft-07, which all editors know.
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
      description: "What an event that is not in the plan is; error unless told. Names with $ are the SDK's.",
    },
    events: { ...mapOf({ $ref: "#/definitions/event" }), description: "The events by name" },
    $defs: { ...mapOf(property), description: "What several events have in common" },
  },
  definitions: {
    event: {
      type: "object",
      description: "JSON Schema (2020-12) of the event's properties; type: object goes without saying",
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

/** The text of the published file. */
export const planSchemaText = (): string => `${JSON.stringify(planSchema, null, 2)}\n`;

import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { onlyProjectKeys, ScenarioSchema } from "./schema.ts";

/**
 * The published schema of scenario files, for editors: JSON Schema draft-07, which all of them support. A file that
 * extends others is a layer: it has no required keys, and null removes a key.
 */
export function scenarioJsonSchema(): JsonObject {
  const { $schema, definitions, properties = {}, required: _, ...scenario } = jsonSchemaOf();
  const whole = isObject(properties) ? properties : {};
  return {
    $schema: $schema ?? null,
    title: "phx-sim scenario",
    description: "An authored world for phx-sim. With `extends` a file is a layer over other scenarios.",
    type: "object",
    if: { type: "object", required: ["extends"] },
    // biome-ignore lint/suspicious/noThenProperty: a key of JSON Schema
    then: { $ref: "#/definitions/layer" },
    else: { $ref: "#/definitions/scenario" },
    definitions: {
      scenario: { ...scenario, properties: { ...whole, ...onlyProject("scenario", whole) } },
      layer: {
        type: "object",
        properties: { ...layered(whole), ...onlyProject("layer", whole) },
        additionalProperties: false,
      },
      ...(isObject(definitions) && definitions),
    },
  };
}

const projectPath = ["organizations", "items", "properties", "projects", "items", "properties"];

/** The keys of the only project at the top, with their schemas in a project. */
function onlyProject(definition: "scenario" | "layer", whole: JsonObject): JsonObject {
  const project = projectPath.reduce<Json>((here, key) => (isObject(here) ? (here[key] ?? null) : null), whole);
  const keys = isObject(project) ? project : {};
  const path = ["#/definitions", definition, "properties", ...projectPath].join("/");
  return Object.fromEntries(
    [...onlyProjectKeys].map((key) => {
      const { description = null } = isObject(keys[key]) ? keys[key] : {};
      return [key, { description, $ref: `${path}/${key}` }];
    }),
  );
}

/** The text of the published file, in one line for each key of its top: with indents it would be three times as long. */
export function scenarioJsonSchemaText(): string {
  const lines = Object.entries(scenarioJsonSchema()).map(
    ([key, it]) => `  ${JSON.stringify(key)}: ${JSON.stringify(it)}`,
  );
  return `{\n${lines.join(",\n")}\n}\n`;
}

function jsonSchemaOf(): JsonObject {
  const schema = z.toJSONSchema(ScenarioSchema, {
    target: "draft-7",
    io: "input",
    reused: "inline",
    override: ({ jsonSchema }) => {
      // all keys of JSON are strings
      const { propertyNames } = jsonSchema;
      if (isObject(propertyNames) && Object.keys(propertyNames).join() === "type") delete jsonSchema.propertyNames;
    },
  });
  return JSON.parse(JSON.stringify(schema));
}

function layered(properties: Json): JsonObject {
  if (!isObject(properties)) return {};
  return Object.fromEntries(Object.entries(properties).map(([key, it]) => [key, orNull(asLayer(it))]));
}

/** Excluded forms, and schemas that accept any JSON. */
const takesNull = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, "not") || Object.hasOwn(schema, "$ref") || Object.keys(schema).length === 0;

function orNull(schema: Json): Json {
  if (!isObject(schema) || takesNull(schema)) return schema;
  if (typeof schema.type === "string" && !Object.hasOwn(schema, "enum") && !Object.hasOwn(schema, "const")) {
    return { ...schema, type: [schema.type, "null"] };
  }
  const { description, ...rest } = schema;
  return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
}

const parts = ["anyOf", "items", "additionalProperties"] as const;

/** The same without `required`, at all levels; keys that distinguish the forms of a union stay required. */
function asLayer(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(asForm);
  if (!isObject(schema)) return schema;
  const { required: _, ...rest } = schema;
  return withParts(rest);
}

function asForm(schema: Json): Json {
  return isObject(schema) ? withParts(schema) : schema;
}

function withParts(schema: JsonObject): JsonObject {
  const inner = parts.flatMap((key): [string, Json][] => {
    const part = schema[key];
    if (part === undefined) return [];
    // any key of a record may be removed
    return [[key, key === "additionalProperties" ? orNull(asLayer(part)) : asLayer(part)]];
  });
  const properties: [string, Json][] =
    schema.properties === undefined ? [] : [["properties", layered(schema.properties)]];
  return { ...schema, ...Object.fromEntries([...inner, ...properties]) };
}

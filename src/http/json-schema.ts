import type { JsonSchema } from "./endpoint.ts";

/** JSON Schemas in few words, for rows that are documented by hand. */

export const text: JsonSchema = { type: "string" };
export const integer: JsonSchema = { type: "integer" };
export const number: JsonSchema = { type: "number" };
export const boolean: JsonSchema = { type: "boolean" };
export const uuid: JsonSchema = { type: "string", format: "uuid" };
export const time: JsonSchema = { type: "string", format: "date-time" };
/** Any JSON value. */
export const anything: JsonSchema = {};
/** An object with free keys. */
export const dictionary: JsonSchema = { type: "object" };

export const listOf = (items: JsonSchema): JsonSchema => ({ type: "array", items });
export const mapOf = (additionalProperties: JsonSchema): JsonSchema => ({
  type: "object",
  additionalProperties,
});
export const oneOf = (...values: readonly string[]): JsonSchema => ({ type: "string", enum: values });
export const always = (value: string | number | boolean | null): JsonSchema => ({ const: value });
export const anyOf = (...schemas: readonly JsonSchema[]): JsonSchema => ({ anyOf: schemas });
export const nullable = (schema: JsonSchema): JsonSchema => anyOf(schema, { type: "null" });
export const described = (schema: JsonSchema, description: string): JsonSchema => ({
  ...schema,
  description,
});
export const titled = (title: string, schema: JsonSchema): JsonSchema => ({ title, ...schema });

type Properties = Readonly<Record<string, JsonSchema>>;

/** An object that has these keys, may have the `optional` ones, and no others. */
export const exact = (properties: Properties, optional: Properties = {}): JsonSchema => ({
  ...open(properties, optional),
  additionalProperties: false,
});

/** An object that has these keys, may have the `optional` ones, and others. */
export const open = (properties: Properties, optional: Properties = {}): JsonSchema => ({
  type: "object",
  properties: { ...properties, ...optional },
  ...(Object.keys(properties).length > 0 && { required: Object.keys(properties) }),
});

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { describe, expect, test } from "vitest";
import { fc } from "../support/chance.ts";
import { arbitraryOf, nearlyFitting } from "./arbitrary.ts";
import type { Schema } from "./document.ts";

const tree: Schema = {
  type: "object",
  required: ["value"],
  properties: { value: { type: "integer" }, children: { type: "array", items: { $ref: "#/components/schemas/Tree" } } },
  additionalProperties: false,
};

const schemas: [string, Schema][] = [
  ["text", { type: "string", minLength: 1, maxLength: 3 }],
  ["uuid", { type: "string", format: "uuid" }],
  ["time", { type: "string", format: "date-time" }],
  ["whole number", { type: "integer", minimum: 3, maximum: 7 }],
  ["number", { type: "number", minimum: 0 }],
  ["choice", { enum: ["a", 1, null] }],
  ["constant", { const: "ok" }],
  ["several types", { type: ["string", "null"] }],
  ["alternatives", { anyOf: [{ type: "boolean" }, { type: "array", items: { type: "null" }, minItems: 2 }] }],
  ["map", { type: "object", additionalProperties: { type: "integer" } }],
  ["recursion", { $ref: "#/components/schemas/Tree" }],
];

const ajv = addFormats.default(new Ajv2020({ strict: false }));
const components = { Tree: tree };
const validatorOf = (schema: Schema) => ajv.compile({ ...schema, components: { schemas: components } });

describe("values made from schemas", () => {
  test.each(schemas)("%s: they fit", (_, schema) => {
    const fits = validatorOf(schema);
    const sample = fc.sample(arbitraryOf(schema, components), { numRuns: 200, seed: 1 });
    expect(sample.filter((value) => !fits(JSON.parse(JSON.stringify(value))))).toEqual([]);
  });

  test.each(schemas)("%s: some nearly fitting ones fit, some do not", (_, schema) => {
    const fits = validatorOf(schema);
    const sample = fc.sample(nearlyFitting(schema, components), { numRuns: 300, seed: 1 });
    const results = new Set(sample.map((value) => fits(value)));
    expect(results).toEqual(new Set([true, false]));
  });

  test("hostile keys are there, as ordinary keys", () => {
    const sample = fc.sample(nearlyFitting(tree, components), { numRuns: 200, seed: 1 });
    expect(sample.some((value) => JSON.stringify(value).includes('"__proto__"'))).toBe(true);
  });
});

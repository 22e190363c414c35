import { fc } from "../support/chance.ts";
import type { Schema } from "./document.ts";

/** Schemas by name, which `#/components/schemas/…` leads to. */
export type Components = Readonly<Record<string, Schema>>;

/** Deeper values are as small as their schema allows. */
const deepest = 5;

/** Everything an arbitrary is made from; `wrong`: how many of 20 values break their schema. */
interface Making {
  readonly components: Components;
  readonly wrong: number;
  readonly depth: number;
}

const deeper = (making: Making): Making => ({ ...making, depth: making.depth + 1 });

const isSchema = (value: unknown): value is Schema =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const numberIn = (schema: Schema, name: string): number | undefined =>
  typeof schema[name] === "number" ? schema[name] : undefined;

const schemasIn = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);

const huge = "x".repeat(70_000);

/** Values that are rarely what a schema asks for. */
export const wrongValues: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e300, "", " ", "0", huge, "\u0000", "\ud800", "💥"),
  fc.constantFrom<unknown>([], {}, [[]], [null], { "": null }, [{}], { id: {} }, "2026-13-45T99:99:99Z", "@current"),
  fc.jsonValue({ maxDepth: 2 }),
);

/** A key that must stay an ordinary one; only `fromEntries` makes it an own key. */
const hostile = Object.fromEntries([["__proto__", { polluted: true }]]);

const withHostileKey = (value: object): object =>
  Object.fromEntries([...Object.entries(value), ...Object.entries(hostile), ["constructor", hostile]]);

function texts(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.format === "uuid") return fc.uuid();
  if (schema.format === "date-time") {
    return fc
      .date({ min: new Date("1970-01-01T00:00:00Z"), max: new Date("2099-12-31T00:00:00Z"), noInvalidDate: true })
      .map((date) => date.toISOString());
  }
  const minLength = numberIn(schema, "minLength") ?? 0;
  const maxLength = Math.max(minLength, Math.min(numberIn(schema, "maxLength") ?? 20, 500));
  return fc.oneof(fc.string({ minLength, maxLength }), fc.string({ minLength, maxLength, unit: "binary" }));
}

function numbers(schema: Schema): fc.Arbitrary<unknown> {
  const min = numberIn(schema, "minimum");
  const max = numberIn(schema, "maximum");
  const most = { min: min ?? -1e12, max: max ?? 1e12 };
  const small = Math.max(most.min, -3);
  return schema.type === "number"
    ? fc.double({ ...most, noNaN: true, noDefaultInfinity: true })
    : fc
        .oneof(fc.integer({ min: small, max: Math.max(small, Math.min(most.max, 50)) }), fc.maxSafeInteger())
        .map((it) => Math.min(most.max, Math.max(most.min, it)));
}

function lists(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  const minLength = numberIn(schema, "minItems") ?? 0;
  const maxLength = making.depth >= deepest ? minLength : Math.max(minLength, 3);
  const items = isSchema(schema.items) ? schema.items : {};
  return fc.array(arbitrary(items, deeper(making)), { minLength, maxLength });
}

function objects(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  const properties = isSchema(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const isSmall = making.depth >= deepest;
  const model = Object.fromEntries(
    properties
      .filter(([name]) => !isSmall || required.includes(name))
      .map(([name, it]) => [name, arbitrary(isSchema(it) ? it : {}, deeper(making))]),
  );
  const complete = fc.record(model, {
    requiredKeys: Object.keys(model).filter((name) => required.includes(name)),
    noNullPrototype: true,
  });
  const free = isSchema(schema.additionalProperties) ? schema.additionalProperties : undefined;
  const filled =
    free && !isSmall
      ? fc
          .tuple(complete, fc.dictionary(fc.string({ maxLength: 8 }), arbitrary(free, deeper(making)), { maxKeys: 3 }))
          .map(([known, others]) => Object.fromEntries([...Object.entries(others), ...Object.entries(known)]))
      : complete;
  if (making.wrong === 0) return filled;
  const incomplete = fc.record(model, { requiredKeys: [], noNullPrototype: true });
  return fc.oneof(
    { weight: 20 - 2 * making.wrong, arbitrary: filled },
    { weight: making.wrong, arbitrary: incomplete },
    { weight: making.wrong, arbitrary: filled.map(withHostileKey) },
  );
}

const kinds: Readonly<Record<string, (schema: Schema, making: Making) => fc.Arbitrary<unknown>>> = {
  string: texts,
  integer: numbers,
  number: numbers,
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  array: lists,
  object: objects,
};

/** Types that hold no further values: what is left to choose from at the bottom. */
const isFlat = (schema: Schema): boolean =>
  schema.$ref === undefined && schema.type !== "array" && schema.type !== "object";

function choice(schemas: readonly Schema[], making: Making): fc.Arbitrary<unknown> {
  const flat = schemas.filter(isFlat);
  const options = making.depth >= deepest && flat.length > 0 ? flat : schemas;
  return fc.oneof(...options.map((it) => fitting(it, making)));
}

function fitting(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  if (typeof schema.$ref === "string") {
    const name = schema.$ref.replace("#/components/schemas/", "");
    const target = making.components[name];
    if (!target) throw new Error(`no schema ${schema.$ref}`);
    return fc.constant(null).chain(() => arbitrary(target, deeper(making)));
  }
  if ("const" in schema) return fc.constant(schema.const);
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...schema.enum);
  const choices = [...schemasIn(schema.anyOf), ...schemasIn(schema.oneOf)];
  if (choices.length > 0) return choice(choices, making);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const made = types.flatMap((type) => kinds[String(type)]?.({ ...schema, type }, making) ?? []);
  return made.length > 0 ? fc.oneof(...made) : fc.jsonValue({ maxDepth: making.depth >= deepest ? 0 : 2 });
}

function arbitrary(schema: Schema, making: Making): fc.Arbitrary<unknown> {
  const fits = fitting(schema, making);
  if (making.wrong === 0) return fits;
  return fc.oneof({ weight: 20 - making.wrong, arbitrary: fits }, { weight: making.wrong, arbitrary: wrongValues });
}

/** Values that fit a JSON Schema, as far as the document's schemas go. */
export const arbitraryOf = (schema: Schema, components: Components): fc.Arbitrary<unknown> =>
  arbitrary(schema, { components, wrong: 0, depth: 0 });

/** The same with wrong values, missing keys and hostile ones in between. */
export const nearlyFitting = (schema: Schema, components: Components): fc.Arbitrary<unknown> =>
  arbitrary(schema, { components, wrong: 2, depth: 0 });

import { isObject } from "../base/json.ts";
import type { JsonSchema } from "./endpoint.ts";

const single = new Set(
  "items additionalProperties propertyNames contains not if then else unevaluatedProperties unevaluatedItems".split(
    " ",
  ),
);
const listed = new Set(["anyOf", "allOf", "oneOf", "prefixItems"]);
const named = new Set(["properties", "patternProperties", "dependentSchemas"]);

type Each = (schema: JsonSchema) => JsonSchema;

const eachNamed = (schemas: object, each: Each): JsonSchema =>
  Object.fromEntries(Object.entries(schemas).map(([name, it]) => [name, inside(it, each)]));

/** `true` and `false` are schemas, too. */
const inside = (value: unknown, each: Each): unknown => (isObject(value) ? each(value) : value);

function keyword(name: string, value: unknown, each: Each): unknown {
  if (single.has(name)) return inside(value, each);
  if (listed.has(name) && Array.isArray(value)) return value.map((it) => inside(it, each));
  if (named.has(name) && isObject(value)) return eachNamed(value, each);
  return value;
}

const withInner = (schema: JsonSchema, each: Each): JsonSchema =>
  Object.fromEntries(
    Object.entries(schema)
      .filter(([name]) => name !== "$defs")
      .map(([name, value]) => [name, keyword(name, value, each)]),
  );

interface Place {
  readonly root: JsonSchema;
  readonly defs: Readonly<Record<string, unknown>>;
}

function target(reference: unknown, { root, defs }: Place): JsonSchema {
  if (reference === "#") return root;
  const name = typeof reference === "string" ? reference.replace(/^#\/\$defs\//, "") : "";
  const found = Object.hasOwn(defs, name) ? defs[name] : undefined;
  if (!isObject(found)) throw new Error(`a schema refers to ${String(reference)}, which does not exist`);
  return found;
}

/** A string that is equal for equal schemas, independent of the names of their definitions. */
function textOf(schema: JsonSchema, place: Place, open: readonly JsonSchema[] = []): string {
  const expand: Each = (it) => {
    if (it.$ref === undefined) return withInner(it, expand);
    const led = target(it.$ref, place);
    const depth = open.indexOf(led);
    return depth === -1 ? JSON.parse(textOf(led, place, [...open, led])) : { $ref: `^${open.length - depth}` };
  };
  return JSON.stringify(withInner(schema, expand));
}

const nameOf = ({ title }: JsonSchema): string =>
  typeof title === "string" ? title.replace(/(?:^|[^\w.-]+)(\w)/g, (_, letter) => letter.toUpperCase()) : "Value";

/** Schemas by their titles: equal ones count once, others of that title get a number. `$defs` become components. */
export function createComponents() {
  const schemas = new Map<string, JsonSchema>();
  const known = new Map<string, string>();

  function freeName(wanted: string): string {
    let name = wanted;
    for (let i = 2; schemas.has(name); i++) name = `${wanted}${i}`;
    return name;
  }

  function hoist(schema: JsonSchema, place: Place): JsonSchema {
    const text = textOf(schema, place, [schema]);
    let name = known.get(text);
    if (name === undefined) {
      name = freeName(nameOf(schema));
      known.set(text, name);
      // The name is taken before the inside is looked at: it may refer to the schema itself.
      schemas.set(name, {});
      schemas.set(name, withInner(schema, put(place)));
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  const put =
    (place: Place): Each =>
    (schema) => {
      if (schema.$ref !== undefined) return hoist(target(schema.$ref, place), place);
      return typeof schema.title === "string" ? hoist(schema, place) : withInner(schema, put(place));
    };

  return {
    schemas,
    place: (schema: JsonSchema) => put({ root: schema, defs: isObject(schema.$defs) ? schema.$defs : {} })(schema),
  };
}

export type Components = ReturnType<typeof createComponents>;

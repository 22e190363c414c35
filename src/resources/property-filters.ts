import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { invalid } from "./invalid.ts";

/** Does an object's properties pass? */
export type PropertyTest = (properties: JsonObject) => boolean;

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const anyOf = (value: Json): string[] => (Array.isArray(value) ? value : [value]).map(textOf);

/** Does a property, undefined when absent, pass? */
type Operator = (wanted: Json) => (property: Json | undefined) => boolean;

const not =
  (operator: Operator): Operator =>
  (wanted) => {
    const test = operator(wanted);
    return (property) => !test(property);
  };

const exact: Operator = (wanted) => {
  const texts = new Set(anyOf(wanted));
  return (property) => property !== undefined && texts.has(textOf(property));
};

const contains: Operator = (wanted) => {
  const parts = anyOf(wanted).map((it) => it.toLowerCase());
  return (property) =>
    property !== undefined && parts.some((part) => textOf(property).toLowerCase().includes(part));
};

const isSet: Operator = () => (property) => property !== undefined;

const operators: ReadonlyMap<Json, Operator> = new Map<Json, Operator>([
  ["exact", exact],
  ["is_not", not(exact)],
  ["icontains", contains],
  ["not_icontains", not(contains)],
  ["is_set", isSet],
  ["is_not_set", not(isSet)],
]);

const own = (properties: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(properties, key) ? properties[key] : undefined;

const refuse = (problem: string) => invalid(`${problem} in property filters is not supported by phx-sim.`);

function testOf(filter: JsonObject, type: string): PropertyTest {
  const { key, value = null, operator } = filter;
  if (typeof key !== "string") throw invalid("Properties are unparsable!");
  const kind = filter.type ?? type;
  if (kind !== type) throw refuse(`The type '${textOf(kind)}'`);
  const named = operators.get(operator ?? "exact");
  if (!named) throw refuse(`The operator '${textOf(operator ?? null)}'`);
  const passes = named(value);
  return (properties) => passes(own(properties, key));
}

const all =
  (tests: readonly PropertyTest[]): PropertyTest =>
  (properties) =>
    tests.every((test) => test(properties));

/** A list of filters, a group of them (`AND`, `OR`), or an object of values. */
function testIn(node: Json, type: string): PropertyTest {
  if (Array.isArray(node)) return all(node.map((it) => testIn(it, type)));
  if (!isObject(node)) throw invalid("Properties are unparsable!");
  if (Array.isArray(node.values)) {
    const tests = node.values.map((it) => testIn(it, type));
    return node.type === "OR" ? (properties) => tests.some((test) => test(properties)) : all(tests);
  }
  if (Object.hasOwn(node, "key")) return testOf(node, type);
  return all(Object.entries(node).map(([key, value]) => testOf({ key, value }, type)));
}

/**
 * The test that `?properties=` asks for; undefined when it asks for none.
 * @param type What the properties belong to, `person` or `event`.
 * @throws SimError when it is no JSON, or asks for more than the sim compares
 */
export function propertyTest(text: string | null, type: string): PropertyTest | undefined {
  if (text === null || text === "") return undefined;
  let filters: Json;
  try {
    filters = JSON.parse(text);
  } catch {
    throw invalid("Properties are unparsable!");
  }
  return testIn(filters, type);
}

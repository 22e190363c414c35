import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject, own, textsIn } from "../../kernel/base/json.ts";
import { containsText } from "../../kernel/base/wildcard.ts";
import type { BatchExport } from "../../state/documents/world.ts";
import { patternOf } from "../flags/engine/pattern.ts";
import { type EventRecord, plainText } from "./columns.ts";

type RecordTest = (record: EventRecord) => boolean;

/** True if a property passes, as text; undefined: it is absent or null. */
type ValueTest = (value: string | undefined) => boolean;

/** Makes the test for a filter's values: none, one, or several of which one is enough. */
type Operator = (wanted: readonly string[]) => ValueTest;

const not =
  (operator: Operator): Operator =>
  (wanted) => {
    const test = operator(wanted);
    return (value) => !test(value);
  };

const isSet: Operator = () => (value) => value !== undefined;

const exact: Operator = (wanted) => {
  const set = new Set(wanted);
  return (value) => value !== undefined && set.has(value);
};

const contains: Operator = (wanted) => {
  const parts = wanted.map((it) => it.toLowerCase());
  return (value) => value !== undefined && parts.some((part) => containsText(value.toLowerCase(), part));
};

const matches: Operator = (wanted) => {
  const searches = wanted.map((pattern) => {
    const search = patternOf(pattern);
    if (!search) throw new SimError("invalid_input", `The filter's pattern ${JSON.stringify(pattern)} is invalid.`);
    return search;
  });
  return (value) => value !== undefined && searches.some((search) => search(value));
};

const numberOf = (text: string | undefined): number =>
  text === undefined || text.trim() === "" ? Number.NaN : Number(text);

const compares =
  (passes: (value: number, wanted: number) => boolean): Operator =>
  (wanted) => {
    const numbers = wanted.map(numberOf);
    return (value) => numbers.some((it) => passes(numberOf(value), it));
  };

const operators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["exact", exact],
  ["is_not", not(exact)],
  ["icontains", contains],
  ["not_icontains", not(contains)],
  ["regex", matches],
  ["not_regex", not(matches)],
  ["is_set", isSet],
  ["is_not_set", not(isSet)],
  ["gt", compares((a, b) => a > b)],
  ["gte", compares((a, b) => a >= b)],
  ["lt", compares((a, b) => a < b)],
  ["lte", compares((a, b) => a <= b)],
]);

const valueless = ["is_set", "is_not_set"];

const objects: ReadonlyMap<string, (record: EventRecord) => JsonObject | undefined> = new Map([
  ["event", ({ event }: EventRecord): JsonObject | undefined => event.properties],
  ["person", ({ personProperties }: EventRecord) => personProperties()],
]);

const named = (value: Json | undefined): string => plainText(value) ?? "null";

function unsupported(what: string, value: Json | undefined, known: Iterable<string>): SimError {
  const list = [...known].join(", ");
  return new SimError("not_emulated", `Filters ${what} ${named(value)} are not emulated; phx-sim knows ${list}.`);
}

function testOf(filter: Json): RecordTest {
  if (!isObject(filter) || typeof filter.key !== "string") {
    throw new SimError("invalid_input", "A filter has no key.");
  }
  const { key, value = null, type = "event", operator: asked = null } = filter;
  const objectOf = objects.get(named(type));
  if (!objectOf) throw unsupported("of the type", type, objects.keys());
  const name = asked === null ? "exact" : named(asked);
  const operator = operators.get(name);
  if (!operator) throw unsupported("with the operator", asked, operators.keys());
  const wanted = (Array.isArray(value) ? value : [value]).flatMap((it) => plainText(it) ?? []);
  // Upstream: a filter without a value lets everything through.
  if (wanted.length === 0 && !valueless.includes(name)) return () => true;
  const passes = operator(wanted);
  return (record) => {
    const object = objectOf(record);
    return passes(object && plainText(own(object, key)));
  };
}

function nameTest({ config }: BatchExport["destination"]): RecordTest {
  const included = new Set(textsIn(own(config, "include_events")));
  const excluded = new Set(textsIn(own(config, "exclude_events")));
  return ({ event }) => (included.size === 0 || included.has(event.event)) && !excluded.has(event.event);
}

/** @throws SimError for a filter that is wrong or not emulated */
export function recordTest({ destination, filters }: Pick<BatchExport, "destination" | "filters">): RecordTest {
  const tests = [nameTest(destination), ...(filters ?? []).map(testOf)];
  return (record) => tests.every((test) => test(record));
}

import { z } from "zod";
import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import { containsText } from "../../kernel/base/wildcard.ts";
import type { Call } from "../../kernel/http/call.ts";
import { readWireTime } from "../../state/documents/lenient-fields.ts";
import { tidyTags } from "../../state/documents/tags.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Caller } from "./access.ts";
import { invalid } from "./fields.ts";

const defaultLimit = 100;

/** A number of at least `least`, or undefined: the service ignores what it cannot read. */
function countIn(call: Call, name: string, least: number): number | undefined {
  const text = call.query.get(name)?.trim() ?? "";
  const number = /^\+?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least ? number : undefined;
}

export const pageQuery = z.object({
  limit: z.int().describe("Number of results per page (default: 100)"),
  offset: z.int().describe("Index of the first result"),
});

/** The parameters of a call, by the names of their shapes, as they were sent: what cannot be read is ignored. */
export const parametersOf = <S extends z.ZodRawShape>({ query }: Call, { shape }: z.ZodObject<S>) =>
  Object.fromEntries(Object.keys(shape).map((name) => [name, query.get(name) ?? undefined])) as {
    readonly [Name in keyof S]: string | undefined;
  };

/** The call's URL with other parameters; names in order, as the service writes links. `null` removes one. */
export function linkWith(call: Call, changes: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams(call.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  query.sort();
  const path = call.target.split("?", 1)[0] ?? "";
  const text = query.toString();
  return `${call.origin}${path}${text === "" ? "" : `?${text}`}`;
}

interface Page<T> {
  count: number;
  next: string | null;
  previous: string | null;
  results: T[];
}

/** The part of a list that a call asks for. @param otherwise The limit of a call without one */
export function windowOf(call: Call, otherwise = defaultLimit): { limit: number; offset: number } {
  return { limit: countIn(call, "limit", 1) ?? otherwise, offset: countIn(call, "offset", 0) ?? 0 };
}

/** The envelope of a list. Upstream Django REST framework, LimitOffsetPagination. */
export function pageOf<D, T>(
  call: Call,
  documents: readonly D[],
  show: (document: D) => T,
  otherwise = defaultLimit,
): Page<T> {
  const { limit, offset } = windowOf(call, otherwise);
  const count = documents.length;
  const link = (to: number) => linkWith(call, { limit: String(limit), offset: to <= 0 ? null : String(to) });
  return {
    count,
    next: offset + limit >= count ? null : link(offset + limit),
    previous: offset <= 0 ? null : link(offset - limit),
    results: documents.slice(offset, offset + limit).map(show),
  };
}

export const pageSchema = <T extends z.ZodType>(item: T) =>
  z.object({ count: z.int(), next: z.string().nullable(), previous: z.string().nullable(), results: z.array(item) });

export interface ListFilter<T> {
  readonly name: string;
  /** For the docs: what cannot be read is ignored. */
  readonly shape: z.ZodType;
  /** The test of the documents; undefined when what was sent means nothing. Called only when something was sent. */
  test(values: readonly string[], caller: Caller): ((document: T) => boolean) | undefined;
}

/** Documents that pass all filters of the call. @param always A test that every document has to pass. */
export function filtered<T>(
  call: Call,
  caller: Caller,
  filters: readonly ListFilter<T>[],
  documents: readonly T[],
  always?: (document: T) => boolean,
): readonly T[] {
  const tests = filters.flatMap(({ name, test }) => {
    const values = call.query.getAll(name).filter((value) => value !== "");
    const found = values.length > 0 ? test(values, caller) : undefined;
    return found ? [found] : [];
  });
  if (always) tests.push(always);
  return tests.length === 0 ? documents : documents.filter((it) => tests.every((test) => test(it)));
}

export const filterQuery = <T>(filters: readonly ListFilter<T>[]): Record<string, z.ZodType> =>
  Object.fromEntries(filters.map(({ name, shape }) => [name, shape]));

export function jsonList(text: string): Json[] | undefined {
  try {
    const value: Json = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const wordsIn = (values: readonly string[]): string[] =>
  values.flatMap((value) => jsonList(value)?.map(String) ?? value.split(","));

/** Text in one of a document's texts, in any case. Keeping them in lower case was measured: no gain. */
export const searchFilter = <T>(
  description: string,
  textsOf: (document: T) => readonly (string | null)[],
): ListFilter<T> => ({
  name: "search",
  shape: z.string().describe(description),
  test([value = ""]) {
    const wanted = value.toLowerCase();
    return (document) =>
      textsOf(document).some((it) => it !== undefined && it !== null && containsText(it.toLowerCase(), wanted));
  },
});

export const tagsFilter: ListFilter<{ tags: readonly string[] }> = {
  name: "tags",
  shape: z.string().describe("Only what has one of these tags: a JSON array, or texts with commas"),
  test(values) {
    const wanted = new Set(tidyTags(wordsIn(values)));
    return ({ tags }) => tags.some((tag) => wanted.has(tag));
  },
};

export const authorFilter: ListFilter<{ created_by: number | null }> = {
  name: "created_by",
  shape: z.int().describe("Only what the user with this id made"),
  test([value]) {
    const wanted = Number(value);
    return Number.isInteger(wanted) ? ({ created_by }) => created_by === wanted : undefined;
  },
};

export const equalFilter = <T>(
  name: string,
  shape: z.ZodType,
  textOf: (document: T) => string | null,
): ListFilter<T> => ({
  name,
  shape,
  test:
    ([value]) =>
    (document) =>
      textOf(document) === value,
});

type Step = (date: Date, count: number) => void;

const minutes =
  (length: number): Step =>
  (date, count) =>
    date.setTime(date.getTime() - count * length * 60_000);

const months =
  (length: number): Step =>
  (date, count) => {
    const day = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() - count * length);
    // The last day of a shorter month, not a day of the next one.
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(day, last));
  };

const steps: ReadonlyMap<string, Step> = new Map([
  ["h", minutes(60)],
  ["d", minutes(24 * 60)],
  ["w", minutes(7 * 24 * 60)],
  ["m", months(1)],
  ["q", months(3)],
  ["y", months(12)],
]);

const relative = /-?(\d{1,6})([hdwmqy])/;

/**
 * A moment in a list's parameter: a date, with or without a time (UTC unless it has a zone), or relative to
 * now: `-30d`. What cannot be read is now. Upstream PostHog/posthog posthog/utils.py, relative_date_parse.
 * @param now ms since the epoch
 * @returns a wire time
 */
export function readMoment(text: string, now: number): string {
  const time = readWireTime(text) ?? readWireTime(`${text}T00:00`);
  if (time !== undefined) return time;
  const [, count = "", unit = ""] = relative.exec(text) ?? [];
  const date = new Date(now);
  steps.get(unit)?.(date, Number(count));
  return wireTime(Number.isFinite(date.getTime()) && date.getUTCFullYear() > 0 ? date.getTime() : 0);
}

type PropertyTest = (properties: JsonObject) => boolean;

const textOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const anyOf = (value: Json): string[] => (Array.isArray(value) ? value : [value]).map(textOf);

/** True if a property passes; undefined: it is absent. */
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
    property !== undefined && parts.some((part) => containsText(textOf(property).toLowerCase(), part));
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
export function propertyTest(text: string | undefined, type: string): PropertyTest | undefined {
  if (!text) return undefined;
  let filters: Json;
  try {
    filters = JSON.parse(text);
  } catch {
    throw invalid("Properties are unparsable!");
  }
  return testIn(filters, type);
}

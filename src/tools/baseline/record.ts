import { compareText } from "../../kernel/base/text.ts";
import { replaceShapes } from "../../lab/tapes/redact/shapes.ts";

/** Types of a property's values, sorted, with `|` between them, `?` behind them if some events lack it: `null|string?`. */
type TypeText = string;

/** The events of one name in a test, or its calls of one kind. */
export interface Occurrence {
  readonly count: number;
  readonly properties: ReadonlyMap<string, TypeText>;
}

export interface TestRecord {
  readonly events: ReadonlyMap<string, Occurrence>;
  /** `identify`, `alias`, `merge`, `set`, `group company`: with the properties of the person or group. */
  readonly identity: ReadonlyMap<string, Occurrence>;
  readonly flags: ReadonlySet<string>;
  /** The order of each user's events; equal neighbours are one, and equal orders, too. */
  readonly orders: readonly (readonly string[])[];
}

/** What is recorded; a file has it in its first line. */
export interface RecordOptions {
  readonly sdk: boolean;
  readonly order: boolean;
}

/** What tests sent, by the names of the tests. "": what belongs to no test. */
export interface Baseline extends RecordOptions {
  readonly tests: ReadonlyMap<string, TestRecord>;
}

export const baselineName = "analytics.baseline.ndjson";

/** Entries by their names, as files and reports list them. */
export const inOrder = <T>(entries: ReadonlyMap<string, T>): [string, T][] =>
  [...entries].sort(([a], [b]) => compareText(a, b));

/** The orders that differ, by their text; one step is none. */
export const distinctOrders = (orders: readonly string[][]): Map<string, string[]> =>
  new Map(inOrder(new Map(orders.filter(({ length }) => length > 1).map((it) => [JSON.stringify(it), it]))));

export const blankRecord = () => ({
  events: new Map<string, Occurrence>(),
  identity: new Map<string, Occurrence>(),
  flags: new Set<string>(),
  orders: [] as string[][],
});

/** Parts of names that differ from run to run. */
const volatile: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi, "{uuid}"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?/g, "{time}"],
  [/(?<![0-9a-z])(?=[a-f]*\d)[0-9a-f]{16,}(?![0-9a-z])/gi, "{id}"],
  [/\d{6,}/g, "{number}"],
];

const longestName = 200;

/**
 * A name without what differs from run to run, and without tokens, because the file is in git: `order 1760000000 paid` as
 * `order {number} paid`.
 */
export const steadyName = (name: string): string =>
  volatile
    .reduce(
      (text, [pattern, word]) => text.replace(pattern, word),
      replaceShapes(name, () => "{secret}"),
    )
    .slice(0, longestName);

const typesIn = (text: TypeText): string[] => text.replace(/\?$/, "").split("|");

/** `null|string?` of the types of values. */
export function typeText(types: Iterable<string>, isOptional: boolean): TypeText {
  const names = [...new Set(types)].sort(compareText);
  // A list without items is of every type.
  const typed = names.some((it) => it !== "[]" && it.endsWith("[]"));
  return `${names.filter((it) => it !== "[]" || !typed).join("|")}${isOptional ? "?" : ""}`;
}

function joinedProperties(a: Occurrence, b: Occurrence): Map<string, TypeText> {
  const names = new Set([...a.properties.keys(), ...b.properties.keys()]);
  return new Map(
    [...names].map((name) => {
      const types = [a, b].flatMap(({ properties }) => properties.get(name) ?? []);
      const isOptional = types.length < 2 || types.some((it) => it.endsWith("?"));
      return [name, typeText(types.flatMap(typesIn), isOptional)];
    }),
  );
}

function joinedOccurrences(
  a: ReadonlyMap<string, Occurrence>,
  b: ReadonlyMap<string, Occurrence>,
): Map<string, Occurrence> {
  const all = new Map(a);
  for (const [name, other] of b) {
    const own = all.get(name);
    const joined = own && { count: Math.max(own.count, other.count), properties: joinedProperties(own, other) };
    all.set(name, joined ?? other);
  }
  return all;
}

const startsWith = (list: readonly string[], start: readonly string[]): boolean =>
  start.every((it, i) => list[i] === it);

const joined = (a: TestRecord, b: TestRecord): TestRecord => ({
  events: joinedOccurrences(a.events, b.events),
  identity: joinedOccurrences(a.identity, b.identity),
  flags: new Set([...a.flags, ...b.flags]),
  // An attempt that failed ended early.
  orders: [...a.orders, ...b.orders.filter((it) => !a.orders.some((known) => startsWith(known, it)))],
});

const sizeOf = ({ events, orders }: TestRecord): number =>
  [...events.values()].reduce((sum, { count }) => sum + count, 0) + orders.flat().length;

/**
 * Attempts of a test (retries, repeats, tests of the same name) as one record, in whatever order they ran: the most
 * events of each name, and all properties.
 */
export function oneRecord(attempts: readonly TestRecord[]): TestRecord {
  const sorted = attempts
    .map((it) => ({ it, size: sizeOf(it), text: JSON.stringify(it.orders) }))
    .sort((a, b) => b.size - a.size || compareText(a.text, b.text))
    .map(({ it }) => it);
  const [first, ...more] = sorted;
  return first ? more.reduce(joined, first) : blankRecord();
}

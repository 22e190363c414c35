import type { Json } from "../../kernel/base/json.ts";
import { type Baseline, byName, type Occurrence, type TestRecord } from "./record.ts";
import type { BaselineChange, BaselineDiff } from "./shapes.ts";
import { type ChangeParts, changeText } from "./words.ts";

type List = "added" | "removed" | "changed";

interface Found {
  readonly list: List;
  readonly difference: ChangeParts;
}

/** A part of two records that one of them may lack. */
interface Pair<T> {
  readonly name: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

function pairsOf<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): Pair<T>[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort(byName);
  return names.map((name) => ({ name, before: before.get(name), after: after.get(name) }));
}

const listOf = ({ before, after }: Pair<unknown>): List =>
  before === undefined ? "added" : after === undefined ? "removed" : "changed";

const plain = (it: Occurrence | undefined): Json =>
  it === undefined ? null : { count: it.count, properties: Object.fromEntries(it.properties) };

function propertyChanges(name: string, before: Occurrence, after: Occurrence): Found[] {
  return pairsOf(before.properties, after.properties)
    .filter((it) => it.before !== it.after)
    .map((it) => ({
      list: listOf(it),
      difference: { what: "property", name, property: it.name, before: it.before ?? null, after: it.after ?? null },
    }));
}

function occurrenceChanges(what: "event" | "identity", pair: Pair<Occurrence>): Found[] {
  const { before, after } = pair;
  const name = what === "identity" ? `${pair.name}()` : pair.name;
  if (!before || !after) {
    const difference = { what, name, property: null, before: plain(before), after: plain(after) };
    return [{ list: listOf(pair), difference }];
  }
  const count: ChangeParts = { what: "count", name, property: null, before: before.count, after: after.count };
  return [
    ...(before.count === after.count ? [] : [{ list: "changed" as const, difference: count }]),
    ...propertyChanges(name, before, after),
  ];
}

function flagChanges(before: TestRecord, after: TestRecord): Found[] {
  const found = (list: List, name: string): Found => ({
    list,
    difference: {
      what: "flag",
      name,
      property: null,
      before: list === "removed" || null,
      after: list === "added" || null,
    },
  });
  return [
    ...[...after.flags].filter((it) => !before.flags.has(it)).map((it) => found("added", it)),
    ...[...before.flags].filter((it) => !after.flags.has(it)).map((it) => found("removed", it)),
  ];
}

const stepsOf = ({ events, identity }: TestRecord): Set<string> =>
  new Set([...events.keys(), ...[...identity.keys()].map((it) => `${it}()`), "…"]);

/** Orders of these steps alone; one step has none. */
function ordersOf({ orders }: TestRecord, steps: ReadonlySet<string>): string[][] {
  const rows = orders
    .map((order) => order.filter((it) => steps.has(it)).filter((it, i, all) => it !== all[i - 1]))
    .filter(({ length }) => length > 1);
  const different = new Map(rows.map((it) => [JSON.stringify(it), it]));
  return [...different].sort(([a], [b]) => byName(a, b)).map(([, it]) => it);
}

/** What new and stopped events explain is no change of the order. */
function orderChanges(before: TestRecord, after: TestRecord): Found[] {
  const later = stepsOf(after);
  const common = new Set([...stepsOf(before)].filter((it) => later.has(it)));
  const [was, is] = [ordersOf(before, common), ordersOf(after, common)].map((it) =>
    it.map((order) => JSON.stringify(order)),
  );
  const gone = (was ?? []).filter((it) => !is?.includes(it)).map((it): Json => JSON.parse(it));
  const fresh = (is ?? []).filter((it) => !was?.includes(it)).map((it): Json => JSON.parse(it));
  if (gone.length + fresh.length === 0) return [];
  const difference = { what: "order", name: "", property: null, before: gone, after: fresh } as const;
  return [{ list: "changed", difference }];
}

const testChanges = (before: TestRecord, after: TestRecord, hasOrder: boolean): Found[] => [
  ...pairsOf(before.events, after.events).flatMap((it) => occurrenceChanges("event", it)),
  ...pairsOf(before.identity, after.identity).flatMap((it) => occurrenceChanges("identity", it)),
  ...flagChanges(before, after),
  ...(hasOrder ? orderChanges(before, after) : []),
];

const wholeTest = (list: List): Found => ({
  list,
  difference: {
    what: "test",
    name: "",
    property: null,
    before: list === "removed" || null,
    after: list === "added" || null,
  },
});

/**
 * What differs between two baselines. Tests that only the first one has did not run; with `complete` they count as
 * removed.
 */
export function compareBaselines(
  before: Baseline,
  after: Baseline,
  { complete = false }: { complete?: boolean } = {},
): BaselineDiff {
  const changes = new Map<string, { list: List; change: BaselineChange }>();
  const add = (test: string, { list, difference }: Found): void => {
    const key = JSON.stringify([list, difference]);
    const known = changes.get(key);
    if (known) known.change.tests.push(test);
    else changes.set(key, { list, change: { ...difference, tests: [test], text: changeText(difference) } });
  };
  const pairs = pairsOf(before.tests, after.tests);
  const hasOrder = before.order && after.order;
  for (const pair of pairs) {
    const { name, before: was, after: is } = pair;
    if (was && is) for (const it of testChanges(was, is, hasOrder)) add(name, it);
    else if (is || complete) add(name, wholeTest(listOf(pair)));
  }
  const inList = (list: List) => [...changes.values()].filter((it) => it.list === list).map(({ change }) => change);
  return {
    added: inList("added"),
    removed: inList("removed"),
    changed: inList("changed"),
    compared: pairs.filter((it) => it.before && it.after).length,
    not_run: pairs.filter((it) => !it.after).map(({ name }) => name),
  };
}

/** Number of changes; equal ones of several tests are one. */
export const changesIn = ({ added, removed, changed }: BaselineDiff): number =>
  added.length + removed.length + changed.length;

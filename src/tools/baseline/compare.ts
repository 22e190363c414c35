import { z } from "zod";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import { isObject, type Json } from "../../kernel/base/json.ts";
import { getOrMake } from "../../kernel/base/recent-map.ts";
import { compareText, counted, spelledOut, times } from "../../kernel/base/text.ts";
import { type Baseline, distinctOrders, inOrder, type Occurrence, type TestRecord } from "./record.ts";

const BaselineChange = z
  .strictObject({
    what: z.enum(["test", "event", "identity", "count", "property", "flag", "order"]),
    name: z.string().describe("The event, the identity call (`identify()`), or the flag; empty for others"),
    property: z.string().nullable(),
    before: z.unknown().describe("null: there was none"),
    after: z.unknown().describe("null: there is none"),
    tests: z.array(z.string()).describe("The tests with this change; an empty name: outside of tests"),
    text: z.string().describe("The change in words"),
  })
  .meta({ title: "BaselineChange" });
type BaselineChange = z.infer<typeof BaselineChange>;

/** What differs between two baselines. Equal changes of several tests are one. */
export const BaselineDiff = z
  .strictObject({
    added: z.array(BaselineChange),
    removed: z.array(BaselineChange),
    changed: z.array(BaselineChange),
    compared: z.int().describe("Number of tests in both"),
    not_run: z.array(z.string()).describe("Tests of the first one that are not in the second"),
  })
  .meta({ title: "BaselineDiff" });
export type BaselineDiff = z.infer<typeof BaselineDiff>;

type ChangeParts = Omit<BaselineChange, "tests" | "text" | "before" | "after"> & {
  readonly before: Json;
  readonly after: Json;
};

const changed = (
  what: ChangeParts["what"],
  name: string,
  before: Json,
  after: Json,
  property: string | null = null,
): ChangeParts => ({ what, name, property, before, after });

interface Pair<T> {
  readonly name: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

function pairsOf<T>(before: ReadonlyMap<string, T>, after: ReadonlyMap<string, T>): Pair<T>[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort(compareText);
  return names.map((name) => ({ name, before: before.get(name), after: after.get(name) }));
}

const plain = (it: Occurrence | undefined): Json =>
  it === undefined ? null : { count: it.count, properties: Object.fromEntries(it.properties) };

function occurrenceChanges(what: "event" | "identity", { name: key, before, after }: Pair<Occurrence>): ChangeParts[] {
  const name = what === "identity" ? `${key}()` : key;
  if (!before || !after) return [changed(what, name, plain(before), plain(after))];
  return [
    ...(before.count === after.count ? [] : [changed("count", name, before.count, after.count)]),
    ...pairsOf(before.properties, after.properties)
      .filter((it) => it.before !== it.after)
      .map((it) => changed("property", name, it.before ?? null, it.after ?? null, it.name)),
  ];
}

const flagChanges = (before: TestRecord, after: TestRecord): ChangeParts[] => [
  ...[...after.flags].filter((it) => !before.flags.has(it)).map((it) => changed("flag", it, null, true)),
  ...[...before.flags].filter((it) => !after.flags.has(it)).map((it) => changed("flag", it, true, null)),
];

const stepsOf = ({ events, identity }: TestRecord): Set<string> =>
  new Set([...events.keys(), ...[...identity.keys()].map((it) => `${it}()`), "…"]);

/** Orders of these steps alone, by their text. */
const ordersOf = ({ orders }: TestRecord, steps: ReadonlySet<string>): ReadonlyMap<string, string[]> =>
  distinctOrders(orders.map((order) => order.filter((it) => steps.has(it)).filter((it, i, all) => it !== all[i - 1])));

/** What new and stopped events explain is no change of the order. */
function orderChanges(before: TestRecord, after: TestRecord): ChangeParts[] {
  const later = stepsOf(after);
  const common = new Set([...stepsOf(before)].filter((it) => later.has(it)));
  const [was, is] = [ordersOf(before, common), ordersOf(after, common)];
  const gone = [...was].flatMap(([text, it]) => (is.has(text) ? [] : [it]));
  const fresh = [...is].flatMap(([text, it]) => (was.has(text) ? [] : [it]));
  return gone.length + fresh.length === 0 ? [] : [changed("order", "", gone, fresh)];
}

const testChanges = (before: TestRecord, after: TestRecord, hasOrder: boolean): ChangeParts[] => [
  ...pairsOf(before.events, after.events).flatMap((it) => occurrenceChanges("event", it)),
  ...pairsOf(before.identity, after.identity).flatMap((it) => occurrenceChanges("identity", it)),
  ...flagChanges(before, after),
  ...(hasOrder ? orderChanges(before, after) : []),
];

/**
 * What differs between two baselines. Tests that only the first one has did not run; with `complete` they count as
 * removed.
 */
export function compareBaselines(
  before: Baseline,
  after: Baseline,
  { complete = false }: { complete?: boolean } = {},
): BaselineDiff {
  const changes = new Map<string, BaselineChange>();
  const add = (test: string, parts: ChangeParts): void => {
    const make = (): BaselineChange => ({ ...parts, tests: [], text: changeText(parts) });
    getOrMake(changes, JSON.stringify(parts), make).tests.push(test);
  };
  const pairs = pairsOf(before.tests, after.tests);
  const hasOrder = before.order && after.order;
  for (const { name, before: was, after: is } of pairs) {
    if (was && is) for (const it of testChanges(was, is, hasOrder)) add(name, it);
    else if (is || complete) add(name, changed("test", "", was ? true : null, is ? true : null));
  }
  const lists = groupedBy(changes.values(), (it) =>
    it.before === null ? "added" : it.after === null ? "removed" : "changed",
  );
  return {
    added: lists.get("added") ?? [],
    removed: lists.get("removed") ?? [],
    changed: lists.get("changed") ?? [],
    compared: pairs.filter((it) => it.before && it.after).length,
    not_run: pairs.filter((it) => !it.after).map(({ name }) => name),
  };
}

/** Number of changes; equal ones of several tests are one. */
export const changesIn = ({ added, removed, changed }: BaselineDiff): number =>
  added.length + removed.length + changed.length;

const longest = 120;
const shown = (text: string): string => spelledOut(text.length > longest ? `${text.slice(0, longest)}…` : text);

/** `null|string?` → `null|string (not always)`. */
const typeWords = (type: Json): string => shown(String(type).replace(/\?$/, " (not always)"));

const propertyWords = (properties: Json | undefined): string =>
  isObject(properties)
    ? Object.entries(properties)
        .map(([name, type]) => `${shown(name)} ${typeWords(type)}`)
        .join(", ")
    : "";

function occurrenceWords(it: Json): string {
  const { count, properties } = isObject(it) ? it : { count: 1, properties: {} };
  const words = propertyWords(properties);
  return `${times(Number(count))}${words && `: ${words}`}`;
}

const listed = (value: Json): Json[] => (Array.isArray(value) ? value : []);

/** The steps of an order that differ, with those next to them. */
function stepWords(order: Json, others: readonly Json[]): string {
  const steps = listed(order).map(String);
  const [other] = others;
  if (others.length !== 1) return steps.map(shown).join(" → ");
  const against = listed(other ?? []).map(String);
  let start = 0;
  while (start < steps.length && steps[start] === against[start]) start++;
  let end = 0;
  while (end < Math.min(steps.length, against.length) - start && steps.at(-1 - end) === against.at(-1 - end)) end++;
  const from = Math.max(0, start - 1);
  const to = Math.min(steps.length, steps.length - end + 1);
  return [...(from > 0 ? ["…"] : []), ...steps.slice(from, to).map(shown), ...(to < steps.length ? ["…"] : [])].join(
    " → ",
  );
}

function orderWords({ before, after }: ChangeParts): string {
  const [was, is] = [listed(before), listed(after)];
  const words = (orders: readonly Json[], others: readonly Json[]) =>
    orders.map((it) => stepWords(it, others.length === 1 && orders.length === 1 ? others : [])).join("; ");
  if (was.length === 0) return `order: also ${words(is, was)}`;
  if (is.length === 0) return `order: no longer ${words(was, is)}`;
  return `order: ${words(was, is)} ⇒ ${words(is, was)}`;
}

/** The change by its kind; `isNew`: it was not before, `isGone`: it is no more. */
const sentences: Readonly<Record<ChangeParts["what"], (it: ChangeParts, isNew: boolean, isGone: boolean) => string>> = {
  test: (_, isNew) => (isNew ? "new test" : "the test did not run"),
  event: (it, isNew) =>
    isNew
      ? `${shown(it.name)} is new${occurrenceWords(it.after)}`
      : `${shown(it.name)} stopped${occurrenceWords(it.before).replace(/:.*/, "")}`,
  identity: (it, isNew) =>
    isNew ? `${shown(it.name)} is new${occurrenceWords(it.after)}` : `${shown(it.name)} is no longer called`,
  count: ({ name, before, after }) => `${shown(name)}: ${before} → ${counted(Number(after), "time")}`,
  property({ name, property, before, after }, isNew, isGone) {
    const of = `${shown(name)}: ${shown(property ?? "")}`;
    if (isNew) return `${of} is new: ${typeWords(after)}`;
    return isGone ? `${of} is gone (was ${typeWords(before)})` : `${of} ${typeWords(before)} → ${typeWords(after)}`;
  },
  flag: ({ name }, isNew) => `flag ${shown(name)} is ${isNew ? "read for the first time" : "no longer read"}`,
  order: orderWords,
};

const changeText = (it: ChangeParts): string => sentences[it.what](it, it.before === null, it.after === null);

/** Changes of the same tests, each with its sign. */
function sectionsOf({ added, removed, changed }: BaselineDiff) {
  const changes = Object.entries({ "+": added, "-": removed, "~": changed }).flatMap(([sign, list]) =>
    list.map((it) => ({ ...it, sign })),
  );
  // New and missing tests are lists of names.
  const sections = groupedBy(changes, ({ what, text, tests }) => JSON.stringify(what === "test" ? [text] : tests));
  return [...sections.values()]
    .map((changes) => ({ tests: changes[0]?.tests ?? [], changes }))
    .sort((a, b) => compareText(a.tests[0] ?? "", b.tests[0] ?? ""));
}

const mostNames = 5;

const testName = (test: string): string => (test === "" ? "(no test)" : `"${shown(test)}"`);

/** `"a signup"`, or `12 tests ("a signup", … and 7 more)`. */
function testWords(tests: readonly string[]): string {
  const names = tests.slice(0, mostNames).map(testName);
  const more = tests.length - names.length;
  if (tests.length === 1) return names.join("");
  return `${counted(tests.length, "test")} (${names.join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}

export function baselineHeadline(diff: BaselineDiff): string {
  const all = [...diff.added, ...diff.removed, ...diff.changed];
  const tests = new Set(all.flatMap((it) => it.tests)).size;
  const missing = diff.not_run.length;
  const rest = missing > 0 ? `; ${counted(missing, "test")} of the baseline did not run` : "";
  return all.length === 0
    ? `no changes in ${counted(diff.compared, "test")}${rest}`
    : `${counted(all.length, "change")} in ${counted(tests, "test")}${rest}`;
}

export const baselineLines = (diff: BaselineDiff): string[] =>
  sectionsOf(diff).flatMap(({ tests, changes }) => [
    `in ${testWords(tests)}`,
    ...changes.map(({ sign, text }) => `  ${sign} ${text}`),
  ]);

/** Lines of a comment: GitHub takes 65,536 characters. */
const mostMarkdownLines = 200;

/**
 * The changes as Markdown, for a comment on a pull request. Captured names stand in a block of code, where they are
 * neither HTML nor links, and mention no users.
 */
export function baselineMarkdown(diff: BaselineDiff): string {
  const lines = sectionsOf(diff).flatMap(({ tests, changes }) => [
    `@@ ${testWords(tests)} @@`,
    ...changes.map(({ sign, text }) => `${sign === "~" ? "!" : sign} ${text}`),
  ]);
  const more = lines.length - mostMarkdownLines;
  return [
    `### Analytics: ${baselineHeadline(diff)}`,
    "",
    ...(lines.length > 0 ? ["```diff", ...lines.slice(0, mostMarkdownLines), "```", ""] : []),
    ...(more > 0 ? [`… and ${counted(more, "more line")}`, ""] : []),
  ].join("\n");
}

const occurrenceLine = (name: string, { count, properties }: Occurrence): string => {
  const words = propertyWords(Object.fromEntries(inOrder(properties)));
  return `  ${shown(name)}${times(count)}${words && `: ${words}`}`;
};

export const shownBaseline = ({ tests }: Baseline): string[] =>
  inOrder(tests).flatMap(([name, { events, identity, flags, orders }]) => [
    testName(name),
    ...inOrder(events).map(([event, it]) => occurrenceLine(event, it)),
    ...inOrder(identity).map(([call, it]) => occurrenceLine(`${call}()`, it)),
    ...(flags.size > 0 ? [`  flags read: ${[...flags].sort(compareText).map(shown).join(", ")}`] : []),
    ...orders.map((order) => `  order: ${order.map(shown).join(" → ")}`),
    ...(events.size + identity.size + flags.size === 0 ? ["  nothing"] : []),
  ]);

import { isObject, type Json } from "../../kernel/base/json.ts";
import { counted, spelledOut, times } from "../../kernel/base/text.ts";
import { type Baseline, byName, type Occurrence } from "./record.ts";
import type { BaselineChange, BaselineDiff } from "./shapes.ts";

/** A change without its tests and its text. */
export type ChangeParts = Omit<BaselineChange, "tests" | "text" | "before" | "after"> & {
  readonly before: Json;
  readonly after: Json;
};

const longest = 120;
const shown = (text: string): string => spelledOut(text.length > longest ? `${text.slice(0, longest)}…` : text);

/** `null|string?` → `null|string (not always)`. */
const typeWords = (type: Json): string => shown(String(type).replace(/\?$/, " (not always)"));

/** `plan string, seats number` */
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

/** A change in words: `signup_completed: plan string → number`. */
export const changeText = (it: ChangeParts): string => sentences[it.what](it, it.before === null, it.after === null);

/** Changes of the same tests. */
interface Section {
  readonly tests: readonly string[];
  readonly changes: (BaselineChange & { readonly sign: string })[];
}

function sectionsOf({ added, removed, changed }: BaselineDiff): Section[] {
  const sections = new Map<string, Section>();
  const lists = [
    ["+", added],
    ["-", removed],
    ["~", changed],
  ] as const;
  for (const [sign, changes] of lists) {
    for (const change of changes) {
      // New and missing tests are lists of names.
      const key = JSON.stringify(change.what === "test" ? [change.text] : change.tests);
      const section = sections.get(key) ?? { tests: change.tests, changes: [] };
      sections.set(key, section);
      section.changes.push({ ...change, sign });
    }
  }
  return [...sections.values()].sort((a, b) => byName(a.tests[0] ?? "", b.tests[0] ?? ""));
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

/** One line: `3 changes in 2 of 14 tests`. */
export function baselineHeadline(diff: BaselineDiff): string {
  const all = [...diff.added, ...diff.removed, ...diff.changed];
  const tests = new Set(all.flatMap((it) => it.tests)).size;
  const missing = diff.not_run.length;
  const rest = missing > 0 ? `; ${counted(missing, "test")} of the baseline did not run` : "";
  return all.length === 0
    ? `no changes in ${counted(diff.compared, "test")}${rest}`
    : `${counted(all.length, "change")} in ${counted(tests, "test")}${rest}`;
}

/** The changes as lines, by test. */
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
  const words = propertyWords(Object.fromEntries([...properties].sort(([a], [b]) => byName(a, b))));
  return `  ${shown(name)}${times(count)}${words && `: ${words}`}`;
};

export const shownBaseline = ({ tests }: Baseline): string[] =>
  [...tests]
    .sort(([a], [b]) => byName(a, b))
    .flatMap(([name, { events, identity, flags, orders }]) => [
      testName(name),
      ...[...events].sort(([a], [b]) => byName(a, b)).map(([event, it]) => occurrenceLine(event, it)),
      ...[...identity].sort(([a], [b]) => byName(a, b)).map(([call, it]) => occurrenceLine(`${call}()`, it)),
      ...(flags.size > 0 ? [`  flags read: ${[...flags].sort(byName).map(shown).join(", ")}`] : []),
      ...orders.map((order) => `  order: ${order.map(shown).join(" → ")}`),
      ...(events.size + identity.size + flags.size === 0 ? ["  nothing"] : []),
    ]);

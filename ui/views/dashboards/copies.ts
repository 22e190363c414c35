import { isObject, type Json, type JsonObject, objectIn, objectsIn } from "../../../src/kernel/base/json.ts";
import { scriptText } from "../../copy/quote.ts";
import type { BoardTile } from "../../parts/insight/board.tsx";
import { type Answer, sourceOf } from "../../parts/insight/picture.ts";

/** Rows of a table that a test lists. */
const mostRows = 20;

/** One value, or values by label where there are several series; undefined for none. */
function bySeries(rows: readonly JsonObject[], labelOf: (row: JsonObject) => Json, shownIn: (row: JsonObject) => Json) {
  const [only, ...others] = rows;
  if (only === undefined) return undefined;
  if (others.length === 0) return shownIn(only);
  return Object.fromEntries(rows.map((it) => [String(labelOf(it)), shownIn(it)]));
}

const labelOf = ({ status, label }: JsonObject): Json => status ?? label ?? "";

const ofSeries = (results: Json): JsonObject => {
  const rows = objectsIn(results).filter((it) => it.compare_label !== "previous");
  const isValue = rows.some((it) => typeof it.aggregated_value === "number");
  const found = bySeries(rows, labelOf, (it) => it.aggregated_value ?? it.count ?? 0);
  return found === undefined ? {} : { [isValue ? "value" : "total"]: found };
};

const countsOf = (rows: readonly JsonObject[]): Json[] => rows.map((it) => it.count ?? 0);

const groupName = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(groupName).join("::") : String(value ?? "");

/** What `toHaveInsight` of phx-sim/vitest can expect of each kind of query. */
const expectations: Readonly<Record<string, (results: Json, source: JsonObject) => JsonObject>> = {
  TrendsQuery: ofSeries,
  StickinessQuery: ofSeries,
  LifecycleQuery: ofSeries,
  FunnelsQuery(results, source): JsonObject {
    const how = objectIn(source, "funnelsFilter").funnelVizType ?? "steps";
    if (how !== "steps" || !Array.isArray(results) || results.length === 0) return {};
    const groups = results.filter(Array.isArray).map((it) => objectsIn(it));
    if (groups.length === 0) return { steps: countsOf(objectsIn(results)) };
    const named = groups.map((it) => [groupName(it[0]?.breakdown_value), countsOf(it)] as const);
    return { steps: named.length === 1 ? (named[0]?.[1] ?? []) : Object.fromEntries(named) };
  },
  HogQLQuery: (results): JsonObject =>
    Array.isArray(results) && results.length > 0 && results.length <= mostRows ? { rows: results } : {},
  RetentionQuery: (results): JsonObject => ({
    retention: objectsIn(results).map(({ values = [] }) => countsOf(objectsIn(values))),
  }),
};

/** The assertion of an insight, by its name or as a query, with what it shows now; undefined if there is none. */
function assertionOf(query: Json, name: string | undefined, { results }: Answer): string | undefined {
  const source = sourceOf(query);
  const expected = expectations[String(source.kind)]?.(results, source);
  if (!expected || Object.keys(expected).length === 0) return undefined;
  // the period before has the same labels
  const { compareFilter, ...plain } = source;
  const isCompared = isObject(compareFilter) && compareFilter.compare === true;
  const insight: Json = name === undefined || isCompared ? plain : name;
  return `  await expect(ph).toHaveInsight(${scriptText(insight, 2)}, ${scriptText(expected, 2)});`;
}

const testOf = (title: string, lines: readonly string[]): string =>
  [
    'import { expect, test } from "phx-sim/vitest";',
    "",
    `test(${scriptText(title)}, async ({ ph }) => {`,
    "  // Make your app send the events here.",
    ...lines,
    "});",
  ].join("\n");

const none = "  // The insight shows nothing yet that a test can expect.";

/** A test of an insight that is not stored; the query is in it. */
export const insightTest = (name: string, query: Json, answer: Answer | undefined): string =>
  testOf(name, [(answer && assertionOf(query, undefined, answer)) ?? none]);

/** A test of all insights of a dashboard, by their names. */
export function boardTest(title: string, tiles: readonly BoardTile[]): string {
  const lines = tiles.flatMap(({ insight }) => {
    if (insight === null || insight.result === null) return [];
    return (
      assertionOf(insight.query, insight.name || insight.derived_name || undefined, { results: insight.result }) ?? []
    );
  });
  return testOf(title, lines.length === 0 ? [none] : lines);
}

import { z } from "zod";
import { expressionColumn } from "../hogql/expressions.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import { rowsPerStep, type Steps, type ValueColumn } from "../table.ts";
import { sumOf } from "./breakdowns.ts";
import { eachDistinct } from "./cells.ts";
import { calendarOf } from "./dates.ts";
import { allOf, codeTest, everyRow, filterTest, queryTest, type RowTest } from "./filters.ts";
import { bucketsOf, comparedRange, previousRange, type Range, rangeOf } from "./range.ts";
import { unsupported } from "./refuse.ts";
import { type Entity, earliestTime, entityOf, selectRows } from "./series.ts";
import { CompareFilter, IntervalName, insightFields, SeriesNode } from "./shapes.ts";
import { checkNumbers } from "./sizes.ts";

const StickinessQuery = z.strictObject({
  kind: z.literal("StickinessQuery"),
  ...insightFields,
  interval: IntervalName.nullish(),
  intervalCount: z.null().optional(),
  series: z.array(SeriesNode),
  compareFilter: CompareFilter.nullish(),
  stickinessFilter: z
    .strictObject({
      stickinessCriteria: z.strictObject({ operator: z.enum(["gte", "lte", "exact"]), value: z.int() }).nullish(),
      computedAs: z.enum(["cumulative", "non_cumulative"]).nullish(),
      // What follows changes the chart only.
      display: z.string().nullish(),
      hiddenLegendIndexes: z.array(z.int()).nullish(),
      resultCustomizationBy: z.string().nullish(),
      resultCustomizations: z.record(z.string(), z.json()).nullish(),
      showLegend: z.boolean().nullish(),
      showMultipleYAxes: z.boolean().nullish(),
      showValuesOnSeries: z.boolean().nullish(),
    })
    .nullish(),
});
type StickinessQuery = z.infer<typeof StickinessQuery>;

const criteria = {
  gte: (count: number, value: number) => count >= value,
  lte: (count: number, value: number) => count <= value,
  exact: (count: number, value: number) => count === value,
};

/** The actors of a series. */
function actorsOf(
  { math, math_group_type_index: group, math_hogql: expression }: SeriesNode,
  context: QueryContext,
): ValueColumn {
  const { table } = context;
  if (math === "hogql" && expression) return expressionColumn(expression, context);
  if (math === "unique_group" && typeof group === "number") return table.group(group);
  if (math && math !== "total" && math !== "dau") throw unsupported(`The math ${JSON.stringify(math)} of a series`);
  return table.persons;
}

/** Actors by the number of intervals in which they were active. */
function* activeIntervals(
  query: StickinessQuery,
  node: SeriesNode,
  entity: Entity,
  range: Range,
  context: QueryContext,
): Steps<number[]> {
  const { table } = context;
  const calendar = calendarOf(context);
  const buckets = bucketsOf(range, calendar);
  const actors = actorsOf(node, context);
  const hasGroup: RowTest[] = actors === table.persons ? [] : [codeTest(actors, (key) => (key ?? "") !== "")];
  const second = (wall: number) => calendar.instant(Math.floor(wall / 1000) * 1000);
  const rows = yield* selectRows(
    context,
    { from: second(range.countedFrom), to: second(range.to) },
    allOf([entity.test, filterTest(node.properties, context), queryTest(query, context), ...hasGroup]),
  );
  const cells = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    cells[at] = buckets.indexOf(table.times[rows[at] ?? 0] ?? 0);
  }
  const { operator = "gte", value = 1 } = query.stickinessFilter?.stickinessCriteria ?? {};
  const intervals = new Uint32Array(actors.values.length);
  const all = { count: buckets.starts.length, rows, cells };
  yield* eachDistinct(all, actors, false, (_, actor, events) => {
    if (criteria[operator](events, value)) intervals[actor] = (intervals[actor] ?? 0) + 1;
  });
  const counts = new Array<number>(buckets.starts.length).fill(0);
  for (const count of intervals) if (count > 0) counts[count - 1] = (counts[count - 1] ?? 0) + 1;
  return counts;
}

function* runStickiness(query: StickinessQuery, context: QueryContext): Steps<Record<string, unknown>> {
  const calendar = calendarOf(context);
  const interval = query.interval ?? "day";
  const entities = query.series.map((node) => entityOf(node, context));
  const isAll = query.dateRange?.date_from === "all";
  const tests = entities.map((it) => it?.test ?? everyRow);
  const first = isAll ? yield* earliestTime(context, (row) => tests.some((test) => test(row))) : 0;
  const options = { interval, earliest: () => calendar.wall(first) };
  const range = rangeOf(query.dateRange, calendar, options);
  const { compare, compare_to: compareTo } = query.compareFilter ?? {};
  const previous =
    typeof compareTo === "string"
      ? () => comparedRange(query.dateRange, calendar, options, compareTo)
      : () => previousRange(query.dateRange, calendar, options);
  const ranges = compare ? [range, previous()] : [range];
  const isCumulative = query.stickinessFilter?.computedAs === "cumulative";

  const results: unknown[] = [];
  checkNumbers("result", query.series.length * ranges.length * bucketsOf(range, calendar).starts.length);
  for (const [order, node] of query.series.entries()) {
    const entity = entities[order];
    if (!entity) continue;
    for (const own of ranges) {
      const counts = yield* activeIntervals(query, node, entity, own, context);
      const days = counts.map((_, i) => i + 1);
      results.push({
        count: sumOf(counts),
        data: isCumulative ? counts.map((_, i) => sumOf(counts.slice(i))) : counts,
        days,
        label: entity.name ?? "All events",
        labels: days.map((day) => `${day} ${interval}${day === 1 ? "" : "s"}${isCumulative ? " or more" : ""}`),
        action: { order, type: "events", name: entity.name ?? "All events", id: entity.name },
        ...(compare && { compare: true, compare_label: own === range ? "current" : "previous" }),
      });
    }
  }
  return { results };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/stickiness_query_runner.py. */
export const stickinessKind: QueryKind<StickinessQuery> = {
  kind: "StickinessQuery",
  shape: StickinessQuery,
  run: runStickiness,
};

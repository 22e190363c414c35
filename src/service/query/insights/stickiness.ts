import { z } from "zod";
import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { expressionColumn } from "../hogql/expressions.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { unsupported } from "../refusals.ts";
import { calendarOf } from "./dates.ts";
import { everyRow } from "./filters.ts";
import { checkNumbers, sumOf } from "./numbers.ts";
import { bucketsOf, type Range } from "./range.ts";
import { type Actors, actorsOf, collect, datesOf, type Entity, entityOf, wholeSeconds } from "./series.ts";
import { CompareFilter, Customizations, IntervalName, insightFields, nullish, SeriesNode } from "./shapes.ts";

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
      ...nullish(z.string(), "display", "resultCustomizationBy"),
      ...nullish(z.boolean(), "showLegend", "showMultipleYAxes", "showValuesOnSeries"),
      hiddenLegendIndexes: z.array(z.int()).nullish(),
      resultCustomizations: Customizations,
    })
    .nullish(),
});
type StickinessQuery = z.infer<typeof StickinessQuery>;

const criteria = {
  gte: (count: number, value: number) => count >= value,
  lte: (count: number, value: number) => count <= value,
  exact: (count: number, value: number) => count === value,
};

function seriesActors(
  { math, math_group_type_index: group, math_hogql: expression }: SeriesNode,
  context: QueryContext,
): Actors {
  if (math === "hogql" && expression) {
    const of = expressionColumn(expression, context);
    return { of, has: (row) => (of(row) ?? "") !== "" };
  }
  if (math === "unique_group" && typeof group === "number") return actorsOf(context, group);
  if (math && math !== "total" && math !== "dau") throw unsupported(`The math ${JSON.stringify(math)} of a series`);
  return actorsOf(context, undefined);
}

/** Actors by the number of intervals in which they were active. */
function activeIntervals(
  query: StickinessQuery,
  node: SeriesNode,
  entity: Entity,
  range: Range,
  context: QueryContext,
): number[] {
  const { table } = context;
  const calendar = calendarOf(context);
  const buckets = bucketsOf(range, calendar);
  const { operator = "gte", value = 1 } = query.stickinessFilter?.stickinessCriteria ?? {};
  const counts = new Array<number>(buckets.starts.length).fill(0);
  const { byActor } = collect(query, node, seriesActors(node, context), context);
  for (const rows of byActor(wholeSeconds(calendar, range.countedFrom, range.to), entity.test).values()) {
    const events = groupedBy(rows, (row) => buckets.indexOf(table.time(row)));
    const active = [...events.values()].filter((it) => criteria[operator](it.length, value)).length;
    if (active > 0) counts[active - 1] = (counts[active - 1] ?? 0) + 1;
  }
  return counts;
}

function runStickiness(query: StickinessQuery, context: QueryContext): Record<string, unknown> {
  const interval = query.interval ?? "day";
  const entities = query.series.map((node) => entityOf(node, context));
  const tests = entities.map((it) => it?.test ?? everyRow);
  const { calendar, range, previous } = datesOf(query, tests, context, { interval });
  const isCumulative = query.stickinessFilter?.computedAs === "cumulative";
  const ranges = previous ? [range, previous] : [range];

  const results: unknown[] = [];
  checkNumbers("result", query.series.length * ranges.length * bucketsOf(range, calendar).starts.length);
  for (const [order, node] of query.series.entries()) {
    const entity = entities[order];
    if (!entity) continue;
    for (const own of ranges) {
      const counts = activeIntervals(query, node, entity, own, context);
      const days = counts.map((_, i) => i + 1);
      results.push({
        count: sumOf(counts),
        data: isCumulative ? counts.map((_, i) => sumOf(counts.slice(i))) : counts,
        days,
        label: entity.name ?? "All events",
        labels: days.map((day) => `${day} ${interval}${day === 1 ? "" : "s"}${isCumulative ? " or more" : ""}`),
        action: { order, type: "events", name: entity.name ?? "All events", id: entity.name },
        ...(previous && { compare: true, compare_label: own === range ? "current" : "previous" }),
      });
    }
  }
  return { results };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/stickiness_query_runner.py. */
export const stickinessKind = queryKind(StickinessQuery, runStickiness);

import { z } from "zod";
import { compareText } from "../../../kernel/base/text.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { refuse } from "../refusals.ts";
import {
  cohortsIn,
  columnOf,
  defaultLimit,
  hasBreakdown,
  isCohortBreakdown,
  otherValue,
  valueText,
} from "./breakdowns.ts";
import { type Interval, moved, type ProjectCalendar } from "./dates.ts";
import { allOf, cohortTest, everyRow, filterTest, type RowTest } from "./filters.ts";
import { checkNumbers, NumberLists } from "./numbers.ts";
import { type Buckets, bucketsOf, steps } from "./range.ts";
import { actorsOf, collect, datesOf, existingEntity } from "./series.ts";
import { BreakdownFilter, GoalLines, insightFields, nullish, type SeriesNode } from "./shapes.ts";

const Entity = z.strictObject({
  id: z.union([z.string(), z.number()]).nullish(),
  type: z.enum(["events", "actions"]).nullish(),
  kind: z.enum(["EventsNode", "ActionsNode"]).nullish(),
  name: z.string().nullish(),
  custom_name: z.string().nullish(),
  order: z.number().nullish(),
  uuid: z.string().nullish(),
  properties: z.json().nullish(),
});
type Entity = z.infer<typeof Entity>;

const RetentionFilter = z.strictObject({
  retentionType: z.enum(["retention_recurring", "retention_first_time", "retention_first_ever_occurrence"]).nullish(),
  period: z.enum(["Hour", "Day", "Week", "Month"]).nullish(),
  totalIntervals: z.int().min(1).max(1000).nullish(),
  minimumOccurrences: z.int().min(1).nullish(),
  cumulative: z.boolean().nullish(),
  targetEntity: Entity.nullish(),
  returningEntity: Entity.nullish(),
  timeWindowMode: z.literal("strict_calendar_dates").nullish(),
  aggregationType: z.literal("count").nullish(),
  retentionCustomBrackets: z.tuple([]).nullish(),
  // What follows changes the chart only.
  ...nullish(z.string(), "dashboardDisplay", "display", "meanRetentionCalculation", "retentionReference"),
  goalLines: GoalLines,
  selectedInterval: z.number().nullish(),
  showTrendLines: z.boolean().nullish(),
});

const RetentionQuery = z.strictObject({
  kind: z.literal("RetentionQuery"),
  ...insightFields,
  retentionFilter: RetentionFilter,
  breakdownFilter: BreakdownFilter.nullish(),
});
type RetentionQuery = z.infer<typeof RetentionQuery>;

const defaultIntervals = 8;
const defaultEntity: Entity = { id: "$pageview", type: "events" };

/** Events of the start or the return, without and with the entity's own filters. */
function entityTests(entity: Entity, context: QueryContext): { bare: RowTest; test: RowTest } {
  const isAction = entity.type === "actions" || entity.kind === "ActionsNode";
  const node: SeriesNode = isAction
    ? { kind: "ActionsNode", id: Number(entity.id) }
    : { kind: "EventsNode", event: typeof entity.id === "string" ? entity.id : null };
  const bare = existingEntity(node, context).test;
  return { bare, test: allOf([bare, filterTest(entity.properties, context)]) };
}

/** The intervals in which actors start, and the number of intervals in which they can return. */
interface Periods {
  readonly interval: Interval;
  readonly buckets: Buckets;
  /** Instants; the end is not included. */
  readonly from: number;
  readonly to: number;
  readonly lookahead: number;
}

/** Upstream: `QueryDateRangeWithIntervals`. */
function periodsOf(query: RetentionQuery, first: RowTest, context: QueryContext) {
  const { dateRange, retentionFilter } = query;
  const interval = intervalNames[retentionFilter.period ?? "Day"];
  const lookahead = retentionFilter.totalIntervals ?? defaultIntervals;
  const { calendar, range } = datesOf(query, [first], context, { interval });
  // Whole intervals only: the last one is the one in which the range ends.
  const end = calendar.startOf(moved(range.to, steps[interval], 1), interval);
  const start = dateRange?.date_from ? range.from : backBy(end, interval, lookahead);
  const from = calendar.startOf(start, interval);
  const buckets = bucketsOf({ interval, from, to: end - 1 }, calendar);
  const periods: Periods = { interval, buckets, from: calendar.instant(from), to: calendar.instant(end), lookahead };
  return { calendar, periods };
}

const intervalNames = { Hour: "hour", Day: "day", Week: "week", Month: "month" } as const;

function backBy(wall: number, interval: Interval, count: number): number {
  const delta = Object.fromEntries(Object.entries(steps[interval]).map(([unit, it]) => [unit, Number(it) * count]));
  return moved(wall, delta, -1);
}

/** What an actor did, for one value of the breakdown. */
interface Activity {
  readonly starts: Set<number>;
  readonly returns: Map<number, number>;
  /** Time of the first start event, with the entity's filters and without. */
  first: number;
  firstBare: number;
  bareValue: string;
}

interface Retention {
  readonly query: RetentionQuery;
  readonly context: QueryContext;
  readonly periods: Periods;
}

/** Value of the breakdown of a row; "" is none. */
function valueReader({ query: { breakdownFilter }, context }: Retention): (row: number) => string {
  if (!hasBreakdown(breakdownFilter) || isCohortBreakdown(breakdownFilter)) return () => "";
  const { breakdowns, breakdown, breakdown_type, breakdown_group_type_index } = breakdownFilter;
  if ((breakdowns?.length ?? 0) > 1) throw refuse("Retention has one breakdown only.");
  const [part] = breakdowns ?? [];
  const property = part?.property ?? (Array.isArray(breakdown) ? breakdown[0] : breakdown) ?? "";
  const column = columnOf(
    property,
    part ? part.type : breakdown_type,
    part ? part.group_type_index : breakdown_group_type_index,
    context,
  );
  return (row) => valueText(column(row));
}

function countActors(retention: Retention, counts: NumberLists, only: RowTest, name: string | undefined): void {
  const { query, context, periods } = retention;
  const { table } = context;
  const { retentionFilter: filter } = query;
  const start = entityTests(filter.targetEntity ?? defaultEntity, context);
  const back = entityTests(filter.returningEntity ?? defaultEntity, context);
  const isFirst = filter.retentionType === "retention_first_time";
  const isFirstEver = filter.retentionType === "retention_first_ever_occurrence";
  const span = isFirst || isFirstEver ? { from: -Infinity, to: Infinity } : { from: periods.from, to: periods.to - 1 };
  const isRelevant: RowTest = (row) => (isFirstEver ? start.bare(row) : start.test(row)) || back.test(row);
  const valueAt = valueReader(retention);
  const actors = actorsOf(context, query.aggregation_group_type_index);
  for (const rows of collect(query, undefined, actors, context)
    .byActor(span, allOf([only, isRelevant]))
    .values())
    for (const [value, activity] of activities(rows)) addActor(value, activity);

  function activities(own: readonly number[]): Map<string, Activity> {
    const byValue = new Map<string, Activity>();
    for (const row of own) {
      // Upstream: for the first event ever, an actor has one value, that of this event.
      const value = isFirstEver ? "" : valueAt(row);
      const known = byValue.get(value);
      const activity = known ?? {
        starts: new Set(),
        returns: new Map(),
        first: Infinity,
        firstBare: Infinity,
        bareValue: "",
      };
      if (!known) byValue.set(value, activity);
      const time = table.time(row);
      const bucket = time < periods.to ? periods.buckets.indexOf(time) : -1;
      if (start.test(row)) {
        activity.first = Math.min(activity.first, time);
        if (bucket >= 0) activity.starts.add(bucket);
      }
      if (isFirstEver && start.bare(row) && time < activity.firstBare) {
        activity.firstBare = time;
        activity.bareValue = valueAt(row);
      }
      if (bucket >= 0 && back.test(row)) activity.returns.set(bucket, (activity.returns.get(bucket) ?? 0) + 1);
    }
    return byValue;
  }

  function addActor(value: string, { starts, returns, first, firstBare, bareValue }: Activity): void {
    const returned = [...returns].flatMap(([bucket, count]) =>
      count >= (filter.minimumOccurrences ?? 1) ? [bucket] : [],
    );
    const isOnce = isFirst || isFirstEver;
    if (isFirstEver && first !== firstBare) return;
    const cohorts = isOnce ? [periods.buckets.indexOf(first)] : [...starts];
    for (const cohort of cohorts) {
      if (!starts.has(cohort)) continue;
      const offsets = [0, ...returned.map((it) => it - cohort).filter((it) => it > 0 && it < periods.lookahead)];
      const most = Math.max(...offsets);
      const counted = filter.cumulative ? Array.from({ length: most + 1 }, (_, i) => i) : offsets;
      for (const offset of counted)
        counts.add(name ?? (isFirstEver ? bareValue : value), cohort * periods.lookahead + offset);
    }
  }
}

const titles = { minute: "Minute", hour: "Hour", day: "Day", week: "Week", month: "Month" };

function resultsOf(
  { interval, buckets, lookahead }: Periods,
  calendar: ProjectCalendar,
  counts: Float64Array | undefined,
  value: string | null,
) {
  return buckets.starts.map((start, cohort) => ({
    values: Array.from({ length: lookahead }, (_, offset) => ({
      count: counts?.[cohort * lookahead + offset] ?? 0,
      label: `${titles[interval]} ${offset}`,
    })),
    label: `${titles[interval]} ${cohort}`,
    date: calendar.iso(start),
    breakdown_value: value,
  }));
}

/** The values with most actors; the others as one. */
function rankedCounts(counts: NumberLists, { lookahead }: Periods, limit: number): [value: string, Float64Array][] {
  const size = (own: Float64Array) => own.reduce((sum, it, i) => (i % lookahead === 0 ? sum + it : sum), 0);
  const all = [...counts].sort(([a, x], [b, y]) => size(y) - size(x) || compareText(a, b));
  const [first, ...others] = all.slice(limit).map(([, own]) => own);
  if (!first) return all;
  const rest = others.reduce((sum, own) => sum.map((it, i) => it + (own[i] ?? 0)), first);
  return [...all.slice(0, limit), [otherValue, rest]];
}

function runRetention(query: RetentionQuery, context: QueryContext): Record<string, unknown> {
  const target = entityTests(query.retentionFilter.targetEntity ?? defaultEntity, context);
  const { calendar, periods } = periodsOf(query, target.bare, context);
  const retention: Retention = { query, context, periods };
  checkNumbers("result", periods.buckets.starts.length * periods.lookahead);
  /** Actors by the interval of their start, and by how much later they returned. */
  const counts = new NumberLists(periods.buckets.starts.length * periods.lookahead);
  const { breakdownFilter } = query;
  if (isCohortBreakdown(breakdownFilter)) {
    for (const id of cohortsIn(breakdownFilter)) {
      const isEveryone = id === "all" || id === 0;
      countActors(retention, counts, isEveryone ? everyRow : cohortTest(id, context), isEveryone ? "0" : `${id}`);
    }
  } else countActors(retention, counts, everyRow, undefined);
  if (!hasBreakdown(breakdownFilter)) return { results: resultsOf(periods, calendar, counts.get(""), null) };
  const ranked = rankedCounts(counts, periods, breakdownFilter.breakdown_limit ?? defaultLimit);
  checkNumbers("result", ranked.length * periods.buckets.starts.length * periods.lookahead);
  return { results: ranked.flatMap(([value, own]) => resultsOf(periods, calendar, own, value)) };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/retention. */
export const retentionKind = queryKind(RetentionQuery, runRetention);

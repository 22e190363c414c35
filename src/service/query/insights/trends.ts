import type { QueryContext, QueryKind } from "../kind.ts";
import {
  type BrokenDown,
  compareValues,
  defaultLimit,
  hasBreakdown,
  isOther,
  limited,
  sortedByTotal,
} from "./breakdowns.ts";
import { cohortTest, everyRow } from "./filters.ts";
import { bucketsOf } from "./range.ts";
import { resolvedDates } from "./series.ts";
import { checkNumbers } from "./sizes.ts";
import { sumOf } from "./statistics.ts";
import { cumulative, planOf, seriesOf, type TrendsPlan, TrendsQuery, type TrendsSeries } from "./trends-plan.ts";
import { resultOf, type TrendsResult, withFormulas } from "./trends-results.ts";
import { seriesNumbers } from "./trends-series.ts";

/** Countries that a map has. */
const worldMapLimit = 250;

/** The numbers of a series by value of its breakdown, ordered and limited. */
function numbersOf(plan: TrendsPlan, { node, entity, cohorts, range }: TrendsSeries): BrokenDown[] {
  const { query, context, calendar, isTotal, display } = plan;
  if (!entity) return [];
  const { breakdownFilter } = query;
  const isBrokenDown = hasBreakdown(breakdownFilter);
  const job = {
    ...{ query, node, entity, range },
    breakdown: isBrokenDown && !cohorts ? breakdownFilter : undefined,
    isTotal,
    isCumulative: display === cumulative,
  };
  const all: BrokenDown[] = [];
  for (const cohort of cohorts ?? [undefined]) {
    const member = cohort === undefined || cohort === "all" ? everyRow : cohortTest(cohort, context);
    const numbers = seriesNumbers({ ...job, only: member }, context, calendar);
    const value = cohort === undefined ? undefined : cohort === "all" ? "0" : String(cohort);
    if (value === undefined) all.push(...numbers);
    // Cohorts without events have no result.
    else for (const { data } of numbers) if (sumOf(data) !== 0) all.push({ value, data });
  }
  if (!isBrokenDown) return all.map((it) => ({ ...it, data: displayed(plan, it.data) }));
  const limit = display === "WorldMap" ? worldMapLimit : (breakdownFilter?.breakdown_limit ?? defaultLimit);
  const ranked = isTotal
    ? all.toSorted((a, b) => sumOf(b.data) - sumOf(a.data) || compareValues(a.value, b.value))
    : sortedByTotal(all);
  return sortedByTotal(limited(ranked, limit).map((it) => ({ ...it, data: displayed(plan, it.data) })));
}

/** Running totals and averages. */
function displayed({ query, display, isTotal }: TrendsPlan, data: Float64Array): Float64Array {
  const numbers = display === cumulative ? runningTotal(data) : data;
  const intervals = query.trendsFilter?.smoothingIntervals ?? 1;
  if (intervals <= 1 || isTotal) return numbers;
  return numbers.map((_, i) => {
    const start = Math.max(i - intervals + 1, 0);
    return Math.floor(sumOf(numbers.subarray(start, i + 1)) / (i + 1 - start));
  });
}

function runningTotal(data: Float64Array): Float64Array {
  let total = 0;
  return data.map((it) => {
    total += it;
    return total;
  });
}

function runTrends(query: TrendsQuery, context: QueryContext): Record<string, unknown> {
  const plan = planOf(query, context);
  const all = seriesOf(plan);
  const count = plan.previous ? Math.ceil(all.length / 2) : all.length;
  const groups: TrendsResult[][] = [];
  checkNumbers("result", all.length * plan.days.length);
  let found = 0;
  for (const series of all) {
    const starts = plan.isTotal ? [] : bucketsOf(series.range, plan.calendar).starts;
    const numbers = numbersOf(plan, series);
    found += numbers.length * Math.max(1, starts.length);
    checkNumbers("result", found);
    groups.push(numbers.map((it) => resultOf(plan, series, it, starts, count > 1)));
  }
  const results = withFormulas(plan, groups);
  const { breakdownFilter } = query;
  const hasMore = hasBreakdown(breakdownFilter) && results.some((it) => isOtherResult(it));
  const isHidden = hasMore && breakdownFilter.breakdown_hide_other_aggregation === true;
  return {
    results: isHidden ? results.filter((it) => !isOtherResult(it)) : results,
    hasMore,
    ...resolvedDates(plan.range, plan.calendar),
  };
}

function isOtherResult({ breakdown_value: value }: TrendsResult): boolean {
  return value !== undefined && typeof value !== "number" && isOther(value);
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/trends/trends_query_runner.py. */
export const trendsKind: QueryKind<TrendsQuery> = { kind: "TrendsQuery", shape: TrendsQuery, run: runTrends };

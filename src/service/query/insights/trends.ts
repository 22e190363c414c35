import { type QueryContext, queryKind } from "../kind.ts";
import { refuse } from "../refusals.ts";
import {
  type BreakdownValue,
  type BrokenDown,
  compareValues,
  defaultLimit,
  hasBreakdown,
  isNull,
  isOther,
  limited,
  sortedByTotal,
} from "./breakdowns.ts";
import { cohortTest, everyRow } from "./filters.ts";
import { applyFormula } from "./formula.ts";
import { checkNumbers, sumOf } from "./numbers.ts";
import { bucketsOf, dayText, intervalLabel } from "./range.ts";
import { resolvedDates } from "./series.ts";
import { cumulative, planOf, seriesOf, type TrendsPlan, TrendsQuery, type TrendsSeries } from "./trends-plan.ts";
import { seriesNumbers } from "./trends-series.ts";

/** A result as the service has it. Upstream: `build_series_response`, `apply_formula`. */
export interface TrendsResult {
  data: readonly number[] | null;
  days: readonly string[];
  labels?: readonly string[];
  count: number;
  aggregated_value?: number;
  label: string;
  filter: Record<string, unknown>;
  action: Record<string, unknown> | null;
  compare?: true;
  compare_label?: "current" | "previous";
  breakdown_value?: BreakdownValue | number;
  order?: number;
}

/** Fields that the service's models fill in. */
const trendsFilterDefaults = {
  aggregationAxisFormat: "numeric",
  display: "ActionsLineGraph",
  resultCustomizationBy: "value",
  showAlertThresholdLines: false,
  showLegend: false,
  showMultipleYAxes: false,
  showPercentStackView: false,
  showValuesOnSeries: false,
  smoothingIntervals: 1,
  yAxisScaleType: "linear",
};

const withoutNulls = (object: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null && value !== undefined));

function filterOf({ query, calendar, range }: TrendsPlan): Record<string, unknown> {
  return withoutNulls({
    insight: "TRENDS",
    properties: query.properties ?? [],
    filter_test_accounts: query.filterTestAccounts ?? false,
    date_to: calendar.iso(range.to),
    date_from: calendar.iso(range.from),
    entity_type: "events",
    sampling_factor: query.samplingFactor,
    aggregation_group_type_index: query.aggregation_group_type_index,
    interval: query.interval ?? "day",
    ...(query.trendsFilter && { ...trendsFilterDefaults, ...withoutNulls(query.trendsFilter) }),
    ...(query.breakdownFilter && { breakdown_type: "event", ...withoutNulls(query.breakdownFilter) }),
  });
}

function actionOf({ days }: TrendsPlan, { node, order, entity }: TrendsSeries): Record<string, unknown> {
  const name = entity?.name ?? null;
  return {
    days,
    id: name,
    type: "events",
    order,
    name: name ?? "All events",
    custom_name: node.custom_name ?? null,
    math: node.math ?? null,
    math_property: node.math_property ?? null,
    math_hogql: node.math_hogql ?? null,
    math_group_type_index: node.math_group_type_index ?? null,
    properties: {},
  };
}

/** @param isOneOfMany True if the label names the series next to the value of its breakdown. */
function resultOf(
  plan: TrendsPlan,
  series: TrendsSeries,
  { value, data }: BrokenDown,
  starts: readonly number[],
  isOneOfMany: boolean,
): TrendsResult {
  const { query, isTotal, range, display } = plan;
  const last = data[data.length - 1] ?? 0;
  const numbers = isTotal
    ? { data: [], days: [], count: 0, aggregated_value: last }
    : {
        data: [...data],
        labels: starts.map((start) => intervalLabel(start, range)),
        days: starts.map((start) => dayText(start, range.interval)),
        count: display === cumulative ? last : sumOf(data),
      };
  const name = series.entity?.name ?? "All events";
  const result: TrendsResult = { ...numbers, label: name, filter: filterOf(plan), action: actionOf(plan, series) };
  if (plan.previous) {
    result.compare = true;
    result.compare_label = series.isPrevious ? "previous" : "current";
  }
  if (hasBreakdown(query.breakdownFilter)) {
    const { label, shown } = series.cohorts ? cohortNamed(plan, value) : { label: labelOf(value), shown: value };
    result.label = isOneOfMany ? `${name} - ${label}` : label;
    result.breakdown_value = shown;
  }
  return result;
}

const labelOf = (value: BreakdownValue): string => (typeof value === "string" ? value : value.join("::"));

function cohortNamed({ context }: TrendsPlan, value: BreakdownValue) {
  const id = Number(value);
  return id === 0 ? { label: "all users", shown: "all" } : { label: context.cohort?.(id)?.name ?? "", shown: id };
}

interface FormulaNode {
  readonly formula: string;
  readonly custom_name?: string | null | undefined;
}

function formulasOf({ query: { trendsFilter } }: TrendsPlan): readonly FormulaNode[] {
  if (trendsFilter?.formulaNodes && trendsFilter.formulaNodes.length > 0) return trendsFilter.formulaNodes;
  const list = trendsFilter?.formulas ?? (trendsFilter?.formula ? [trendsFilter.formula] : []);
  return list.map((formula) => ({ formula }));
}

/** All results in one list; those of formulas instead of series if there are formulas. */
function withFormulas(plan: TrendsPlan, groups: readonly TrendsResult[][]): TrendsResult[] {
  const formulas = formulasOf(plan);
  if (formulas.length === 0) {
    return groups.flat().map((it) => ({ ...it, order: Number(it.action?.order ?? 0) }));
  }
  const values = Math.max(1, ...groups.map((it) => it.length));
  checkNumbers("result", formulas.length * values * plan.days.length * (plan.previous ? 2 : 1));
  const half = plan.previous ? groups.length / 2 : groups.length;
  return formulas.flatMap((formula, order) =>
    [groups.slice(0, half), groups.slice(half)]
      .flatMap((own) => ofFormula(plan, formula, own))
      .map((it) => ({ ...it, order })),
  );
}

function ofFormula(plan: TrendsPlan, formula: FormulaNode, groups: readonly TrendsResult[][]): TrendsResult[] {
  const { query, previous } = plan;
  if (groups.length === 0) return [];
  const { breakdownFilter } = query;
  const isBrokenDown = hasBreakdown(breakdownFilter);
  const cohorts = breakdownFilter?.breakdown_type === "cohort" ? breakdownFilter.breakdown : undefined;
  if (isBrokenDown && Array.isArray(cohorts) && cohorts.includes("all")) {
    // One series for each cohort and node.
    const size = groups.length / cohorts.length;
    return cohorts.flatMap((_, i) => byValue(plan, formula, groups.slice(i * size, (i + 1) * size)));
  }
  if (isBrokenDown || previous) return byValue(plan, formula, groups);
  const first = groups.map(([result]) => result);
  if (!first.every((it) => it !== undefined)) throw refuse("A formula uses a series whose action does not exist.");
  return [combined(plan, formula, first)];
}

/** The formula for each value of the breakdown; a series without the value is 0. */
function byValue(plan: TrendsPlan, formula: FormulaNode, groups: readonly TrendsResult[][]): TrendsResult[] {
  const keyOf = ({ breakdown_value, compare_label }: TrendsResult) =>
    JSON.stringify(hasBreakdown(plan.query.breakdownFilter) ? breakdown_value : compare_label);
  const byKey = new Map<string, TrendsResult>();
  for (const result of groups.flat()) if (!byKey.has(keyOf(result))) byKey.set(keyOf(result), result);
  const results = [...byKey].map(([key, any]) => {
    const own = groups.map(
      (group) =>
        group.find((it) => keyOf(it) === key) ?? { ...any, data: (any.data ?? []).map(() => 0), aggregated_value: 0 },
    );
    return combined(plan, formula, own);
  });
  return plan.previous ? results.toSorted((a, b) => b.count - a.count) : results.toSorted(compareResults);
}

function place({ breakdown_value: value = "" }: TrendsResult): number {
  if (typeof value === "number") return 0;
  return isOther(value) ? 2 : isNull(value) ? 1 : 0;
}

function compareResults(a: TrendsResult, b: TrendsResult): number {
  const amount = (it: TrendsResult) => it.aggregated_value ?? sumOf(it.data ?? []);
  const text = (it: TrendsResult) => JSON.stringify(it.breakdown_value);
  return place(a) - place(b) || amount(b) - amount(a) || (text(b) > text(a) ? 1 : text(b) < text(a) ? -1 : 0);
}

function combined(
  { isTotal }: TrendsPlan,
  { formula, custom_name: name }: FormulaNode,
  own: readonly TrendsResult[],
): TrendsResult {
  const [base] = own;
  if (!base) throw refuse("A formula needs a series.");
  const result = { ...base, label: name || `Formula (${formula})`, action: null };
  if (isTotal) {
    const [value = 0] = applyFormula(
      formula,
      own.map((it) => [it.aggregated_value ?? 0]),
    );
    return { ...result, aggregated_value: value, data: null, count: 0 };
  }
  const data = applyFormula(
    formula,
    own.map((it) => it.data ?? []),
  );
  return { ...result, data, count: sumOf(data) };
}

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
  const isOtherResult = (it: TrendsResult) => place(it) === 2;
  const hasMore = hasBreakdown(breakdownFilter) && results.some(isOtherResult);
  const isHidden = hasMore && breakdownFilter.breakdown_hide_other_aggregation === true;
  return {
    results: isHidden ? results.filter((it) => !isOtherResult(it)) : results,
    hasMore,
    ...resolvedDates(plan.range, plan.calendar),
  };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/trends/trends_query_runner.py. */
export const trendsKind = queryKind(TrendsQuery, runTrends);

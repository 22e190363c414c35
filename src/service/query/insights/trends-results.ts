import { type BreakdownValue, type BrokenDown, hasBreakdown, isNull, isOther } from "./breakdowns.ts";
import { applyFormula } from "./formula.ts";
import { dayText, intervalLabel } from "./range.ts";
import { refuse } from "./refuse.ts";
import { checkNumbers } from "./sizes.ts";
import { sumOf } from "./statistics.ts";
import type { TrendsPlan, TrendsSeries } from "./trends-plan.ts";

/** Results as the service has them. Upstream: `build_series_response`, `apply_formula`. */

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
export function resultOf(
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
        count: display === "ActionsLineGraphCumulative" ? last : sumOf(data),
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
export function withFormulas(plan: TrendsPlan, groups: readonly TrendsResult[][]): TrendsResult[] {
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

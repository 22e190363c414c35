import { z } from "zod";
import type { QueryContext } from "../kind.ts";
import { unsupported } from "../refusals.ts";
import { cohortsIn, isCohortBreakdown } from "./breakdowns.ts";
import type { Interval, ProjectCalendar } from "./dates.ts";
import { everyRow } from "./filters.ts";
import { bucketsOf, type Range } from "./range.ts";
import { datesOf, type Entity, entityOf } from "./series.ts";
import {
  BreakdownFilter,
  CompareFilter,
  Customizations,
  GoalLines,
  IntervalName,
  insightFields,
  nullish,
  SeriesNode,
} from "./shapes.ts";

const TrendsFilter = z.strictObject({
  ...nullish(z.string(), "display", "formula"),
  formulas: z.array(z.string()).nullish(),
  formulaNodes: z.array(z.strictObject({ formula: z.string(), custom_name: z.string().nullish() })).nullish(),
  smoothingIntervals: z.int().min(1).nullish(),
  // What follows changes the chart only.
  ...nullish(z.string(), "aggregationAxisFormat", "aggregationAxisPostfix", "aggregationAxisPrefix", "yAxisScaleType"),
  ...nullish(z.string(), "detailedResultsAggregationType", "resultCustomizationBy"),
  ...nullish(z.number(), "confidenceLevel", "decimalPlaces", "minDecimalPlaces", "movingAverageIntervals"),
  ...nullish(z.boolean(), "excludeBoxPlotOutliers", "hideWeekends", "showAlertThresholdLines"),
  ...nullish(z.boolean(), "showConfidenceIntervals", "showLabelsOnSeries", "showLegend", "showMovingAverage"),
  ...nullish(z.boolean(), "showMultipleYAxes", "showPercentStackView", "showTrendLines", "showValuesOnSeries"),
  breakdown_histogram_bin_count: z.null().optional(),
  goalLines: GoalLines,
  hiddenLegendIndexes: z.array(z.int()).nullish(),
  resultCustomizations: Customizations,
});

export const TrendsQuery = z.strictObject({
  kind: z.literal("TrendsQuery"),
  ...insightFields,
  interval: IntervalName.nullish(),
  series: z.array(SeriesNode),
  trendsFilter: TrendsFilter.nullish(),
  breakdownFilter: BreakdownFilter.nullish(),
  compareFilter: CompareFilter.nullish(),
  conversionGoal: z.null().optional(),
});
export type TrendsQuery = z.infer<typeof TrendsQuery>;

/** Displays with one number for the whole range. Upstream: `TrendsDisplay.is_total_value`. */
const totalDisplays: ReadonlySet<string> = new Set([
  ...["BoldNumber", "ActionsPie", "ActionsBarValue", "WorldMap", "ActionsTable"],
]);
const lineDisplays: ReadonlySet<string> = new Set([
  ...["Auto", "ActionsLineGraph", "ActionsBar", "ActionsUnstackedBar", "ActionsStackedBar", "ActionsAreaGraph"],
  "ActionsLineGraphCumulative",
]);

export const cumulative = "ActionsLineGraphCumulative";

export interface TrendsPlan {
  readonly query: TrendsQuery;
  readonly context: QueryContext;
  readonly calendar: ProjectCalendar;
  readonly display: string;
  readonly isTotal: boolean;
  readonly range: Range;
  readonly previous: Range | undefined;
  /** Start of each interval, in ISO 8601. */
  readonly days: readonly string[];
}

/** A series as it is computed: one for each node, cohort and period. */
export interface TrendsSeries {
  readonly node: SeriesNode;
  readonly order: number;
  readonly entity: Entity | undefined;
  readonly cohorts: readonly (number | "all")[] | undefined;
  readonly range: Range;
  readonly isPrevious: boolean;
}

function displayOf({ trendsFilter }: TrendsQuery): string {
  const display = trendsFilter?.display ?? "ActionsLineGraph";
  if (totalDisplays.has(display) || lineDisplays.has(display)) return display;
  throw unsupported(`The display ${JSON.stringify(display)}`);
}

export function planOf(query: TrendsQuery, context: QueryContext): TrendsPlan {
  const display = displayOf(query);
  const isTotal = totalDisplays.has(display);
  const interval: Interval = query.interval ?? "day";
  const { calendar, range, previous } = datesOf(
    query,
    query.series.map((node) => entityOf(node, context)?.test ?? everyRow),
    context,
    { interval, isExact: display === "BoldNumber", rangeInterval: isTotal ? "day" : interval },
  );
  const days = bucketsOf(range, calendar).starts.map(calendar.iso);
  return { query, context, calendar, display, isTotal, range, previous, days };
}

/** Upstream: `setup_series`. Several cohorts make one series, unless everyone is among them. */
export function seriesOf({ query, context, range, previous }: TrendsPlan): TrendsSeries[] {
  const { breakdownFilter } = query;
  const cohorts = isCohortBreakdown(breakdownFilter) ? cohortsIn(breakdownFilter) : undefined;
  const isConjoined = cohorts !== undefined && cohorts.length > 1 && !cohorts.includes("all");
  const cohortLists = cohorts === undefined ? [undefined] : isConjoined ? [cohorts] : cohorts.map((it) => [it]);
  const ofRange = (of: Range, isPrevious: boolean) =>
    cohortLists.flatMap((own) =>
      query.series.map((node, order): TrendsSeries => {
        return { node, order, entity: entityOf(node, context), cohorts: own, range: of, isPrevious };
      }),
    );
  return [...ofRange(range, false), ...(previous ? ofRange(previous, true) : [])];
}

import { isObject, type Json, type JsonObject, objectsIn, own, parsedJson } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { refuse } from "./refuse.ts";

/**
 * Queries of insights that have only the filters of former times, e.g. `{insight: "TRENDS", events: […]}`.
 * Upstream PostHog/posthog posthog/hogql_queries/legacy_compatibility/filter_to_query.py, clean_properties.py.
 */

/** The fields that are not null, under their new names. */
function renamed(from: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  return Object.fromEntries(
    Object.entries(names).flatMap(([name, old]) => {
      const value = own(from, old) ?? null;
      return value === null ? [] : [[name, value]];
    }),
  );
}

/** A part of a query, unless it is empty. */
const part = (name: string, fields: JsonObject): JsonObject =>
  Object.keys(fields).length === 0 ? {} : { [name]: fields };

/** `{"plan__icontains": "pro"}`: the oldest form of property filters. */
function keyedProperties(properties: JsonObject): Json[] {
  return Object.entries(properties).map(([name, value]) => {
    const [key = "", operator = "exact"] = name.split("__");
    return { key, operator, value, type: "event" };
  });
}

function propertiesOf(properties: Json | undefined): Json {
  const read = typeof properties === "string" ? (parsedJson(properties) ?? null) : (properties ?? null);
  if (!isObject(read)) return Array.isArray(read) ? read : [];
  return Array.isArray(read.values) ? read : keyedProperties(read);
}

const listIn = (value: Json | undefined): JsonObject[] =>
  objectsIn(typeof value === "string" ? parsedJson(value) : value);

const actorMaths: readonly Json[] = ["dau", "weekly_active", "monthly_active", "unique_group", "hogql"];

const mathNames = {
  math: "math",
  math_property: "math_property",
  math_hogql: "math_hogql",
  math_group_type_index: "math_group_type_index",
};

/** The math of a series, as far as the insight has it. */
function mathOf(entity: JsonObject, insight: string): JsonObject {
  const { math = null } = entity;
  switch (insight) {
    case "TRENDS":
      return renamed(entity, mathNames);
    case "STICKINESS":
      return math !== null && !actorMaths.includes(math) ? { math: "dau" } : renamed(entity, mathNames);
    case "FUNNELS":
      return math === "first_time_for_user" ? { math } : {};
    default:
      return {};
  }
}

/** An event or action as the node of a series. */
function nodeOf(entity: JsonObject, isAction: boolean): JsonObject {
  const id = entity.id ?? null;
  const names = renamed(entity, { name: "name", custom_name: "custom_name" });
  return isAction ? { kind: "ActionsNode", id: Number(id), ...names } : { kind: "EventsNode", event: id, ...names };
}

function seriesOf(filters: JsonObject, insight: string): JsonObject[] {
  if (listIn(filters.data_warehouse).length > 0)
    throw refuse("Series of data warehouses are not supported.", "filters");
  const actions = listIn(filters.actions).map((entity) => ({ entity, isAction: true }));
  const events = listIn(filters.events).map((entity) => ({ entity, isAction: false }));
  const orderOf = ({ order }: JsonObject) => (typeof order === "number" && order !== 0 ? order : -1);
  return [...actions.filter(({ entity }) => (entity.id ?? null) !== null), ...events]
    .sort((a, b) => orderOf(a.entity) - orderOf(b.entity))
    .map(({ entity, isAction }) => ({
      ...nodeOf(entity, isAction),
      properties: propertiesOf(entity.properties),
      ...mathOf(entity, insight),
    }));
}

function breakdownOf(filters: JsonObject, insight: string): JsonObject {
  if (filters.breakdown_type === "undefined" && typeof filters.breakdown !== "string") return {};
  const limitless = {
    breakdown: "breakdown",
    breakdown_normalize_url: "breakdown_normalize_url",
    breakdown_group_type_index: "breakdown_group_type_index",
    breakdown_hide_other_aggregation: "breakdown_hide_other_aggregation",
    breakdown_limit: "breakdown_limit",
    ...(insight === "TRENDS" && { breakdown_histogram_bin_count: "breakdown_histogram_bin_count" }),
  };
  const fields = renamed(filters, limitless);
  const type = filters.breakdown_type === "events" ? "event" : (filters.breakdown_type ?? "event");
  const several = listIn(filters.breakdowns).filter((it) => (it.property ?? null) !== null);
  if (insight === "FUNNELS" && several.length > 1) {
    throw refuse("Could not convert multi-breakdown property `breakdowns` - found more than one breakdown", "filters");
  }
  const [only] = several;
  if (insight === "FUNNELS" && only) {
    return { ...fields, breakdown: only.property ?? null, breakdown_type: only.type ?? "event" };
  }
  if (several.length > 0) {
    const names = ["property", "normalize_url", "histogram_bin_count", "group_type_index"];
    const breakdowns = several
      .slice(0, 3)
      .map((it) => ({
        type: it.type ?? "event",
        ...renamed(it, Object.fromEntries(names.map((name) => [name, name]))),
      }));
    return { ...fields, breakdowns };
  }
  return fields.breakdown === undefined ? fields : { ...fields, breakdown_type: type };
}

const trendsNames = {
  smoothingIntervals: "smoothing_intervals",
  showLegend: "show_legend",
  aggregationAxisFormat: "aggregation_axis_format",
  aggregationAxisPrefix: "aggregation_axis_prefix",
  aggregationAxisPostfix: "aggregation_axis_postfix",
  decimalPlaces: "decimal_places",
  formula: "formula",
  display: "display",
  showValuesOnSeries: "show_values_on_series",
  showPercentStackView: "show_percent_stack_view",
  yAxisScaleType: "y_axis_scale_type",
  showMultipleYAxes: "show_multiple_y_axes",
};

const funnelsNames = {
  funnelVizType: "funnel_viz_type",
  funnelOrderType: "funnel_order_type",
  funnelFromStep: "funnel_from_step",
  funnelToStep: "funnel_to_step",
  funnelWindowIntervalUnit: "funnel_window_interval_unit",
  funnelWindowInterval: "funnel_window_interval",
  funnelStepReference: "funnel_step_reference",
  breakdownAttributionType: "breakdown_attribution_type",
  breakdownAttributionValue: "breakdown_attribution_value",
  binCount: "bin_count",
  layout: "layout",
  funnelAggregateByHogQL: "funnel_aggregate_by_hogql",
};

function funnelsFilter(filters: JsonObject): JsonObject {
  const exclusions = listIn(filters.exclusions).map((it) => ({
    ...nodeOf(it, it.type === "actions"),
    funnelFromStep: it.funnel_from_step ?? null,
    funnelToStep: it.funnel_to_step ?? null,
  }));
  // Before there was a type of funnels, their trends were those with this display.
  const isTrend = (filters.funnel_viz_type ?? null) === null && filters.display === "ActionsLineGraph";
  return {
    ...renamed(filters, funnelsNames),
    ...(isTrend && { funnelVizType: "trends" }),
    ...(exclusions.length > 0 && { exclusions }),
  };
}

function retentionFilter(filters: JsonObject): JsonObject {
  const names = { type: "type", id: "id", name: "name", custom_name: "custom_name", order: "order" };
  const entity = (value: Json | undefined) => {
    const read = typeof value === "string" ? parsedJson(value) : value;
    return isObject(read) ? renamed(read, names) : undefined;
  };
  const [target, returning] = [entity(filters.target_entity), entity(filters.returning_entity)];
  return {
    ...renamed(filters, {
      retentionType: "retention_type",
      retentionReference: "retention_reference",
      totalIntervals: "total_intervals",
      period: "period",
      cumulative: "cumulative",
    }),
    ...(target && { targetEntity: target }),
    ...(returning && { returningEntity: returning }),
  };
}

const shownNames = { showLegend: "show_legend", showValuesOnSeries: "show_values_on_series" };

/** Kind and own fields of each insight. */
const insights: Readonly<Record<string, { kind: string; fields(filters: JsonObject): JsonObject }>> = {
  TRENDS: { kind: "TrendsQuery", fields: (it) => part("trendsFilter", renamed(it, trendsNames)) },
  FUNNELS: { kind: "FunnelsQuery", fields: (it) => part("funnelsFilter", funnelsFilter(it)) },
  RETENTION: { kind: "RetentionQuery", fields: (it) => ({ retentionFilter: retentionFilter(it) }) },
  LIFECYCLE: {
    kind: "LifecycleQuery",
    fields: (it) => part("lifecycleFilter", renamed(it, { ...shownNames, toggledLifecycles: "toggledLifecycles" })),
  },
  STICKINESS: { kind: "StickinessQuery", fields: (it) => part("stickinessFilter", renamed(it, shownNames)) },
};

function insightOf({ insight = "TRENDS", shown_as: shownAs }: JsonObject): string {
  if (shownAs === "Stickiness") return "STICKINESS";
  return insight === "SESSIONS" ? "TRENDS" : stringOf(insight);
}

const withInterval: readonly string[] = ["TRENDS", "FUNNELS", "LIFECYCLE", "STICKINESS"];

/**
 * The query of an insight's filters.
 * @throws SimError if there is no such query, as for paths
 */
export function queryOfFilters(filters: JsonObject): JsonObject {
  const insight = insightOf(filters);
  const found = Object.hasOwn(insights, insight) ? insights[insight] : undefined;
  if (!found) throw refuse(`The insight ${JSON.stringify(insight)} is not supported.`, "filters");
  const isTrends = insight === "TRENDS";
  const sampling = Number(filters.sampling_factor ?? 1);
  return {
    kind: found.kind,
    ...part(
      "dateRange",
      renamed(filters, { date_from: "date_from", date_to: "date_to", explicitDate: "explicit_date" }),
    ),
    ...(withInterval.includes(insight) && {
      ...renamed(filters, { interval: "interval" }),
      ...(filters.interval === "minute" && { interval: "hour" }),
      series: seriesOf(filters, insight),
    }),
    ...(sampling !== 1 && { samplingFactor: sampling }),
    ...renamed(filters, { filterTestAccounts: "filter_test_accounts" }),
    properties: propertiesOf(filters.properties),
    ...((isTrends || insight === "FUNNELS") && part("breakdownFilter", breakdownOf(filters, insight))),
    ...((isTrends || insight === "STICKINESS") &&
      part("compareFilter", renamed(filters, { compare: "compare", compare_to: "compare_to" }))),
    ...(insight !== "STICKINESS" &&
      insight !== "LIFECYCLE" &&
      renamed(filters, { aggregation_group_type_index: "aggregation_group_type_index" })),
    ...found.fields(filters),
  };
}

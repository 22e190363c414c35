import { isObject, type Json, type JsonObject, objectsIn, own, parsedJson } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { refuse } from "../refusals.ts";

/**
 * Queries of insights that have only the filters of former times, e.g. `{insight: "TRENDS", events: […]}`.
 * Upstream PostHog/posthog posthog/hogql_queries/legacy_compatibility/filter_to_query.py, clean_properties.py.
 */

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** The fields with these names that are not null. */
function fieldsOf(from: JsonObject, names: readonly string[], newName = (name: string) => name): JsonObject {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = own(from, name) ?? null;
      return value === null ? [] : [[newName(name), value]];
    }),
  );
}

/** The same, under their new names. */
const renamed = (from: JsonObject, ...names: string[]): JsonObject => fieldsOf(from, names, camelCase);

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

const mathNames = ["math", "math_property", "math_hogql", "math_group_type_index"];

/** The math of a series, as far as the insight has it. */
function mathOf(entity: JsonObject, insight: string): JsonObject {
  const { math = null } = entity;
  if (insight === "FUNNELS") return math === "first_time_for_user" ? { math } : {};
  if (insight === "STICKINESS" && math !== null && !actorMaths.includes(math)) return { math: "dau" };
  return insight === "LIFECYCLE" ? {} : fieldsOf(entity, mathNames);
}

function nodeOf(entity: JsonObject, isAction: boolean): JsonObject {
  const id = entity.id ?? null;
  const names = fieldsOf(entity, ["name", "custom_name"]);
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
  const fields = fieldsOf(filters, [
    ...["breakdown", "breakdown_normalize_url", "breakdown_group_type_index", "breakdown_hide_other_aggregation"],
    "breakdown_limit",
    ...(insight === "TRENDS" ? ["breakdown_histogram_bin_count"] : []),
  ]);
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
    const breakdowns = several.slice(0, 3).map((it) => ({ type: it.type ?? "event", ...fieldsOf(it, names) }));
    return { ...fields, breakdowns };
  }
  return fields.breakdown === undefined ? fields : { ...fields, breakdown_type: type };
}

function exclusionsOf(filters: JsonObject): JsonObject {
  const exclusions = listIn(filters.exclusions).map((it) => ({
    ...nodeOf(it, it.type === "actions"),
    funnelFromStep: it.funnel_from_step ?? null,
    funnelToStep: it.funnel_to_step ?? null,
  }));
  return exclusions.length > 0 ? { exclusions } : {};
}

function retentionEntity(value: Json | undefined): JsonObject | undefined {
  const read = typeof value === "string" ? parsedJson(value) : value;
  return isObject(read) ? fieldsOf(read, ["type", "id", "name", "custom_name", "order"]) : undefined;
}

type Shared = "series" | "breakdown" | "compare" | "group";

interface LegacyInsight {
  readonly kind: string;
  readonly shared: readonly Shared[];
  /** Its own part of the query. */
  own(filters: JsonObject): JsonObject;
}

const insights: Readonly<Record<string, LegacyInsight>> = {
  TRENDS: {
    kind: "TrendsQuery",
    shared: ["series", "breakdown", "compare", "group"],
    own: (it) =>
      part(
        "trendsFilter",
        renamed(
          it,
          ...["smoothing_intervals", "show_legend", "aggregation_axis_format", "aggregation_axis_prefix"],
          ...["aggregation_axis_postfix", "decimal_places", "formula", "display", "show_values_on_series"],
          ...["show_percent_stack_view", "y_axis_scale_type", "show_multiple_y_axes"],
        ),
      ),
  },
  FUNNELS: {
    kind: "FunnelsQuery",
    shared: ["series", "breakdown", "group"],
    own: (it) =>
      part("funnelsFilter", {
        ...renamed(
          it,
          ...["funnel_viz_type", "funnel_order_type", "funnel_from_step", "funnel_to_step"],
          ...["funnel_window_interval_unit", "funnel_window_interval", "funnel_step_reference"],
          ...["breakdown_attribution_type", "breakdown_attribution_value", "bin_count", "layout"],
        ),
        ...fieldsOf(it, ["funnel_aggregate_by_hogql"], () => "funnelAggregateByHogQL"),
        // Before there was a type of funnels, their trends were those with this display.
        ...((it.funnel_viz_type ?? null) === null && it.display === "ActionsLineGraph" && { funnelVizType: "trends" }),
        ...exclusionsOf(it),
      }),
  },
  RETENTION: {
    kind: "RetentionQuery",
    shared: ["group"],
    own(it) {
      const [target, returning] = [retentionEntity(it.target_entity), retentionEntity(it.returning_entity)];
      return {
        retentionFilter: {
          ...renamed(it, "retention_type", "retention_reference", "total_intervals", "period", "cumulative"),
          ...(target && { targetEntity: target }),
          ...(returning && { returningEntity: returning }),
        },
      };
    },
  },
  LIFECYCLE: {
    kind: "LifecycleQuery",
    shared: ["series"],
    own: (it) => part("lifecycleFilter", renamed(it, "show_legend", "show_values_on_series", "toggledLifecycles")),
  },
  STICKINESS: {
    kind: "StickinessQuery",
    shared: ["series", "compare"],
    own: (it) => part("stickinessFilter", renamed(it, "show_legend", "show_values_on_series")),
  },
};

const shared: Readonly<Record<Shared, (filters: JsonObject, insight: string) => JsonObject>> = {
  series: (it, insight) => ({
    ...fieldsOf(it, ["interval"]),
    ...(it.interval === "minute" && { interval: "hour" }),
    series: seriesOf(it, insight),
  }),
  breakdown: (it, insight) => part("breakdownFilter", breakdownOf(it, insight)),
  compare: (it) => part("compareFilter", fieldsOf(it, ["compare", "compare_to"])),
  group: (it) => fieldsOf(it, ["aggregation_group_type_index"]),
};

function insightOf({ insight = "TRENDS", shown_as: shownAs }: JsonObject): string {
  if (shownAs === "Stickiness") return "STICKINESS";
  return insight === "SESSIONS" ? "TRENDS" : stringOf(insight);
}

/** The query of an insight's filters. @throws SimError if there is no such query, as for paths */
export function queryOfFilters(filters: JsonObject): JsonObject {
  const insight = insightOf(filters);
  const row = Object.hasOwn(insights, insight) ? insights[insight] : undefined;
  if (!row) throw refuse(`The insight ${JSON.stringify(insight)} is not supported.`, "filters");
  const sampling = Number(filters.sampling_factor ?? 1);
  return {
    kind: row.kind,
    ...part("dateRange", { ...fieldsOf(filters, ["date_from", "date_to"]), ...renamed(filters, "explicit_date") }),
    ...(sampling !== 1 && { samplingFactor: sampling }),
    ...renamed(filters, "filter_test_accounts"),
    properties: propertiesOf(filters.properties),
    ...Object.assign({}, ...row.shared.map((it) => shared[it](filters, insight))),
    ...row.own(filters),
  };
}

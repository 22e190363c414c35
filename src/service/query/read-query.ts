import { SimError } from "../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject, objectIn, own, pointerTo } from "../../kernel/base/json.ts";
import { meantOf } from "../../kernel/base/nearest.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { parseShape } from "../../kernel/http/shape-errors.ts";
import type { QueryKind } from "./kind.ts";

/** Nodes around a query that say how its result is drawn: the service computes their `source`. */
export const wrappers: readonly string[] = ["InsightVizNode", "DataTableNode", "DataVisualizationNode"];

/** Other queries of the service; phx-sim computes none of them. Source: PostHog/posthog, posthog/schema.py. */
const onlyInService: readonly string[] = [
  ...["ActorsPropertyTaxonomyQuery", "ActorsQuery", "CalendarHeatmapQuery", "DatabaseSchemaQuery"],
  ...["ErrorTrackingQuery", "EventTaxonomyQuery", "EventsQuery", "ExperimentQuery", "FunnelCorrelationActorsQuery"],
  ...["FunnelCorrelationQuery", "FunnelsActorsQuery", "FunnelsQuery", "GroupsQuery", "HogQLAutocomplete"],
  ...["HogQLMetadata", "HogQLQuery", "HogQuery", "InsightActorsQuery", "InsightActorsQueryOptions"],
  ...["LifecycleQuery", "LogsQuery", "PathsQuery", "RecordingsQuery", "RetentionQuery", "SavedInsightNode"],
  ...["SessionAttributionExplorerQuery", "SessionsTimelineQuery", "StickinessQuery", "TeamTaxonomyQuery"],
  ...["TracesQuery", "TrendsQuery", "VectorSearchQuery", "WebGoalsQuery", "WebOverviewQuery"],
  ...["WebStatsTableQuery", "WebTrendsQuery", "WebVitalsQuery"],
];

/** All kinds of queries, and the nodes around them. */
export const knownKinds: readonly string[] = [...wrappers, ...onlyInService];

export interface ReadQuery {
  readonly kind: QueryKind<unknown>;
  /** As the kind's shape reads it. */
  readonly query: unknown;
  /** As it was sent, without its wrappers. */
  readonly source: JsonObject;
  /** The steps from what was sent to `source`. */
  readonly at: readonly string[];
}

const refusal = (detail: string, at: readonly string[], hint?: string): SimError =>
  new SimError("invalid_input", detail, { pointer: pointerTo(at), ...(hint !== undefined && { hint }) });

/** Values of a query, at any depth: reading them takes no turns. */
const mostValues = 50_000;
/** Bytes of a request with a query: it is parsed in one turn of the event loop. */
export const largestQuery = 128 * 1024;

const valuesIn = (value: Json): number =>
  typeof value !== "object" || value === null
    ? 1
    : Object.values(value).reduce<number>((sum, it) => sum + valuesIn(it), 1);

/** The innermost source of a query, and where it is. */
function unwrapped(query: JsonObject, at: readonly string[]): { source: JsonObject; at: readonly string[] } {
  const { kind, source } = query;
  if (typeof kind !== "string" || !wrappers.includes(kind)) return { source: query, at };
  if (isObject(source)) return unwrapped(source, [...at, "source"]);
  throw refusal(`${kind} needs a "source": the query that it shows`, at);
}

/** The refusal of a kind that is not computed. The words are those of the service where it has the kind. */
function unknownKind(kind: Json | undefined, kinds: readonly string[], at: readonly string[]): SimError {
  if (typeof kind !== "string") return refusal('a query needs a "kind"', at, `kinds: ${kinds.join(", ")}`);
  const place = [...at, "kind"];
  if (onlyInService.includes(kind))
    return new SimError(
      "invalid_input",
      `Unsupported query kind: ${kind}. PostHog has it, phx-sim does not emulate it: it computes ${kinds.join(", ")}`,
    );
  const known = [...kinds, ...wrappers];
  const hint = meantOf(kind, known, (it) => it) ?? `kinds: ${known.join(", ")}`;
  return refusal(`Input tag '${kind}' found using 'kind' does not match any of the expected tags`, place, hint);
}

/**
 * Reads a query: takes its wrappers off and finds its kind.
 * @param at Where the query is in the request, for the pointers of errors
 * @throws SimError invalid_input: a kind that is not computed; with a pointer: an unknown kind, another mistake in the query
 */
export function readQuery(
  kinds: readonly QueryKind<unknown>[],
  given: Json | undefined,
  at: readonly string[] = [],
): ReadQuery {
  if (!isObject(given)) throw refusal("a query is an object with a kind", at);
  if (isTooDeep(given)) throw refusal("the query is nested too deeply", at);
  if (valuesIn(given) > mostValues)
    throw refusal(`the query has more than ${mostValues.toLocaleString("en-US")} values`, at);
  const { source, at: place } = unwrapped(given, at);
  const name = own(source, "kind");
  const kind = kinds.find((it) => it.kind === name);
  if (!kind)
    throw unknownKind(
      name,
      kinds.map((it) => it.kind),
      place,
    );
  const query = parseShape(kind.shape, source, (path) => pointerTo([...place, ...path]));
  return { kind, query, source, at: place };
}

/** Filters of a dashboard. Upstream PostHog/posthog posthog/schema.py, `DashboardFilter`. */
const filterNames = [
  "date_from",
  "date_to",
  "explicitDate",
  "properties",
  "breakdown_filter",
  "interval",
  "filterTestAccounts",
];

/** The kinds that have an interval, or a breakdown; a dashboard's filter of this name has no effect on the others. */
const withInterval = ["TrendsQuery", "FunnelsQuery", "StickinessQuery", "LifecycleQuery"];
const withBreakdown = ["TrendsQuery", "FunnelsQuery", "RetentionQuery"];

const listed = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);
const isEmpty = (value: Json | undefined): boolean =>
  !value || (Array.isArray(value) ? value.length === 0 : isObject(value) && listed(value.values).length === 0);

/** Property filters that fit if both fit. */
function bothProperties(own: Json | undefined, more: Json[]): Json {
  if (own === undefined || isEmpty(own)) return more;
  const first = Array.isArray(own) ? { type: "AND", values: own } : own;
  return { type: "AND", values: [first, { type: "AND", values: more }] };
}

/** The date range of a query under that of a dashboard, which replaces both ends. */
function dateRangeOf(range: JsonObject, filters: JsonObject): JsonObject {
  const { date_from = null, date_to = null, explicitDate } = filters;
  return { ...range, date_from, date_to, ...(typeof explicitDate === "boolean" && { explicitDate }) };
}

function filteredSource(source: JsonObject, filters: JsonObject): JsonObject {
  const { date_from, date_to, interval = null, breakdown_filter = null, filterTestAccounts = null } = filters;
  const properties = listed(filters.properties);
  const hasDates = Boolean(date_from || date_to);
  const kind = stringOf(source.kind);
  if (kind === "HogQLQuery") {
    if (!hasDates && properties.length === 0) return source;
    const own = objectIn(source, "filters");
    return {
      ...source,
      filters: {
        ...own,
        ...(hasDates && { dateRange: dateRangeOf(objectIn(own, "dateRange"), filters) }),
        ...(properties.length > 0 && { properties: [...listed(own.properties), ...properties] }),
      },
    };
  }
  return {
    ...source,
    ...(properties.length > 0 && { properties: bothProperties(source.properties, properties) }),
    ...(hasDates && { dateRange: dateRangeOf(objectIn(source, "dateRange"), filters) }),
    ...(breakdown_filter !== null && withBreakdown.includes(kind) && { breakdownFilter: breakdown_filter }),
    ...(interval !== null && withInterval.includes(kind) && { interval }),
    ...(filterTestAccounts !== null && { filterTestAccounts }),
  };
}

/** Changes the query inside the nodes around it. */
function changedSource(query: Json, change: (source: JsonObject) => JsonObject): Json {
  if (!isObject(query)) return query;
  const { source } = query;
  return wrappers.includes(stringOf(query.kind)) && source !== undefined
    ? { ...query, source: changedSource(source, change) }
    : change(query);
}

/**
 * The query as a dashboard with these filters shows it. Upstream PostHog/posthog posthog/hogql_queries/query_runner.py,
 * `apply_dashboard_filters`.
 * @throws SimError invalid_input for an unknown filter
 */
export function withDashboardFilters(query: Json, filters: JsonObject): Json {
  const unknown = Object.keys(filters).find((it) => !filterNames.includes(it));
  if (unknown !== undefined)
    throw refusal(`unknown filter "${unknown}"`, [unknown], `filters: ${filterNames.join(", ")}`);
  return Object.keys(filters).length === 0 ? query : changedSource(query, (source) => filteredSource(source, filters));
}

/** The query with these values of its variables, by their ids; those that it does not have are left out. */
export const withVariables = (query: Json, overrides: JsonObject): Json =>
  changedSource(query, (source) => {
    const own = objectIn(source, "variables");
    const replaced = Object.entries(own).map(([id, variable]) => [id, overrides[id] ?? variable]);
    return replaced.length === 0 ? source : { ...source, variables: Object.fromEntries(replaced) };
  });

import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import type { Call } from "../../../kernel/http/call.ts";
import type { Dashboard, Insight, Tile } from "../../../state/documents/world.ts";
import { fieldsOf } from "../../api-frame/body.ts";
import { invalid } from "../../api-frame/fields.ts";
import { queryOfFilters } from "../../query/insights/legacy-filters.ts";
import { withDashboardFilters, withVariables } from "../../query/read-query.ts";
import type { QueryResponse } from "../../query/runner.ts";
import { type ExecutionMode, modeFrom } from "../../query/runner.ts";
import type { ManagementDesk } from "../desk.ts";

export const insightResult = {
  last_refresh: z.string().nullable(),
  cache_target_age: z.string().nullable(),
  next_allowed_client_refresh: z.string().nullable(),
  result: z.json(),
  hasMore: z.boolean().nullable(),
  columns: z.json(),
  timezone: z.string().nullable(),
  is_cached: z.boolean(),
  query_status: z.json(),
  hogql: z.string().nullable(),
  types: z.json(),
};
const InsightResult = z.object(insightResult);
type InsightResult = z.infer<typeof InsightResult>;

const noResult = {
  ...Object.fromEntries(Object.keys(insightResult).map((name) => [name, null])),
  is_cached: false,
} as InsightResult;

export interface ResultOrder {
  readonly mode: ExecutionMode;
  readonly dashboard?: Dashboard | undefined;
  /** Filters, and values of variables, that replace those of the dashboard. */
  readonly filters?: JsonObject | undefined;
  readonly variables?: JsonObject | undefined;
  readonly tile?: Tile | undefined;
  /** Name of the run (default: the key of its result). */
  readonly id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The order in a request: `refresh` in the query or the body, and `client_query_id`. */
export function resultOrder(call: Call): ResultOrder {
  const refresh = call.query.get("refresh") ?? fieldsOf(call).refresh;
  return { mode: modeFrom(refresh), id: call.query.get("client_query_id") || undefined, signal: call.signal };
}

/** A parameter that is a JSON object; undefined if it is not sent. @throws SimError invalid_input */
function objectIn(call: Call, name: string): JsonObject | undefined {
  const text = call.query.get(name);
  if (!text) return undefined;
  const refusal = () => invalid(`Invalid JSON passed in ${name} parameter`, name);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    throw refusal();
  }
  throw refusal();
}

/** Filters and values of variables of a request, over those of a dashboard. */
export type PlaceOverrides = Pick<ResultOrder, "filters" | "variables">;

/**
 * Filters and variables of the query, merged over those of the dashboard. Upstream PostHog/posthog posthog/utils.py.
 * @throws SimError invalid_input when one is not a JSON object
 */
export function overridesIn(
  call: Call,
  { filters, variables }: Partial<Pick<Dashboard, "filters" | "variables">> = {},
): PlaceOverrides {
  const ofFilters = objectIn(call, "filters_override");
  const ofVariables = objectIn(call, "variables_override");
  return {
    ...(ofFilters && { filters: { ...filters, ...ofFilters } }),
    ...(ofVariables && { variables: { ...variables, ...ofVariables } }),
  };
}

/** The query of an insight in the place where it is shown. @throws SimError invalid_input for an unknown filter */
function queryOf({ query: stored, filters }: Insight, order: ResultOrder): Json {
  const { dashboard, variables = dashboard?.variables } = order;
  const query = stored ?? queryOfFilters(filters);
  return withVariables(withDashboardFilters(query, filtersOf(order)), variables ?? {});
}

/** The filters of the place where an insight is shown: those of its tile replace those of the dashboard. */
function filtersOf({ dashboard, filters = dashboard?.filters, tile }: ResultOrder): JsonObject {
  const ofTile = tile?.filters_overrides;
  return { ...filters, ...(isObject(ofTile) && ofTile) };
}

/** Property filters of an insight and those of the dashboard, both of which must fit. */
function bothProperties(own: Json | undefined, more: Json[]): Json {
  const group: Json = { type: "AND", values: more };
  if (Array.isArray(own)) return { type: "AND", values: [{ type: "AND", values: own }, group] };
  return isObject(own) && own.type ? { type: "AND", values: [own, group] } : more;
}

/** Legacy filters as a dashboard shows them. Upstream PostHog/posthog, Insight.dashboard_filters. */
function legacyFilters({ filters: own }: Insight, order: ResultOrder): JsonObject {
  const { dashboard, filters: given = dashboard?.filters } = order;
  if (given === undefined) return own;
  const { properties: more, ...filters } = given;
  const dates = (filters.date_from ?? null) === null ? own : filters;
  const shown: JsonObject = { ...own, ...filters, date_from: dates.date_from ?? null, date_to: dates.date_to ?? null };
  if (filters.date_from === "all" && shown.compare === true) shown.compare = null;
  if (Array.isArray(more) && more.length > 0) shown.properties = bothProperties(own.properties, more);
  return shown;
}

const textOr = <T>(value: Json | undefined, otherwise: T): string | T =>
  typeof value === "string" ? value : otherwise;

function resultIn(response: QueryResponse): InsightResult {
  const { results = null, columns = null, types = null, query_status = null, hasMore } = response;
  return {
    last_refresh: textOr(response.last_refresh, null),
    cache_target_age: textOr(response.cache_target_age, null),
    next_allowed_client_refresh: textOr(response.next_allowed_client_refresh, null),
    result: results,
    hasMore: typeof hasMore === "boolean" ? hasMore : null,
    columns,
    timezone: textOr(response.timezone, null),
    is_cached: response.is_cached === true,
    query_status,
    hogql: textOr(response.hogql, null),
    types,
  };
}

export interface ComputedInsight extends InsightResult {
  /** With the filters of that place; null for one that has legacy filters. */
  readonly query: Json;
  /** Legacy filters, with those of that place. */
  readonly filters: JsonObject;
  /** Why it has no result. */
  readonly failure?: SimError;
}

/**
 * Computes the result of an insight, as far as its order allows. One that cannot be computed has the error in its
 * `query_status`, as in the service.
 */
export async function computeInsight(
  { queries, worlds }: ManagementDesk,
  insight: Insight,
  order: ResultOrder,
): Promise<ComputedInsight> {
  if (insight.query === null && Object.keys(insight.filters).length === 0)
    return { ...noResult, query: null, filters: insight.filters };
  const filters = insight.query === null ? legacyFilters(insight, order) : insight.filters;
  const { mode, dashboard, id, signal } = order;
  const of = { project: insight.project, insight: insight.id, dashboard: dashboard?.id };
  try {
    const query = queryOf(insight, order);
    const response = await queries.run({ ...of, query, mode, id, signal });
    return { ...resultIn(response), filters, query: insight.query === null ? null : query };
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    const timezone = worlds.projectById(insight.project)?.timezone ?? null;
    const status = queries.failedStatus({ ...of, id: id ?? insight.short_id }, error.message);
    return { ...noResult, timezone, filters, query: insight.query, query_status: status, failure: error };
  }
}

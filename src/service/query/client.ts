import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { HandleScope } from "../../kernel/call/call.ts";
import { keysOf, knownOptions } from "../../kernel/call/option-keys.ts";
import type { DropOffs } from "./shapes.ts";

/** A series of a trend, of stickiness or of a lifecycle. */
export interface TrendSeries {
  readonly label: string;
  /** One value for each interval; null for a single number. */
  readonly data: readonly number[] | null;
  readonly days: readonly (string | number)[];
  readonly labels: readonly string[];
  readonly count: number;
  /** The value of a single number, such as a bold number or a slice. */
  readonly aggregated_value?: number;
  readonly breakdown_value?: Json;
  /** `new`, `returning`, `resurrecting` or `dormant`, in a lifecycle. */
  readonly status?: string;
}

/** A step of a funnel. */
export interface FunnelStep {
  readonly name: string | null;
  readonly custom_name: string | null;
  readonly order: number;
  /** Persons who reached it. */
  readonly count: number;
  /** Seconds from the step before. */
  readonly average_conversion_time: number | null;
  readonly median_conversion_time: number | null;
  readonly breakdown_value?: Json;
}

/** Persons who came first in one interval, and how many of them came back. */
export interface RetentionCohort {
  readonly date: string;
  readonly label: string;
  readonly values: readonly { readonly count: number; readonly label?: string | null }[];
}

/** How many persons had first seen a variant by each day. */
interface VariantExposures {
  readonly variant: string;
  readonly days: readonly string[];
  readonly exposure_counts: readonly number[];
}

/** A table of HogQL, and its fields by their names. */
interface SchemaTable {
  readonly name: string;
  readonly fields: Readonly<Record<string, { readonly hogql_value: string; readonly type: string }>>;
}

/** An error of HogQL that was checked, with its place in characters. */
interface QueryError {
  readonly message: string;
  readonly start: number | null;
  readonly end: number | null;
}

/** `results` by kind of query. */
interface QueryResults {
  HogQLQuery: Json[][];
  TrendsQuery: TrendSeries[];
  StickinessQuery: TrendSeries[];
  LifecycleQuery: TrendSeries[];
  FunnelsQuery: FunnelStep[];
  RetentionQuery: RetentionCohort[];
  ExperimentExposureQuery: VariantExposures[];
  DatabaseSchemaQuery: Record<string, SchemaTable>;
  HogQLMetadata: QueryError[];
}

/** HogQL, or a query of the service with its kind. */
export type QueryInput = string | { readonly kind: string; readonly [field: string]: unknown };

/** The results of a query; those of a node are those of its source. */
type ResultsOf<Q> = Q extends string
  ? QueryResults["HogQLQuery"]
  : Q extends { readonly kind: infer Kind extends keyof QueryResults }
    ? QueryResults[Kind]
    : Q extends { readonly source: infer Source }
      ? ResultsOf<Source>
      : Json;

/** The service's response. */
export interface QueryResult<Results = Json> {
  readonly results: Results;
  /** Of HogQL: the names and types of the columns. */
  readonly columns?: readonly string[] | null;
  readonly types?: readonly (readonly [name: string, type: string])[] | null;
  /** True if a limit cut the rows off. */
  readonly hasMore?: boolean | null;
  readonly hogql?: string | null;
  readonly timezone: string;
  /** What was computed, without the nodes around it. */
  readonly query: JsonObject & { readonly kind: string };
  readonly insight: { readonly id: number; readonly short_id: string; readonly name: string | null } | null;
  readonly project: number;
}

interface QueryOptions {
  /** Id of a project (default: the handle's own; for a sim the first one). */
  project?: number;
}

/** Queries over the captured events. */
export interface QueryClient {
  /**
   * Runs HogQL, or a query of the service: `query("SELECT count() FROM events")`.
   * @throws ControlError for a query that is wrong or not supported, with its place
   */
  query<const Q extends QueryInput>(query: Q, options?: QueryOptions): Promise<QueryResult<ResultsOf<Q>>>;
  /**
   * Computes a stored insight, by its name, short id or id. A project of a test also has the insights of the project that
   * it was made like. @throws ControlError not_found, and as `query`
   */
  insight<Results extends QueryResults[keyof QueryResults] | Json = Json>(
    name: string | number,
    options?: QueryOptions,
  ): Promise<QueryResult<Results>>;
  /**
   * Who left a funnel at which step: at most 10 of each step, with their ids and last events. The funnel is a stored
   * insight or a query. @throws ControlError as `query`
   */
  dropOffs(funnel: string | number | Exclude<QueryInput, string>, options?: QueryOptions): Promise<DropOffs["steps"]>;
}

export const queriesBy = ({ call, project }: HandleScope): QueryClient =>
  withOptions({
    query: (query, options = {}) => call("POST", "query", { project: project ?? options.project, query }),
    insight: (insight, options = {}) => call("POST", "query", { project: project ?? options.project, insight }),
    async dropOffs(funnel, options = {}) {
      const of = typeof funnel === "object" ? { query: funnel } : { insight: funnel };
      const body = { project: project ?? options.project, ...of };
      return (await call<DropOffs>("POST", "query/drop-offs", body)).steps;
    },
  });

const withOptions = knownOptions<QueryClient>("", {
  query: { 1: keysOf<QueryOptions>({ project: true }) },
  insight: { 1: keysOf<QueryOptions>({ project: true }) },
  dropOffs: { 1: keysOf<QueryOptions>({ project: true }) },
});

import { createHash } from "node:crypto";
import type { TimeSource } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import { stringOf } from "../../kernel/base/text.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { StoredProject, Worlds } from "../../state/documents/world.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import type { QueryKind } from "./kind.ts";
import { createQueryStatuses } from "./query-status.ts";
import { type ReadQuery, readQuery } from "./read-query.ts";
import { createResultCache, isResultInterval, type ResultInterval, staleAt } from "./result-cache.ts";
import type { QueryStatus } from "./shapes.ts";

/**
 * When a query is computed, and whether its request waits for that. Upstream PostHog/posthog
 * posthog/hogql_queries/query_runner.py, `ExecutionMode`.
 */
export const executionModes = [
  "force_blocking",
  "force_async",
  "blocking",
  "async",
  "async_except_on_cache_miss",
  "lazy_async",
  "force_cache",
] as const;
export type ExecutionMode = (typeof executionModes)[number];

const isMode = (value: unknown): value is ExecutionMode => executionModes.some((it) => it === value);

/** The mode that `refresh` asks for; without a known one only what is cached is shown. Upstream posthog/utils.py. */
export function modeFrom(refresh: Json | undefined): ExecutionMode {
  if (isMode(refresh)) return refresh;
  const word = stringOf(refresh ?? "false").toLowerCase();
  return ["true", "1", "yes", ""].includes(word) ? "force_blocking" : "force_cache";
}

/** A query that is read, and how it is computed. */
export interface Computation {
  readonly project: StoredProject;
  readonly kind: QueryKind<unknown>;
  readonly query: unknown;
  /** The sim's time, ms since the epoch. */
  readonly now: number;
  /** Time after which its client waits no longer, ms. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

interface RunnerPorts {
  readonly worlds: Pick<Worlds, "projectById">;
  readonly clock: TimeSource;
  readonly kinds: readonly QueryKind<unknown>[];
  /** Another text whenever a query of the project may have another result. */
  version(project: number): string;
  compute(computation: Computation): Promise<JsonObject>;
  readonly closing: AbortSignal;
}

export interface QueryOrder {
  readonly project: number;
  readonly query: Json | undefined;
  /** Where the query is in the request, for the pointers of errors. */
  readonly at?: readonly string[];
  readonly mode: ExecutionMode;
  /** Name of the run, to ask for its status and to cancel it (default: the key of its result). */
  readonly id?: string | undefined;
  readonly insight?: number | undefined;
  readonly dashboard?: number | undefined;
  /** Ends when the client goes away. */
  readonly signal?: AbortSignal | undefined;
}

/** The service's response: results, a missing result, or only the status of a query that is still computed. */
export type QueryResponse = JsonObject & { query_status?: Json };

/** Longest time of a query whose client waits for it, and of one that it asks for later, ms. */
const limits = { blocking: 60_000, async: 600_000 };

/** A client may make the service compute a result again after this time, ms. */
const refreshEvery = 60_000;

/** Fields of every response, in the order of the service; a kind sets those that it knows. */
const noFacts = {
  calculation_trigger: null,
  error: null,
  hogql: null,
  modifiers: null,
  query_metadata: null,
  query_status: null,
  resolved_date_range: null,
  timings: null,
} as const;

/** What the sim computes otherwise than the query asks: no field of the service. */
const notesOn = ({ samplingFactor: factor }: JsonObject): JsonObject =>
  typeof factor === "number" && factor !== 1
    ? { phx_sim: { notes: [`samplingFactor ${factor}: no event is left out, every event is counted`] } }
    : {};

const insightKinds = ["TrendsQuery", "FunnelsQuery", "RetentionQuery", "StickinessQuery", "LifecycleQuery"];

/** How long a result is fresh depends on it. HogQL counts as a query by day, other lists by minute. */
function intervalOf({ kind, interval }: JsonObject): ResultInterval {
  if (isResultInterval(interval)) return interval;
  return kind === "HogQLQuery" || insightKinds.includes(stringOf(kind)) ? "day" : "minute";
}

/** The same object with its keys in order, all the way down. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, it]) => [key, sorted(it)]));
}

function keyOf({ id, timezone, settings }: StoredProject, { source }: ReadQuery): string {
  const { week_start_day = null, test_account_filters = null } = settings;
  const facts = { query: source, team_id: id, timezone, week_start_day, test_account_filters };
  const text = JSON.stringify(sorted(facts));
  return `cache_${id}_${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * Runs queries as the service does: from the cache, at once, or in the background. Upstream PostHog/posthog
 * posthog/hogql_queries/query_runner.py. In addition, a result is stale as soon as the data changed.
 */
export function createQueryRunner({
  worlds,
  clock,
  kinds,
  version: versionOf,
  compute: fieldsOf,
  closing,
}: RunnerPorts) {
  const cache = createResultCache();
  const statuses = createQueryStatuses(clock, closing);

  async function compute(project: StoredProject, read: ReadQuery, run: Run): Promise<JsonObject> {
    const { kind, query, source } = read;
    const version = versionOf(project.id);
    const now = clock.now();
    const { waitMs, signal } = run;
    const fields = await fieldsOf({ project, kind, query, now, waitMs, signal });
    if (kind.isPlain) return fields;
    const interval = intervalOf(source);
    const response: JsonObject = {
      ...noFacts,
      ...fields,
      ...notesOn(source),
      cache_key: run.key,
      cache_target_age: wireTime(staleAt(now, interval)),
      is_cached: false,
      last_refresh: wireTime(now),
      next_allowed_client_refresh: wireTime(now + refreshEvery),
      timezone: project.timezone,
    };
    cache.keep(run.key, { response, computedAt: now, interval, version });
    return response;
  }

  /** Computes it in the background, unless that is under way or done already and `again` is false. */
  function inBackground(project: StoredProject, read: ReadQuery, order: QueryOrder, again: boolean): QueryStatus {
    const key = keyOf(project, read);
    const job = { project: project.id, id: order.id ?? key, insight: order.insight, dashboard: order.dashboard };
    return statuses.begin(job, again, async (signal) => {
      const found = again ? undefined : cache.find(key, clock.now(), versionOf(project.id));
      return found && !found.isStale
        ? { ...found.response, is_cached: true }
        : compute(project, read, { key, waitMs: limits.async, signal });
    });
  }

  const waitFor = (project: StoredProject, read: ReadQuery, order: QueryOrder): Promise<JsonObject> => {
    const key = keyOf(project, read);
    const watched = { project: project.id, id: order.id ?? key, signal: order.signal };
    return statuses.watch(watched, (signal) => compute(project, read, { key, waitMs: limits.blocking, signal }));
  };

  function projectOf({ project: id }: QueryOrder): StoredProject {
    const project = worlds.projectById(id);
    if (!project) throw new SimError("not_found", `there is no project ${id}`);
    return project;
  }

  /** What is answered without computing now; undefined: it is computed now. */
  function withoutComputing(project: StoredProject, read: ReadQuery, order: QueryOrder): QueryResponse | undefined {
    const { mode } = order;
    if (mode === "force_blocking" || read.kind.isPlain) return undefined;
    const key = keyOf(project, read);
    if (mode === "force_async") return { query_status: inBackground(project, read, order, true) };
    const pending = () => statuses.pending(project.id, order.id ?? key) ?? null;
    const found = cache.find(key, clock.now(), versionOf(project.id));
    if (!found) {
      if (mode === "force_cache") return { cache_key: key, query_status: pending() };
      const isLater = mode === "async" || mode === "lazy_async";
      return isLater ? { cache_key: key, query_status: inBackground(project, read, order, false) } : undefined;
    }
    const cached = (status: Json) => ({ ...found.response, is_cached: true, query_status: status });
    if (!found.isStale || mode === "force_cache") return cached(pending());
    if (mode === "blocking") return undefined;
    if (mode === "lazy_async")
      return cached(found.isLazilyStale ? inBackground(project, read, order, false) : pending());
    return cached(inBackground(project, read, order, true));
  }

  return {
    kinds: kinds.map((it) => it.kind),
    /** Reads the query of an order without running it. @throws SimError invalid_input with a pointer */
    read: ({ query, at }: Pick<QueryOrder, "query" | "at">): ReadQuery => readQuery(kinds, query, at),
    /** @throws SimError invalid_input, query_timeout; what the kind throws */
    async run(order: QueryOrder, read: ReadQuery = readQuery(kinds, order.query, order.at)): Promise<QueryResponse> {
      const project = projectOf(order);
      return withoutComputing(project, read, order) ?? (await waitFor(project, read, order));
    },
    failedStatus: statuses.failed,
    /** The status of a query in the background; undefined if there is none of this name. */
    status: (project: number, id: string): QueryStatus | undefined => statuses.find(project, id),
    /** Ends a query and forgets its status. */
    cancel: (project: number, id: string): void => statuses.cancel(project, id),
  };
}

export type QueryRunner = ReturnType<typeof createQueryRunner>;

interface Run {
  readonly key: string;
  readonly waitMs: number;
  readonly signal: AbortSignal;
}

export interface QueryDesk extends ResourceDesk {
  readonly queries: QueryRunner;
}

import type { TimeSource } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { JsonObject } from "../../kernel/base/json.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { QueryStatus } from "./shapes.ts";

/** Time for which the status of a query is kept, ms. Upstream posthog/clickhouse/client/execute_async.py. */
const keptFor = 20 * 60_000;
/** The oldest ones beyond this number are forgotten. */
const most = 200;

/** A query with its name, and the insight that it is of. */
export interface QueryJob {
  readonly project: number;
  readonly id: string;
  readonly insight?: number | undefined;
  readonly dashboard?: number | undefined;
}

interface Kept {
  status: QueryStatus;
  readonly startedAt: number;
}

const started = ({ id, project, insight, dashboard }: QueryJob, now: number): QueryStatus => ({
  id,
  team_id: project,
  insight_id: insight ?? null,
  dashboard_id: dashboard ?? null,
  complete: false,
  error: false,
  error_message: null,
  results: null,
  query_async: true,
  start_time: wireTime(now),
  pickup_time: wireTime(now),
  end_time: null,
  expiration_time: null,
  task_id: null,
  query_progress: null,
  labels: null,
});

const keyOf = (project: number, id: string): string => `${project} ${id}`;
const cancelled = () => new SimError("error", "The query was cancelled.");

/** What a failed query shows of its error: a bug of ours has no message. */
const messageOf = (error: unknown): string | null =>
  error instanceof SimError && error.code !== "internal" ? error.message : null;

/** Queries that are running, and those in the background with their results. */
export function createQueryStatuses(clock: TimeSource, closing: AbortSignal) {
  const kept = new Map<string, Kept>();
  const running = new Map<string, Set<AbortController>>();

  /** Runs it with a signal that ends when the query is cancelled, the client goes away or the sim closes. */
  async function watch<T>(
    { project, id, signal }: Pick<QueryJob, "project" | "id"> & { signal?: AbortSignal | undefined },
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const key = keyOf(project, id);
    const ending = new AbortController();
    const peers = running.get(key) ?? new Set();
    running.set(key, peers.add(ending));
    try {
      const signals = [ending.signal, closing, ...(signal ? [signal] : [])];
      return await work(AbortSignal.any(signals));
    } finally {
      peers.delete(ending);
      if (peers.size === 0) running.delete(key);
    }
  }

  function trim(): void {
    const oldest = clock.now() - keptFor;
    for (const [key, { startedAt }] of kept) {
      if (startedAt >= oldest && kept.size <= most) break;
      kept.delete(key);
    }
  }

  return {
    watch,
    /** The status of a query that was not run, or that failed before its client could ask for it. */
    failed: (job: QueryJob, message: string): QueryStatus => ({
      ...started(job, clock.now()),
      error: true,
      error_message: message,
    }),
    find(project: number, id: string): QueryStatus | undefined {
      trim();
      return kept.get(keyOf(project, id))?.status;
    },
    pending(project: number, id: string): QueryStatus | undefined {
      const status = kept.get(keyOf(project, id))?.status;
      return status?.complete === false ? status : undefined;
    },
    /** Starts a query in the background, unless there is one of this name and `again` is false. */
    begin(job: QueryJob, again: boolean, work: (signal: AbortSignal) => Promise<JsonObject>): QueryStatus {
      trim();
      const key = keyOf(job.project, job.id);
      const known = kept.get(key)?.status;
      if (known && !again) return known;
      const startedAt = clock.now();
      const status = started(job, startedAt);
      const entry: Kept = { status, startedAt };
      kept.delete(key);
      kept.set(key, entry);
      const end = (facts: Partial<QueryStatus>) => {
        const now = clock.now();
        const times = { end_time: wireTime(now), expiration_time: wireTime(now + keptFor) };
        entry.status = { ...status, complete: true, ...times, ...facts };
      };
      watch(job, work).then(
        (results) => end({ results }),
        (error: unknown) => end({ error: true, error_message: messageOf(error) }),
      );
      return status;
    },
    cancel(project: number, id: string): void {
      const key = keyOf(project, id);
      for (const ending of running.get(key) ?? []) ending.abort(cancelled());
      kept.delete(key);
    },
  };
}

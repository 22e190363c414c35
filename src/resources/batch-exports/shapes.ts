import { z } from "zod";
import type { Dialect } from "../../model/dialect.ts";
import { isOpen } from "../../model/export-engine.ts";
import { logLevels, runStatuses } from "../../model/run-statuses.ts";
import type { BatchExport, BatchExportBackfill, BatchExportLog, BatchExportRun } from "../../model/world.ts";
import { withoutSecrets } from "./destinations.ts";

/** What is shown of batch exports. Upstream PostHog/posthog posthog/batch_exports/http.py. */

const time = z.string().meta({ format: "date-time" });
const uuid = z.string().meta({ format: "uuid" });

export const RunShape = z
  .object({
    id: uuid,
    status: z.enum(runStatuses),
    records_completed: z.int().nullable(),
    latest_error: z.string().nullable(),
    data_interval_start: time.nullable(),
    data_interval_end: time,
    cursor: z.string().nullable(),
    created_at: time,
    finished_at: time.nullable(),
    last_updated_at: time,
    records_total_count: z.int().nullable(),
    bytes_exported: z.int().nullable(),
    batch_export: uuid,
    backfill: uuid.nullable(),
  })
  .meta({ title: "BatchExportRun" });

export const showRun = (run: BatchExportRun): z.infer<typeof RunShape> => ({
  id: run.id,
  status: run.status,
  records_completed: run.records_completed,
  latest_error: run.latest_error,
  data_interval_start: run.data_interval_start,
  data_interval_end: run.data_interval_end,
  cursor: run.cursor,
  created_at: run.created_at,
  finished_at: run.finished_at,
  last_updated_at: run.last_updated_at,
  records_total_count: run.records_total_count,
  bytes_exported: run.bytes_exported,
  batch_export: run.batch_export,
  backfill: run.backfill,
});

const head = {
  id: uuid,
  team_id: z.int(),
  name: z.string(),
  model: z.enum(["events", "persons"]),
  destination: z
    .object({ type: z.string(), config: z.record(z.string(), z.json()) })
    .meta({ description: "Without the secrets of its config" }),
  interval: z.string(),
  paused: z.boolean(),
  created_at: time,
  last_updated_at: time,
  last_paused_at: time.nullable(),
  start_at: time.nullable(),
  end_at: time.nullable(),
  latest_runs: z.array(RunShape).meta({ description: "The last ten, newest first" }),
};
const query = { hogql_query: z.string().nullable() };
const tail = {
  schema: z.record(z.string(), z.json()).nullable(),
  filters: z.array(z.json()).nullable(),
};
const title = "BatchExport";
const Documented = z.object({ ...head, ...query, ...tail }).meta({ title });
const Production = z.object({ ...head, ...tail }).meta({ title });

/** The service leaves the query out: it is kept as `schema` only. */
export const exportShape = (dialect: Dialect) => (dialect === "documented" ? Documented : Production);

const latest = 10;

/** @param runs the export's, newest first */
export const showExport = (
  it: BatchExport,
  runs: readonly BatchExportRun[],
  dialect: Dialect,
): z.infer<typeof Documented> | z.infer<typeof Production> => ({
  id: it.id,
  team_id: it.project,
  name: it.name,
  model: it.model,
  destination: withoutSecrets(it.destination),
  interval: it.interval,
  paused: it.paused,
  created_at: it.created_at,
  last_updated_at: it.last_updated_at,
  last_paused_at: it.last_paused_at,
  start_at: it.start_at,
  end_at: it.end_at,
  latest_runs: runs.slice(0, latest).map(showRun),
  ...(dialect === "documented" && { hogql_query: it.hogql_query }),
  schema: it.schema,
  filters: it.filters,
});

export const BackfillShape = z
  .object({
    id: uuid,
    progress: z
      .object({ total_runs: z.int().nullable(), finished_runs: z.int().nullable(), progress: z.number() })
      .nullable(),
    start_at: time.nullable(),
    end_at: time.nullable(),
    status: z.enum(runStatuses),
    created_at: time,
    finished_at: time.nullable(),
    last_updated_at: time,
    team: z.int(),
    batch_export: uuid,
  })
  .meta({ title: "BatchExportBackfill" });

type Shown = z.infer<typeof BackfillShape>;

/** Unknown for what ended otherwise than well, and for the one run that starts at the beginning of time. */
function progressOf(it: BatchExportBackfill, finished: () => number): Shown["progress"] {
  const { total_runs } = it;
  if (it.status === "Completed") return { total_runs, finished_runs: total_runs, progress: 1 };
  if (!isOpen(it) || !total_runs || it.start_at === null) return null;
  const finished_runs = finished();
  const total = Math.max(total_runs, finished_runs);
  return { total_runs: total, finished_runs, progress: Math.round((finished_runs / total) * 10) / 10 };
}

/** @param finished counts its runs that have ended */
export const showBackfill = (it: BatchExportBackfill, project: number, finished: () => number): Shown => ({
  id: it.id,
  progress: progressOf(it, finished),
  start_at: it.start_at,
  end_at: it.end_at,
  status: it.status,
  created_at: it.created_at,
  finished_at: it.finished_at,
  last_updated_at: it.last_updated_at,
  team: project,
  batch_export: it.batch_export,
});

export const LogShape = z
  .object({
    log_source_id: uuid,
    instance_id: z.string().meta({ description: "Id of the run; empty for the export itself" }),
    timestamp: time,
    level: z.enum(logLevels),
    message: z.string(),
  })
  .meta({ title: "BatchExportLog" });

export const showLog = (it: BatchExportLog): z.infer<typeof LogShape> => ({
  log_source_id: it.batch_export,
  instance_id: it.run,
  timestamp: it.timestamp,
  level: it.level,
  message: it.message,
});

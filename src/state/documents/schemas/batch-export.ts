import { z } from "zod";
import { logLevels, runStatuses } from "../run-statuses.ts";

/** A scripted end of a run; `after` is in ms from its start. */
export const RunOutcome = z.object({
  status: z.enum(runStatuses).exclude(["Starting", "Running"]),
  after: z.int().nonnegative(),
  latest_error: z.string().nullable(),
});

export const BatchExport = z.object({
  id: z.string(),
  project: z.int(),
  name: z.string(),
  model: z.enum(["events", "persons"]),
  /** Secrets of `config` are never kept: their keys stay, with the value `***`. */
  destination: z.object({ type: z.string(), config: z.record(z.string(), z.json()) }),
  interval: z.enum(["hour", "day", "week", "every 5 minutes", "every 15 minutes"]),
  paused: z.boolean(),
  created_at: z.string(),
  last_updated_at: z.string(),
  last_paused_at: z.string().nullable(),
  start_at: z.string().nullable(),
  end_at: z.string().nullable(),
  hogql_query: z.string().nullable(),
  /** Made of `hogql_query`. */
  schema: z.record(z.string(), z.json()).nullable(),
  filters: z.array(z.json()).nullable(),
  deleted: z.boolean(),
  /** Scripted ends of its next runs, in order. Not the service's: scenarios set them. */
  scripted_runs: z.array(RunOutcome).optional(),
  /** Up to where its schedule was performed. Not the service's. */
  scheduled_until: z.string().optional(),
});

export const BatchExportRun = z.object({
  id: z.string(),
  batch_export: z.string(),
  /** Id of the backfill that made it. */
  backfill: z.string().nullable(),
  status: z.enum(runStatuses),
  records_completed: z.int().nullable(),
  records_total_count: z.int().nullable(),
  bytes_exported: z.int().nullable(),
  latest_error: z.string().nullable(),
  data_interval_start: z.string().nullable(),
  data_interval_end: z.string(),
  cursor: z.string().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  last_updated_at: z.string(),
  /** True if the engine made it and ends it; one from a scenario stays unchanged. */
  driven: z.boolean().optional(),
});

export const BatchExportBackfill = z.object({
  id: z.string(),
  batch_export: z.string(),
  start_at: z.string().nullable(),
  end_at: z.string().nullable(),
  status: z.enum(runStatuses),
  /** Runs to be made; null until it is known. */
  total_runs: z.int().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  last_updated_at: z.string(),
});

export const BatchExportLog = z.object({
  id: z.int(),
  batch_export: z.string(),
  /** Id of the run it is about; empty for the export itself. */
  run: z.string(),
  timestamp: z.string(),
  level: z.enum(logLevels),
  message: z.string(),
});

import { z } from "zod";
import { BatchExport, logLevels, runStatuses } from "../../model/schemas/batch-export.ts";
import { JsonRecord, Time, Uuid } from "./values.ts";

const Count = z.int().nonnegative();

const Logs = z.array(
  z.strictObject({ level: z.enum(logLevels), message: z.string(), timestamp: Time.optional() }),
);
export type AuthoredLogs = z.infer<typeof Logs>;

const Run = z.strictObject({
  id: Uuid.optional(),
  status: z.enum(runStatuses),
  data_interval_start: Time.nullable(),
  data_interval_end: Time,
  /** Id of the backfill that made it. */
  backfill: z.string().optional(),
  records_completed: Count.nullable().optional(),
  records_total_count: Count.nullable().optional(),
  bytes_exported: Count.nullable().optional(),
  latest_error: z.string().nullable().optional(),
  cursor: z.string().nullable().optional(),
  /** Default: the end of the interval. */
  created_at: Time.optional(),
  /** Default: at once, unless it has not ended. */
  finished_at: Time.nullable().optional(),
  logs: Logs.optional(),
});
export type AuthoredRun = z.infer<typeof Run>;

const Backfill = z.strictObject({
  id: Uuid.optional(),
  start_at: Time.nullable().optional(),
  end_at: Time.nullable().optional(),
  status: z.enum(runStatuses),
  total_runs: Count.nullable().optional(),
  created_at: Time.optional(),
  finished_at: Time.nullable().optional(),
});
export type AuthoredBackfill = z.infer<typeof Backfill>;

export const AuthoredBatchExport = z.strictObject({
  name: z.string().min(1),
  id: Uuid.optional(),
  model: BatchExport.shape.model.optional(),
  /** Secrets of `config` are not kept: the world has `***` in their place. */
  destination: z.strictObject({ type: z.string(), config: JsonRecord }),
  interval: BatchExport.shape.interval,
  paused: z.boolean().optional(),
  last_paused_at: Time.nullable().optional(),
  start_at: Time.nullable().optional(),
  end_at: Time.nullable().optional(),
  hogql_query: z.string().nullable().optional(),
  schema: JsonRecord.nullable().optional(),
  filters: z.array(z.json()).nullable().optional(),
  deleted: z.boolean().optional(),
  created_at: Time.optional(),
  runs: z.array(Run).optional(),
  backfills: z.array(Backfill).optional(),
  /** About the export itself; what is about a run stands in the run. */
  logs: Logs.optional(),
});
export type AuthoredBatchExport = z.infer<typeof AuthoredBatchExport>;

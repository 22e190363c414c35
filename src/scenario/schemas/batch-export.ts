import { z } from "zod";
import { readDuration } from "../../base/time-text.ts";
import { logLevels, runStatuses } from "../../world/run-statuses.ts";
import { BatchExport, RunOutcome } from "../../world/schemas/batch-export.ts";
import { AnyJson, JsonRecord, Time, Uuid } from "./values.ts";

const Count = z.int().nonnegative();

const Log = z.strictObject({
  level: z.enum(logLevels).describe("How much it matters."),
  message: z.string().describe("The line."),
  timestamp: Time.optional().describe("By default when its run, or its export, was made."),
});
const Logs = z.array(Log);
export type AuthoredLogs = z.infer<typeof Logs>;

const Run = z.strictObject({
  id: Uuid.optional().describe("By default it follows from the run's place."),
  status: z.enum(runStatuses).describe("How it stands with the run."),
  data_interval_start: Time.nullable().describe("Where its data begins; null: from the very first event."),
  data_interval_end: Time.describe("Where its data ends."),
  backfill: z.string().optional().describe("Id of the backfill that made it; by default the schedule did."),
  records_completed: Count.nullable().optional().describe("How many rows were written; by default unknown."),
  records_total_count: Count.nullable().optional().describe("How many there were; by default unknown."),
  bytes_exported: Count.nullable().optional().describe("How much was written; by default unknown."),
  latest_error: z.string().nullable().optional().describe("What went wrong last; by default nothing."),
  cursor: z.string().nullable().optional().describe("How far it has come; by default null."),
  created_at: Time.optional().describe("By default the end of its interval."),
  finished_at: Time.nullable().optional().describe("By default at once, unless it has not ended."),
  logs: Logs.optional().describe("What the run said."),
});
export type AuthoredRun = z.infer<typeof Run>;

const Outcome = z.strictObject({
  status: RunOutcome.shape.status.describe("How the run ends."),
  after: z
    .union([
      z.int().nonnegative(),
      z.string().refine((text) => readDuration(text) !== undefined, "a duration such as 30s or 5m"),
    ])
    .optional()
    .describe("How long it runs, in ms or as a duration such as 30s; by default it ends at once."),
  latest_error: z.string().optional().describe("What went wrong; by default nothing."),
});
export type AuthoredOutcome = z.infer<typeof Outcome>;

const Backfill = z.strictObject({
  id: Uuid.optional().describe("Runs name their backfill by it; by default it follows from its place."),
  start_at: Time.nullable().optional().describe("Where it begins; null: with the very first event."),
  end_at: Time.nullable().optional().describe("Where it ends; null: now."),
  status: z.enum(runStatuses).describe("How it stands with the backfill."),
  total_runs: Count.nullable().optional().describe("How many runs it takes; null until it is known."),
  created_at: Time.optional().describe("By default when its export was made."),
  finished_at: Time.nullable().optional().describe("By default at once, unless it has not ended."),
});
export type AuthoredBackfill = z.infer<typeof Backfill>;

const Destination = z.strictObject({
  type: z.string().describe("`S3`, `BigQuery`, `Snowflake`, …: whatever the service knows."),
  config: JsonRecord.describe("Its settings; secrets among them are replaced by `***`."),
});

export const AuthoredBatchExport = z.strictObject({
  name: z.string().min(1).describe("The export's name."),
  id: Uuid.optional().describe("By default it follows from the name."),
  model: BatchExport.shape.model.optional().describe("What is exported; by default events."),
  destination: Destination.describe("Where it goes."),
  interval: BatchExport.shape.interval.describe("How often it runs."),
  paused: z.boolean().optional().describe("By default false."),
  last_paused_at: Time.nullable().optional().describe("When it was last paused; by default never."),
  start_at: Time.nullable().optional().describe("No run before; by default none is too early."),
  end_at: Time.nullable().optional().describe("No run after; by default none is too late."),
  hogql_query: z.string().nullable().optional().describe("Which columns, as a query; by default all."),
  schema: JsonRecord.nullable().optional().describe("The query, as the service keeps it."),
  filters: z.array(AnyJson).nullable().optional().describe("Property filters; by default none."),
  deleted: z.boolean().optional().describe("By default false."),
  created_at: Time.optional().describe("By default 2025-01-01."),
  scripted_runs: z
    .array(Outcome)
    .optional()
    .describe("How its next runs end, one after the other; the ones after these run as they would."),
  runs: z.array(Run).optional().describe("Its past, and what it is doing now."),
  backfills: z.array(Backfill).optional().describe("Exports of the past that somebody asked for."),
  logs: Logs.optional().describe("What was said about the export itself; a run's own stands in the run."),
});
export type AuthoredBatchExport = z.infer<typeof AuthoredBatchExport>;

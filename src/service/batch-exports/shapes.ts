import { z } from "zod";
import { readDuration } from "../../kernel/base/time-text.ts";
import { endStatuses, logLevels, runStatuses } from "../../state/documents/run-statuses.ts";
import { exportKind } from "../../state/documents/schemas/batch-export.ts";

// Messages complete the words "expected …".

const time = z.iso.datetime();
const status = z.enum(runStatuses);

export const ExportListQuery = z.strictObject({ project: z.int().min(0).optional().describe("Only this project's") });
export type ExportListQuery = z.input<typeof ExportListQuery>;

export const ExportRunQuery = z.strictObject({
  ...ExportListQuery.shape,
  batch_export: z.string().optional().describe("Only this export's: its id or its name"),
  status: status.optional().describe("Only runs in this status"),
  before: z.string().optional().meta({ description: "Only runs before the one with this id", format: "uuid" }),
  limit: z.int().min(1).max(10_000).default(100).describe("Maximum number of results"),
});
export type ExportRunQuery = z.input<typeof ExportRunQuery>;

export const ExportFile = z
  .strictObject({
    name: z.string().describe("Its key, with / between the parts"),
    bytes: z.int(),
    url: z.string().describe("Path of the control API that serves it"),
  })
  .meta({ title: "ExportFile" });
export type ExportFile = z.infer<typeof ExportFile>;

const outcome = { status, records_completed: z.int().nullable(), latest_error: z.string().nullable() };

const RunFields = z.strictObject({
  id: z.uuid(),
  batch_export: z.string().describe("Id of its export"),
  name: z.string().nullable().describe("The export's name; null if the export no longer exists"),
  project: z.int().nullable(),
  interval: exportKind.Stored.shape.interval.nullable(),
  data_interval_start: time.nullable().describe("null: from the beginning"),
  data_interval_end: time,
  ...outcome,
  bytes_exported: z.int().nullable(),
  backfill: z.string().nullable().describe("Id of the backfill that made it; null: the schedule did"),
  created_at: time,
  finished_at: time.nullable(),
  files: z.array(ExportFile).describe("Only a completed run has files"),
});

export const ExportRun = RunFields.meta({ title: "ExportRun" });
export type ExportRun = z.infer<typeof ExportRun>;

export const ExportRunPage = z
  .strictObject({ runs: z.array(ExportRun), more: z.boolean() })
  .meta({ title: "ExportRunPage" });
export type ExportRunPage = z.infer<typeof ExportRunPage>;

export const ExportLog = z
  .strictObject({ timestamp: time, level: z.enum(logLevels), message: z.string() })
  .meta({ title: "ExportLog" });
export type ExportLog = z.infer<typeof ExportLog>;

const DetailedRun = RunFields.extend({ logs: z.array(ExportLog).describe("Oldest first") });

export const ExportRunWithLogs = DetailedRun.meta({ title: "ExportRunWithLogs" });
export type ExportRunWithLogs = z.infer<typeof ExportRunWithLogs>;

export const ScriptedRun = DetailedRun.extend({
  ends_at: time.nullable().describe("When it ends; null: its time counts from its start"),
  hint: z.string().nullable().describe("What must be done for it to end"),
}).meta({ title: "ScriptedExportRun" });
export type ScriptedRun = z.infer<typeof ScriptedRun>;

const longest = 366 * 24 * 3_600_000;
const duration = "ms, or a string such as 30s, 5m or 1h, up to a year";
const isDuration = (ms: number | undefined) => ms !== undefined && Number.isInteger(ms) && ms >= 0 && ms <= longest;

const After = z
  .union(
    [z.string().refine((text) => isDuration(readDuration(text)), duration), z.number().refine(isDuration, duration)],
    duration,
  )
  .transform((it) => (typeof it === "string" ? (readDuration(it) ?? 0) : it));

export const ExportOutcome = z
  .strictObject({
    after: After.optional().describe(
      "How long it is Running first, by the sim's clock: ms, or a string such as 30s (default: 0)",
    ),
    status: z.enum(endStatuses).describe("How it ends; Completed exports the data at that time"),
    latest_error: z.string().max(10_000).nullable().optional().describe("The run's latest error"),
  })
  .superRefine((it, context) => {
    if (it.status === "Completed" && typeof it.latest_error === "string")
      context.addIssue({ code: "custom", path: ["latest_error"], message: "no error of a Completed run" });
  });
export type ExportOutcome = z.input<typeof ExportOutcome>;

export const ExportRunSummary = z
  .strictObject({ id: z.uuid(), data_interval_end: time, ...outcome })
  .meta({ title: "ExportRunSummary" });

export const Export = z
  .strictObject({
    id: z.string(),
    project: z.int(),
    name: z.string(),
    model: exportKind.Stored.shape.model,
    interval: exportKind.Stored.shape.interval,
    destination: z.string().describe("Its type"),
    paused: z.boolean(),
    next_run: time.nullable().describe("The next boundary of its schedule, by the sim's clock"),
    last_runs: z.array(ExportRunSummary).describe("The last five, newest first"),
  })
  .meta({ title: "ExportSummary" });
export type Export = z.infer<typeof Export>;

export const ExportPerformed = z
  .strictObject({
    at: time,
    kind: z.enum([
      "run_started",
      "run_completed",
      "run_failed",
      "run_cancelled",
      "run_ended",
      "backfill_completed",
      "batch_export_paused",
    ]),
    batch_export: z.string(),
    run: z.string().nullable().describe("Id of the run; null if it is about the export or a backfill"),
  })
  .meta({ title: "ExportPerformed" });
export type ExportPerformed = z.infer<typeof ExportPerformed>;

import { z } from "zod";
import { readDuration } from "../../../kernel/base/time-text.ts";
import { AnyJson, createdAt, JsonRecord, off, project, Time, Uuid } from "../field-kinds.ts";
import { kind, now } from "../kind.ts";
import { logLevels, runStatuses } from "../run-statuses.ts";

/** A scripted end of a run; `after` is in ms from its start. */
const RunOutcome = z.object({
  status: z.enum(runStatuses).exclude(["Starting", "Running"]),
  after: z.int().nonnegative(),
  latest_error: z.string().nullable(),
});

export const AuthoredOutcome = z.strictObject({
  status: RunOutcome.shape.status.describe("How the run ends."),
  after: z
    .union([
      z.int().nonnegative(),
      z.string().refine((text) => readDuration(text) !== undefined, "a duration such as 30s or 5m"),
    ])
    .optional()
    .describe("Its duration, in ms or such as 30s; by default it ends at once."),
  latest_error: z.string().optional().describe("The error; by default none."),
});
export type AuthoredOutcome = z.infer<typeof AuthoredOutcome>;

const uuid = z.string().meta({ format: "uuid" });
const time = z.string().meta({ format: "date-time" });
const count = z.int().nonnegative().nullable();

const uuidOf = <const T extends string>(description: T) =>
  ({ stored: z.string(), show: uuid, author: [Uuid, description] }) as const;
const counted = <const T extends string>(description: T) =>
  ({ stored: z.int().nullable(), blank: null, author: [count, description] }) as const;
const textOrNull = <const T extends string>(author: T) =>
  ({ stored: z.string().nullable(), blank: null, author }) as const;
const timeOrNull = <const T extends string>(description: T) =>
  ({
    stored: z.string().nullable(),
    blank: null,
    show: time.nullable(),
    is: "time",
    author: [Time.nullable(), description],
  }) as const;
const createdWith = <const T extends string>(description: T) =>
  ({ stored: z.string(), show: time, author: [Time, description] }) as const;
const statusOf = <const T extends string>(description: T) =>
  ({ stored: z.enum(runStatuses), author: [z.enum(runStatuses), description, "required"] }) as const;
const ended = timeOrNull("By default its creation, if it has ended.");
const updated = { stored: z.string(), show: time } as const;

export const runKind = kind(
  {
    id: uuidOf("By default it follows from the run's place."),
    status: statusOf("The run's status."),
    records_completed: counted("Number of written rows; by default unknown."),
    latest_error: textOrNull("The last error; by default none."),
    data_interval_start: {
      stored: z.string().nullable(),
      show: time.nullable(),
      is: "time",
      author: [Time.nullable(), "Start of its data; null: the first event.", "required"],
    },
    data_interval_end: { stored: z.string(), show: time, is: "time", author: [Time, "End of its data.", "required"] },
    cursor: textOrNull("Its progress; by default null."),
    created_at: createdWith("By default the end of its interval."),
    finished_at: ended,
    last_updated_at: updated,
    records_total_count: counted("Number of rows; by default unknown."),
    bytes_exported: counted("Number of written bytes; by default unknown."),
    batch_export: { stored: z.string(), show: uuid },
    backfill: {
      stored: z.string().nullable(),
      show: uuid.nullable(),
      author: [z.string(), "Id of the backfill that it belongs to; by default it was scheduled."],
    },
    /** True if the engine made it and ends it; one from a scenario stays unchanged. */
    driven: { stored: z.boolean().optional(), show: false },
  },
  {
    authored:
      "id status data_interval_start data_interval_end backfill records_completed records_total_count bytes_exported latest_error",
  },
);
export const RunShape = runKind.Shown.meta({ title: "BatchExportRun" });

export const backfillKind = kind({
  id: uuidOf("Runs refer to it; by default it follows from the backfill's place."),
  progress: {
    show: z
      .object({ total_runs: z.int().nullable(), finished_runs: z.int().nullable(), progress: z.number() })
      .nullable(),
  },
  start_at: timeOrNull("Start of its data; null: the first event."),
  end_at: timeOrNull("End of its data; null: now."),
  status: statusOf("The backfill's status."),
  total_runs: { ...counted("Number of its runs; null until it is known."), show: false },
  created_at: createdWith("By default the creation of its export."),
  finished_at: ended,
  last_updated_at: updated,
  team: { show: z.int() },
  batch_export: { stored: z.string(), show: uuid },
});

const destination = z.object({ type: z.string(), config: JsonRecord });
const interval = z.enum(["hour", "day", "week", "every 5 minutes", "every 15 minutes"]);

/** Upstream PostHog/posthog posthog/batch_exports/http.py. */
export const exportKind = kind(
  {
    id: uuidOf("By default it follows from the name."),
    project,
    team_id: { show: z.int() },
    name: { stored: z.string(), author: [z.string().min(1), "The export's name.", "required"] },
    model: { stored: z.enum(["events", "persons"]), blank: "events", author: "The exported data; by default events." },
    /** Secrets of `config` are never kept: their keys stay, with the value `***`. */
    destination: {
      stored: destination,
      show: destination.meta({ description: "Without the secrets of its config" }),
      author: [
        z.strictObject({
          type: z.string().describe("`S3`, `BigQuery`, `Snowflake`, …, as in the service."),
          config: JsonRecord.describe("Its settings; secrets among them are replaced by `***`."),
        }),
        "The destination.",
        "required",
      ],
    },
    interval: { stored: interval, show: z.string(), author: [interval, "How often it runs.", "required"] },
    paused: off,
    created_at: { ...createdAt, show: time },
    last_updated_at: { ...updated, blank: now },
    last_paused_at: timeOrNull("When it was last paused; by default never."),
    start_at: timeOrNull("Start of the first run; by default there is no limit."),
    end_at: timeOrNull("End of the last run; by default there is no limit."),
    latest_runs: { show: z.array(RunShape).meta({ description: "The last ten, newest first" }) },
    hogql_query: textOrNull("The columns, as a query; by default all."),
    schema: { stored: JsonRecord.nullable(), blank: null, author: "The query, as the service stores it." },
    filters: { stored: z.array(AnyJson).nullable(), blank: null, author: "Property filters; by default none." },
    deleted: { ...off, show: false },
    /** Scripted ends of its next runs, in order. Not the service's: scenarios set them. */
    scripted_runs: {
      stored: z.array(RunOutcome).optional(),
      show: false,
      author: [z.array(AuthoredOutcome), "Outcomes of its next runs, in order; later runs are not affected."],
    },
    /** Up to where its schedule was performed. Not the service's. */
    scheduled_until: { stored: z.string().optional(), show: false },
  },
  {
    authored:
      "name id model destination interval paused last_paused_at start_at end_at hogql_query schema filters deleted",
  },
);

export const BatchExportLog = z.object({
  id: z.int(),
  batch_export: z.string(),
  run: z.string(),
  timestamp: z.string(),
  level: z.enum(logLevels),
  message: z.string(),
});

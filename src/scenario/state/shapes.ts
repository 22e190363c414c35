import { z } from "zod";
import { ClockFacts } from "../../clock/shapes.ts";
import { isSnapshotName, snapshotNameExpected } from "./snapshot-shelf.ts";

const JsonObject = z.custom<object>().meta({ type: "object" });
const Cursor = z.int().describe("For `since` of the next call");

const ResetPart = z.enum(["world", "people", "events", "faults", "answers", "clock"]);
export type ResetPart = z.infer<typeof ResetPart>;

/** Parts that a single project has. */
const ProjectPart = ResetPart.extract(["world", "people", "events"]);

export const ResetOrder = z
  .strictObject({
    what: z.array(ResetPart).optional().describe("Only these parts (default: all)"),
    project: z
      .int()
      .min(1)
      .optional()
      .describe(
        "Only documents, people and events of this project; one that was made for a test is reset to how it was made, without its faults and scripted answers",
      ),
  })
  .superRefine(({ what = [], project }, context) => {
    if (project !== undefined && !z.array(ProjectPart).safeParse(what).success) {
      const message = `a list of ${ProjectPart.options.join(", ")} for one project`;
      context.addIssue({ code: "custom", path: ["what"], message });
    }
  });

/** The parts that a reset affects. */
export const partsOf = ({ what, project }: z.infer<typeof ResetOrder>): ResetPart[] =>
  what === undefined ? [...(project === undefined ? ResetPart : ProjectPart).options] : [...new Set(what)];

export const ResetDone = z.strictObject({ reset: z.array(ResetPart), cursor: Cursor });

export const Stopping = z.strictObject({ stopping: z.literal(true), pid: z.int() });

const stateKeys = {
  phx_sim_state: z.literal(1),
  world: JsonObject.describe("All documents, as in world.json"),
  people: z.array(JsonObject).describe("Persons, their ids and hash keys, and groups, as lines"),
  journal: z.array(JsonObject).describe("Requests with their events; `cleared` if the events are hidden"),
};

/** An exported state. state-schema.ts checks it in full. */
export const State = z.strictObject({ ...stateKeys, saved_at: z.iso.datetime() }).meta({ title: "State" });

export const StateOrder = z.strictObject({ ...stateKeys, saved_at: z.iso.datetime().optional() });

/** The content after an import. */
export const ImportedState = z.strictObject({
  projects: z.int(),
  persons: z.int(),
  groups: z.int(),
  requests: z.int(),
  events: z.int(),
  cursor: Cursor,
});
export type ImportedState = z.infer<typeof ImportedState>;

export const SnapshotOrder = z.strictObject({
  name: z.string().refine(isSnapshotName, snapshotNameExpected).describe("Case-insensitive"),
});

const SnapshotKeys = z.strictObject({
  name: z.string(),
  created_at: z.iso.datetime(),
  persons: z.int().describe("Stored persons"),
  events: z.int().describe("Visible events"),
});
export type Snapshot = z.infer<typeof SnapshotKeys>;

/** A snapshot in the list; of a damaged one perhaps only the name is known. */
export const ListedSnapshot = z
  .strictObject({
    name: z.string(),
    created_at: z.iso.datetime().nullable(),
    persons: z.int().nullable().describe("Stored persons"),
    events: z.int().nullable().describe("Visible events"),
    damaged: z.string().nullable().describe("Why it cannot be restored; null if it can"),
  })
  .meta({ title: "Snapshot" });
export type ListedSnapshot = z.infer<typeof ListedSnapshot>;

export const SnapshotTaken = SnapshotKeys.extend({
  replaced: z.boolean().describe("True if it replaced a snapshot with the same name"),
}).meta({ title: "SnapshotTaken" });
export type SnapshotTaken = z.infer<typeof SnapshotTaken>;

export const SnapshotRestored = SnapshotKeys.extend({
  has_events: z
    .boolean()
    .describe("False if the journal was emptied since: its requests and events are lost"),
  cursor: Cursor,
  hint: z.string().nullable(),
}).meta({ title: "SnapshotRestored" });
export type SnapshotRestored = z.infer<typeof SnapshotRestored>;

const Problem = z.strictObject({
  file: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  pointer: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
});

const Edit = z.strictObject({
  at: z.int().describe("The machine's time in ms"),
  summary: z.string().describe("The changes, in one line"),
  changes: z
    .array(
      z.strictObject({
        change: z.enum(["added", "changed", "removed"]),
        kind: z.string().describe("`flag`, `person`, `cohort`, `clock` …"),
        name: z.string().nullable().describe("null for a thing that exists once"),
        project: z.string().nullable().describe("Name of the project, if the scenario has several"),
      }),
    )
    .describe("At most 100"),
  count: z.int().describe("Number of changes"),
});

export const Info = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    pid: z.int(),
    url: z.string().describe("The address for clients: the public one, if the sim was started with one"),
    local_url: z.string().describe("The address that the sim listens on"),
    inspector_url: z
      .string()
      .describe("With a generated token, if there is one; a token set by the user is not shown"),
    project_api_key: z.string().nullable(),
    secret_api_key: z.string().nullable(),
    personal_api_key: z.string().nullable(),
    project_id: z.int().nullable(),
    projects: z.array(
      z.strictObject({ id: z.int(), name: z.string(), api_key: z.string(), adopted: z.boolean() }),
    ),
    scenario: z.string(),
    data: z.string().nullable(),
    dialect: z.enum(["documented", "production"]),
    rate_limits: z.boolean(),
    strict: z.boolean(),
    adopt_tokens: z.boolean(),
    clock: ClockFacts,
    counts: z.record(z.string(), z.int()),
    damage: z
      .array(z.strictObject({ file: z.string(), line: z.int().nullable(), detail: z.string() }))
      .describe("Parts of the data folder that cannot be read, and what is lost; at most 100"),
    damage_count: z.int().describe("Number of entries of the data folder that cannot be read"),
    scenario_problems: z
      .array(Problem)
      .describe("Mistakes in the scenario's files now; the last valid version stays in use"),
    scenario_warnings: z
      .array(Problem)
      .describe("Parts of the scenario that cannot work, such as flags that depend on each other"),
    scenario_edit: Edit.nullable().describe(
      "The last applied edit of the scenario's files; null before the first",
    ),
    recording: z
      .strictObject({
        state: z.enum(["recording", "stopped"]),
        mode: z.string().nullable(),
        upstream: z.string().nullable(),
        tape: z.string().nullable(),
        trouble: z.string().nullable(),
      })
      .nullable()
      .describe("The current or the last recording; GET /__sim/recording has more"),
    tape: z
      .strictObject({ name: z.string(), mode: z.string(), on_miss: z.string() })
      .nullable()
      .describe("The tape that answers requests"),
    faults: z.array(z.string()).describe("Names of the active faults"),
    cursor: Cursor,
    in_flight: z.int(),
  })
  .meta({ title: "Info" });
export type Info = z.infer<typeof Info>;

import { z } from "zod";
import { ClockFacts } from "../../clock/shapes.ts";

const Problem = z.strictObject({
  file: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  pointer: z.string(),
  message: z.string(),
  hint: z.string().nullable(),
});

const ScenarioChange = z.strictObject({
  change: z.enum(["added", "changed", "removed"]),
  kind: z.string().describe("`flag`, `person`, `cohort`, `clock` …"),
  name: z.string().nullable().describe("null for a thing that exists once"),
  project: z.string().nullable().describe("Name of the project, if the scenario has several"),
});
/** A difference between two versions of a scenario. */
export type ScenarioChange = z.infer<typeof ScenarioChange>;

const ScenarioEdit = z.strictObject({
  at: z.int().describe("The machine's time in ms"),
  summary: z.string().describe("The changes, in one line"),
  changes: z.array(ScenarioChange).describe("At most 100"),
  count: z.int().describe("Number of changes"),
});
export type ScenarioEdit = z.infer<typeof ScenarioEdit>;

export const Info = z
  .strictObject({
    name: z.string(),
    version: z.string(),
    pid: z.int(),
    url: z.string().describe("The address for clients: the public one, if the sim was started with one"),
    local_url: z.string().describe("The address that the sim listens on"),
    inspector_url: z.string().describe("With a generated token, if there is one; a token set by the user is not shown"),
    project_api_key: z.string().nullable(),
    secret_api_key: z.string().nullable(),
    personal_api_key: z.string().nullable(),
    project_id: z.int().nullable(),
    projects: z.array(z.strictObject({ id: z.int(), name: z.string(), api_key: z.string(), adopted: z.boolean() })),
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
      .describe("What is damaged in the data folder, or was changed by another program, and what is lost; at most 100"),
    damage_count: z.int().describe("Number of such entries"),
    scenario_problems: z
      .array(Problem)
      .describe("Mistakes in the scenario's files now; the last valid version stays in use"),
    scenario_warnings: z
      .array(Problem)
      .describe("Parts of the scenario that cannot work, such as flags that depend on each other"),
    scenario_edit: ScenarioEdit.nullable().describe(
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
    cursor: z.int().describe("For `since` of the next call"),
    in_flight: z.int(),
  })
  .meta({ title: "Info" });
export type Info = z.infer<typeof Info>;

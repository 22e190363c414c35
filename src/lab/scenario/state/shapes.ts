import { z } from "zod";
import { type ResetPart, resetParts } from "./ports.ts";
import { isSnapshotName, snapshotNameExpected } from "./snapshots.ts";

const JsonObject = z.custom<object>().meta({ type: "object" });
const Cursor = z.int().describe("For `since` of the next call");

const Part = z.enum(resetParts);

const ProjectPart = Part.extract(["world", "people", "events"]);

export const ResetOrder = z
  .strictObject({
    what: z.array(Part).optional().describe("Only these parts (default: all)"),
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

export const partsOf = ({ what, project }: z.infer<typeof ResetOrder>): ResetPart[] =>
  what === undefined ? [...(project === undefined ? Part : ProjectPart).options] : [...new Set(what)];

export const ResetDone = z.strictObject({ reset: z.array(Part), cursor: Cursor });

export const Stopping = z.strictObject({ stopping: z.literal(true), pid: z.int() });

const stateKeys = {
  phx_sim_state: z.literal(1),
  world: JsonObject.describe("All documents, as in world.json"),
  people: z.array(JsonObject).describe("Persons, their ids and hash keys, and groups, as lines"),
  journal: z.array(JsonObject).describe("Requests with their events; `cleared` if the events are hidden"),
};

/** An exported state. transfer-schema.ts checks it in full. */
export const State = z.strictObject({ ...stateKeys, saved_at: z.iso.datetime() }).meta({ title: "State" });

export const StateOrder = z.strictObject({ ...stateKeys, saved_at: z.iso.datetime().optional() });

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
  has_events: z.boolean().describe("False if the journal was emptied since: its requests and events are lost"),
  cursor: Cursor,
  hint: z.string().nullable(),
}).meta({ title: "SnapshotRestored" });
export type SnapshotRestored = z.infer<typeof SnapshotRestored>;

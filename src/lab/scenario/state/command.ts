import { readFileSync } from "node:fs";
import { counted } from "../../../kernel/base/text.ts";
import { type Address, callSim, RefusedCall } from "../../../kernel/command/ask-sim.ts";
import { clean } from "../../../kernel/command/clean-text.ts";
import { type Command, command, type Shell } from "../../../kernel/command/command.ts";
import { Failure } from "../../../kernel/command/failure.ts";
import { saveAnswer } from "../../../kernel/command/result-file.ts";
import { findRunning } from "../../../kernel/command/running-sim.ts";
import type { Settings } from "../../../kernel/command/settings.ts";
import { optionsOf } from "../../../kernel/command/shape-options.ts";
import { reasonOf } from "../../../kernel/command/system-reason.ts";
import { print, thinCommand, thinOptions } from "../../../kernel/command/thin-command.ts";
import type { ResetPart } from "./ports.ts";
import { type ImportedState, type ListedSnapshot, ResetOrder, type Snapshot, type SnapshotRestored } from "./shapes.ts";

const resetOptions = {
  ...optionsOf(ResetOrder),
  "keep-events": { kind: "switch", describe: "Keep events and persons, and reset everything else", excludes: "what" },
} as const;

/** The parts apart from events, and from the persons that events made. */
const withoutEvents = (project: number | undefined): ResetPart[] =>
  project === undefined ? ["world", "faults", "answers", "clock"] : ["world"];

const named = { name: { describe: "The snapshot's name", place: 1 } } as const;

const filed = { file: { kind: "file", describe: "A JSON file", place: 1 }, ...thinOptions } as const;

const holds = ({ persons, events }: Pick<Snapshot, "persons" | "events">): string =>
  `${counted(persons, "person")}, ${counted(events, "event")}`;

const snapshotLine = ({ name, created_at, persons, events, damaged }: ListedSnapshot): string => {
  const content = damaged ?? holds({ persons: persons ?? 0, events: events ?? 0 });
  return `${clean(name)}  ${clean(created_at ?? "unknown time")}  ${damaged === null ? "" : "damaged: "}${clean(content, 200)}`;
};

async function exportState(settings: Settings<typeof filed>, shell: Shell) {
  const { file } = settings.values;
  const bytes = await saveAnswer(await findRunning(settings, shell), "state", file);
  const line = `exported to ${clean(file)}: ${counted(bytes, "byte")}`;
  return print(shell, settings.values.json, { file, bytes }, [line]);
}

/** For a large state, ms. */
const importMs = 600_000;

/** @throws Failure with the file's name, except for an error in the file: it has a pointer, and gets the option's name elsewhere */
async function importFrom(file: string, sim: Address): Promise<ImportedState> {
  try {
    return await callSim<ImportedState>(sim, "PUT", "state", readWhole(file), importMs);
  } catch (error) {
    if (!(error instanceof RefusedCall) || error.refusal.pointer) throw error;
    throw new Failure(error.kind, `${clean(file)}: ${error.message}`, error);
  }
}

function readWhole(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Failure("usage", `${clean(file)} cannot be read: ${reasonOf(error)}`, error);
  }
}

async function importState(settings: Settings<typeof filed>, shell: Shell) {
  const { file } = settings.values;
  const answer = await importFrom(file, await findRunning(settings, shell));
  const line = `imported ${clean(file)}: ${counted(answer.projects, "project")}, ${holds(answer)}`;
  return print(shell, settings.values.json, answer, [line]);
}

export const stateCommands: readonly Command[] = [
  thinCommand({
    name: "state reset",
    describe: "Go back to the scenario",
    options: resetOptions,
    examples: [
      ["phx-sim state reset", "documents, people, events, faults, answers, clock"],
      ["phx-sim state reset --keep-events", "the scenario's documents again; events and persons stay"],
      ["phx-sim state reset --what events --what people", "keep what was edited"],
    ],
    call: "POST reset",
    sends: ({ what, project, "keep-events": keepsEvents }) => ({
      what: keepsEvents ? withoutEvents(project) : what.length > 0 ? what : undefined,
      keep_events: undefined,
    }),
    lines: ({ reset }: { reset: ResetPart[] }, _style, { project }) => [
      `back to the scenario${project === undefined ? "" : ` of project ${project}`}: ${reset.join(", ")}`,
    ],
  }),
  thinCommand({
    name: "state snapshot",
    describe: "Take a snapshot of documents, people and events",
    options: named,
    examples: [["phx-sim state snapshot logged-in", "to come back to it"]],
    call: "POST snapshots",
    lines: (answer: Snapshot & { replaced: boolean }) => [
      `snapshot ${clean(answer.name)} ${answer.replaced ? "replaced" : "taken"}: ${holds(answer)}`,
    ],
  }),
  thinCommand({
    name: "state restore",
    describe: "Go back to a snapshot",
    options: named,
    examples: [["phx-sim state restore logged-in", "as it was; later events are hidden"]],
    call: "POST snapshots/:name/restore",
    lines: (answer: SnapshotRestored) => [`back to snapshot ${clean(answer.name)}: ${holds(answer)}`],
  }),
  thinCommand({
    name: "state list",
    describe: "List the snapshots",
    examples: [["phx-sim state list", "oldest first"]],
    call: "GET snapshots",
    lines: ({ snapshots }: { snapshots: ListedSnapshot[] }) =>
      snapshots.length > 0 ? snapshots.map(snapshotLine) : ["no snapshots"],
  }),
  thinCommand({
    name: "state delete",
    describe: "Delete a snapshot",
    options: named,
    examples: [["phx-sim state delete logged-in", "for good"]],
    call: "DELETE snapshots/:name",
    lines: ({ deleted }: { deleted: string }) => [`snapshot ${clean(deleted)} deleted`],
  }),
  command({
    name: "state export",
    describe: "Write the whole state to a file; it contains keys",
    options: filed,
    examples: [["phx-sim state export state.json", "for another sim, or a bug report"]],
    confirms: true,
    run: exportState,
  }),
  command({
    name: "state import",
    describe: "Replace the sim's state by an exported one",
    options: filed,
    examples: [["phx-sim state import state.json", "checked before anything changes"]],
    confirms: true,
    run: importState,
  }),
];

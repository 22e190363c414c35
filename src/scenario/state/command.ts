import { readFileSync } from "node:fs";
import { counted } from "../../base/text.ts";
import { type Address, callSim, RefusedCall } from "../../cli/ask-sim.ts";
import { clean } from "../../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../../cli/command.ts";
import { Failure } from "../../cli/failure.ts";
import { findRunning, whereOptions } from "../../cli/running-sim.ts";
import { saveAnswer } from "../../cli/save-answer.ts";
import type { Settings } from "../../cli/settings.ts";
import { reasonOf } from "../../cli/system-reason.ts";
import type { ImportedState, ListedSnapshot, ResetPart, RestoredSnapshot, Snapshot } from "../../index.ts";

const group: CommandGroup = {
  name: "state",
  describe: "The state of the sim: reset it, take snapshots, export and import it",
};

const common = {
  ...whereOptions,
  json: { kind: "switch", describe: "Print the control API's response", flagOnly: true },
} as const;

const resetOptions = {
  what: {
    kind: "text",
    describe: "Only this part",
    choices: ["world", "people", "events", "faults", "answers", "clock"],
    flagOnly: true,
    many: true,
  },
  project: {
    kind: "count",
    describe: "Number of the project (default: all projects, faults, answers and the clock)",
    flagOnly: true,
  },
  ...common,
} as const;

const named = {
  name: {
    kind: "text",
    describe: "The snapshot's name",
    flagOnly: true,
    place: 1,
    suggests: "snapshots",
  },
  ...common,
} as const;

const filed = {
  file: { kind: "file", describe: "A JSON file", flagOnly: true, place: 1 },
  ...common,
} as const;

type Common = Settings<typeof common>;

const find = (where: Common, shell: Shell) => findRunning(where, shell.cwd);

/** Prints the answer as JSON or as lines, and its hint. */
function say(where: Common, shell: Shell, answer: object, ...lines: string[]): "ok" {
  if ("hint" in answer && typeof answer.hint === "string") shell.err.say(`phx-sim: ${clean(answer.hint)}`);
  shell.out.say(...(where.values.json ? [JSON.stringify(answer, null, 2)] : lines));
  return "ok";
}

async function reset(settings: Settings<typeof resetOptions>, shell: Shell) {
  const { what, project } = settings.values;
  const body = { ...(what.length > 0 && { what }), project };
  const answer = await callSim<{ reset: ResetPart[] }>(await find(settings, shell), "POST", "reset", body);
  const whose = project === undefined ? "" : ` of project ${project}`;
  return say(settings, shell, answer, `back to the scenario${whose}: ${answer.reset.join(", ")}`);
}

const path = (name: string, rest = "") => `snapshots/${encodeURIComponent(name)}${rest}`;

const holds = ({ persons, events }: Pick<Snapshot, "persons" | "events">): string =>
  `${counted(persons, "person")}, ${counted(events, "event")}`;

async function snapshot(settings: Settings<typeof named>, shell: Shell) {
  const { name } = settings.values;
  const running = await find(settings, shell);
  const answer = await callSim<Snapshot & { replaced: boolean }>(running, "POST", "snapshots", { name });
  const done = answer.replaced ? "replaced" : "taken";
  return say(settings, shell, answer, `snapshot ${clean(answer.name)} ${done}: ${holds(answer)}`);
}

async function restore(settings: Settings<typeof named>, shell: Shell) {
  const running = await find(settings, shell);
  const answer = await callSim<RestoredSnapshot>(running, "POST", path(settings.values.name, "/restore"));
  return say(settings, shell, answer, `back to snapshot ${clean(answer.name)}: ${holds(answer)}`);
}

async function remove(settings: Settings<typeof named>, shell: Shell) {
  const running = await find(settings, shell);
  const answer = await callSim<{ deleted: string }>(running, "DELETE", path(settings.values.name));
  return say(settings, shell, answer, `snapshot ${clean(answer.deleted)} deleted`);
}

const snapshotLine = ({ name, created_at, persons, events, damaged }: ListedSnapshot): string => {
  const content = damaged ?? holds({ persons: persons ?? 0, events: events ?? 0 });
  return `${clean(name)}  ${clean(created_at ?? "unknown time")}  ${damaged === null ? "" : "damaged: "}${clean(content, 200)}`;
};

async function list(settings: Common, shell: Shell) {
  const answer = await callSim<{ snapshots: ListedSnapshot[] }>(
    await find(settings, shell),
    "GET",
    "snapshots",
  );
  const lines = answer.snapshots.map(snapshotLine);
  return say(settings, shell, answer, ...(lines.length > 0 ? lines : ["no snapshots"]));
}

async function exportState(settings: Settings<typeof filed>, shell: Shell) {
  const { file } = settings.values;
  const bytes = await saveAnswer(await find(settings, shell), "state", file);
  return say(settings, shell, { file, bytes }, `exported to ${clean(file)}: ${counted(bytes, "byte")}`);
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
  const answer = await importFrom(file, await find(settings, shell));
  const projects = counted(answer.projects, "project");
  return say(settings, shell, answer, `imported ${clean(file)}: ${projects}, ${holds(answer)}`);
}

/** The commands `phx-sim state …`. */
export const stateCommands: readonly Command[] = [
  command({
    name: "state reset",
    group,
    describe: "Go back to the scenario",
    options: resetOptions,
    examples: [
      ["phx-sim state reset", "documents, people, events, faults, answers, clock"],
      ["phx-sim state reset --what events --what people", "keep what was edited"],
    ],
    confirms: true,
    run: reset,
  }),
  command({
    name: "state snapshot",
    group,
    describe: "Take a snapshot of documents, people and events",
    options: named,
    examples: [["phx-sim state snapshot logged-in", "to come back to it"]],
    confirms: true,
    run: snapshot,
  }),
  command({
    name: "state restore",
    group,
    describe: "Go back to a snapshot",
    options: named,
    examples: [["phx-sim state restore logged-in", "as it was; later events are hidden"]],
    confirms: true,
    run: restore,
  }),
  command({
    name: "state list",
    group,
    describe: "List the snapshots",
    options: common,
    examples: [["phx-sim state list", "oldest first"]],
    run: list,
  }),
  command({
    name: "state delete",
    group,
    describe: "Delete a snapshot",
    options: named,
    examples: [["phx-sim state delete logged-in", "for good"]],
    confirms: true,
    run: remove,
  }),
  command({
    name: "state export",
    group,
    describe: "Write the whole state to a file; it contains keys",
    options: filed,
    examples: [["phx-sim state export state.json", "for another sim, or a bug report"]],
    confirms: true,
    run: exportState,
  }),
  command({
    name: "state import",
    group,
    describe: "Replace the sim's state by an exported one",
    options: filed,
    examples: [["phx-sim state import state.json", "checked before anything changes"]],
    confirms: true,
    run: importState,
  }),
];

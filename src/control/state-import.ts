import type { Call } from "../http/call.ts";
import { json, type Reply } from "../http/reply.ts";
import { SimError } from "../kernel/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject } from "../kernel/json.ts";
import { pointerStep } from "../kernel/json-pointer.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import type { TrafficLine } from "../model/traffic.ts";
import type { World } from "../model/world.ts";
import { type Bytes, memoryBytes } from "../store/bytes.ts";
import { DataFolderError } from "../store/data-folder.ts";
import type { SwitchPart } from "../store/switch.ts";
import type { CopiedLine } from "../store/traffic-log.ts";
import { clashOf } from "../store/world/document.ts";
import type { ControlDesk } from "./desk.ts";

type ImportDesk = Pick<
  ControlDesk,
  "worlds" | "people" | "log" | "snapshots" | "agenda" | "switchTo" | "settled"
>;

/** Bodies of requests may be nested as deeply as ingest takes them, and stand in a list of lines. */
const deepest = 140;

function parsed(call: Call): JsonObject {
  const text = call.body.toString("utf8");
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    throw new SimError("parse_error", `the state is not JSON at ${line}:${column}`, { cause });
  }
  if (isTooDeep(value, deepest)) throw new SimError("parse_error", "the state is nested too deeply");
  if (isObject(value)) return value;
  throw new SimError("invalid_input", "the state must be a JSON object", { pointer: "" });
}

const invalid = (detail: string, pointer: string, hint?: string): SimError =>
  new SimError("invalid_input", detail, hint === undefined ? { pointer } : { pointer, hint });

/** A state that was checked. */
interface State {
  world: World;
  people: JsonObject[];
  journal: JsonObject[];
}

/** @throws SimError invalid_input with a pointer to the first thing that is wrong */
async function checked(given: JsonObject): Promise<State> {
  if (given.phx_sim_state !== 1)
    throw invalid(
      '"phx_sim_state" must be 1',
      "/phx_sim_state",
      "import what GET /__sim/state or `phx-sim state export` wrote",
    );
  const { StateSchema } = await import("./state-schema.ts");
  const result = StateSchema.safeParse(given);
  if (!result.success) {
    const [first, ...others] = result.error.issues;
    const more = others.length > 0 ? ` (and ${others.length} more)` : "";
    const pointer = (first?.path ?? []).map(pointerStep).join("");
    throw invalid(`${first?.message ?? "not a state"}${more}`, pointer);
  }
  const clash = clashOf(result.data.world);
  if (clash) throw invalid(clash, "/world");
  // Lines are taken as they came: the schema has looked at them, and its copies lose keys such as __proto__.
  return { world: result.data.world, people: objectsIn(given.people), journal: objectsIn(given.journal) };
}

const objectsIn = (list: Json | undefined): JsonObject[] =>
  Array.isArray(list) ? list.filter(isObject) : [];

function linesOf(people: readonly JsonObject[]): Bytes {
  const lines = memoryBytes();
  const text = people.map((it) => `${JSON.stringify(it)}\n`).join("");
  if (text !== "") lines.append(Buffer.from(text));
  return lines;
}

function copiedLine({ cleared, ...line }: JsonObject): CopiedLine {
  // The schema has looked at it.
  return { line: line as unknown as TrafficLine, isCleared: cleared === true };
}

/** Lines refer to persons before them, which only the store knows. */
function replacingPeople({ people }: ImportDesk, lines: Bytes): SwitchPart {
  try {
    return people.replacing(lines);
  } catch (error) {
    if (!(error instanceof DataFolderError) || error.line === undefined) throw error;
    throw invalid(error.message.replace(/^.*? cannot be read: /, ""), `/people/${error.line - 1}`);
  }
}

function putInPlace(desk: ImportDesk, { world, people, journal }: State): void {
  const { worlds, log, snapshots } = desk;
  desk.switchTo([
    replacingPeople(desk, linesOf(people)),
    worlds.replacing(world),
    // Snapshots show again what they saw.
    log.replacing(journal.map(copiedLine), !snapshots.isEmpty),
  ]);
}

/**
 * Puts an exported state in the place of this one: documents, persons with their ids, versions and hash keys,
 * groups, and the journal, whose requests and events get the next numbers here.
 * @throws SimError parse_error, invalid_input, the system's error; then nothing has changed
 */
export async function importState(desk: ImportDesk, call: Call): Promise<Reply> {
  const state = await checked(parsed(call));
  await desk.settled();
  putInPlace(desk, state);
  desk.agenda.changed();
  const { persons, groups } = desk.people.counts();
  const { requests, events } = desk.log.counts();
  const projects = desk.worlds.current.projects.length;
  return json({ projects, persons, groups, requests, events, cursor: desk.log.lastSeq });
}

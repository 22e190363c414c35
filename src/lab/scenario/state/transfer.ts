import { setImmediate as turn } from "node:timers/promises";
import { encodingText, joiningBytes } from "../../../kernel/base/bytes-turns.ts";
import { isoOf } from "../../../kernel/base/clock.ts";
import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, isTooDeep, type Json, type JsonObject, objectsIn, pointerStep } from "../../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../../kernel/base/json-syntax.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { atOnce, bytesPerStep, inSlices, type Work } from "../../../kernel/base/work.ts";
import { invalid } from "../../../kernel/http/control-body.ts";
import type { Reply } from "../../../kernel/http/reply.ts";
import { type Bytes, MemoryBytes } from "../../../kernel/store/bytes.ts";
import { DataFolderError } from "../../../kernel/store/data-folder.ts";
import { textsOf } from "../../../kernel/store/lines.ts";
import type { SwitchPart } from "../../../kernel/store/switch.ts";
import { clashOf } from "../../../state/documents/store/document.ts";
import { migrate, UnknownVersionError } from "../../../state/documents/store/migrations.ts";
import type { World } from "../../../state/documents/world.ts";
import type { CopiedLine, TrafficLog } from "../../../state/journal/log/traffic-log.ts";
import type { TrafficLine } from "../../../state/journal/traffic.ts";
import type { StatePorts } from "./ports.ts";
import type { ImportedState } from "./shapes.ts";

type ExportPorts = Pick<StatePorts, "worlds" | "people" | "log" | "clock">;
type ImportPorts = Pick<StatePorts, "worlds" | "people" | "log" | "snapshots" | "agenda" | "switchTo" | "settled">;

/** Bytes. A state is one JSON text that must fit into memory several times. */
export const largestState = 200 * 1024 * 1024;

const tooLarge = (): SimError =>
  new SimError("conflict", `the state is larger than ${largestState / 1024 / 1024} MB as JSON`, {
    hint: "clear events first (DELETE /__sim/events), or copy the data folder of a stopped sim",
  });

/** Parts of a text, and `undefined` where a large one is still being read. */
type Texts = Generator<string | undefined>;

function* personTexts(lines: Bytes): Texts {
  for (const { text } of textsOf(lines, 0)) if (text !== undefined) yield text;
}

function* journalTexts(texts: ReturnType<TrafficLog["texts"]>): Texts {
  for (const it of texts) yield it?.isCleared ? `{"cleared":true,${it.text.slice(1)}` : it?.text;
}

function* listed(items: Iterable<string | undefined>): Texts {
  let between = "[";
  for (const item of items) {
    if (item === undefined) {
      yield undefined;
      continue;
    }
    yield between + item;
    between = ",\n";
  }
  yield between === "[" ? "[]" : "]";
}

/** All of the state as it is at the call, whatever happens while it is read. */
function stateTexts({ worlds, people, log, clock }: ExportPorts): Texts {
  const lines = new MemoryBytes();
  people.copyInto(lines);
  const head = `{"phx_sim_state":1,"saved_at":"${isoOf(clock.now())}","world":${JSON.stringify(worlds.current)}`;
  return textsWith(head, personTexts(lines), journalTexts(log.texts()));
}

function* textsWith(head: string, people: Texts, journal: Texts): Texts {
  yield head;
  yield ',\n"people":';
  yield* listed(people);
  yield ',\n"journal":';
  yield* listed(journal);
  yield "}\n";
}

/** Attempts to read the journal before it is read in one turn. */
const mostAttempts = 3;

/** @throws SimError conflict for more than `most` bytes */
function* bytesOf(texts: Texts, most: number): Work<Buffer> {
  const pieces: Buffer[] = [];
  let waiting = "";
  let size = 0;
  function* flush(): Work<void> {
    for (const bytes of yield* encodingText(waiting)) {
      size += bytes.length;
      pieces.push(bytes);
    }
    if (size > most) throw tooLarge();
    waiting = "";
  }
  for (const text of texts) {
    if (text === undefined) yield;
    else waiting += text;
    if (waiting.length >= bytesPerStep) yield* flush();
  }
  yield* flush();
  return yield* joiningBytes(pieces);
}

/** The whole state as one consistent JSON text. @throws SimError conflict if it is too large */
export async function exportState(ports: ExportPorts, most = largestState): Promise<Reply> {
  const { log } = ports;
  for (let attempt = 1; ; attempt++) {
    // by then every answered request is in the journal
    await turn();
    const { revision, firstRequest, firstHeldSeq } = log;
    const work = bytesOf(stateTexts(ports), most);
    // the journal is read in turns; if something of it goes meanwhile, it is read again, at last in one turn
    const body = attempt < mostAttempts ? await inSlices(work) : atOnce(work);
    const isSame = log.revision === revision && log.firstRequest === firstRequest;
    if (isSame && log.firstHeldSeq === firstHeldSeq)
      return { status: 200, headers: ["content-type", "application/json"], body };
  }
}

/** The depth that capture accepts for bodies, and that of the list around them. */
const deepest = 140;

function parsed(text: string): JsonObject {
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

interface State {
  world: World;
  people: JsonObject[];
  journal: JsonObject[];
}

/** The documents in this version, as a data folder of an older one is read. @throws SimError invalid_input */
function migrated(world: Json | undefined): Json | undefined {
  if (!isObject(world)) return world;
  try {
    return migrate(world);
  } catch (error) {
    if (!(error instanceof UnknownVersionError)) throw error;
    const hint = error.isNewer ? "import it into a newer phx-sim" : undefined;
    throw invalid(`the world of the state cannot be read: ${error.message}`, "/world/version", hint);
  }
}

/** @throws SimError invalid_input with a pointer to the first mistake */
async function checked(given: JsonObject): Promise<State> {
  if (given.phx_sim_state !== 1)
    throw invalid(
      '"phx_sim_state" must be 1',
      "/phx_sim_state",
      "import a state from GET /__sim/state or `phx-sim state export`",
    );
  const { StateSchema } = await import("./transfer-schema.ts");
  const result = safeParse(StateSchema, { ...given, world: migrated(given.world) });
  if (!result.success) {
    const [first, ...others] = result.error.issues;
    const more = others.length > 0 ? ` (and ${others.length} more)` : "";
    const pointer = (first?.path ?? []).map(pointerStep).join("");
    throw invalid(`${first?.message ?? "not a state"}${more}`, pointer);
  }
  const clash = clashOf(result.data.world);
  if (clash) throw invalid(clash, "/world");
  // the schema's copies lose keys such as __proto__, so that the checked originals are used
  return { world: result.data.world, people: objectsIn(given.people), journal: objectsIn(given.journal) };
}

function linesOf(people: readonly JsonObject[]): Bytes {
  const lines = new MemoryBytes();
  const text = people.map((it) => `${JSON.stringify(it)}\n`).join("");
  if (text !== "") lines.append(Buffer.from(text));
  return lines;
}

function copiedLine({ cleared, ...line }: JsonObject): CopiedLine {
  // checked by the schema
  return { line: line as unknown as TrafficLine, isCleared: cleared === true };
}

/** The store checks that lines refer to earlier persons. */
function replacingPersons({ people }: ImportPorts, lines: Bytes): SwitchPart {
  try {
    return people.replacing(lines);
  } catch (error) {
    if (!(error instanceof DataFolderError) || error.line === undefined) throw error;
    throw invalid(error.message.replace(/^.*? cannot be read: /, ""), `/people/${error.line - 1}`);
  }
}

function replaceState(ports: ImportPorts, { world, people, journal }: State): void {
  const { worlds, log, snapshots } = ports;
  ports.switchTo([
    replacingPersons(ports, linesOf(people)),
    worlds.replacing(world),
    // snapshots need the hidden lines
    log.replacing(journal.map(copiedLine), !snapshots.isEmpty),
  ]);
}

/**
 * Replaces the state with an exported one: documents, persons with their ids, versions and hash keys, groups, and the
 * journal. Its requests and events get the next numbers of this sim.
 * @throws SimError parse_error, invalid_input, the system's error; then nothing has changed
 */
export async function importState(ports: ImportPorts, text: string): Promise<ImportedState> {
  const state = await checked(parsed(text));
  await ports.settled();
  replaceState(ports, state);
  ports.agenda.changed();
  const { persons, groups } = ports.people.counts();
  const { requests, events } = ports.log.counts();
  const projects = ports.worlds.current.projects.length;
  return { projects, persons, groups, requests, events, cursor: ports.log.lastSeq };
}

import { isObject, type Json, type JsonObject, stepsOf } from "../../../kernel/base/json.ts";
import type { Exchange } from "../../tapes/format/exchange.ts";
import { readScenario } from "../load.ts";
import type { Scenario, ScenarioLayer } from "../schema.ts";
import { authorScenario } from "./author-scenario.ts";
import { groupTypesIn, TapeDocuments } from "./documents.ts";
import { FlagAnswers } from "./flag-answers.ts";
import { jsonWithNotes, Notes } from "./json-with-notes.ts";
import { createKeyRing } from "./project-keys.ts";
import type { FromTapeOptions, TapeScenario } from "./tape-scenario.ts";

/**
 * Makes a scenario from the answers on a tape: organizations, projects, dashboards with tiles, insights, flags,
 * cohorts, persons, batch exports, ids kept. It passes `scenario check`; parts that do not are removed and listed.
 * Memory is bounded by the number of documents, not by the tape.
 */
export async function foldTape(
  exchanges: AsyncIterable<Exchange> | Iterable<Exchange>,
  options: FromTapeOptions = {},
): Promise<TapeScenario> {
  const documents = new TapeDocuments(options);
  const ring = createKeyRing();
  const answers = new FlagAnswers();
  const groupTypes = new Map<string, readonly string[]>();
  let count = 0;
  let firstAt: string | undefined;
  for await (const exchange of exchanges) {
    count++;
    firstAt ??= exchange.at;
    ring.see(exchange);
    answers.see(exchange);
    documents.see(exchange);
    const groups = groupTypesIn(exchange);
    if (groups) groupTypes.set(groups.project, groups.types);
  }
  const notes = new Notes();
  const { scenario, keys } = authorScenario({ documents, ring, answers, groupTypes }, notes);
  const leftOut = (await removeInvalidParts(scenario)).map(({ place, message }) => `${place}: ${message}`);
  if (documents.dropped > 0) leftOut.push(`${documents.dropped} documents: there are too many`);
  return {
    scenario: scenario as Scenario,
    text: headerComment(options.source, count) + jsonWithNotes(scenario, notes),
    keys,
    counts: countsOf(scenario),
    leftOut,
    exchanges: count,
    firstAt,
  };
}

/** File names may contain anything; a comment ends with its line. */
const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, " ").slice(0, 200);

const headerComment = (source: string | undefined, count: number): string =>
  [
    `// A world for phx-sim, made from ${count} recorded exchanges${source === undefined ? "" : ` of ${oneLine(source)}`}.`,
    "// Ids are the service's. Values that the tape does not have are marked \"inferred\"; keys are the sim's own.",
    "// Check it with `phx-sim scenario check`, start it with `phx-sim start --scenario`. Edit it as you like.",
    "",
  ].join("\n");

const partNames = ["dashboards", "insights", "flags", "cohorts", "persons", "batch_exports"] as const;

function countsOf(scenario: JsonObject): Record<string, number> {
  const { organizations = [], users = [] } = scenario as Partial<Scenario>;
  const projects = organizations.flatMap((it) => it.projects);
  const parts = partNames.map((name) => [
    name,
    projects.reduce((sum, project) => sum + Object.keys(project[name] ?? {}).length, 0),
  ]);
  return {
    organizations: organizations.length,
    projects: projects.length,
    users: users.length,
    ...Object.fromEntries(parts),
  };
}

const maxRounds = 40;

/** A part that a scenario cannot have. */
interface RemovedPart {
  readonly place: string;
  readonly message: string;
}

/**
 * Removes parts of a scenario (in place) until the checker finds no problem.
 * @param placeOf Names the place of a problem, before its part is removed
 * @returns the removed parts
 * @throws Error if it does not end: a bug
 */
export async function removeInvalidParts(
  scenario: JsonObject,
  placeOf: (pointer: string) => string = (pointer) => pointer,
): Promise<RemovedPart[]> {
  const removed: RemovedPart[] = [];
  for (let round = 0; round < maxRounds; round++) {
    const { problems } = await readScenario([scenario as ScenarioLayer]);
    if (problems.length === 0) return removed;
    removed.push(...problems.map(({ pointer, message }) => ({ place: placeOf(pointer), message })));
    const pointers = [...new Set(problems.map(({ pointer }) => removable(pointer)))].sort(lastFirst);
    for (const pointer of pointers) remove(scenario, stepsOf(pointer));
    refill(scenario);
  }
  throw new Error(`a scenario stays invalid: ${removed.at(-1)?.message}`);
}

/** Without the version of its rules a flag would have another meaning: it is removed as a whole. */
const removable = (pointer: string): string => pointer.replace(/(\/flags\/[^/]+)\/filters\/version$/, "$1");

/** The later items of a list first, so that the others keep their positions. */
const lastFirst = (a: string, b: string): number => b.localeCompare(a, "en", { numeric: true });

/** Removes the deepest existing part at the path: a missing key takes its parent with it. */
function remove(root: JsonObject, steps: readonly string[]): void {
  let parent: Json = root;
  let owner: { of: JsonObject | Json[]; step: string } | undefined;
  for (const step of steps) {
    if (typeof parent !== "object" || parent === null || !Object.hasOwn(parent, step)) break;
    owner = { of: parent, step };
    parent = (parent as Record<string, Json>)[step] ?? null;
  }
  if (!owner || owner.of === root) return;
  if (Array.isArray(owner.of)) owner.of.splice(Number(owner.step), 1);
  else if (isObject(owner.of)) delete owner.of[owner.step];
}

/** A scenario has an organization with a project and a personal key, even if all of the tape's are removed. */
function refill(scenario: JsonObject): void {
  const isEmpty = (list: Json | undefined) => Array.isArray(list) && list.length === 0;
  if (isEmpty(scenario.users)) delete scenario.users;
  if (isEmpty(scenario.organizations))
    scenario.organizations = [
      { name: "Recorded organization", projects: [{ name: "Project 1", api_key: "phc_tape_1" }] },
    ];
  if (isEmpty(scenario.personal_api_keys)) scenario.personal_api_keys = [{ key: "phx_tape_1", scopes: ["*"] }];
}

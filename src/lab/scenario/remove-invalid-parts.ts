import { isObject, type Json, type JsonObject, stepsOf } from "../../kernel/base/json.ts";
import { readScenario } from "./load.ts";
import type { ScenarioLayer } from "./schema.ts";

const maxRounds = 40;

/** A part that a scenario cannot have. */
interface RemovedPart {
  readonly place: string;
  readonly message: string;
}

/** Removes parts of a scenario (in place) until it is valid. @param placeOf Names the place of a problem */
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

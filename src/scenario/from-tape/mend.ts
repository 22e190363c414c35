import { isObject, type Json, type JsonObject } from "../../base/json.ts";
import { stepsOf } from "../../base/json-pointer.ts";
import { readScenario } from "../load.ts";
import type { ScenarioLayer } from "../schema.ts";

const mostRounds = 40;

/**
 * Takes out of a scenario (in place) what its checker complains about, until nothing is left to complain about.
 * @returns what was taken out, a line each
 * @throws Error when it does not come to an end: a bug
 */
export async function mendScenario(scenario: JsonObject): Promise<string[]> {
  const leftOut: string[] = [];
  for (let round = 0; round < mostRounds; round++) {
    const { problems } = await readScenario([scenario as ScenarioLayer]);
    if (problems.length === 0) return leftOut;
    const pointers = [...new Set(problems.map(({ pointer }) => wholeOf(pointer)))].sort(lastFirst);
    for (const pointer of pointers) takeOut(scenario, stepsOf(pointer));
    refill(scenario);
    leftOut.push(...problems.map(({ pointer, message }) => `${pointer}: ${message}`));
  }
  throw new Error(`a scenario from a tape cannot be mended: ${leftOut.at(-1)}`);
}

/** A scenario has an organization with a project and a personal key, even where nothing of the tape's is left. */
function refill(scenario: JsonObject): void {
  if (isEmpty(scenario.users)) delete scenario.users;
  if (isEmpty(scenario.organizations))
    scenario.organizations = [
      { name: "Recorded organization", projects: [{ name: "Project 1", api_key: "phc_tape_1" }] },
    ];
  if (isEmpty(scenario.personal_api_keys))
    scenario.personal_api_keys = [{ key: "phx_tape_1", scopes: ["*"] }];
}

const isEmpty = (list: Json | undefined): boolean => Array.isArray(list) && list.length === 0;

/** Without the version of its rules a flag would be read as another flag: it goes as a whole. */
const wholeOf = (pointer: string): string => pointer.replace(/(\/flags\/[^/]+)\/filters\/version$/, "$1");

/** The later elements of a list first, so that the others keep their places. */
const lastFirst = (a: string, b: string): number => b.localeCompare(a, "en", { numeric: true });

/** The deepest thing at the path that is there; what is missing takes its parent with it. */
function takeOut(root: JsonObject, steps: readonly string[]): void {
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

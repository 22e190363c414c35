import { pointerTo } from "../base/json-pointer.ts";
import type { World } from "../world/world.ts";
import { addOrganization, addPersonalApiKey, addUser, developer, settleUsers } from "./accounts.ts";
import { beginWorld, type ScenarioPeople } from "./building.ts";
import { type Problem, ScenarioError } from "./problems.ts";
import { addProject } from "./projects.ts";
import type { Scenario } from "./schema.ts";

export type { ScenarioPeople } from "./building.ts";
export { storePeople } from "./people.ts";
export type { Scenario } from "./schema.ts";

/**
 * The world that a scenario describes; always the same one for the same scenario.
 * @throws ScenarioError naming every reference that leads nowhere and every id or key that is there twice.
 */
export const worldOf = (scenario: Scenario): World => builtOf(scenario).world;

/**
 * The persons and groups that a scenario describes, by the projects of its world. To be stored in an empty
 * store (`storePeople`).
 * @throws ScenarioError as `worldOf` does.
 */
export const peopleOf = (scenario: Scenario): ScenarioPeople => builtOf(scenario).people;

/** Both at once, of one piece. @throws ScenarioError as `worldOf` does. */
export function builtOf(scenario: Scenario): Built {
  const built = buildWorld(scenario);
  if (built.problems.length === 0) return built;
  const inMemory = { file: null, line: null, column: null };
  throw new ScenarioError(
    built.problems.map(({ at, text, hint }) => ({
      ...inMemory,
      pointer: pointerTo(at),
      message: text,
      hint: hint ?? null,
    })),
  );
}

/** What a scenario describes, and what is wrong with it; with problems it is of no use. */
interface Built {
  readonly world: World;
  readonly people: ScenarioPeople;
  readonly problems: readonly Problem[];
}

/** Makes the world, and goes on where something is wrong, to find the rest. */
export function buildWorld(scenario: Scenario): Built {
  const building = beginWorld(scenario);
  for (const [i, user] of (scenario.users ?? [developer]).entries()) addUser(building, user, ["users", i]);
  for (const [i, { projects, ...authored }] of scenario.organizations.entries()) {
    const at = ["organizations", i];
    const organization = addOrganization(building, authored, at);
    for (const [j, project] of projects.entries()) {
      addProject(building, organization, project, [...at, "projects", j]);
    }
  }
  settleUsers(building);
  for (const [i, key] of scenario.personal_api_keys.entries()) {
    addPersonalApiKey(building, key, ["personal_api_keys", i]);
  }
  building.world.geoip.push(...(scenario.geoip ?? []));
  const { people, problems } = building;
  return { world: { ...building.world, sequences: building.sequences() }, people, problems };
}

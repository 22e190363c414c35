import type { World } from "../model/world.ts";
import { addOrganization, addPersonalApiKey, addUser, developer, settleUsers } from "./accounts.ts";
import { beginWorld } from "./building.ts";
import { type Problem, problemsError } from "./problems.ts";
import { addProject } from "./projects.ts";
import type { Scenario } from "./schema.ts";

export type { Scenario } from "./schema.ts";

/**
 * The world that a scenario describes; always the same one for the same scenario.
 * @throws ScenarioError naming every reference that leads nowhere and every id or key that is there twice.
 */
export function worldOf(scenario: Scenario): World {
  const { world, problems } = buildWorld(scenario);
  if (problems.length > 0) throw problemsError("scenario", problems);
  return world;
}

/** The world, and what is wrong with the scenario; with problems the world is of no use. */
export function buildWorld(scenario: Scenario): { world: World; problems: readonly Problem[] } {
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
  return { world: { ...building.world, sequences: building.sequences() }, problems: building.problems };
}

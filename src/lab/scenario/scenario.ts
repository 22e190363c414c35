import { pointerTo } from "../../kernel/base/json.ts";
import type { World } from "../../state/documents/world.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { AppliedScenario } from "./applied.ts";
import { addOrganization, addPersonalApiKey, addUser, developer, setCurrentProjects } from "./build-accounts.ts";
import { addProject } from "./build-project.ts";
import { type RawProblem, ScenarioError } from "./problems.ts";
import type { Scenario } from "./schema.ts";
import { each, type ScenarioPersons, WorldBuilder } from "./world-builder.ts";

export type { Scenario } from "./schema.ts";
export type { ScenarioPersons } from "./world-builder.ts";

export interface Built {
  readonly world: World;
  readonly people: ScenarioPersons;
  readonly problems: readonly RawProblem[];
}

/** The world that a scenario describes; the same scenario makes the same world. @throws ScenarioError as `builtOf` */
export const worldOf = (scenario: Scenario): World => builtOf(scenario).world;

/** The persons and groups of a scenario, for `storePersons`. @throws ScenarioError as `builtOf` */
export const scenarioPersonsOf = (scenario: Scenario): ScenarioPersons => builtOf(scenario).people;

/** World and people of a scenario. @throws ScenarioError with all unknown references and repeated ids and keys */
export function builtOf(scenario: Scenario): Built {
  const built = buildWorld(scenario);
  if (built.problems.length === 0) return built;
  const inMemory = { file: null, line: null, column: null };
  throw new ScenarioError(
    built.problems.map(({ at, text: message, hint = null }) => ({
      ...inMemory,
      pointer: pointerTo(at),
      message,
      hint,
    })),
  );
}

/** Builds the world, and continues after problems, to find the rest. */
export function buildWorld(scenario: Scenario): Built {
  const builder = new WorldBuilder(scenario);
  each(scenario.users ?? [developer], ["users"], (it, at) => addUser(builder, it, at));
  each(scenario.organizations, ["organizations"], ({ projects, ...authored }, at) => {
    const organization = addOrganization(builder, authored, at);
    each(projects, [...at, "projects"], (it, here) => addProject(builder, organization, it, here));
  });
  setCurrentProjects(builder);
  each(scenario.personal_api_keys, ["personal_api_keys"], (it, at) => addPersonalApiKey(builder, it, at));
  const { world, people, problems } = builder;
  world.geoip.push(...(scenario.geoip ?? []));
  return { world: { ...world, sequences: builder.sequences() }, people, problems };
}

/** The scenario's world and people with the ids that its documents have. @throws ScenarioError as `builtOf` */
export function builtAsApplied({ current, applied }: { current: Scenario; applied: AppliedScenario }): Built {
  const built = builtOf(current);
  const world = applied.read()?.world ?? built.world;
  const numberOf = projectNumbers(built, world);
  const { persons, groupTypes, groups } = built.people;
  const people = {
    persons: persons.map((it) => ({ ...it, person: { ...it.person, project: numberOf(it.person.project) } })),
    groupTypes: groupTypes.map((it) => ({ ...it, project: numberOf(it.project) })),
    groups: groups.map((it) => ({ ...it, project: numberOf(it.project) })),
  };
  return { ...built, world, people };
}

/** The number that a project of the built world has in the documents: both list them in the same order. */
export function projectNumbers({ world }: Built, base: World): (project: number) => number {
  const numbers = new Map(world.projects.map(({ id }, i) => [id, base.projects[i]?.id]));
  return (project) => numbers.get(project) ?? project;
}

/** Stores the persons and groups of a scenario, or of one of its projects, in a store without these projects. */
export function storePersons(store: PersonData, scenario: ScenarioPersons, project?: number): void {
  const isMeant = (it: { project: number }) => project === undefined || it.project === project;
  for (const { person, distinctIds } of scenario.persons) {
    if (isMeant(person)) store.create(person, distinctIds);
  }
  for (const type of scenario.groupTypes.filter(isMeant)) store.addGroupType(type.project, type.name);
  for (const group of scenario.groups.filter(isMeant)) store.saveGroup(group);
}

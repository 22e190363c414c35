import { uuidV5 } from "../base/ids.ts";
import type { Path } from "../base/json-pointer.ts";
import type { People } from "../people/people.ts";
import { maxGroupTypes, type Person } from "../people/person.ts";
import type { Project } from "../world/world.ts";
import type { Building, ScenarioPeople } from "./building.ts";
import { createNames, type Names } from "./names.ts";
import type { AuthoredGroup, AuthoredPerson } from "./schemas/person.ts";
import type { AuthoredProject } from "./schemas/project.ts";
import { beginning, timeOr } from "./times.ts";

/** Adds a project's persons and groups. @returns the persons by their distinct ids, for cohorts. */
export function addPeople(
  building: Building,
  project: Project,
  { persons = [], group_types: types = [], groups = [] }: AuthoredProject,
  at: Path,
): Names<Person> {
  const names = createNames<Person>("person", building.problems);
  for (const [i, it] of persons.entries()) addPerson(building, project, names, it, [...at, "persons", i]);
  const indexes = new Map<string, number>();
  for (const [i, it] of types.entries())
    addGroupType(building, project, indexes, it, [...at, "group_types", i]);
  for (const [i, it] of groups.entries()) addGroup(building, project, indexes, it, [...at, "groups", i]);
  return names;
}

const timeOf = (time: string | undefined): number => Date.parse(timeOr(time, beginning));

/** The uuid that an event of this distinct id would give its person. Upstream person-uuid.ts. */
const uuidOf = (project: number, distinctId: string): string =>
  uuidV5("932979b4-65c3-4424-8467-0b66ec27bc22", `${project}:${distinctId}`);

function addPerson(
  building: Building,
  { id: project }: Project,
  names: Names<Person>,
  { distinct_ids: distinctIds, uuid, ...authored }: AuthoredPerson,
  at: Path,
): void {
  const areNew = distinctIds.map((id, i) =>
    building.claim(`distinct id in project ${project}`, id, [...at, "distinct_ids", i]),
  );
  const person: Person = {
    project,
    uuid: uuid?.toLowerCase() ?? uuidOf(project, distinctIds[0] ?? ""),
    created_at: timeOf(authored.created_at),
    is_identified: authored.is_identified ?? false,
    version: 0,
    properties: authored.properties ?? {},
  };
  // The uuid follows from the first id: its being there twice would say nothing more.
  if (areNew[0] || uuid !== undefined) {
    building.claim(`person's uuid in project ${project}`, person.uuid, [...at, "uuid"]);
  }
  building.people.persons.push({ person, distinctIds });
  for (const id of distinctIds) names.add(person, { id });
}

/** The index of a group type; a sixth type is a problem. */
function addGroupType(
  { people, problems }: Building,
  { id: project }: Project,
  indexes: Map<string, number>,
  name: string,
  at: Path,
): number {
  const known = indexes.get(name);
  if (known !== undefined) return known;
  const index = indexes.size;
  if (index === maxGroupTypes)
    problems.push({ at, text: `expected at most ${maxGroupTypes} types of groups` });
  indexes.set(name, index);
  people.groupTypes.push({ project, name });
  return index;
}

function addGroup(
  building: Building,
  project: Project,
  indexes: Map<string, number>,
  { type, key, properties = {}, created_at }: AuthoredGroup,
  at: Path,
): void {
  const index = addGroupType(building, project, indexes, type, [...at, "type"]);
  building.claim(`${type} in project ${project.id}`, key, [...at, "key"]);
  building.people.groups.push({
    project: project.id,
    type: index,
    key,
    created_at: timeOf(created_at),
    properties,
  });
}

/**
 * Stores what a scenario knows of persons and groups, of one project or of all; the store has none of these
 * projects yet.
 */
export function storePeople(store: People, scenario: ScenarioPeople, project?: number): void {
  const isMeant = (it: { project: number }) => project === undefined || it.project === project;
  for (const { person, distinctIds } of scenario.persons) {
    if (isMeant(person)) store.create(person, distinctIds);
  }
  for (const type of scenario.groupTypes.filter(isMeant)) store.addGroupType(type.project, type.name);
  for (const group of scenario.groups.filter(isMeant)) store.saveGroup(group);
}

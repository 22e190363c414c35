import { personUuid } from "../ingest/person-uuid.ts";
import type { Cohort, MadeProject } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";

type Member = MadeProject["persons"][number];
type People = Pick<
  ControlDesk["people"],
  "person" | "distinctIds" | "create" | "addGroupType" | "groupTypes"
>;

/** A person as another project has it: the service derives a person's uuid from the project and a distinct id. */
function memberOf(people: People, template: number, uuid: string, project: number): Member | undefined {
  const person = people.person(template, uuid);
  if (!person) return undefined;
  const distinct_ids = people.distinctIds(person);
  const { created_at, is_identified, properties } = person;
  const [first] = distinct_ids;
  const own = first === undefined ? uuid : personUuid(project, first);
  return { uuid: own, distinct_ids, created_at, is_identified, properties };
}

/**
 * The stored persons whom static cohorts of the template name, and the cohorts naming them by their new uuids.
 * Nobody else is taken over.
 */
export function membersOf(
  people: People,
  template: number,
  cohorts: readonly Cohort[],
  project: number,
): { persons: Member[]; cohorts: Cohort[] } {
  const found = new Map<string, Member>();
  for (const uuid of cohorts.flatMap((it) => (it.is_static ? (it.persons ?? []) : []))) {
    const member = found.has(uuid) ? undefined : memberOf(people, template, uuid, project);
    if (member) found.set(uuid, member);
  }
  const named = (uuid: string): string => found.get(uuid)?.uuid ?? uuid;
  return {
    persons: [...found.values()],
    cohorts: cohorts.map((it) => (it.persons ? { ...it, persons: it.persons.map(named) } : it)),
  };
}

/** Stores the group types and persons that a project was made with; it must not have any yet. */
export function storeMembers(
  people: People,
  project: number,
  { group_types, persons }: Pick<MadeProject, "group_types" | "persons">,
): void {
  for (const name of group_types) people.addGroupType(project, name);
  for (const { distinct_ids, ...person } of persons) {
    people.create({ ...person, project, version: 0 }, distinct_ids);
  }
}

import { SimError } from "../../kernel/base/errors.ts";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { Person } from "../../state/persons/person.ts";
import type { PersonPorts } from "./ports.ts";
import type { PersonChange } from "./shapes.ts";
import { eventsWithin } from "./walk.ts";

const historyLength = 100;

function changeOf(properties: Record<string, Json>): JsonObject | undefined {
  const change: JsonObject = {};
  for (const key of ["$set", "$set_once", "$unset", "$anon_distinct_id", "alias"]) {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (value !== undefined) change[key] = value;
  }
  return Object.keys(change).length > 0 ? change : undefined;
}

/** The events of a person that changed it, newest first. */
export async function historyOf(
  ports: PersonPorts,
  { project }: Person,
  distinctIds: readonly string[],
): Promise<PersonChange[]> {
  const changes: PersonChange[] = [];
  for (const distinct_id of distinctIds) {
    const filter = { project, distinct_id, outcome: "kept" } as const;
    let found = 0;
    for await (const { seq, event, timestamp, properties } of eventsWithin(ports.log, filter, Infinity)) {
      const change = changeOf(properties);
      if (change) changes.push({ seq, event, distinct_id, timestamp, change });
      if (change && ++found === historyLength) break;
    }
  }
  return changes.sort((a, b) => b.seq - a.seq).slice(0, historyLength);
}

const projectsOf = (ports: PersonPorts, project: number | undefined): readonly number[] =>
  project === undefined ? ports.desk.worlds.current.projects.map((it) => it.id) : [project];

/** The person with a uuid or distinct id; without a project the first one that has such a person. @throws SimError not_found */
export function personNamed(ports: PersonPorts, name: string, project: number | undefined): Person {
  const projects = projectsOf(ports, project);
  for (const id of projects) {
    const person = ports.people.person(id, name) ?? ports.people.personOf(id, name);
    if (person) return person;
  }
  const isPersonless = projects.some((id) => ports.people.isPersonless(id, name));
  throw new SimError(
    "not_found",
    `no person has the uuid or distinct id "${name}"`,
    isPersonless ? { hint: "its events were personless ($process_person_profile: false), which store no person" } : {},
  );
}

import { SimError } from "../base/errors.ts";
import type { Json, JsonObject } from "../base/json.ts";
import { showEvent } from "../journal/show.ts";
import type { Person } from "./person.ts";
import type { PeoplePorts } from "./ports.ts";
import type { PersonChange } from "./shapes.ts";

const historyLength = 100;

/** The fields of an event that change its person; undefined if it has none. */
function changeOf(properties: Record<string, Json>): JsonObject | undefined {
  const change: JsonObject = {};
  for (const key of ["$set", "$set_once", "$unset", "$anon_distinct_id", "alias"]) {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (value !== undefined) change[key] = value;
  }
  return Object.keys(change).length > 0 ? change : undefined;
}

/** The events of a person that changed it, newest first. */
export function historyOf(
  ports: PeoplePorts,
  person: Person,
  distinctIds: readonly string[],
): PersonChange[] {
  const changes = distinctIds.flatMap((distinct_id) => {
    const found: PersonChange[] = [];
    const { project } = person;
    for (const ref of ports.log.scan({ project, distinct_id, outcome: "kept", order: "desc" })) {
      const { seq, event, timestamp, properties } = showEvent(ref.line, ref.index);
      const change = changeOf(properties);
      if (change) found.push({ seq, event, distinct_id, timestamp, change });
      if (found.length === historyLength) break;
    }
    return found;
  });
  return changes.sort((a, b) => b.seq - a.seq).slice(0, historyLength);
}

const projectsOf = (ports: PeoplePorts, project: number | undefined): readonly number[] =>
  project === undefined ? ports.worlds.current.projects.map((it) => it.id) : [project];

/**
 * The person with a uuid or distinct id.
 * @param project Default: the first project with such a person
 * @throws SimError not_found
 */
export function personNamed(ports: PeoplePorts, name: string, project: number | undefined): Person {
  const projects = projectsOf(ports, project);
  for (const id of projects) {
    const person = ports.people.person(id, name) ?? ports.people.personOf(id, name);
    if (person) return person;
  }
  const isPersonless = projects.some((id) => ports.people.isPersonless(id, name));
  throw new SimError(
    "not_found",
    `no person has the uuid or distinct id "${name}"`,
    isPersonless
      ? { hint: "its events were personless ($process_person_profile: false), which store no person" }
      : {},
  );
}

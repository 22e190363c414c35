import { showEvent } from "../../ingest/show.ts";
import { SimError } from "../../kernel/errors.ts";
import type { Json, JsonObject } from "../../kernel/json.ts";
import type { Person } from "../../model/person.ts";
import type { ControlDesk } from "../desk.ts";

const historyLength = 100;

/** What an event did to its person, or undefined when it only happened. */
function changeOf(properties: Record<string, Json>): JsonObject | undefined {
  const change: JsonObject = {};
  for (const key of ["$set", "$set_once", "$unset", "$anon_distinct_id", "alias"]) {
    const value = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (value !== undefined) change[key] = value;
  }
  return Object.keys(change).length > 0 ? change : undefined;
}

interface PersonChange {
  seq: number;
  event: string;
  distinct_id: string;
  timestamp: string;
  change: JsonObject;
}

/** The events of a person that changed it, newest first. */
export function historyOf(desk: ControlDesk, person: Person, distinctIds: readonly string[]): PersonChange[] {
  const changes = distinctIds.flatMap((distinct_id) => {
    const found: PersonChange[] = [];
    const { project } = person;
    for (const ref of desk.log.scan({ project, distinct_id, outcome: "kept", order: "desc" })) {
      const { seq, event, timestamp, properties } = showEvent(ref.line, ref.index);
      const change = changeOf(properties);
      if (change) found.push({ seq, event, distinct_id, timestamp, change });
      if (found.length === historyLength) break;
    }
    return found;
  });
  return changes.sort((a, b) => b.seq - a.seq).slice(0, historyLength);
}

const projectsOf = (desk: ControlDesk, project: number | undefined): readonly number[] =>
  project === undefined ? desk.worlds.current.projects.map((it) => it.id) : [project];

/**
 * By uuid or by distinct id; the first project that knows it, unless one is named.
 * @throws SimError not_found
 */
export function personNamed(desk: ControlDesk, name: string, project: number | undefined): Person {
  const projects = projectsOf(desk, project);
  for (const id of projects) {
    const person = desk.people.person(id, name) ?? desk.people.personOf(id, name);
    if (person) return person;
  }
  const isPersonless = projects.some((id) => desk.people.isPersonless(id, name));
  throw new SimError(
    "not_found",
    `no person has the uuid or distinct id "${name}"`,
    isPersonless
      ? { hint: "its events were personless ($process_person_profile was false): they make no person" }
      : {},
  );
}

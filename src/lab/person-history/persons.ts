import { isoOf } from "../../kernel/base/clock.ts";
import { SimError } from "../../kernel/base/errors.ts";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { Desk } from "../../service/capture/desk.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { TrafficLog } from "../../state/journal/log/traffic-log.ts";
import type { Group, Person } from "../../state/persons/person.ts";
import type { PersonStore } from "../../state/persons/person-store.ts";
import type { PersonChange, ShortEvent, StoredGroup, StoredPerson } from "./shapes.ts";
import { eventsWithin } from "./walk.ts";

/** What the endpoints of persons and groups need; the desk of captures replays events. */
export interface PersonPorts {
  readonly desk: Desk;
  readonly people: PersonStore;
  readonly log: TrafficLog;
  readonly authored: {
    people(): {
      readonly persons: readonly { readonly person: Person; readonly distinctIds: readonly string[] }[];
      readonly groups: readonly Group[];
    };
  };
}

export const peopleNeeds = ["desk", "people", "log", "authored"] as const;

export const showPerson = (person: Person, distinctIds: readonly string[]): StoredPerson => ({
  uuid: person.uuid,
  project: person.project,
  distinct_ids: [...distinctIds],
  is_identified: person.is_identified,
  created_at: isoOf(person.created_at),
  version: person.version,
  properties: person.properties,
});

export const showGroup = (people: Pick<PersonStore, "groupTypes">, group: Group): StoredGroup => ({
  project: group.project,
  type: people.groupTypes(group.project)[group.type] ?? null,
  type_index: group.type,
  key: group.key,
  created_at: isoOf(group.created_at),
  properties: group.properties,
});

export function showShort({ project: _, uuid: __, properties: ___, ...event }: StoredEvent): ShortEvent {
  return event;
}

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

/** The project, or without one all. */
export const projectsOf = (ports: PersonPorts, project: number | undefined): readonly number[] =>
  project === undefined ? ports.desk.worlds.current.projects.map((it) => it.id) : [project];

/**
 * The person with a uuid or distinct id; without a project the first one that has such a person.
 * @throws SimError not_found
 */
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

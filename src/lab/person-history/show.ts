import { isoOf } from "../../kernel/base/clock.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { Group, Person } from "../../state/persons/person.ts";
import type { PersonData } from "../../state/persons/person-data.ts";
import type { ShortEvent, StoredGroup, StoredPerson } from "./shapes.ts";

export const showPerson = (person: Person, distinctIds: readonly string[]): StoredPerson => ({
  uuid: person.uuid,
  project: person.project,
  distinct_ids: [...distinctIds],
  is_identified: person.is_identified,
  created_at: isoOf(person.created_at),
  version: person.version,
  properties: person.properties,
});

export const showGroup = (people: Pick<PersonData, "groupTypes">, group: Group): StoredGroup => ({
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

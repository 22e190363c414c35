import type { Json } from "../../kernel/json.ts";
import type { StoredEvent } from "../../model/event.ts";
import type { Group, Person } from "../../model/person.ts";
import type { ControlDesk } from "../desk.ts";

/** A person as the control API shows it. */
export const showPerson = (person: Person, distinctIds: readonly string[]) => ({
  uuid: person.uuid,
  project: person.project,
  distinct_ids: distinctIds,
  is_identified: person.is_identified,
  created_at: new Date(person.created_at).toISOString(),
  version: person.version,
  properties: person.properties,
});

/** A group as the control API shows it. */
export const showGroup = (desk: Pick<ControlDesk, "people">, group: Group) => ({
  project: group.project,
  type: desk.people.groupTypes(group.project)[group.type] ?? null,
  type_index: group.type,
  key: group.key,
  created_at: new Date(group.created_at).toISOString(),
  properties: group.properties,
});

/** An event in short: all but its properties. */
export function showShort({ project: _, uuid: __, properties: ___, ...event }: StoredEvent) {
  return event;
}

export type ShortEvent = ReturnType<typeof showShort>;

/** One property that became another. Without `from` it was not there before, without `to` it is gone. */
export interface PropertyChange {
  readonly property: string;
  readonly by: "$set" | "$set_once" | "$unset" | "$group_set" | "merge";
  readonly from?: Json;
  readonly to?: Json;
}

import { type Json, own } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { groupKeyText } from "../../state/persons/person.ts";
import type { QueryGroup, QueryPerson } from "./kind.ts";
import type { EventColumn, EventTable } from "./table.ts";

export interface QueryEvent {
  readonly seq: number;
  /** ms since the epoch */
  readonly time: number;
  readonly event: string;
  readonly distinct_id: string;
  /** Uuid of its person when it arrived; "" for none. */
  readonly person: string;
  property(name: string): Json | undefined;
  stored(): StoredEvent;
}

/** The kept events of a project in order of arrival, and its people as they are now. */
export interface ProjectEvents {
  readonly events: readonly QueryEvent[];
  /** Uuid of the person that has a distinct id now. */
  owner(distinctId: string): string | undefined;
  person(uuid: string): Pick<QueryPerson, "properties"> | undefined;
  group(type: number, key: string): Pick<QueryGroup, "properties"> | undefined;
}

export function tableOf({ events, owner, person, group }: ProjectEvents): EventTable {
  const personOf = (row: number): string => owner(events[row]?.distinct_id ?? "") ?? events[row]?.person ?? "";
  const property =
    (name: string): EventColumn =>
    (row) =>
      events[row]?.property(name);
  const groupOf = (type: number): EventColumn => property(`$group_${type}`);
  return {
    length: events.length,
    time: (row) => events[row]?.time ?? 0,
    seq: (row) => events[row]?.seq ?? 0,
    name: (row) => events[row]?.event ?? "",
    distinctId: (row) => events[row]?.distinct_id ?? "",
    person: personOf,
    property,
    personProperty: (name) => (row) => own(person(personOf(row))?.properties ?? {}, name),
    group: groupOf,
    groupProperty(type, name) {
      const keys = groupOf(type);
      return (row) => own(group(type, groupKeyText(keys(row)))?.properties ?? {}, name);
    },
    event: (row) => events[row]?.stored(),
  };
}

import { type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import { groupKeyText } from "../../state/persons/person.ts";

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
  person(uuid: string): { readonly properties: JsonObject } | undefined;
  group(type: number, key: string): { readonly properties: JsonObject } | undefined;
}

export type EventColumn = (row: number) => Json | undefined;

/** The kept events of a project, by row in order of arrival. It does not change once a query has it. */
export type EventTable = ReturnType<typeof tableOf>;

export function tableOf({ events, owner, person, group }: ProjectEvents) {
  const personOf = (row: number): string => owner(events[row]?.distinct_id ?? "") ?? events[row]?.person ?? "";
  const property =
    (name: string): EventColumn =>
    (row) =>
      events[row]?.property(name);
  const groupOf = (type: number): EventColumn => property(`$group_${type}`);
  return {
    length: events.length,
    /** ms since the epoch */
    time: (row: number): number => events[row]?.time ?? 0,
    seq: (row: number): number => events[row]?.seq ?? 0,
    name: (row: number): string => events[row]?.event ?? "",
    distinctId: (row: number): string => events[row]?.distinct_id ?? "",
    /** Uuid of the person that has the event's distinct id now; of the one when it arrived, if there is none. */
    person: personOf,
    property,
    personProperty:
      (name: string): EventColumn =>
      (row) =>
        own(person(personOf(row))?.properties ?? {}, name),
    /** Key of the event's group of a type. */
    group: groupOf,
    groupProperty(type: number, name: string): EventColumn {
      const keys = groupOf(type);
      return (row) => own(group(type, groupKeyText(keys(row)))?.properties ?? {}, name);
    },
    /** The whole event of a row; undefined if there is no such row. */
    event: (row: number): StoredEvent | undefined => events[row]?.stored(),
  };
}

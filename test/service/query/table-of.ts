import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import { type EventTable, type QueryEvent, tableOf as tableOfEvents } from "../../../src/service/query/table.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";

/** An event of a test's table. */
export interface TableEvent {
  event: string;
  /** ISO time. */
  at: string;
  id: string;
  properties?: JsonObject;
  /** Group keys by type index. */
  groups?: Record<number, string>;
}

interface TableOptions {
  /** Person of a distinct id (default: the id itself). */
  persons?: Readonly<Record<string, string>>;
  personProperties?: Readonly<Record<string, JsonObject>>;
  /** Properties of groups by type index and key. */
  groupProperties?: Readonly<Record<number, Readonly<Record<string, JsonObject>>>>;
}

const storedEvent = ({ event, at, id, properties = {} }: TableEvent, row: number, person: string): StoredEvent => ({
  seq: row + 1,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: `00000000-0000-4000-8000-${String(row + 1).padStart(12, "0")}`,
  event,
  distinct_id: id,
  timestamp: at,
  received_at: at,
  person_id: person,
  person_mode: "full",
  properties,
  request: row + 1,
});

/** A table of these events, in this order. */
export function tableOf(events: readonly TableEvent[], options: TableOptions = {}): EventTable {
  const owner = (id: string) => options.persons?.[id] ?? id;
  const propertyOf = ({ properties, groups }: TableEvent, name: string): Json | undefined =>
    groups?.[Number(/^\$group_(\d)$/.exec(name)?.[1])] ?? properties?.[name];
  return tableOfEvents({
    events: events.map(
      (it, row): QueryEvent => ({
        ...{ seq: row + 1, time: Date.parse(it.at), event: it.event, distinct_id: it.id, person: owner(it.id) },
        property: (name) => propertyOf(it, name),
        stored: () => storedEvent(it, row, owner(it.id)),
      }),
    ),
    owner,
    person: (uuid) => ({ properties: options.personProperties?.[uuid] ?? {} }),
    group: (type, key) => ({ properties: options.groupProperties?.[type]?.[key] ?? {} }),
  });
}

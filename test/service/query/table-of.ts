import type { Json, JsonObject } from "../../../src/kernel/base/json.ts";
import type { EventTable, NameColumn, ValueColumn } from "../../../src/service/query/table.ts";
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

function columnOf(values: readonly (Json | undefined)[]): ValueColumn {
  const codes = new Uint32Array(values.length);
  const known = new Map<string, number>();
  const distinct: (Json | undefined)[] = [undefined];
  for (const [row, value] of values.entries()) {
    if (value === undefined) continue;
    const key = JSON.stringify(value);
    const code = known.get(key) ?? distinct.push(value) - 1;
    known.set(key, code);
    codes[row] = code;
  }
  return { codes, values: distinct };
}

function namesOf(values: readonly string[]): NameColumn {
  const { codes, values: distinct } = columnOf(values);
  return { codes, values: distinct.map((it) => (typeof it === "string" ? it : "")) };
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

/** A table of these events, in this order; every column exists. */
export function tableOf(events: readonly TableEvent[], options: TableOptions = {}): EventTable {
  const personOf = (id: string) => options.persons?.[id] ?? id;
  return {
    length: events.length,
    times: Float64Array.from(events, (it) => Date.parse(it.at)),
    seqs: Float64Array.from(events, (_, row) => row + 1),
    names: namesOf(events.map((it) => it.event)),
    distinctIds: namesOf(events.map((it) => it.id)),
    persons: namesOf(events.map((it) => personOf(it.id))),
    property: (name) => columnOf(events.map((it) => it.properties?.[name])),
    personProperty: (name) => columnOf(events.map((it) => options.personProperties?.[personOf(it.id)]?.[name])),
    group: (type) => columnOf(events.map((it) => it.groups?.[type])),
    groupProperty: (type, name) =>
      columnOf(events.map((it) => options.groupProperties?.[type]?.[it.groups?.[type] ?? ""]?.[name])),
    event(row) {
      const event = events[row];
      return event && storedEvent(event, row, personOf(event.id));
    },
  };
}

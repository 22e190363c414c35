import { type JsonObject, own, textOf } from "../../../kernel/base/json.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import type { QueryContext } from "../kind.ts";
import { memo } from "../memo.ts";
import type { EventColumn } from "../table.ts";
import { jsonProperty, nestedProperty, type PropertySource, typedProperty } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import { createSessions } from "./sessions.ts";
import type { Member, RowSource, Table } from "./source.ts";
import type { Read } from "./term.ts";
import type { ClockZone } from "./time.ts";
import { type HogQLValue, string, type Type } from "./types.ts";

const column = (type: Type, read: Read): Member => ({ is: "column", column: { type, read } });

/** A column of JSON objects, whose members are columns. */
const jsonColumn = (sourceOf: (name: string) => PropertySource, whole: Read): Member => ({
  is: "json",
  json: {
    property: (name) => typedProperty(name, sourceOf(name)),
    nested: ([name, ...path]) => nestedProperty(sourceOf(name), path),
    text: (name) => jsonProperty(sourceOf(name)),
    whole: { type: string, isJson: true, read: whole },
  },
});

/** The names that the service has and the sim does not. */
export const absentEventColumns: readonly string[] = [
  ...["$session_id_uuid", "pdi", "poe", "goe_0", "goe_1", "goe_2", "goe_3", "goe_4"],
  ...["team_id", "$virt_is_bot", "$virt_traffic_type", "$virt_traffic_category", "$virt_bot_name"],
];

const starred = [
  ...["uuid", "event", "properties", "timestamp", "distinct_id", "elements_chain", "created_at", "$session_id"],
  ...["$window_id", "person_mode", "$group_0", "$group_1", "$group_2", "$group_3", "$group_4"],
  ...["elements_chain_href", "elements_chain_texts", "elements_chain_ids", "elements_chain_elements"],
];
const groupTypes = [0, 1, 2, 3, 4];

const uuid: Type = { kind: "UUID" };
const personModes: Type = { kind: "String", shown: "Enum8('full' = 0, 'propertyless' = 1, 'force_upgrade' = 2)" };

/** Patterns of the service's columns of element chains. Upstream posthog/models/event/sql.py. */
const chainParts = {
  elements_chain_href: { pattern: /(?::|")href="(.*?)"/gs, isList: false },
  elements_chain_texts: { pattern: /(?::|")text="(.*?)"/gs, isList: true },
  elements_chain_ids: { pattern: /(?::|")attr_id="(.*?)"/gs, isList: true },
  elements_chain_elements: { pattern: /(?:^|;)(a|button|form|input|select|textarea|label)(?:\.|$|:)/gs, isList: true },
};

type ChainPart = keyof typeof chainParts;

/** What a pattern finds in a chain of elements. */
export const chainPart = (name: ChainPart, chain: string): string[] =>
  [...chain.matchAll(chainParts[name].pattern)].map(([, text = ""]) => text);

/** The table `events` and what belongs to its rows. */
export function eventsTable({ table, now }: Pick<QueryContext, "table" | "now">, zone: ClockZone): RowSource {
  const source = (of: EventColumn): PropertySource => ({ column: of, length: table.length, zone, now });
  /** The whole event: read again for each of its columns that is not in the table, so the last one is kept. */
  const eventAt = memo((row: number): StoredEvent => {
    const event = table.event(row);
    if (!event) throw new Error(`a bug in phx-sim: there is no event ${row}`);
    return event;
  }, 1);
  const whole = (type: Type, read: (event: StoredEvent) => HogQLValue) => column(type, (row) => read(eventAt(row)));
  /** Text of a property in a column of its own: empty if it is missing. */
  const text = (of: EventColumn): Member => {
    const { read } = nestedProperty(source(of), []);
    return column(string, (row) => read(row) ?? "");
  };
  /** NULL if it is missing or empty: an event without a session counts for none. */
  const sessionId = (): Member => {
    const { type, read } = nestedProperty(source(table.property("$session_id")), []);
    return column(type, (row) => read(row) || null);
  };
  const chains = table.property("$elements_chain");
  /** Without the escapes of JSON. */
  const chainAt = (row: number): string => textOf(chains(row));
  const chainColumn = (name: ChainPart): Member =>
    chainParts[name].isList
      ? column({ kind: "Array", item: string }, (row) => [...new Set(chainPart(name, chainAt(row)))])
      : column(string, (row) => chainPart(name, chainAt(row))[0] ?? "");
  const person = virtual("person", {
    id: () => column(uuid, table.person),
    properties: () => jsonColumn((name) => source(table.personProperty(name)), notWhole("person")),
  });
  const group = (type: number): Table =>
    virtual(`group_${type}`, {
      key: () => text(table.group(type)),
      properties: () => jsonColumn((name) => source(table.groupProperty(type, name)), notWhole(`group_${type}`)),
    });

  const time: Type = { kind: "DateTime64", zone: zone.name };
  const members: Readonly<Record<string, () => Member>> = {
    event: () => column(string, table.name),
    distinct_id: () => column(string, table.distinctId),
    person_id: () => column(uuid, table.person),
    timestamp: () => column(time, table.time),
    uuid: () => whole(uuid, (event) => event.uuid ?? "00000000-0000-0000-0000-000000000000"),
    created_at: () => whole(time, (event) => Date.parse(event.received_at)),
    properties: () =>
      jsonColumn(
        (name) => source(table.property(name)),
        (row) => JSON.stringify(eventAt(row).properties),
      ),
    $session_id: sessionId,
    $window_id: () => text(table.property("$window_id")),
    elements_chain: () => column(string, chainAt),
    person_mode: () => whole(personModes, (event) => event.person_mode),
    person: () => ({ is: "table", table: person }),
    session: () => ({ is: "table", table: createSessions(table, zone).sessions }),
    ...Object.fromEntries(groupTypes.map((type) => [`$group_${type}`, () => text(table.group(type))])),
    elements_chain_href: () => chainColumn("elements_chain_href"),
    elements_chain_texts: () => chainColumn("elements_chain_texts"),
    elements_chain_ids: () => chainColumn("elements_chain_ids"),
    elements_chain_elements: () => chainColumn("elements_chain_elements"),
    ...Object.fromEntries(
      groupTypes.map((type) => [`group_${type}`, (): Member => ({ is: "table", table: group(type) })]),
    ),
  };
  return {
    names: Object.keys(members),
    starred,
    member: memo((name) => {
      if (absentEventColumns.includes(name)) throw new Refusal(`The column ${name} of events is not emulated`);
      return own(members, name)?.();
    }),
    length: () => table.length,
  };
}

const notWhole = (name: string) => (): never => {
  throw new Refusal(`${name}.properties as a whole is not emulated; name a property`);
};

/** A table of a row, reached by a name. */
const virtual = (name: string, members: Readonly<Record<string, () => Member>>): Table => ({
  names: Object.keys(members),
  starred: [],
  member: memo((key) => {
    if (key === "created_at") throw new Refusal(`${name}.created_at is not emulated`);
    return own(members, key)?.();
  }),
});

/** A row of the table of persons, or of groups. */
export interface DocumentRow {
  readonly properties: JsonObject;
  readonly [column: string]: HogQLValue | JsonObject;
}

/** A table of documents with `properties`, such as `persons`. `absent`: a column that the sim does not have. */
export function documentTable(
  rows: () => readonly DocumentRow[],
  columns: Readonly<Record<string, Type | "absent">>,
  zone: ClockZone,
  now: number,
): RowSource {
  let held: readonly DocumentRow[] | undefined;
  const all = () => (held ??= rows());
  const propertiesAt = (row: number): JsonObject => all()[row]?.properties ?? {};
  const names = Object.keys(columns);
  return {
    names,
    starred: names.filter((it) => columns[it] !== "absent"),
    member: memo((name) => {
      if (name === "properties")
        return jsonColumn(
          (key) => ({ column: (row) => own(propertiesAt(row), key), length: all().length, zone, now }),
          (row) => JSON.stringify(propertiesAt(row)),
        );
      const type = own(columns, name);
      if (type === "absent") throw new Refusal(`The column ${name} is not emulated`);
      return type && column(type, (row) => (all()[row]?.[name] ?? null) as HogQLValue);
    }),
    length: () => all().length,
  };
}

import { type JsonObject, own } from "../../../kernel/base/json.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn, Steps } from "../table.ts";
import { jsonProperty, nestedProperty, typedProperty } from "./properties.ts";
import { Refusal } from "./refusal.ts";
import { createSessions } from "./sessions.ts";
import type { Member, RowSource, Table } from "./source.ts";
import type { SourceColumn } from "./term.ts";
import type { ClockZone } from "./time.ts";
import { type HogQLValue, string, type Type } from "./types.ts";

const column = (of: SourceColumn): Member => ({ is: "column", column: of });

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

const personModes: Type = { kind: "String", shown: "Enum8('full' = 0, 'propertyless' = 1, 'force_upgrade' = 2)" };

/** Patterns of the service's columns of element chains. Upstream posthog/models/event/sql.py. */
const chainParts: Readonly<Record<string, { pattern: RegExp; isList: boolean }>> = {
  elements_chain_href: { pattern: /(?::|")href="(.*?)"/gs, isList: false },
  elements_chain_texts: { pattern: /(?::|")text="(.*?)"/gs, isList: true },
  elements_chain_ids: { pattern: /(?::|")attr_id="(.*?)"/gs, isList: true },
  elements_chain_elements: { pattern: /(?:^|;)(a|button|form|input|select|textarea|label)(?:\.|$|:)/gs, isList: true },
};

/** What a pattern finds in a chain of elements: `elements_chain_href` and others. */
export const chainPart = (name: string, chain: string): string[] => {
  const part = Object.hasOwn(chainParts, name) ? chainParts[name] : undefined;
  return part ? [...chain.matchAll(part.pattern)].map(([, found = ""]) => found) : [];
};

/** The table `events` and what belongs to its rows. */
export function eventsTable(context: QueryContext, zone: ClockZone): RowSource {
  const { table, now } = context;
  const source = (of: EventColumn) => ({ column: of, length: table.length, zone, now });
  const known = new Map<string, Member>();
  const { sessions } = createSessions(table, zone);

  let last: { row: number; event: StoredEvent } | undefined;
  /** The whole event: read again for each of its columns that is not in the table, so the last one is kept. */
  function eventAt(row: number): StoredEvent {
    if (last?.row === row) return last.event;
    const event = table.event(row);
    if (!event) throw new Error(`a bug in phx-sim: there is no event ${row}`);
    last = { row, event };
    return event;
  }
  const whole = (type: Type, read: (event: StoredEvent) => HogQLValue): Member =>
    column({ type, read: (row) => read(eventAt(row)) });

  /** Text of a property in a column of its own: empty if it is missing. */
  function textColumn(of: EventColumn): SourceColumn {
    const { read } = nestedProperty(source(of), []);
    return { type: string, read: (row) => read(row) ?? "" };
  }
  /** Text of a property in a column of its own, NULL if it is missing or empty: an event without a session counts for none. */
  function ownText(of: EventColumn): SourceColumn {
    const { read, ...others } = nestedProperty(source(of), []);
    return { ...others, read: (row) => read(row) || null };
  }
  /** The same without the escapes of JSON. */
  const plainColumn = (of: EventColumn): SourceColumn => ({
    type: string,
    read(row) {
      const value = of(row);
      return typeof value === "string" ? value : "";
    },
  });
  const json = (of: (name: string) => EventColumn, text: (row: number) => string): Member => ({
    is: "json",
    json: {
      property: (name) => typedProperty(name, source(of(name))),
      nested: ([name, ...path]) => nestedProperty(source(of(name)), path),
      text: (name) => jsonProperty(source(of(name))),
      whole: { type: string, isJson: true, read: text },
    },
  });
  const properties = json(
    (name) => table.property(name),
    (row) => JSON.stringify(eventAt(row).properties),
  );
  const person = virtual("person", {
    id: () => column({ type: { kind: "UUID" }, read: table.person }),
    properties: () =>
      json(
        (name) => table.personProperty(name),
        () => {
          throw new Refusal("person.properties as a whole is not emulated; name a property");
        },
      ),
  });
  const group = (index: number): Table =>
    virtual(`group_${index}`, {
      key: () => column(textColumn(table.group(index))),
      properties: () =>
        json(
          (name) => table.groupProperty(index, name),
          () => {
            throw new Refusal(`group_${index}.properties as a whole is not emulated; name a property`);
          },
        ),
    });

  const time: Type = { kind: "DateTime64", zone: zone.name };
  const fixed: Readonly<Record<string, () => Member>> = {
    event: () => column({ type: string, read: table.name }),
    distinct_id: () => column({ type: string, read: table.distinctId }),
    person_id: () => column({ type: { kind: "UUID" }, read: table.person }),
    timestamp: () => column({ type: time, read: table.time }),
    uuid: () => whole({ kind: "UUID" }, (event) => event.uuid ?? "00000000-0000-0000-0000-000000000000"),
    created_at: () => whole(time, (event) => Date.parse(event.received_at)),
    properties: () => properties,
    $session_id: () => column(ownText(table.property("$session_id"))),
    $window_id: () => column(textColumn(table.property("$window_id"))),
    elements_chain: () => column(plainColumn(table.property("$elements_chain"))),
    person_mode: () => whole(personModes, (event) => event.person_mode),
    person: () => ({ is: "table", table: person }),
    session: () => ({ is: "table", table: sessions }),
  };

  function chainColumn(name: string): Member | undefined {
    const part = Object.hasOwn(chainParts, name) ? chainParts[name] : undefined;
    if (!part) return undefined;
    const { read } = plainColumn(table.property("$elements_chain"));
    const type: Type = part.isList ? { kind: "Array", item: string } : string;
    return column({
      type,
      read(row) {
        const found = chainPart(name, String(read(row)));
        return part.isList ? [...new Set(found)] : (found[0] ?? "");
      },
    });
  }
  function find(name: string): Member | undefined {
    const [, dollar, index] = /^(\$?)group_([0-4])$/.exec(name) ?? [];
    if (index !== undefined)
      return dollar ? column(textColumn(table.group(Number(index)))) : { is: "table", table: group(Number(index)) };
    if (absentEventColumns.includes(name)) throw new Refusal(`The column ${name} of events is not emulated`);
    return (Object.hasOwn(fixed, name) ? fixed[name]?.() : undefined) ?? chainColumn(name);
  }
  return {
    names: [...Object.keys(fixed), ...starred, "group_0", "group_1", "group_2", "group_3", "group_4"],
    starred,
    member(name) {
      const found = known.get(name) ?? find(name);
      if (found) known.set(name, found);
      return found;
    },
    length: () => table.length,
    prepare: noWork,
  };
}

/** A table of a row, reached by a name. */
function virtual(name: string, members: Readonly<Record<string, () => Member>>): Table {
  const known = new Map<string, Member>();
  return {
    names: Object.keys(members),
    starred: [],
    member(key) {
      const found = known.get(key) ?? (Object.hasOwn(members, key) ? members[key]?.() : undefined);
      if (found) known.set(key, found);
      else if (key === "created_at") throw new Refusal(`${name}.created_at is not emulated`);
      return found;
    },
  };
}

/** Nothing to do before rows are read. */
function* noWork(): Steps<void> {}

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
  const known = new Map<string, Member>();
  const valuesOf =
    (name: string): EventColumn =>
    (row) =>
      own(all()[row]?.properties ?? {}, name);
  const source = (name: string) => ({ column: valuesOf(name), length: all().length, zone, now });
  const json: Member = {
    is: "json",
    json: {
      property: (name) => typedProperty(name, source(name)),
      nested: ([name, ...path]) => nestedProperty(source(name), path),
      text: (name) => jsonProperty(source(name)),
      whole: { type: string, isJson: true, read: (row) => JSON.stringify(all()[row]?.properties ?? {}) },
    },
  };
  const names = Object.keys(columns);
  const find = (name: string): Member | undefined => {
    if (name === "properties") return json;
    const type = Object.hasOwn(columns, name) ? columns[name] : undefined;
    if (type === "absent") throw new Refusal(`The column ${name} is not emulated`);
    return type && column({ type, read: (row) => (all()[row]?.[name] ?? null) as HogQLValue });
  };
  return {
    names,
    starred: names.filter((it) => columns[it] !== "absent"),
    member(name) {
      const found = known.get(name) ?? find(name);
      if (found) known.set(name, found);
      return found;
    },
    length: () => all().length,
    prepare: noWork,
  };
}

import { isObject, type Json, type JsonObject, own } from "../kernel/json.ts";
import type { StoredEvent } from "../model/event.ts";
import type { BatchExport } from "../model/world.ts";
import type { EventTime, ExportedPerson } from "./ports.ts";

/** `time` values are ms since the epoch; `json` is nested in JSON lines, and text in Parquet. */
export type ColumnType = "text" | "json" | "time" | "integer" | "boolean";

/** A column of an export. */
export interface Column<R> {
  readonly name: string;
  readonly type: ColumnType;
  /** The value of a record; null when it has none. */
  of(record: R): Json;
}

/** An event while it is exported. */
export interface EventRecord {
  readonly event: StoredEvent;
  /** By which time it was chosen. */
  readonly by: EventTime;
  /** Properties of its person, as they are now. */
  readonly personProperties: () => JsonObject | undefined;
}

/** One distinct id of a person. */
export interface PersonRecord {
  readonly person: ExportedPerson;
  readonly distinctId: string;
}

const textIn = (properties: JsonObject, key: string): string | null => {
  const value = own(properties, key);
  return typeof value === "string" && value !== "" ? value : null;
};

const objectIn = (properties: JsonObject, key: string): Json => {
  const value = own(properties, key);
  return value !== undefined && isObject(value) ? value : null;
};

const chainOf = ({ event }: EventRecord): string => textIn(event.properties, "$elements_chain") ?? "";

const column = <R>(name: string, type: ColumnType, of: (record: R) => Json): Column<R> => ({
  name,
  type,
  of,
});

/** The columns of events, by name. Upstream: the subquery of `events_batch_export`. */
export const eventColumns: ReadonlyMap<string, Column<EventRecord>> = new Map(
  [
    column<EventRecord>("uuid", "text", ({ event }) => event.uuid),
    column<EventRecord>("team_id", "integer", ({ event }) => event.project),
    column<EventRecord>("timestamp", "time", ({ event }) => Date.parse(event.timestamp)),
    column<EventRecord>("_inserted_at", "time", ({ event, by }) => Date.parse(event[by])),
    column<EventRecord>("created_at", "time", ({ event }) => Date.parse(event.received_at)),
    column<EventRecord>("event", "text", ({ event }) => event.event),
    column<EventRecord>("properties", "json", ({ event }) => event.properties),
    column<EventRecord>("distinct_id", "text", ({ event }) => event.distinct_id),
    column<EventRecord>("elements_chain", "text", chainOf),
    column<EventRecord>("person_id", "text", ({ event }) => event.person_id),
    column<EventRecord>("person_properties", "json", (it) => it.personProperties() ?? null),
    column<EventRecord>("set", "json", ({ event }) => objectIn(event.properties, "$set")),
    column<EventRecord>("set_once", "json", ({ event }) => objectIn(event.properties, "$set_once")),
    column<EventRecord>("ip", "text", ({ event }) => textIn(event.properties, "$ip")),
    column<EventRecord>("elements", "text", chainOf),
    column<EventRecord>("site_url", "text", () => ""),
  ].map((it) => [it.name, it]),
);

/** One row for each distinct id. Upstream: `persons_batch_export`; its version of the mapping is not kept here. */
export const personColumns: readonly Column<PersonRecord>[] = [
  column("team_id", "integer", ({ person }) => person.project),
  column("distinct_id", "text", ({ distinctId }) => distinctId),
  column("person_id", "text", ({ person }) => person.uuid),
  column("properties", "json", ({ person }) => person.properties),
  column("person_distinct_id_version", "integer", () => 0),
  column("person_version", "integer", ({ person }) => person.version),
  column("created_at", "time", ({ person }) => person.created_at),
  column("_inserted_at", "time", ({ person }) => person.created_at),
  column("is_deleted", "boolean", () => false),
];

const named = (names: string): Column<EventRecord>[] =>
  names.split(" ").flatMap((name) => eventColumns.get(name) ?? []);

const tableColumns = "uuid team_id timestamp event properties distinct_id set set_once ip elements site_url";

const snowflakeNames: ReadonlyMap<string, string> = new Map([
  ["set", "people_set"],
  ["set_once", "people_set_once"],
]);

/** What each type of destination gets of an event unless a query says otherwise. Upstream: `…_default_fields`. */
const defaults: ReadonlyMap<string, readonly Column<EventRecord>[]> = new Map([
  [
    "S3",
    named(
      "uuid timestamp _inserted_at created_at event properties distinct_id elements_chain person_properties person_id",
    ),
  ],
  ["HTTP", named("uuid timestamp event properties distinct_id elements_chain")],
  ["Snowflake", named(tableColumns).map((it) => ({ ...it, name: snowflakeNames.get(it.name) ?? it.name }))],
]);

/** The default columns of events for a type of destination. */
export const defaultColumns = ({ type }: BatchExport["destination"]): readonly Column<EventRecord>[] =>
  defaults.get(type) ?? named(tableColumns);

import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject, own, textIn } from "../../kernel/base/json.ts";
import type { BatchExport } from "../../state/documents/world.ts";
import type { StoredEvent } from "../../state/journal/event.ts";
import type { EventTime, ExportedPerson } from "./ports.ts";

/** A property as a query sees it: text as it is, anything else as JSON; undefined for null and what is absent. */
export function plainText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** `time` values are ms since the epoch; `json` is nested in JSON lines, and text in Parquet. */
export type ColumnType = "text" | "json" | "time" | "integer" | "boolean";

export interface Column<R> {
  readonly name: string;
  readonly type: ColumnType;
  of(record: R): Json;
}

export interface EventRecord {
  readonly event: StoredEvent;
  readonly by: EventTime;
  /** Properties of its person, as they are now. */
  readonly personProperties: () => JsonObject | undefined;
}

export interface PersonRecord {
  readonly person: ExportedPerson;
  readonly distinctId: string;
}

const objectIn = (properties: JsonObject, key: string): Json => {
  const value = own(properties, key);
  return value !== undefined && isObject(value) ? value : null;
};

/** The chain of elements is a column of its own. */
function withoutChain(properties: JsonObject): JsonObject {
  if (!Object.hasOwn(properties, "$elements_chain")) return properties;
  const { $elements_chain: _, ...others } = properties;
  return others;
}

const chainOf = ({ event }: EventRecord): string => textIn(event.properties, "$elements_chain");

const column = <R>(name: string, type: ColumnType, of: (record: R) => Json): Column<R> => ({ name, type, of });

/** The columns of events, by name. Upstream: the subquery of `events_batch_export`. */
const eventColumns: ReadonlyMap<string, Column<EventRecord>> = new Map(
  [
    column<EventRecord>("uuid", "text", ({ event }) => event.uuid),
    column<EventRecord>("team_id", "integer", ({ event }) => event.project),
    column<EventRecord>("timestamp", "time", ({ event }) => Date.parse(event.timestamp)),
    column<EventRecord>("_inserted_at", "time", ({ event, by }) => Date.parse(event[by])),
    column<EventRecord>("created_at", "time", ({ event }) => Date.parse(event.received_at)),
    column<EventRecord>("event", "text", ({ event }) => event.event),
    column<EventRecord>("properties", "json", ({ event }) => withoutChain(event.properties)),
    column<EventRecord>("distinct_id", "text", ({ event }) => event.distinct_id),
    column<EventRecord>("elements_chain", "text", chainOf),
    column<EventRecord>("person_id", "text", ({ event }) => event.person_id),
    column<EventRecord>("person_properties", "json", (it) => it.personProperties() ?? null),
    column<EventRecord>("set", "json", ({ event }) => objectIn(event.properties, "$set")),
    column<EventRecord>("set_once", "json", ({ event }) => objectIn(event.properties, "$set_once")),
    column<EventRecord>("ip", "text", ({ event }) => textIn(event.properties, "$ip") || null),
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

/** The default columns of events, by type of destination; a query replaces them. Upstream: `…_default_fields`. */
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

const defaultColumns = ({ type }: BatchExport["destination"]): readonly Column<EventRecord>[] =>
  defaults.get(type) ?? named(tableColumns);

/** `.name`, `.$name`, `` .`any name` ``, `."any name"`, `['any name']` */
const step = /\.(?:([A-Za-z_$][\w$]*)|`([^`]+)`|"([^"]+)")|\['([^']*)'\]/y;
const root = /(?:events\.)?(person\.properties|person_properties|properties)(?=[.[])/y;

/** `properties.$browser` as its object and the keys in it; undefined when it is something else. */
function pathOf(expression: string): { isPerson: boolean; keys: string[] } | undefined {
  root.lastIndex = 0;
  const start = root.exec(expression);
  if (!start) return undefined;
  const keys: string[] = [];
  step.lastIndex = root.lastIndex;
  for (let found = step.exec(expression); found; found = step.exec(expression)) {
    keys.push(found[1] ?? found[2] ?? found[3] ?? found[4] ?? "");
    if (step.lastIndex === expression.length) return { isPerson: start[1] !== "properties", keys };
  }
  return undefined;
}

const valueAt = (object: JsonObject | undefined, keys: readonly string[]): Json =>
  keys.reduce<Json>((value, key) => (isObject(value) ? (own(value, key) ?? null) : null), object ?? null);

const unsupported = (expression: string) =>
  new SimError(
    "not_emulated",
    `The column ${JSON.stringify(expression)} of the query is not emulated: phx-sim exports plain columns (${[...eventColumns.keys()].join(", ")}) and single properties (properties.$browser, person.properties.email).`,
  );

function columnFor(expression: string, alias: string): Column<EventRecord> {
  const plain = eventColumns.get(expression.replace(/^events\./, "").replace(/^[`"](.*)[`"]$/, "$1"));
  if (plain) return { ...plain, name: alias };
  if (expression === "person.properties")
    return { name: alias, type: "json", of: (it) => it.personProperties() ?? null };
  const path = pathOf(expression);
  if (!path) throw unsupported(expression);
  const { isPerson, keys } = path;
  return {
    name: alias,
    type: "text",
    of: (it) => plainText(valueAt(isPerson ? it.personProperties() : it.event.properties, keys)) ?? null,
  };
}

function fieldsIn(schema: JsonObject | null): { expression: string; alias: string }[] {
  const fields = schema && own(schema, "fields");
  if (!Array.isArray(fields)) return [];
  return fields.flatMap((it) => {
    if (!isObject(it) || typeof it.expression !== "string") return [];
    const { expression, alias } = it;
    return [{ expression, alias: typeof alias === "string" ? alias : expression }];
  });
}

/**
 * The columns of an export of events: those of its query, or its destination's. S3 gets `_inserted_at` in any case,
 * upstream, too.
 * @throws SimError not_emulated for a column that is more than a plain one
 */
export function columnsOf({ destination, schema }: BatchExport): readonly Column<EventRecord>[] {
  const fields = fieldsIn(schema);
  if (fields.length === 0) return defaultColumns(destination);
  const columns = fields.flatMap(({ expression, alias }) =>
    expression === "*" ? defaultColumns(destination) : [columnFor(expression, alias)],
  );
  const inserted = eventColumns.get("_inserted_at");
  const isMissing = destination.type === "S3" && !columns.some(({ name }) => name === "_inserted_at");
  return isMissing && inserted ? [...columns, inserted] : columns;
}

export interface Encoder<R> {
  add(record: R): void;
  /** True if there is enough to be taken. */
  readonly isFull: boolean;
  take(): Promise<Uint8Array>;
  end(): Promise<Uint8Array>;
}

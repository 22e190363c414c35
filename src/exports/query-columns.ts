import { SimError } from "../kernel/errors.ts";
import { isObject, type Json, type JsonObject, own } from "../kernel/json.ts";
import type { BatchExport } from "../model/world.ts";
import { type Column, defaultColumns, type EventRecord, eventColumns } from "./columns.ts";
import { plainText } from "./plain-text.ts";

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

/** What lies at the end of a path. */
const valueAt = (object: JsonObject | undefined, keys: readonly string[]): Json =>
  keys.reduce<Json>((value, key) => (isObject(value) ? (own(value, key) ?? null) : null), object ?? null);

const unsupported = (expression: string) =>
  new SimError(
    "not_emulated",
    `The column ${JSON.stringify(expression)} of the query is not emulated: phx-sim exports plain columns (${[...eventColumns.keys()].join(", ")}) and single properties (properties.$browser, person.properties.email).`,
  );

/** The column of a query's expression. @throws SimError not_emulated */
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

/** An empty list when the document's schema, which is any JSON, has no fields. */
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

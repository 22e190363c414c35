import { type Json, own } from "../../../kernel/base/json.ts";
import { attempt } from "../hogql/refusal.ts";
import { createSessions } from "../hogql/sessions.ts";
import { zoneOf } from "../hogql/time.ts";
import type { HogQLValue } from "../hogql/types.ts";
import type { QueryContext } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import type { EventColumn } from "../table.ts";

export interface ColumnPlace {
  /** `event`, `person`, `group`, `event_metadata`, `session`, `feature`. */
  readonly type: string;
  readonly key: string;
  readonly group?: number | null | undefined;
}

const groupKey = /^\$group_([0-4])$/;

/** Fields of events that are not properties. */
const metadata: Readonly<Record<string, (context: QueryContext) => EventColumn>> = {
  event: ({ table }) => table.name,
  distinct_id: ({ table }) => table.distinctId,
  person_id: ({ table }) => table.person,
};

function eventColumn(key: string, context: QueryContext): EventColumn {
  const group = groupKey.exec(key)?.[1];
  if (key.startsWith("$virt_") || key === "$elements_chain") throw unsupported(`The property ${key}`);
  return group === undefined ? context.table.property(key) : context.table.group(Number(group));
}

function metadataColumn(key: string, context: QueryContext): EventColumn {
  const group = groupKey.exec(key)?.[1];
  if (group !== undefined) return context.table.group(Number(group));
  const read = own(metadata, key);
  if (!read) throw unsupported(`The field ${JSON.stringify(key)} of events`);
  return read(context);
}

const isSession = (id: Json | undefined): boolean => typeof id === "string" && id !== "";

export function sessionColumn(key: string, context: QueryContext): EventColumn {
  const { table, timeZone } = context;
  const { sessions } = createSessions(table, zoneOf(timeZone));
  // A column that the sim does not have is refused as the other ones of insights.
  const found = key === "id" ? undefined : attempt(() => sessions.member(key));
  if (found?.is !== "column") throw unsupported(`The property ${JSON.stringify(key)} of sessions`);
  const ids = table.property("$session_id");
  const { read } = found.column;
  return (row) => (isSession(ids(row)) ? jsonOf(read(row)) : undefined);
}

const jsonOf = (value: HogQLValue): Json => (Array.isArray(value) ? value.map(jsonOf) : value) as Json;

function personColumn(key: string, context: QueryContext): EventColumn {
  if (key.startsWith("$virt_") || key === "distinct_id") {
    throw unsupported(`The property ${JSON.stringify(key)} of persons`);
  }
  return context.table.personProperty(key);
}

/** The values of a place. @throws SimError if the sim does not have it */
export function columnAt({ type, key, group }: ColumnPlace, context: QueryContext): EventColumn {
  switch (type) {
    case "event":
    case "feature":
      return eventColumn(key, context);
    case "event_metadata":
      return metadataColumn(key, context);
    case "person":
      return personColumn(key, context);
    case "session":
      return sessionColumn(key, context);
    case "group": {
      if (typeof group !== "number") throw refuse("A property of a group needs a group_type_index.");
      if (key.startsWith("$virt_")) throw unsupported(`The property ${key} of groups`);
      return context.table.groupProperty(group, key);
    }
    default:
      throw unsupported(`The property type ${JSON.stringify(type)}`);
  }
}

import type { Json } from "../../../kernel/base/json.ts";
import { Refusal } from "../hogql/refusal.ts";
import { createSessions } from "../hogql/sessions.ts";
import { zoneOf } from "../hogql/time.ts";
import type { HogQLValue } from "../hogql/types.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn } from "../table.ts";
import { refuse, unsupported } from "./refuse.ts";

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
  const read = Object.hasOwn(metadata, key) ? metadata[key] : undefined;
  if (!read) throw unsupported(`The field ${JSON.stringify(key)} of events`);
  return read(context);
}

const isSession = (id: Json | undefined): boolean => typeof id === "string" && id !== "";

/** Length of the event's session, s: from its first event to its last. */
export function sessionDurations({ table }: QueryContext): EventColumn {
  const ids = table.property("$session_id");
  const spans = new Map<Json | undefined, [first: number, last: number]>();
  for (let row = 0; row < table.length; row++) {
    const [time, id] = [table.time(row), ids(row)];
    const [first, last] = spans.get(id) ?? [time, time];
    spans.set(id, [Math.min(first, time), Math.max(last, time)]);
  }
  return (row) => {
    const [first, last] = spans.get(ids(row)) ?? [0, 0];
    return isSession(ids(row)) ? seconds(last) - seconds(first) : undefined;
  };
}

const seconds = (ms: number): number => Math.floor(ms / 1000);

function sessionColumn(key: string, context: QueryContext): EventColumn {
  if (key === "$session_duration") return sessionDurations(context);
  const { table, timeZone } = context;
  const { sessions } = createSessions(table, zoneOf(timeZone));
  const found = key === "id" ? undefined : refusing(() => sessions.member(key));
  if (found?.is !== "column") throw unsupported(`The property ${JSON.stringify(key)} of sessions`);
  const ids = table.property("$session_id");
  const { read } = found.column;
  return (row) => (isSession(ids(row)) ? jsonOf(read(row)) : undefined);
}

const jsonOf = (value: HogQLValue): Json => (Array.isArray(value) ? value.map(jsonOf) : value) as Json;

/** A column that the sim does not have is refused as the other ones of insights. */
function refusing<T>(find: () => T): T | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

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

import { z } from "zod";
import type { Json, JsonObject } from "../../base/json.ts";
import { compareText } from "../../base/text.ts";
import { numberOf, textOf } from "../../flags/engine/values.ts";
import type { StoredEvent } from "../../journal/event.ts";
import { wireTime } from "../../world/time.ts";
import type { QueryContext } from "../kind.ts";
import type { Column, Steps } from "../table.ts";
import { columnAt } from "./columns.ts";
import { type Calendar, calendarOf, readDate } from "./dates.ts";
import { allOf, codeTest, everyRow, filterTest, queryTest, type RowTest } from "./filters.ts";
import { queryKind } from "./recorded-needs.ts";
import { refuse, unsupported } from "./refuse.ts";
import { actionTest, selectRows } from "./series.ts";
import { insightFields } from "./shapes.ts";

const { properties, filterTestAccounts, modifiers, tags, version, response } = insightFields;

const EventsQuery = z.strictObject({
  kind: z.literal("EventsQuery"),
  select: z.array(z.string()),
  // Expressions are HogQL.
  where: z.tuple([]).nullish(),
  properties,
  fixedProperties: z.json().nullish(),
  filterTestAccounts,
  event: z.string().nullish(),
  events: z.array(z.string()).nullish(),
  actionId: z.int().nullish(),
  personId: z.string().nullish(),
  after: z.string().nullish(),
  before: z.string().nullish(),
  orderBy: z.array(z.string()).nullish(),
  limit: z.int().min(0).nullish(),
  offset: z.int().min(0).nullish(),
  modifiers,
  tags,
  version,
  response,
});
type EventsQuery = z.infer<typeof EventsQuery>;

const defaultLimit = 100;
const mostRows = 50_000;

/** A column of the result. */
interface Selected {
  readonly type: string;
  read(row: number, event: StoredEvent): unknown;
  /** What rows are ordered by; undefined: they cannot be. */
  readonly key?: (row: number) => Json | undefined;
}

/** `event -- Event`: what follows the dashes is a title. */
const withoutTitle = (column: string): string => column.split("--")[0]?.trim() ?? "";

const propertyPattern = /^(person\.)?properties(?:\.([$\w]+)|\.`([^`]+)`|\["([^"]+)"\]|\['([^']+)'\])$/;

/** Properties by which a person is named. Upstream: `PERSON_DEFAULT_DISPLAY_NAME_PROPERTIES`. */
const namingProperties = ["email", "Email", "$email", "name", "Name", "username", "Username", "UserName"];

/** A scalar as it is; objects and lists as JSON. */
const scalar = (value: Json | undefined): string | number | boolean | null =>
  value === undefined || value === null ? null : typeof value === "object" ? textOf(value) : value;

function propertyColumn({ codes, values }: Column): Selected {
  const real = values.filter((it) => it !== undefined && it !== null);
  const isNumeric = real.length > 0 && real.every((it) => typeof it === "number");
  const valueAt = (row: number) => scalar(values[codes[row] ?? 0]);
  return { type: isNumeric ? "Nullable(Float64)" : "Nullable(String)", read: valueAt, key: valueAt };
}

function textColumn({ codes, values }: Column, type = "String"): Selected {
  const valueAt = (row: number) => values[codes[row] ?? 0] ?? "";
  return { type, read: valueAt, key: valueAt };
}

/** `*`. Upstream: `SELECT_STAR_FROM_EVENTS_FIELDS`. */
function wholeEvent(event: StoredEvent, time: string, calendar: Calendar): JsonObject {
  const { $elements_chain: chain } = event.properties;
  return {
    uuid: event.uuid,
    event: event.event,
    properties: event.properties,
    timestamp: time,
    team_id: event.project,
    distinct_id: event.distinct_id,
    elements_chain: typeof chain === "string" ? chain : "",
    created_at: calendar.iso(calendar.wall(Date.parse(event.received_at))),
    person_mode: event.person_mode,
  };
}

type MakeColumn = (context: QueryContext, calendar: Calendar) => Selected;

/** Columns with a name of their own. */
const columns: Readonly<Record<string, MakeColumn>> = {
  "*": ({ table }, calendar) => ({
    type: "Tuple",
    read: (row, event) => wholeEvent(event, calendar.iso(calendar.wall(table.times[row] ?? 0)), calendar),
    // Upstream: by the uuid, which is mostly the order in which clients made them.
    key: (row) => table.seqs[row] ?? 0,
  }),
  event: ({ table }) => textColumn(table.names),
  distinct_id: ({ table }) => textColumn(table.distinctIds),
  person_id: ({ table }) => textColumn(table.persons, "UUID"),
  "person.id": ({ table }) => textColumn(table.persons, "UUID"),
  uuid: () => ({ type: "UUID", read: (_, event) => event.uuid }),
  timestamp: ({ table }, calendar) => ({
    type: "DateTime64(6)",
    read: (row) => calendar.iso(calendar.wall(table.times[row] ?? 0)),
    key: (row) => table.times[row] ?? 0,
  }),
  created_at: (_, calendar) => ({
    type: "DateTime64(6)",
    read: (_row, event) => calendar.iso(calendar.wall(Date.parse(event.received_at))),
  }),
  properties: () => ({ type: "String", read: (_, event) => JSON.stringify(event.properties) }),
  person: (context) => personColumn(context),
  person_display_name: (context) => displayName(context),
};

function personColumn({ table, person }: QueryContext): Selected {
  const { distinctIds, persons } = table;
  return {
    ...textColumn(distinctIds),
    read(row) {
      const uuid = persons.values[persons.codes[row] ?? 0] ?? "";
      const found = person?.(uuid);
      const distinct_id = distinctIds.values[distinctIds.codes[row] ?? 0] ?? "";
      if (!found) return { distinct_id };
      const { createdAt, properties: own } = found;
      return { uuid, created_at: wireTime(createdAt), properties: own, distinct_id };
    },
  };
}

function displayName(context: QueryContext): Selected {
  const names = namingProperties.map((it) => context.table.personProperty(it));
  const { distinctIds, persons } = context.table;
  const idAt = (row: number) => distinctIds.values[distinctIds.codes[row] ?? 0] ?? "";
  const nameAt = (row: number) => {
    for (const { codes, values } of names) {
      const value = scalar(values[codes[row] ?? 0]);
      if (value !== null) return String(value);
    }
    return idAt(row);
  };
  return {
    type: "Tuple",
    read: (row) => ({
      display_name: nameAt(row),
      id: persons.values[persons.codes[row] ?? 0] ?? "",
      distinct_id: idAt(row),
    }),
    key: nameAt,
  };
}

/** @throws SimError for an expression that is no plain column */
function selectedColumn(text: string, context: QueryContext, calendar: Calendar): Selected {
  const name = withoutTitle(text);
  const make = Object.hasOwn(columns, name) ? columns[name] : undefined;
  if (make) return make(context, calendar);
  if (/^\$group_[0-4]$/.test(name)) {
    return textColumn(columnAt({ type: "event_metadata", key: name }, context));
  }
  const found = propertyPattern.exec(name);
  const key = found?.[2] ?? found?.[3] ?? found?.[4] ?? found?.[5];
  if (key === undefined) throw unsupported(`The expression ${JSON.stringify(text)} in an EventsQuery`);
  return propertyColumn(columnAt({ type: found?.[1] ? "person" : "event", key }, context));
}

type Order = (a: number, b: number) => number;

const isDescending = (text: string): boolean => /\sDESC\s*$/i.test(text);

/** Missing values come last in both directions. */
function orderBy(text: string, context: QueryContext, calendar: Calendar): Order {
  const column = text.replace(/\s+(ASC|DESC)\s*$/i, "");
  const { key } = selectedColumn(column, context, calendar);
  if (!key) throw unsupported(`The order by ${JSON.stringify(column)}`);
  const sign = isDescending(text) ? -1 : 1;
  return (a, b) => {
    const [left = null, right = null] = [key(a), key(b)];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    const [x, y] = [numberOf(left), numberOf(right)];
    if (typeof left === "number" && x !== undefined && y !== undefined) return sign * (x - y);
    return sign * compareText(textOf(left), textOf(right));
  };
}

function orderOf({ orderBy: given, select }: EventsQuery, context: QueryContext, calendar: Calendar): Order {
  const [first = "*"] = select;
  const hasTime = select.some((it) => withoutTitle(it) === "timestamp");
  const texts = given ?? [hasTime ? "timestamp DESC" : withoutTitle(first)];
  const orders = texts.map((it) => orderBy(it, context, calendar));
  const isBackwards = isDescending(texts[0] ?? "");
  return (a, b) => {
    for (const order of orders) {
      const result = order(a, b);
      if (result !== 0) return result;
    }
    return isBackwards ? b - a : a - b;
  };
}

/** The first rows in an order, without sorting them all. */
function* firstRows(rows: Uint32Array, count: number, order: Order): Steps<number[]> {
  let kept: number[] = [];
  let last: number | undefined;
  for (let at = 0; at < rows.length; at++) {
    if (at % 4096 === 0) yield;
    const row = rows[at] ?? 0;
    if (last !== undefined && order(row, last) >= 0) continue;
    kept.push(row);
    if (kept.length < 2 * count + 1024) continue;
    kept = kept.sort(order).slice(0, count);
    last = kept[count - 1];
  }
  return kept.sort(order).slice(0, count);
}

function testOf(query: EventsQuery, context: QueryContext): RowTest {
  const { table } = context;
  const names = new Set(
    [query.event, ...(query.events ?? [])].filter((it) => typeof it === "string" && it !== ""),
  );
  const action = typeof query.actionId === "number" ? context.action?.(query.actionId) : undefined;
  if (typeof query.actionId === "number" && !action) throw refuse("Action does not exist", "actionId");
  if (action?.steps.length === 0) throw refuse("Action does not have any match groups", "actionId");
  return allOf([
    names.size === 0
      ? everyRow
      : codeTest(table.names, (name) => typeof name === "string" && names.has(name)),
    action ? actionTest(action, context) : everyRow,
    query.personId ? codeTest(table.persons, (uuid) => uuid === query.personId?.toLowerCase()) : everyRow,
    queryTest(query, context),
    filterTest(query.fixedProperties, context),
  ]);
}

/** Events of the future are not shown if nothing else is asked for. */
const tolerance = 5000;

function* runEvents(query: EventsQuery, context: QueryContext): Steps<Record<string, unknown>> {
  const { table } = context;
  const calendar = calendarOf(context);
  const select = query.select.length === 0 ? ["*"] : query.select;
  const selected = select.map((it) => selectedColumn(it, context, calendar));
  const order = orderOf({ ...query, select }, context, calendar);
  const instant = (text: string) => calendar.instant(readDate(text, { calendar }).wall);
  const after = query.after || "-24h";
  // Neither end is included.
  const span = {
    from: after === "all" ? -Infinity : instant(after) + 1,
    to: (query.before ? instant(query.before) : context.now + tolerance) - 1,
  };
  const rows = yield* selectRows(context, span, testOf(query, context));
  const limit = Math.min(query.limit ?? defaultLimit, mostRows);
  const offset = query.offset ?? 0;
  const found = yield* firstRows(rows, offset + limit + 1, order);
  const results: unknown[][] = [];
  for (const [at, row] of found.slice(offset, offset + limit).entries()) {
    if (at % 100 === 0) yield;
    const event = table.event(row);
    if (event) results.push(selected.map((it) => it.read(row, event)));
  }
  return {
    results,
    columns: select,
    types: selected.map(({ type }) =>
      type.startsWith("DateTime") ? `${type.slice(0, -1)}, '${context.timeZone}')` : type,
    ),
    hasMore: found.length > offset + limit,
    limit,
    offset,
  };
}

/** Upstream PostHog/posthog posthog/hogql_queries/events_query_runner.py. */
export const eventsKind = queryKind<EventsQuery>({ kind: "EventsQuery", shape: EventsQuery, run: runEvents });

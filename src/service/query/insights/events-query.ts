import { z } from "zod";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { StoredEvent } from "../../../state/journal/event.ts";
import { textOf } from "../../flags/engine/values.ts";
import { compileExpression, expressionTest, groupedRows, hasAggregation } from "../hogql/expressions.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { refuse } from "../refusals.ts";
import { calendarOf, type ProjectCalendar, readDate } from "./dates.ts";
import { allOf, everyRow, filterTest, queryTest, type RowTest } from "./filters.ts";
import { actionTest, selectRows } from "./series.ts";
import { commonFields, insightFields } from "./shapes.ts";

const EventsQuery = z.strictObject({
  kind: z.literal("EventsQuery"),
  select: z.array(z.string()),
  where: z.array(z.string()).nullish(),
  properties: insightFields.properties,
  fixedProperties: z.json().nullish(),
  filterTestAccounts: insightFields.filterTestAccounts,
  event: z.string().nullish(),
  events: z.array(z.string()).nullish(),
  actionId: z.int().nullish(),
  personId: z.string().nullish(),
  after: z.string().nullish(),
  before: z.string().nullish(),
  orderBy: z.array(z.string()).nullish(),
  limit: z.int().min(0).nullish(),
  offset: z.int().min(0).nullish(),
  ...commonFields,
});
type EventsQuery = z.infer<typeof EventsQuery>;

const defaultLimit = 100;
const mostRows = 50_000;

interface Selected {
  readonly type: string;
  read(row: number, event: StoredEvent): unknown;
}

/** `event -- Event`: what follows the dashes is a title. */
const withoutTitle = (column: string): string => column.split("--")[0]?.trim() ?? "";

/** Properties by which a person is named. Upstream: `PERSON_DEFAULT_DISPLAY_NAME_PROPERTIES`. */
const namingProperties = ["email", "Email", "$email", "name", "Name", "username", "Username", "UserName"];

/** `*`. Upstream: `SELECT_STAR_FROM_EVENTS_FIELDS`. */
function wholeEvent(event: StoredEvent, time: string, calendar: ProjectCalendar): JsonObject {
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

function personColumn({ table, person }: QueryContext): Selected {
  return {
    type: "String",
    read(row) {
      const distinct_id = table.distinctId(row);
      const found = person?.(table.person(row));
      if (!found) return { distinct_id };
      const { uuid, created_at: created, properties: own } = found;
      return { uuid, created_at: wireTime(created), properties: own, distinct_id };
    },
  };
}

function nameReader({ table }: QueryContext): (row: number) => string {
  const names = namingProperties.map((it) => table.personProperty(it));
  return (row) => {
    for (const name of names) {
      const value = name(row);
      if (value !== undefined && value !== null) return textOf(value);
    }
    return table.distinctId(row);
  };
}

function displayName(context: QueryContext): Selected {
  const { distinctId, person } = context.table;
  const nameAt = nameReader(context);
  return {
    type: "Tuple(String, String, String)",
    read: (row) => ({ display_name: nameAt(row), id: person(row), distinct_id: distinctId(row) }),
  };
}

/** @throws SimError for an expression that is wrong or not supported */
function selectedColumn(text: string, context: QueryContext, calendar: ProjectCalendar): Selected {
  const { table } = context;
  switch (withoutTitle(text)) {
    case "*":
      return {
        type: "Tuple",
        read: (row, event) => wholeEvent(event, calendar.iso(calendar.wall(table.time(row))), calendar),
      };
    case "person":
      return personColumn(context);
    case "person_display_name":
      return displayName(context);
    default:
      return compileExpression(withoutTitle(text), context);
  }
}

type Order = (a: number, b: number) => number;

type OrderKey = (row: number) => unknown;

function orderKey(column: string, context: QueryContext): OrderKey {
  const { table } = context;
  switch (withoutTitle(column)) {
    case "timestamp":
      return table.time;
    case "*":
      // Upstream: by the uuid, which is mostly the order in which clients made them.
      return table.seq;
    case "person":
      return table.distinctId;
    case "person_display_name":
      return nameReader(context);
    default:
      return compileExpression(withoutTitle(column), context).read;
  }
}

const direction = /\s+(ASC|DESC)\s*$/i;
const isDescending = (text: string): boolean => direction.exec(text)?.[1]?.toUpperCase() === "DESC";

/** Missing values come last in both directions. */
function orderBy(read: OrderKey, sign: 1 | -1): Order {
  return (a, b) => {
    const [left, right] = [read(a) ?? null, read(b) ?? null];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (typeof left === "number" && typeof right === "number") return sign * (left - right);
    return sign * compareText(String(left), String(right));
  };
}

/** The order of the rows; those that are equal in it come in the order of their arrival. */
function orderOf({ orderBy: given, select }: EventsQuery, context: QueryContext): Order {
  const [first = "*"] = select;
  const hasTime = select.some((it) => withoutTitle(it) === "timestamp");
  const texts = given ?? [hasTime ? "timestamp DESC" : first];
  const orders = texts.map((text) =>
    orderBy(orderKey(text.replace(direction, ""), context), isDescending(text) ? -1 : 1),
  );
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
function firstRows(rows: readonly number[], count: number, order: Order): number[] {
  let kept: number[] = [];
  let last: number | undefined;
  for (const row of rows) {
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
  const names = new Set([query.event, ...(query.events ?? [])].filter((it) => typeof it === "string" && it !== ""));
  const action = typeof query.actionId === "number" ? context.action?.(query.actionId) : undefined;
  if (typeof query.actionId === "number" && !action) throw refuse("Action does not exist", "actionId");
  if (action?.steps.length === 0) throw refuse("Action does not have any match groups", "actionId");
  return allOf([
    names.size === 0 ? everyRow : (row) => names.has(table.name(row)),
    action ? actionTest(action, context) : everyRow,
    query.personId ? (row) => table.person(row) === query.personId?.toLowerCase() : everyRow,
    queryTest(query, context),
    filterTest(query.fixedProperties, context),
    ...(query.where ?? []).map((it) => expressionTest(it, context)),
  ]);
}

/** Columns that are no expressions. */
const specialColumns: ReadonlySet<string> = new Set(["*", "person", "person_display_name"]);

const isGrouped = (select: readonly string[], context: QueryContext): boolean =>
  select.map(withoutTitle).some((it) => !specialColumns.has(it) && hasAggregation(it, context));

interface Part {
  readonly span: { readonly from: number; readonly to: number };
  readonly limit: number;
  readonly offset: number;
}

/** Events grouped by the columns that are no aggregations; by default the largest first. */
function groupedEvents(
  query: EventsQuery,
  { span, limit, offset }: Part,
  context: QueryContext,
): Record<string, unknown> {
  const { select, orderBy: given } = query;
  const columns = select.map(withoutTitle);
  const special = columns.find((it) => specialColumns.has(it));
  if (special !== undefined) throw refuse(`The column ${special} beside an aggregation is not emulated`, "select");
  const largest = columns.includes("count()") ? "count()" : columns.find((it) => hasAggregation(it, context));
  const inside = new Set(selectRows(context, span, testOf(query, context)));
  const { results, types } = groupedRows(
    {
      columns,
      isInside: (row) => inside.has(row),
      orderBy: (given ?? [`${largest} DESC`]).map((text) => ({
        column: withoutTitle(text.replace(direction, "")),
        isDescending: isDescending(text),
      })),
      limit: limit + 1,
      offset,
    },
    context,
  );
  return { results: results.slice(0, limit), columns: select, types, hasMore: results.length > limit, limit, offset };
}

/** Events of the future are not shown if nothing else is asked for. */
const tolerance = 5000;

function runEvents(query: EventsQuery, context: QueryContext): Record<string, unknown> {
  const { table } = context;
  const calendar = calendarOf(context);
  const select = query.select.length === 0 ? ["*"] : query.select;
  const instant = (text: string) => calendar.instant(readDate(text, { calendar }).wall);
  const after = query.after || "-24h";
  // Neither end is included.
  const span = {
    from: after === "all" ? -Infinity : instant(after) + 1,
    to: (query.before ? instant(query.before) : context.now + tolerance) - 1,
  };
  const limit = Math.min(query.limit ?? defaultLimit, mostRows);
  const offset = query.offset ?? 0;
  if (isGrouped(select, context)) return groupedEvents({ ...query, select }, { span, limit, offset }, context);
  const rows = selectRows(context, span, testOf(query, context));
  const selected = select.map((it) => selectedColumn(it, context, calendar));
  const order = orderOf({ ...query, select }, context);
  const found = firstRows(rows, offset + limit + 1, order);
  const results: unknown[][] = [];
  for (const row of found.slice(offset, offset + limit)) {
    const event = table.event(row);
    if (event) results.push(selected.map((it) => it.read(row, event)));
  }
  return {
    results,
    columns: select,
    types: selected.map(({ type }) => type),
    hasMore: found.length > offset + limit,
    limit,
    offset,
  };
}

/** Upstream PostHog/posthog posthog/hogql_queries/events_query_runner.py. */
export const eventsKind = queryKind(EventsQuery, runEvents);

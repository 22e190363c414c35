import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { type Json, type JsonObject, own } from "../../../kernel/base/json.ts";
import { likeTest } from "../../../kernel/base/wildcard.ts";
import { textOf } from "../../flags/engine/values.ts";
import type { QueryAction, QueryContext } from "../kind.ts";
import { refuse } from "../refusals.ts";
import type { EventColumn } from "../table.ts";
import { calendarOf, type Interval, type ProjectCalendar } from "./dates.ts";
import { allOf, anyOf, clickTest, everyRow, filterTest, queryTest, type RowTest, valueTest } from "./filters.ts";
import { searchOf } from "./operators.ts";
import { comparedRange, previousRange, type Range, type RangeOptions, rangeOf } from "./range.ts";
import type { CompareFilter, DateRange, SeriesNode } from "./shapes.ts";

/** Events with this name; null is every event. */
function nameTest(event: string | null | undefined, { table }: QueryContext): RowTest {
  if (event === null || event === undefined) return everyRow;
  return (row) => table.name(row) === event;
}

/** Fields of a step that name an element, with the field that says how. */
const elementFields = [
  { field: "selector", matching: undefined },
  { field: "tag_name", matching: undefined },
  { field: "href", matching: "href_matching" },
  { field: "text", matching: "text_matching" },
] as const;

const matchings: Readonly<Record<string, string>> = { contains: "icontains", regex: "regex" };

/** The element of a click, as a step of an action has it. */
function elementOf(step: JsonObject, context: QueryContext): RowTest {
  return allOf(
    elementFields.flatMap(({ field, matching }) => {
      const value = step[field];
      if (typeof value !== "string" || value === "") return [];
      const operator = own(matchings, matching === undefined ? "" : String(step[matching] ?? "")) ?? "exact";
      return [clickTest(field, operator, value, context)];
    }),
  );
}

function urlTest(url: string, matching: Json | undefined, context: QueryContext): RowTest {
  const column = context.table.property("$current_url");
  const search = matching === "regex" ? searchOf(url) : likeTest(`%${url}%`, false);
  return valueTest(column, (value) => {
    if (value === undefined || value === null) return false;
    const text = textOf(value);
    return matching === "exact" ? text === url : search(text);
  });
}

function stepTest(step: JsonObject, context: QueryContext): RowTest {
  const { event, url, url_matching: matching, properties } = step;
  return allOf([
    typeof event === "string" && event !== "" ? nameTest(event, context) : everyRow,
    event === "$autocapture" ? elementOf(step, context) : everyRow,
    typeof url === "string" && url !== "" ? urlTest(url, matching, context) : everyRow,
    filterTest(properties, context),
  ]);
}

/** Upstream PostHog/posthog posthog/hogql/property.py, `steps_to_expr`. */
export function actionTest({ steps }: QueryAction, context: QueryContext): RowTest {
  if (steps.length === 0) return everyRow;
  return anyOf(steps.map((step) => stepTest(step, context)));
}

/** What a series counts: its event or action without its own filters, and its name; null is every event. */
export interface Entity {
  readonly name: string | null;
  readonly test: RowTest;
}

/** @returns undefined if the node's action does not exist */
export function entityOf(node: SeriesNode, context: QueryContext): Entity | undefined {
  if (node.kind === "EventsNode") {
    return { name: node.event ?? null, test: nameTest(node.event, context) };
  }
  const action = context.action?.(node.id);
  return action && { name: action.name, test: actionTest(action, context) };
}

/** @throws SimError if the node's action does not exist */
export function existingEntity(node: SeriesNode, context: QueryContext): Entity {
  const entity = entityOf(node, context);
  if (entity) return entity;
  throw refuse(`Action ID ${node.kind === "ActionsNode" ? node.id : ""} does not exist!`);
}

/** Who is counted: persons, groups of a type, or the values of an expression. */
export interface Actors {
  readonly of: EventColumn;
  /** Rows that have one. */
  readonly has: RowTest;
}

/** A row without a group has no actor; one without a person has one without a name. */
export function actorsOf(
  { table }: QueryContext,
  group: number | null | undefined,
  others: EventColumn = table.person,
): Actors {
  if (typeof group !== "number") return { of: others, has: everyRow };
  const keys = table.group(group);
  return { of: keys, has: (row) => (keys(row) ?? "") !== "" };
}

/** Times of events, in ms; both ends included. */
export interface TimeSpan {
  readonly from: number;
  readonly to: number;
}

/** The instants of wall clocks, in whole seconds, as the service compares them. */
export function wholeSeconds(calendar: ProjectCalendar, from: number, to: number): TimeSpan {
  const second = (wall: number) => calendar.instant(Math.floor(wall / 1000) * 1000);
  return { from: second(from), to: second(to) };
}

/** A value by which rows are grouped: objects and arrays are the same if their texts are. */
export type ActorKey = Exclude<Json, object> | undefined;

export const actorKey = (value: Json | undefined): ActorKey =>
  typeof value === "object" && value !== null ? JSON.stringify(value) : value;

interface Filtered {
  readonly properties?: Json | undefined;
  readonly filterTestAccounts?: boolean | null | undefined;
}

export interface Collection {
  readonly actors: Actors;
  readonly filters: RowTest;
  /** Rows of a span that have an actor and pass the filters and the test, in the order of the table. */
  rows(span: TimeSpan, test: RowTest): number[];
  /** The same rows of each actor, ordered by time; those of the same time as they arrived. */
  byActor(span: TimeSpan, test: RowTest): Map<ActorKey, number[]>;
}

/**
 * @param series Its own filters are applied, too
 * @throws SimError if a filter is wrong or not supported
 */
export function collect(
  query: Filtered,
  series: Pick<Filtered, "properties"> | undefined,
  actors: Actors,
  context: QueryContext,
): Collection {
  const { time } = context.table;
  const filters = allOf([filterTest(series?.properties, context), queryTest(query, context), actors.has]);
  const rows = (span: TimeSpan, test: RowTest) => selectRows(context, span, allOf([test, filters]));
  return {
    ...{ actors, filters, rows },
    byActor(span, test) {
      const groups = groupedBy(rows(span, test), (row) => actorKey(actors.of(row)));
      for (const group of groups.values()) group.sort((a, b) => time(a) - time(b) || a - b);
      return groups;
    },
  };
}

/** Rows of a span that pass a test, in the order of the table. */
export function selectRows({ table }: QueryContext, { from, to }: TimeSpan, test: RowTest): number[] {
  const rows: number[] = [];
  for (let row = 0; row < table.length; row++) {
    const time = table.time(row);
    if (time >= from && time <= to && test(row)) rows.push(row);
  }
  return rows;
}

/** Events before are damaged. Upstream: `EARLIEST_EVENT_TIMESTAMP`. */
const firstTime = Date.UTC(1980, 0, 1);

/** Time of the first event that passes one of the tests; a week ago if there is none. */
function earliestTime({ table, now }: QueryContext, tests: readonly RowTest[]): number {
  let earliest = Infinity;
  for (let row = 0; row < table.length; row++) {
    const time = table.time(row);
    if (time > firstTime && time < earliest && tests.some((test) => test(row))) earliest = time;
  }
  return earliest === Infinity ? now - 7 * 86_400_000 : earliest;
}

interface Dated {
  readonly dateRange?: DateRange | null | undefined;
  readonly compareFilter?: CompareFilter | null | undefined;
}

interface DateOptions {
  readonly interval: Interval;
  readonly isExact?: boolean;
  /** Interval of the range, if it is not that of the period before. */
  readonly rangeInterval?: Interval;
}

/** The dates of a query; `all` begins with the first event that passes one of the tests. @throws SimError if one is wrong */
export function datesOf(
  { dateRange, compareFilter }: Dated,
  tests: readonly RowTest[],
  context: QueryContext,
  { interval, isExact = false, rangeInterval = interval }: DateOptions,
) {
  const calendar = calendarOf(context);
  const first = dateRange?.date_from === "all" ? earliestTime(context, tests) : 0;
  const earliest = () => calendar.wall(first);
  const range = rangeOf(dateRange, calendar, { interval: rangeInterval, isExact, earliest });
  const { compare, compare_to: compareTo } = compareFilter ?? {};
  const options: RangeOptions = { interval, isExact, earliest };
  const previous = () =>
    typeof compareTo === "string"
      ? comparedRange(dateRange, calendar, options, compareTo)
      : previousRange(dateRange, calendar, options);
  return { calendar, range, previous: compare ? previous() : undefined };
}

export const resolvedDates = ({ from, to }: Range, calendar: ProjectCalendar) => ({
  resolved_date_range: { date_from: calendar.iso(from), date_to: calendar.iso(to) },
});

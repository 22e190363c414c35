import type { Json } from "../../../kernel/base/json.ts";
import { numberOf } from "../../flags/engine/values.ts";
import { expressionMeasure } from "../hogql/expressions.ts";
import type { QueryContext } from "../kind.ts";
import { rowsPerStep, type Steps, type ValueColumn } from "../table.ts";
import { aggregateCells, aggregates, type Cells, countDistinct, countRows, eachDistinct } from "./cells.ts";
import { columnAt, sessionDurations } from "./columns.ts";
import type { Interval } from "./dates.ts";
import { refuse, unsupported } from "./refuse.ts";
import type { SeriesNode } from "./shapes.ts";

/**
 * What a series measures, by its `math`.
 * Upstream PostHog/posthog posthog/hogql_queries/insights/trends/aggregation_operations.py.
 */
export type MathKind = "cells" | "per_actor" | "active" | "first_time";

const perActor = /^(avg|min|max|median|p75|p90|p95|p99)_count_per_actor$/;

/** Days that users count as active. */
const activeDays: Readonly<Record<string, number>> = { weekly_active: 7, monthly_active: 30 };

const lengths: Readonly<Record<Interval, number>> = { minute: 0, hour: 1, day: 2, week: 3, month: 4 };

/** The math of a series; active users of intervals as long as their period are simply users. */
export function mathOf({ math }: SeriesNode, interval: Interval): string {
  if (math === "weekly_active" && lengths[interval] >= lengths.week) return "dau";
  if (math === "monthly_active" && lengths[interval] >= lengths.month) return "dau";
  return math ?? "total";
}

/** Days that active users look back; undefined for any other math. */
export const lookbackOf = (math: string): number | undefined =>
  Object.hasOwn(activeDays, math) ? activeDays[math] : undefined;

export function mathKind(math: string): MathKind {
  if (lookbackOf(math) !== undefined) return "active";
  if (math === "first_time_for_user" || math === "first_matching_event_for_user") return "first_time";
  return perActor.test(math) ? "per_actor" : "cells";
}

const groupMaths: ReadonlySet<string> = new Set(["dau", "unique_group", "weekly_active", "monthly_active"]);

/** Type of the groups that a series counts instead of persons. */
export function groupsCounted(node: SeriesNode): number | undefined {
  const { math, math_group_type_index: group } = node;
  return groupMaths.has(math ?? "") && typeof group === "number" ? group : undefined;
}

/** The actors of a series: persons, or groups. */
export function actorsOf(node: SeriesNode, { table }: QueryContext): ValueColumn {
  const group = groupsCounted(node);
  return group === undefined ? table.persons : table.group(group);
}

function numericColumn(node: SeriesNode, context: QueryContext): ValueColumn {
  const { math_property: key = "", math_property_type: type } = node;
  const name = key ?? "";
  if (name === "$session_duration") return sessionDurations(context);
  if (name === "$time") throw unsupported("The math property $time");
  const place = propertyTypes[type ?? "event_properties"];
  if (place === undefined) throw unsupported(`The math property type ${JSON.stringify(type)}`);
  return columnAt({ type: place, key: name }, context);
}

const propertyTypes: Readonly<Record<string, string>> = {
  event_properties: "event",
  numerical_event_properties: "event",
  person_properties: "person",
  session_properties: "session",
};

const numberIn = (value: Json | undefined): number => numberOf(value ?? null) ?? Number.NaN;

/** The numbers of the rows that have one. */
function* numbersIn(all: Cells, { codes, values }: ValueColumn, factor: number) {
  const numbers = Float64Array.from(values, (it) => numberIn(it) * factor);
  const found = {
    count: all.count,
    cells: new Uint32Array(all.rows.length),
    numbers: new Float64Array(all.rows.length),
  };
  let count = 0;
  for (let at = 0; at < all.rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const number = numbers[codes[all.rows[at] ?? 0] ?? 0] ?? Number.NaN;
    if (Number.isNaN(number)) continue;
    found.cells[count] = all.cells[at] ?? 0;
    found.numbers[count++] = number;
  }
  return { count: all.count, cells: found.cells.subarray(0, count), numbers: found.numbers.subarray(0, count) };
}

/** One number for each session of a cell: its length. */
function* sessionNumbers(all: Cells, { codes, values }: ValueColumn, factor: number) {
  const cells: number[] = [];
  const numbers: number[] = [];
  yield* eachDistinct(all, { codes, values }, true, (cell, code) => {
    const number = numberIn(values[code]) * factor;
    if (Number.isNaN(number)) return;
    cells.push(cell);
    numbers.push(number);
  });
  return { count: all.count, cells: Uint32Array.from(cells), numbers: Float64Array.from(numbers) };
}

function* perActorNumbers(all: Cells, actors: ValueColumn) {
  const cells: number[] = [];
  const numbers: number[] = [];
  yield* eachDistinct(all, actors, false, (cell, _, rows) => {
    cells.push(cell);
    numbers.push(rows);
  });
  return { count: all.count, cells: Uint32Array.from(cells), numbers: Float64Array.from(numbers) };
}

/** The columns that a math reads; those of a query must be known before its rows are. */
export type Measure = (cells: Cells) => Steps<Float64Array>;

/** The column with null and empty text as if they were missing. */
function withoutEmpty({ codes, values }: ValueColumn): Pick<ValueColumn, "codes" | "values"> {
  const empty = new Set(values.flatMap((value, code) => (value === null || value === "" ? [code] : [])));
  return { values, codes: empty.size === 0 ? codes : codes.map((code) => (empty.has(code) ? 0 : code)) };
}

/** @throws SimError if the math is not supported */
export function measureOf(node: SeriesNode, math: string, context: QueryContext): Measure {
  const { table } = context;
  const actor = perActor.exec(math)?.[1];
  const actorAggregate = actor === undefined ? undefined : aggregates[actor];
  if (actorAggregate) {
    return function* (cells) {
      return yield* aggregateCells(yield* perActorNumbers(cells, table.persons), actorAggregate);
    };
  }
  if (math === "dau" || (math === "unique_group" && groupsCounted(node) !== undefined)) {
    const actors = actorsOf(node, context);
    return (cells) => countDistinct(cells, actors, false);
  }
  if (math === "unique_session") {
    const sessions = table.property("$session_id");
    return (cells) => countDistinct(cells, withoutEmpty(sessions), true);
  }
  if (math === "hogql") {
    if (!node.math_hogql) throw refuse("The math hogql of a series needs an expression in math_hogql.");
    return expressionMeasure(node.math_hogql, context);
  }
  const aggregate = Object.hasOwn(aggregates, math) ? aggregates[math] : undefined;
  if (aggregate && node.math_property) {
    const column = numericColumn(node, context);
    const read = node.math_property === "$session_duration" ? sessionNumbers : numbersIn;
    return function* (cells) {
      return yield* aggregateCells(yield* read(cells, column, node.math_multiplier ?? 1), aggregate);
    };
  }
  // Upstream: a math of a property without the property counts events.
  if (math !== "total" && !aggregate) throw unsupported(`The math ${JSON.stringify(math)} of a series`);
  return countRows;
}

import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { numberOf } from "../../flags/engine/values.ts";
import { expressionMeasure } from "../hogql/expressions.ts";
import type { QueryContext } from "../kind.ts";
import type { EventColumn } from "../table.ts";
import { columnAt, sessionDurations } from "./columns.ts";
import type { Interval } from "./dates.ts";
import { refuse, unsupported } from "./refuse.ts";
import { type Actors, actorKey } from "./series.ts";
import type { SeriesNode } from "./shapes.ts";
import { aggregates } from "./statistics.ts";

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

function numericColumn(node: SeriesNode, context: QueryContext): EventColumn {
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

/** The number that a series makes of the rows of an interval; there is at least one. */
export type Measure = (rows: readonly number[]) => number;

/** The numbers that rows have: each session has one length. */
function numbersOf(node: SeriesNode, context: QueryContext): (rows: readonly number[]) => number[] {
  const column = numericColumn(node, context);
  const session = context.table.property("$session_id");
  const factor = node.math_multiplier ?? 1;
  return (rows) => {
    const counted =
      node.math_property === "$session_duration"
        ? [...groupedBy(rows, session).values()].flatMap(([row]) => row ?? [])
        : rows;
    const numbers: number[] = [];
    for (const row of counted) {
      const number = numberOf(column(row) ?? null);
      if (number !== undefined && !Number.isNaN(number)) numbers.push(number * factor);
    }
    return numbers;
  };
}

/** @throws SimError if the math is not supported */
export function measureOf(node: SeriesNode, math: string, { of: actor }: Actors, context: QueryContext): Measure {
  const { table } = context;
  const perActorAggregate = aggregates[perActor.exec(math)?.[1] ?? ""];
  if (perActorAggregate)
    return (rows) => perActorAggregate([...groupedBy(rows, table.person).values()].map((it) => it.length));
  if (math === "dau" || (math === "unique_group" && groupsCounted(node) !== undefined))
    return (rows) => new Set(rows.map((row) => actorKey(actor(row)))).size;
  if (math === "unique_session") {
    const session = table.property("$session_id");
    return (rows) => new Set(rows.map((row) => actorKey(session(row)) ?? "").filter((id) => id !== "")).size;
  }
  if (math === "hogql") {
    if (!node.math_hogql) throw refuse("The math hogql of a series needs an expression in math_hogql.");
    return expressionMeasure(node.math_hogql, context);
  }
  const aggregate = Object.hasOwn(aggregates, math) ? aggregates[math] : undefined;
  if (aggregate && node.math_property) {
    const numbersIn = numbersOf(node, context);
    return (rows) => {
      const numbers = numbersIn(rows);
      return numbers.length === 0 ? 0 : aggregate(numbers);
    };
  }
  // Upstream: a math of a property without the property counts events.
  if (math !== "total" && !aggregate) throw unsupported(`The math ${JSON.stringify(math)} of a series`);
  return (rows) => rows.length;
}

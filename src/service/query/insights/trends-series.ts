import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import { own } from "../../../kernel/base/json.ts";
import { numberOf } from "../../flags/engine/values.ts";
import { expressionMeasure } from "../hogql/expressions.ts";
import type { QueryContext } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import type { EventColumn } from "../table.ts";
import { type Breakdown, type BrokenDown, breakdownOf, merged } from "./breakdowns.ts";
import { columnAt, sessionColumn } from "./columns.ts";
import { type Interval, moved, type ProjectCalendar } from "./dates.ts";
import { allOf, type RowTest } from "./filters.ts";
import { NumberLists, quantile, sumOf } from "./numbers.ts";
import { type Buckets, bucketsOf, type Range } from "./range.ts";
import {
  type Actors,
  actorKey,
  actorsOf,
  type Collection,
  collect,
  type Entity,
  selectRows,
  wholeSeconds,
} from "./series.ts";
import type { BreakdownFilter, SeriesNode } from "./shapes.ts";
import type { TrendsQuery } from "./trends-plan.ts";

type Statistic = (numbers: readonly number[]) => number;

const atLevel =
  (level: number): Statistic =>
  (numbers) =>
    quantile(Float64Array.from(numbers).sort(), level);

/** By the name of a math; those with `_count_per_actor` at the end use them as well. */
const aggregates: Readonly<Record<string, Statistic>> = {
  sum: sumOf,
  avg: (numbers) => sumOf(numbers) / numbers.length,
  min: (numbers) => numbers.reduce((least, it) => Math.min(least, it), Infinity),
  max: (numbers) => numbers.reduce((most, it) => Math.max(most, it), -Infinity),
  median: atLevel(0.5),
  p75: atLevel(0.75),
  p90: atLevel(0.9),
  p95: atLevel(0.95),
  p99: atLevel(0.99),
};

/** What a series measures, by its `math`. Upstream PostHog/posthog posthog/hogql_queries/insights/trends/aggregation_operations.py. */
type MathKind = "cells" | "per_actor" | "active" | "first_time";

const perActor = /^(avg|min|max|median|p75|p90|p95|p99)_count_per_actor$/;

/** Days that users count as active. */
const activeDays: Readonly<Record<string, number>> = { weekly_active: 7, monthly_active: 30 };

const lengths: Readonly<Record<Interval, number>> = { minute: 0, hour: 1, day: 2, week: 3, month: 4 };

/** The math of a series; active users of intervals as long as their period are simply users. */
function mathOf({ math }: SeriesNode, interval: Interval): string {
  if (math === "weekly_active" && lengths[interval] >= lengths.week) return "dau";
  if (math === "monthly_active" && lengths[interval] >= lengths.month) return "dau";
  return math ?? "total";
}

/** Days that active users look back; undefined for any other math. */
const lookbackOf = (math: string): number | undefined => own(activeDays, math);

function mathKind(math: string): MathKind {
  if (lookbackOf(math) !== undefined) return "active";
  if (math === "first_time_for_user" || math === "first_matching_event_for_user") return "first_time";
  return perActor.test(math) ? "per_actor" : "cells";
}

const groupMaths: ReadonlySet<string> = new Set(["dau", "unique_group", "weekly_active", "monthly_active"]);

/** Type of the groups that a series counts instead of persons. */
function groupsCounted(node: SeriesNode): number | undefined {
  const { math, math_group_type_index: group } = node;
  return groupMaths.has(math ?? "") && typeof group === "number" ? group : undefined;
}

function numericColumn(node: SeriesNode, context: QueryContext): EventColumn {
  const { math_property: key = "", math_property_type: type } = node;
  const name = key ?? "";
  if (name === "$session_duration") return sessionColumn(name, context);
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
type Measure = (rows: readonly number[]) => number;

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
function measureOf(node: SeriesNode, math: string, { of: actor }: Actors, context: QueryContext): Measure {
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
  const aggregate = own(aggregates, math);
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

interface SeriesJob {
  readonly query: TrendsQuery;
  readonly node: SeriesNode;
  readonly entity: Entity;
  readonly only: RowTest;
  readonly range: Range;
  readonly breakdown: BreakdownFilter | undefined;
  /** True if the result is one number for the whole range. */
  readonly isTotal: boolean;
  /** True if users and groups count once in the range. */
  readonly isCumulative: boolean;
}

interface Counting {
  readonly context: QueryContext;
  readonly calendar: ProjectCalendar;
  readonly job: SeriesJob;
  readonly actors: Actors;
  readonly collection: Collection;
  readonly buckets: Buckets;
  readonly breakdown: Breakdown;
}

const noBreakdown: Breakdown = { keyOf: () => "", shown: () => () => "" };

/**
 * The numbers of a series by value of the breakdown; a series without one has a single value, "".
 * @throws SimError if a part of it is not supported
 */
export function seriesNumbers(job: SeriesJob, context: QueryContext, calendar: ProjectCalendar): BrokenDown[] {
  const actors = actorsOf(context, groupsCounted(job.node));
  const counting: Counting = {
    ...{ context, calendar, job, actors, collection: collect(job.query, job.node, actors, context) },
    buckets: job.isTotal ? oneBucket : bucketsOf(job.range, calendar),
    breakdown: job.breakdown ? breakdownOf(job.breakdown, context) : noBreakdown,
  };
  const counted = countedBy(mathOf(job.node, job.range.interval), counting);
  if (!job.breakdown) return [{ value: "", data: counted.get("") ?? new Float64Array(counting.buckets.starts.length) }];
  const shown = counting.breakdown.shown();
  return merged([...counted].map(([key, data]) => ({ value: shown(key), data })));
}

const oneBucket: Buckets = { starts: [0], indexOf: () => 0 };

function countedBy(math: string, counting: Counting): NumberLists {
  const { job } = counting;
  switch (mathKind(math)) {
    case "active":
      return activeActors(lookbackOf(math) ?? 0, counting);
    case "first_time":
      return firstTimes(math === "first_matching_event_for_user", counting);
    case "per_actor":
      return measuredCells(math, counting, job.range.from);
    case "cells": {
      const isOnce = job.isCumulative && (math === "dau" || math === "unique_group");
      return isOnce ? actorsOnce(counting) : measuredCells(math, counting, job.range.countedFrom);
    }
  }
}

function rowsByKey({ calendar, job, collection, breakdown }: Counting, from: number) {
  const rows = collection.rows(wholeSeconds(calendar, from, job.range.to), allOf([job.entity.test, job.only]));
  return groupedBy(rows, breakdown.keyOf);
}

const byActor = (rows: readonly number[], { actors }: Counting) =>
  groupedBy(rows, (row) => actorKey(actors.of(row))).values();

function measuredCells(math: string, counting: Counting, from: number): NumberLists {
  const { context, job, actors, buckets } = counting;
  const measure = measureOf(job.node, math, actors, context);
  const counted = new NumberLists(counting.buckets.starts.length);
  for (const [key, rows] of rowsByKey(counting, from)) {
    for (const [bucket, cell] of groupedBy(rows, (row) => buckets.indexOf(context.table.time(row))))
      counted.add(key, bucket, measure(cell));
  }
  return counted;
}

/** Each actor counts in the interval of its first event only. */
function actorsOnce(counting: Counting): NumberLists {
  const { context, buckets, job } = counting;
  const counted = new NumberLists(counting.buckets.starts.length);
  for (const [key, rows] of rowsByKey(counting, job.range.countedFrom)) {
    for (const its of byActor(rows, counting)) {
      const first = its.reduce((time, row) => Math.min(time, context.table.time(row)), Infinity);
      counted.add(key, buckets.indexOf(first));
    }
  }
  return counted;
}

/**
 * An actor counts in every interval that starts within some days after its event; the event's time is cut to the
 * day, or to the hour or minute if intervals are that short.
 */
function activeActors(days: number, counting: Counting): NumberLists {
  const { context, calendar, job } = counting;
  const { range, isTotal } = job;
  const from = moved(isTotal ? range.to : range.from, { days }, -1);
  const intervals = bucketsOf(range, calendar).starts;
  const unit = range.interval === "hour" || range.interval === "minute" ? range.interval : "day";
  const units = bucketsOf({ interval: unit, from, to: range.to }, calendar);
  const firsts = units.starts.map((start) => firstAtOrAfter(intervals, start));
  const ends = units.starts.map((start) => firstAtOrAfter(intervals, moved(start, { days }, 1)));

  const counted = new NumberLists(counting.buckets.starts.length);
  for (const [key, rows] of rowsByKey(counting, from)) {
    for (const its of byActor(rows, counting)) {
      let done = 0;
      for (const unit of its.map((row) => units.indexOf(context.table.time(row))).sort((a, b) => a - b)) {
        const start = Math.max(firsts[unit] ?? 0, done);
        const end = ends[unit] ?? 0;
        if (start >= end) continue;
        if (!isTotal) for (let bucket = start; bucket < end; bucket++) counted.add(key, bucket);
        else if (done === 0) counted.add(key, 0);
        done = end;
      }
    }
  }
  return counted;
}

/** Index of the first start that is not before a time; the number of starts if there is none. */
function firstAtOrAfter(starts: readonly number[], time: number): number {
  let [low, high] = [0, starts.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Persons whose first event of all time is in the range and passes the filters; or, if `isMatching`, whose first
 * event that passes them is. Upstream: `FirstTimeForUserEventsQueryAlternator`.
 */
function firstTimes(isMatching: boolean, counting: Counting): NumberLists {
  const { context, calendar, job, buckets, breakdown, collection } = counting;
  const { time, person } = context.table;
  const passes = allOf([collection.filters, job.only]);
  const { from, to } = wholeSeconds(calendar, job.range.countedFrom, job.range.to);
  const counted = new NumberLists(counting.buckets.starts.length);
  for (const rows of groupedBy(selectRows(context, { from: -Infinity, to }, job.entity.test), person).values()) {
    const first = rows.reduce((a, b) => (time(b) < time(a) ? b : a));
    const matching = isMatching ? rows.filter(passes) : rows;
    const at = matching.reduce((least, row) => Math.min(least, time(row)), Infinity);
    const bucket = buckets.indexOf(at);
    if (at < from || bucket < 0 || !matching.some((row) => time(row) === at && passes(row))) continue;
    counted.add(breakdown.keyOf(first), bucket);
  }
  return counted;
}

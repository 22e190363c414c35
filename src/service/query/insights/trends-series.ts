import { groupedBy } from "../../../kernel/base/grouped-by.ts";
import type { QueryContext } from "../kind.ts";
import { type Breakdown, type BrokenDown, breakdownOf, merged } from "./breakdowns.ts";
import { moved, type ProjectCalendar } from "./dates.ts";
import { allOf, type RowTest } from "./filters.ts";
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
import { checkNumbers } from "./sizes.ts";
import { groupsCounted, lookbackOf, mathKind, mathOf, measureOf } from "./trends-math.ts";
import type { TrendsQuery } from "./trends-plan.ts";

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

/** Numbers by key of the breakdown. */
type Counted = Map<string, Float64Array>;

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

function countedBy(math: string, counting: Counting): Counted {
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

function add(counted: Counted, { buckets }: Counting, key: string, bucket: number, amount: number): void {
  const width = buckets.starts.length;
  let data = counted.get(key);
  if (!data) {
    checkNumbers("table", (counted.size + 1) * width);
    data = new Float64Array(width);
    counted.set(key, data);
  }
  data[bucket] = (data[bucket] ?? 0) + amount;
}

function measuredCells(math: string, counting: Counting, from: number): Counted {
  const { context, job, actors, buckets } = counting;
  const measure = measureOf(job.node, math, actors, context);
  const counted: Counted = new Map();
  for (const [key, rows] of rowsByKey(counting, from)) {
    for (const [bucket, cell] of groupedBy(rows, (row) => buckets.indexOf(context.table.time(row))))
      add(counted, counting, key, bucket, measure(cell));
  }
  return counted;
}

/** Each actor counts in the interval of its first event only. */
function actorsOnce(counting: Counting): Counted {
  const { context, buckets, job } = counting;
  const counted: Counted = new Map();
  for (const [key, rows] of rowsByKey(counting, job.range.countedFrom)) {
    for (const own of byActor(rows, counting)) {
      const first = own.reduce((time, row) => Math.min(time, context.table.time(row)), Infinity);
      add(counted, counting, key, buckets.indexOf(first), 1);
    }
  }
  return counted;
}

/**
 * An actor counts in every interval that starts within some days after its event; the event's time is cut to the
 * day, or to the hour or minute if intervals are that short.
 */
function activeActors(days: number, counting: Counting): Counted {
  const { context, calendar, job } = counting;
  const { range, isTotal } = job;
  const from = moved(isTotal ? range.to : range.from, { days }, -1);
  const intervals = bucketsOf(range, calendar).starts;
  const unit = range.interval === "hour" || range.interval === "minute" ? range.interval : "day";
  const units = bucketsOf({ interval: unit, from, to: range.to }, calendar);
  const firsts = units.starts.map((start) => firstAtOrAfter(intervals, start));
  const ends = units.starts.map((start) => firstAtOrAfter(intervals, moved(start, { days }, 1)));

  const counted: Counted = new Map();
  for (const [key, rows] of rowsByKey(counting, from)) {
    for (const own of byActor(rows, counting)) {
      let done = 0;
      for (const unit of own.map((row) => units.indexOf(context.table.time(row))).sort((a, b) => a - b)) {
        const start = Math.max(firsts[unit] ?? 0, done);
        const end = ends[unit] ?? 0;
        if (start >= end) continue;
        if (!isTotal) for (let bucket = start; bucket < end; bucket++) add(counted, counting, key, bucket, 1);
        else if (done === 0) add(counted, counting, key, 0, 1);
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
function firstTimes(isMatching: boolean, counting: Counting): Counted {
  const { context, calendar, job, buckets, breakdown, collection } = counting;
  const { time, person } = context.table;
  const passes = allOf([collection.filters, job.only]);
  const { from, to } = wholeSeconds(calendar, job.range.countedFrom, job.range.to);
  const counted: Counted = new Map();
  for (const rows of groupedBy(selectRows(context, { from: -Infinity, to }, job.entity.test), person).values()) {
    const first = rows.reduce((a, b) => (time(b) < time(a) ? b : a));
    const matching = isMatching ? rows.filter(passes) : rows;
    const at = matching.reduce((least, row) => Math.min(least, time(row)), Infinity);
    const bucket = buckets.indexOf(at);
    if (at < from || bucket < 0 || !matching.some((row) => time(row) === at && passes(row))) continue;
    add(counted, counting, breakdown.keyOf(first), bucket, 1);
  }
  return counted;
}

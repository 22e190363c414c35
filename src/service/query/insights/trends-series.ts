import type { QueryContext } from "../kind.ts";
import { rowsPerStep, type Steps } from "../table.ts";
import { type Breakdown, type BrokenDown, breakdownOf, merged } from "./breakdowns.ts";
import { type Cells, groupedByCell } from "./cells.ts";
import { moved, type ProjectCalendar } from "./dates.ts";
import { allOf, codeTest, filterTest, type RowTest } from "./filters.ts";
import { type Buckets, bucketsOf, type Range } from "./range.ts";
import { type Entity, selectRows, type TimeSpan } from "./series.ts";
import type { BreakdownFilter, SeriesNode } from "./shapes.ts";
import { checkNumbers } from "./sizes.ts";
import { actorsOf, groupsCounted, lookbackOf, mathKind, mathOf, measureOf } from "./trends-math.ts";

/** One series over one range of time. */
export interface SeriesJob {
  readonly node: SeriesNode;
  readonly entity: Entity;
  /** Filters of the query, and the cohort of a breakdown. */
  readonly test: RowTest;
  readonly range: Range;
  readonly breakdown: BreakdownFilter | undefined;
  /** True if the result is one number for the whole range. */
  readonly isTotal: boolean;
  /** True if users and groups count once in the range. */
  readonly isCumulative: boolean;
}

/** What the ways of counting need. */
interface Counting {
  readonly context: QueryContext;
  readonly calendar: ProjectCalendar;
  readonly job: SeriesJob;
  readonly buckets: Buckets;
  readonly breakdown: Breakdown;
  /** Tests of the filters, without the event or action. */
  readonly filters: RowTest;
}

const noBreakdown: Breakdown = { keyOf: () => 0, count: () => 1, values: () => [""] };

/** The instants of wall clocks; whole seconds, as the service compares them. */
function spanOf(calendar: ProjectCalendar, from: number, to: number): TimeSpan {
  const second = (wall: number) => calendar.instant(Math.floor(wall / 1000) * 1000);
  return { from: second(from), to: second(to) };
}

/**
 * The numbers of a series by value of the breakdown; a series without one has a single value, "".
 * @throws SimError if a part of it is not supported
 */
export function* seriesNumbers(job: SeriesJob, context: QueryContext, calendar: ProjectCalendar): Steps<BrokenDown[]> {
  const group = groupsCounted(job.node);
  const hasGroup: RowTest[] =
    group === undefined ? [] : [codeTest(context.table.group(group), (key) => (key ?? "") !== "")];
  const counting: Counting = {
    context,
    calendar,
    job,
    buckets: job.isTotal ? oneBucket : bucketsOf(job.range, calendar),
    breakdown: job.breakdown ? breakdownOf(job.breakdown, context) : noBreakdown,
    filters: allOf([job.test, filterTest(job.node.properties, context), ...hasGroup]),
  };
  const math = mathOf(job.node, job.range.interval);
  const counted = yield* countedBy(math, counting);
  const values = counting.breakdown.values();
  const length = counting.buckets.starts.length;
  if (!job.breakdown) return [{ value: "", data: counted.get(0) ?? new Float64Array(length) }];
  return merged([...counted].map(([key, data]) => ({ value: values[key] ?? "", data })));
}

const oneBucket: Buckets = { starts: [0], indexOf: () => 0 };

/** Numbers by key of the breakdown. */
type Counted = Map<number, Float64Array>;

function* countedBy(math: string, counting: Counting): Steps<Counted> {
  const { job } = counting;
  switch (mathKind(math)) {
    case "active":
      return yield* activeActors(lookbackOf(math) ?? 0, counting);
    case "first_time":
      return yield* firstTimes(math === "first_matching_event_for_user", counting);
    case "per_actor":
      return yield* measuredCells(math, counting, job.range.from);
    case "cells": {
      const isOnce = job.isCumulative && (math === "dau" || math === "unique_group");
      return yield* isOnce ? actorsOnce(counting) : measuredCells(math, counting, job.range.countedFrom);
    }
  }
}

function* selected({ context, calendar, job, filters }: Counting, from: number, to = job.range.to) {
  const span = spanOf(calendar, from, to);
  return yield* selectRows(context, span, allOf([job.entity.test, filters]));
}

/** Most entries of a table of cells; more are kept in a map. */
const mostDense = 1 << 22;

/** The cells of rows, one for each interval and key, and what they stand for. */
function* cellsOf(rows: Uint32Array, { context, buckets, breakdown }: Counting) {
  const { times } = context.table;
  const width = buckets.starts.length;
  const places = new Float64Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const row = rows[at] ?? 0;
    places[at] = breakdown.keyOf(row) * width + buckets.indexOf(times[row] ?? 0);
  }
  const size = breakdown.count() * width;
  const known = size <= mostDense ? new Int32Array(size).fill(-1) : undefined;
  const sparse = new Map<number, number>();
  const found: number[] = [];
  const cells = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const place = places[at] ?? 0;
    let cell = known ? (known[place] ?? -1) : (sparse.get(place) ?? -1);
    if (cell === -1) {
      cell = found.push(place) - 1;
      if (known) known[place] = cell;
      else sparse.set(place, cell);
    }
    cells[at] = cell;
  }
  return { cells: { count: found.length, rows, cells } satisfies Cells, places: found };
}

function add(counted: Counted, key: number, bucket: number, width: number, amount: number): void {
  let data = counted.get(key);
  if (!data) {
    checkNumbers("table", (counted.size + 1) * width);
    data = new Float64Array(width);
    counted.set(key, data);
  }
  data[bucket] = (data[bucket] ?? 0) + amount;
}

function* measuredCells(math: string, counting: Counting, from: number): Steps<Counted> {
  const measure = measureOf(counting.job.node, math, counting.context);
  const { cells, places } = yield* cellsOf(yield* selected(counting, from), counting);
  const amounts = yield* measure(cells);
  const width = counting.buckets.starts.length;
  const counted: Counted = new Map();
  for (const [cell, place] of places.entries()) {
    add(counted, Math.floor(place / width), place % width, width, amounts[cell] ?? 0);
  }
  return counted;
}

/** Rows of each key of the breakdown. */
function* rowsByKey(rows: Uint32Array, { breakdown }: Counting) {
  const cells = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at++) {
    if (at % rowsPerStep === 0) yield;
    cells[at] = breakdown.keyOf(rows[at] ?? 0);
  }
  const count = breakdown.count();
  const { order, starts } = yield* groupedByCell({ count, cells });
  return Array.from({ length: count }, (_, key) =>
    order.subarray(starts[key] ?? 0, starts[key + 1] ?? 0).map((at) => rows[at] ?? 0),
  );
}

/** Each actor counts in the interval of its first event only. */
function* actorsOnce(counting: Counting): Steps<Counted> {
  const { context, buckets, job } = counting;
  const actors = actorsOf(job.node, context);
  const { times } = context.table;
  const rows = yield* selected(counting, job.range.countedFrom);
  const counted: Counted = new Map();
  for (const [key, own] of (yield* rowsByKey(rows, counting)).entries()) {
    const first = new Map<number, number>();
    for (const [at, row] of own.entries()) {
      if (at % rowsPerStep === 0) yield;
      const [actor, bucket] = [actors.codes[row] ?? 0, buckets.indexOf(times[row] ?? 0)];
      if (bucket < (first.get(actor) ?? Infinity)) first.set(actor, bucket);
    }
    for (const bucket of first.values()) add(counted, key, bucket, buckets.starts.length, 1);
  }
  return counted;
}

/**
 * An actor counts in every interval that starts within some days after its event; the event's time is cut to the
 * day, or to the hour or minute if intervals are that short.
 */
function* activeActors(days: number, counting: Counting): Steps<Counted> {
  const { context, calendar, job } = counting;
  const { range, isTotal } = job;
  const actors = actorsOf(job.node, context);
  const { times } = context.table;
  const from = moved(isTotal ? range.to : range.from, { days }, -1);
  const rows = yield* selected(counting, from);

  const intervals = bucketsOf(range, calendar).starts;
  const unit = range.interval === "hour" || range.interval === "minute" ? range.interval : "day";
  const units = bucketsOf({ interval: unit, from, to: range.to }, calendar);
  const firsts = units.starts.map((start) => firstAtOrAfter(intervals, start));
  const ends = units.starts.map((start) => firstAtOrAfter(intervals, moved(start, { days }, 1)));

  const counted: Counted = new Map();
  const width = counting.buckets.starts.length;
  for (const [key, own] of (yield* rowsByKey(rows, counting)).entries()) {
    const cells = own.map((row) => actors.codes[row] ?? 0);
    const { order, starts } = yield* groupedByCell({ count: actors.values.length, cells });
    let work = 0;
    for (let actor = 0; actor < actors.values.length; actor++) {
      const active = order.subarray(starts[actor] ?? 0, starts[actor + 1] ?? 0);
      work += active.length + 1;
      if (work > rowsPerStep) {
        work = 0;
        yield;
      }
      let done = 0;
      for (const unit of Array.from(active, (at) => units.indexOf(times[own[at] ?? 0] ?? 0)).sort(ascending)) {
        const start = Math.max(firsts[unit] ?? 0, done);
        const end = ends[unit] ?? 0;
        if (start >= end) continue;
        if (!isTotal) for (let bucket = start; bucket < end; bucket++) add(counted, key, bucket, width, 1);
        else if (done === 0) add(counted, key, 0, width, 1);
        done = end;
      }
    }
  }
  return counted;
}

const ascending = (a: number, b: number): number => a - b;

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
function* firstTimes(isMatching: boolean, counting: Counting): Steps<Counted> {
  const { context, calendar, job, buckets, breakdown, filters } = counting;
  const { times, persons } = context.table;
  const { from, to } = spanOf(calendar, job.range.countedFrom, job.range.to);
  const rows = yield* selectRows(context, { from: -Infinity, to }, job.entity.test);
  const firstRow = new Map<number, number>();
  const firstTime = new Map<number, number>();
  for (const [at, row] of rows.entries()) {
    if (at % rowsPerStep === 0) yield;
    const [person, time] = [persons.codes[row] ?? 0, times[row] ?? 0];
    if (time < (times[firstRow.get(person) ?? -1] ?? Infinity)) firstRow.set(person, row);
    if ((!isMatching || filters(row)) && time < (firstTime.get(person) ?? Infinity)) firstTime.set(person, time);
  }
  const found = new Set<number>();
  for (const [at, row] of rows.entries()) {
    if (at % rowsPerStep === 0) yield;
    const person = persons.codes[row] ?? 0;
    const time = times[row] ?? 0;
    if (time === firstTime.get(person) && time >= from && filters(row)) found.add(person);
  }
  const counted: Counted = new Map();
  for (const person of found) {
    const bucket = buckets.indexOf(firstTime.get(person) ?? 0);
    const key = breakdown.keyOf(firstRow.get(person) ?? 0);
    if (bucket >= 0) add(counted, key, bucket, buckets.starts.length, 1);
  }
  return counted;
}

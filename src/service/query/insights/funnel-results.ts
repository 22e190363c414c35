import type { QueryContext } from "../kind.ts";
import { compareFunnelValues, type FunnelBreakdown, type FunnelValue } from "./funnel-breakdown.ts";
import type { FunnelsQuery } from "./funnel-shape.ts";
import type { FunnelPath } from "./funnel-steps.ts";
import type { Entries } from "./funnel-trends.ts";
import { checkNumbers, quantile, sumOf } from "./numbers.ts";
import { dayLabel, dayText } from "./range.ts";
import { entityOf } from "./series.ts";

/** Results of funnels as the service has them. Upstream: `FunnelBase._format_results`, `FunnelTrends`. */

type EachPath = (use: (key: number, path: FunnelPath) => void) => void;
type EachEntry = (use: (key: number, entries: Entries) => void) => void;

interface Tally {
  /** Actors by step. */
  readonly counts: number[];
  /** Times from the step before, s, by step; the first has none. */
  readonly durations: number[][];
}

const emptyTally = (steps: number): Tally => ({
  counts: new Array<number>(steps).fill(0),
  durations: Array.from({ length: steps }, () => []),
});

function addTally(to: Tally, from: Tally): Tally {
  return {
    counts: to.counts.map((count, i) => count + (from.counts[i] ?? 0)),
    durations: to.durations.map((list, i) => [...list, ...(from.durations[i] ?? [])]),
  };
}

/** The last step first. */
function compareTallies(a: Tally, b: Tally): number {
  for (let i = a.counts.length - 1; i >= 0; i--) {
    const order = (b.counts[i] ?? 0) - (a.counts[i] ?? 0);
    if (order !== 0) return order;
  }
  return 0;
}

/** The best values; the others as one. */
function ranked(tallies: ReadonlyMap<number, Tally>, { valueAt, limit, isList }: FunnelBreakdown) {
  const all = [...tallies]
    .map(([key, tally]) => ({ value: valueAt(key), tally }))
    .sort((a, b) => compareTallies(a.tally, b.tally) || compareFunnelValues(a.value, b.value));
  if (limit === undefined || all.length <= limit) return all;
  const [other, ...more] = all.slice(limit).map(({ tally }) => tally);
  const value: FunnelValue = isList ? ["Other"] : "Other";
  const rest = other ? [{ value, tally: more.reduce(addTally, other) }] : [];
  return [...all.slice(0, limit), ...rest].sort((a, b) => compareTallies(a.tally, b.tally));
}

function stepFields({ series, funnelsFilter }: FunnelsQuery, index: number, context: QueryContext) {
  const node = series[index];
  const isUnordered = funnelsFilter?.funnelOrderType === "unordered";
  const type = node?.kind === "ActionsNode" ? "actions" : "events";
  if (isUnordered || !node) {
    const name = `Completed ${index + 1} step${index === 0 ? "" : "s"}`;
    return { action_id: null, name, custom_name: null, type };
  }
  const name = entityOf(node, context)?.name ?? null;
  const id = node.kind === "ActionsNode" ? node.id : name;
  return { action_id: id, name, custom_name: node.custom_name ?? null, type };
}

function timesOf(durations: readonly number[]) {
  if (durations.length === 0) return { average_conversion_time: null, median_conversion_time: null };
  return {
    average_conversion_time: sumOf(durations) / durations.length,
    median_conversion_time: quantile(Float64Array.from(durations).sort(), 0.5),
  };
}

function shownBreakdown(query: FunnelsQuery, value: FunnelValue, context: QueryContext) {
  if (!query.breakdownFilter?.breakdown) return {};
  const name = typeof value === "number" ? cohortName(value, context) : value;
  return { breakdown: name, breakdown_value: value };
}

const cohortName = (id: number, context: QueryContext): string =>
  id === 0 ? "all users" : (context.cohort?.(id)?.name ?? "");

/** How many actors did each step. No actor: no result at all, as the service has it. */
export function stepResults(
  query: FunnelsQuery,
  context: QueryContext,
  breakdown: FunnelBreakdown,
  eachPath: EachPath,
): unknown {
  const steps = query.series.length;
  const tallies = new Map<number, Tally>();
  eachPath((key, { done, durations }) => {
    const tally = tallies.get(key) ?? emptyTally(steps);
    tallies.set(key, tally);
    for (let i = 0; i < steps; i++) if (done & (1 << i)) tally.counts[i] = (tally.counts[i] ?? 0) + 1;
    // A conversion in no time does not count, nor does a step that was not reached.
    for (const [i, duration] of durations.entries()) if (duration > 0) tally.durations[i + 1]?.push(duration);
  });
  const all = ranked(tallies, breakdown).map(({ value, tally }) =>
    query.series.map((_, order) => ({
      ...stepFields(query, order, context),
      order,
      people: [],
      count: tally.counts[order] ?? 0,
      ...timesOf(order === 0 ? [] : (tally.durations[order] ?? [])),
      ...shownBreakdown(query, value, context),
    })),
  );
  return query.breakdownFilter?.breakdown ? all : (all[0] ?? []);
}

/** A histogram of the times from one step to another. Upstream: `FunnelTimeToConvertUDF`. */
export function timeToConvert(query: FunnelsQuery, eachPath: EachPath): unknown {
  const { funnelFromStep, funnelToStep, binCount } = query.funnelsFilter ?? {};
  const from = funnelFromStep ?? 0;
  const to = funnelToStep || query.series.length - 1;
  const timings: number[] = [];
  eachPath((_, { reached, durations }) => {
    if (reached >= to) timings.push(sumOf(durations.slice(from, to)));
  });
  const automatic = Math.min(60, Math.max(1, Math.ceil(Math.cbrt(timings.length))));
  const count = typeof binCount === "number" ? Math.min(90, Math.max(1, binCount)) : automatic;
  const low = timings.length === 0 ? 0 : Math.floor(timings.reduce((a, b) => Math.min(a, b), Infinity));
  const high = timings.length === 0 ? 0 : Math.ceil(timings.reduce((a, b) => Math.max(a, b), -Infinity));
  const width = Math.ceil((high - low) / count) || 60;
  const counts = new Array<number>(count + 1).fill(0);
  for (const timing of timings) {
    const bin = Math.floor((timing - low) / width);
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return {
    bins: counts.map((people, n) => [low + n * width, people]),
    average_conversion_time: timings.length === 0 ? null : sumOf(timings) / timings.length,
  };
}

/** Two decimals; a half goes to the even one. */
function percent(part: number, whole: number): number {
  if (whole <= 0) return 0;
  const hundredths = (part / whole) * 10_000;
  const floor = Math.floor(hundredths);
  const isHalf = hundredths - floor === 0.5;
  return (isHalf ? floor + (floor % 2) : Math.round(hundredths)) / 100;
}

/** Most rows of the service's result: one for each interval and value. */
const mostRows = 1000;

/** Share of the actors that got through, by the interval in which they entered. */
export function trendResults(
  query: FunnelsQuery,
  context: QueryContext,
  breakdown: FunnelBreakdown,
  starts: readonly number[],
  eachEntry: EachEntry,
): unknown {
  const isBrokenDown = Boolean(query.breakdownFilter?.breakdown);
  const empty = () => ({ entered: new Float64Array(starts.length), succeeded: new Float64Array(starts.length) });
  const byKey = new Map<number, ReturnType<typeof empty>>();
  if (!isBrokenDown) byKey.set(0, empty());
  eachEntry((key, entries) => {
    if (entries.size === 0) return;
    const own = byKey.get(key) ?? empty();
    byKey.set(key, own);
    checkNumbers("table", 2 * byKey.size * starts.length);
    for (const [interval, isSuccess] of entries) {
      own.entered[interval] = (own.entered[interval] ?? 0) + 1;
      if (isSuccess) own.succeeded[interval] = (own.succeeded[interval] ?? 0) + 1;
    }
  });
  const all = [...byKey]
    .map(([key, numbers]) => ({ value: breakdown.valueAt(key), ...numbers }))
    .sort((a, b) => sumOf(b.entered) - sumOf(a.entered) || compareFunnelValues(b.value, a.value));
  const limit = breakdown.limit === undefined ? mostRows : Math.min(breakdown.limit * starts.length, mostRows);
  const interval = query.interval ?? "day";
  const results = all.flatMap(({ value, entered, succeeded }, index) => {
    const shown = starts.slice(0, Math.max(0, limit - index * starts.length));
    if (shown.length === 0) return [];
    const result = {
      count: shown.length,
      data: shown.map((_, i) => percent(succeeded[i] ?? 0, entered[i] ?? 0)),
      days: shown.map((start) => dayText(start, interval === "hour" ? "hour" : "day")),
      labels: shown.map(dayLabel),
    };
    const name = typeof value === "number" ? cohortName(value, context) : value;
    return [{ value, result: isBrokenDown ? { ...result, breakdown_value: name } : result }];
  });
  return results.sort((a, b) => compareFunnelValues(a.value, b.value)).map(({ result }) => result);
}

import { expressionColumn } from "../hogql/expressions.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import type { EventColumn } from "../table.ts";
import type { ProjectCalendar } from "./dates.ts";
import { allOf, everyRow, filterTest, type RowTest } from "./filters.ts";
import { attributionOf, type FunnelBreakdown, funnelBreakdown } from "./funnel-breakdown.ts";
import { withoutRepeats } from "./funnel-events.ts";
import { stepResults, timeToConvert, trendResults } from "./funnel-results.ts";
import { checkFunnel, FunnelsQuery, windowOf } from "./funnel-shape.ts";
import { type FunnelPath, type FunnelRules, funnelPath } from "./funnel-steps.ts";
import { type Entries, funnelEntries, type TrendEvent } from "./funnel-trends.ts";
import { type Buckets, bucketsOf, type Range } from "./range.ts";
import { unsupported } from "./refuse.ts";
import { type ActorKey, actorsOf, collect, datesOf, existingEntity, resolvedDates } from "./series.ts";
import type { SeriesNode } from "./shapes.ts";

/** The actors of a funnel: persons, groups, or the values of an expression. */
function funnelActors({ aggregation_group_type_index: group, funnelsFilter }: FunnelsQuery, context: QueryContext) {
  const expression = funnelsFilter?.funnelAggregateByHogQL ?? "person_id";
  const isPerson = typeof group === "number" || expression === "" || expression === "person_id";
  return actorsOf(context, group, isPerson ? undefined : expressionColumn(expression, context));
}

/** Events of a step, with the step's own filters. */
function stepTest(node: SeriesNode, context: QueryContext): RowTest {
  const { math } = node;
  const entity = existingEntity(node, context).test;
  const filters = filterTest(node.properties, context);
  switch (math ?? "total") {
    case "total":
    case "dau":
      return allOf([entity, filters]);
    case "first_time_for_user":
      return allOf([firstRows(entity, context), filters]);
    case "first_time_for_user_with_filters":
    case "first_matching_event_for_user":
      return firstRows(allOf([entity, filters]), context);
    default:
      throw unsupported(`The math ${JSON.stringify(math)} of a step of a funnel`);
  }
}

/** The first event of each person that passes, of all its events. */
function firstRows(test: RowTest, { table }: QueryContext): RowTest {
  let first: Map<string, number> | undefined;
  const find = (): Map<string, number> => {
    const rows = new Map<string, number>();
    for (let row = 0; row < table.length; row++) {
      const earlier = rows.get(table.person(row));
      const isFirst = earlier === undefined || table.time(row) < table.time(earlier);
      if (isFirst && test(row)) rows.set(table.person(row), row);
    }
    return rows;
  };
  return (row) => {
    first ??= find();
    return first.get(table.person(row)) === row;
  };
}

interface StepTest {
  /** From 1; negative: an exclusion before the step. */
  readonly step: number;
  readonly test: RowTest;
}

function stepTests({ series, funnelsFilter }: FunnelsQuery, context: QueryContext): StepTest[] {
  const steps = series.map((node, i): StepTest => ({ step: i + 1, test: stepTest(node, context) }));
  const exclusions = (funnelsFilter?.exclusions ?? []).flatMap(({ funnelFromStep, funnelToStep, ...node }) => {
    const test = stepTest(node, context);
    return Array.from({ length: funnelToStep - funnelFromStep }, (_, i): StepTest => {
      return { step: -(funnelFromStep + 2 + i), test };
    });
  });
  return [...steps, ...exclusions.sort((a, b) => b.step - a.step)];
}

/** Which steps the rows are, by row; rows of the same steps share a list. */
function stepsReader(tests: readonly StepTest[]) {
  const lists = new Map<number, readonly number[]>();
  return (row: number): readonly number[] => {
    let mask = 0;
    for (let i = 0; i < tests.length; i++) if (tests[i]?.test(row)) mask |= 1 << i;
    const known = lists.get(mask);
    if (known) return known;
    const list = [...new Set(tests.filter((_, i) => mask & (1 << i)).map(({ step }) => step))];
    lists.set(mask, list);
    return list;
  };
}

/** A funnel ready to be followed actor by actor, and the time that it covers. */
interface Funnel {
  readonly breakdown: FunnelBreakdown;
  readonly rules: FunnelRules;
  /** The rows of each actor, in the order of time. */
  readonly actors: ReadonlyMap<ActorKey, number[]>;
  eventsOf(rows: readonly number[]): TrendEvent[];
  readonly calendar: ProjectCalendar;
  readonly range: Range;
  readonly buckets: Buckets;
}

/** Most tests of steps and exclusions: a row's are bits of a number. */
const mostTests = 30;

function eachPath(
  { actors, breakdown, rules, eventsOf }: Funnel,
  use: (key: number, path: FunnelPath, actor: ActorKey) => void,
): void {
  for (const [actor, rows] of actors) {
    for (const own of breakdown.pathsOf(withoutRepeats(eventsOf(rows)))) {
      const path = funnelPath(own.events, own.key, rules);
      if (path && path.reached >= 0) use(own.key, path, actor);
    }
  }
}

function eachEntry(
  { funnelsFilter }: FunnelsQuery,
  { actors, breakdown, rules, eventsOf }: Funnel,
  use: (key: number, entries: Entries) => void,
): void {
  const { funnelFromStep: from, funnelToStep: to } = funnelsFilter ?? {};
  const trendRules = { ...rules, fromStep: (from ?? 0) + 1, toStep: typeof to === "number" ? to + 1 : rules.stepCount };
  for (const rows of actors.values()) {
    for (const own of breakdown.pathsOf(eventsOf(rows))) use(own.key, funnelEntries(own.events, own.key, trendRules));
  }
}

function openFunnel(query: FunnelsQuery, context: QueryContext): Funnel {
  checkFunnel(query);
  const { table } = context;
  const filter = query.funnelsFilter ?? {};
  const order = filter.funnelOrderType ?? "ordered";
  const tests = stepTests(query, context);
  if (tests.length > mostTests) throw unsupported(`A funnel with more than ${mostTests} steps and exclusions`);
  const interval = query.interval ?? "day";
  const { calendar, range } = datesOf(
    query,
    tests.map((it) => it.test),
    context,
    { interval },
  );
  const buckets = bucketsOf(range, calendar);

  const attribution = attributionOf(filter.breakdownAttributionType);
  const step = filter.breakdownAttributionValue ?? 0;
  const rule = { attribution, step, isUnordered: order === "unordered" };
  const breakdown = funnelBreakdown(query.breakdownFilter, rule, context);
  const stepsOf = stepsReader(tests);
  const isStep: RowTest = order === "strict" ? everyRow : (row) => stepsOf(row).length > 0;
  const span = { from: calendar.instant(range.from), to: calendar.instant(range.to) };
  return {
    ...{ breakdown, calendar, range, buckets },
    rules: {
      stepCount: query.series.length,
      window: windowOf(filter),
      order,
      optional: new Set(query.series.flatMap((it, i) => (it.optionalInFunnel ? [i + 1] : []))),
      attributedStep: attribution === "step" && query.breakdownFilter?.breakdown ? step : undefined,
    },
    actors: collect(query, undefined, funnelActors(query, context), context).byActor(span, isStep),
    eventsOf: (rows) =>
      rows.map((row) => {
        const time = table.time(row);
        return { row, time, steps: stepsOf(row), key: breakdown.keyOf(row), interval: buckets.indexOf(time) };
      }),
  };
}

/**
 * Follows each actor through a funnel; with a breakdown an actor counts for each of its values.
 * @param use Called with the actor and the last step that it reached, from 0
 * @returns The values of the actors by row
 */
export function followFunnel(
  query: FunnelsQuery,
  context: QueryContext,
  use: (actor: ActorKey, reached: number) => void,
): EventColumn {
  eachPath(openFunnel(query, context), (_, { reached }, actor) => use(actor, reached));
  return funnelActors(query, context).of;
}

function runFunnel(query: FunnelsQuery, context: QueryContext): Record<string, unknown> {
  const funnel = openFunnel(query, context);
  const { breakdown, buckets } = funnel;
  const paths = (use: (key: number, path: FunnelPath) => void) => eachPath(funnel, use);
  const results = {
    steps: () => stepResults(query, context, breakdown, paths),
    time_to_convert: () => timeToConvert(query, paths),
    trends: () => trendResults(query, context, breakdown, buckets.starts, (use) => eachEntry(query, funnel, use)),
  };
  return {
    results: results[query.funnelsFilter?.funnelVizType ?? "steps"](),
    ...resolvedDates(funnel.range, funnel.calendar),
  };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/funnels. */
export const funnelsKind: QueryKind<FunnelsQuery> = { kind: "FunnelsQuery", shape: FunnelsQuery, run: runFunnel };

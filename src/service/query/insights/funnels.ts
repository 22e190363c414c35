import { isoOf } from "../../../kernel/base/clock.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { expressionColumn } from "../hogql/expressions.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { memo } from "../memo.ts";
import { unsupported } from "../refusals.ts";
import type { DropOff, DropOffs } from "../shapes.ts";
import type { EventColumn } from "../table.ts";
import type { ProjectCalendar } from "./dates.ts";
import { allOf, everyRow, filterTest, type RowTest } from "./filters.ts";
import { attributionOf, type FunnelBreakdown, funnelBreakdown } from "./funnel-breakdown.ts";
import { stepResults, timeToConvert, trendResults } from "./funnel-results.ts";
import { checkFunnel, FunnelsQuery, windowOf } from "./funnel-shape.ts";
import { type FunnelPath, type FunnelRules, funnelPath, withoutRepeats } from "./funnel-steps.ts";
import { type Entries, funnelEntries, type TrendEvent } from "./funnel-trends.ts";
import { type Buckets, bucketsOf, type Range } from "./range.ts";
import { type ActorKey, actorKey, actorsOf, collect, datesOf, existingEntity, resolvedDates } from "./series.ts";
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
  const listOf = memo((mask: number): readonly number[] => [
    ...new Set(tests.filter((_, i) => mask & (1 << i)).map(({ step }) => step)),
  ]);
  return (row: number): readonly number[] => {
    let mask = 0;
    for (let i = 0; i < tests.length; i++) if (tests[i]?.test(row)) mask |= 1 << i;
    return listOf(mask);
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
export const funnelsKind = queryKind(FunnelsQuery, runFunnel);

/** Most actors of a step that are named, and most ids and events of each. */
const most = { actors: 10, ids: 3, events: 5 };

const nameOf = (node: SeriesNode): string =>
  node.custom_name ?? node.name ?? (node.kind === "EventsNode" ? node.event : undefined) ?? "All events";

interface Left {
  readonly ids: Set<string>;
  /** Rows of the last events, in order of their times. */
  rows: number[];
}

function lastEvents(
  actors: Iterable<ActorKey>,
  actorAt: EventColumn,
  { table }: QueryContext,
): ReadonlyMap<ActorKey, Left> {
  const found = new Map([...actors].map((actor): [ActorKey, Left] => [actor, { ids: new Set(), rows: [] }]));
  for (let row = 0; row < table.length; row++) {
    const left = found.get(actorKey(actorAt(row)));
    if (!left) continue;
    if (left.ids.size < most.ids) left.ids.add(table.distinctId(row));
    left.rows.push(row);
    if (left.rows.length > most.events * 20) left.rows = latest(left.rows, table.time);
  }
  for (const left of found.values()) left.rows = latest(left.rows, table.time);
  return found;
}

const latest = (rows: readonly number[], timeOf: (row: number) => number): number[] =>
  rows.toSorted((a, b) => timeOf(a) - timeOf(b) || a - b).slice(-most.events);

function dropOffs(query: FunnelsQuery, context: QueryContext): DropOffs {
  const { table } = context;
  const steps = query.series.map((node) => ({ name: nameOf(node), count: 0, actors: new Set<ActorKey>(), left: 0 }));
  // with a breakdown an actor counts for each of its values
  eachPath(openFunnel(query, context), (_, { reached }, actor) => {
    for (const step of steps.slice(0, reached + 1)) step.count++;
    const last = steps[reached];
    if (!last || reached === steps.length - 1) return;
    last.left++;
    if (last.actors.size < most.actors) last.actors.add(actor);
  });
  const left = lastEvents(
    steps.flatMap(({ actors }) => [...actors]),
    funnelActors(query, context).of,
    context,
  );
  const shown = (actor: ActorKey): DropOff => {
    const { ids, rows } = left.get(actor) ?? { ids: [], rows: [] };
    return {
      person: stringOf(actor ?? ""),
      distinct_ids: [...ids],
      last_events: rows.map((row) => ({
        seq: table.seq(row),
        event: table.name(row),
        timestamp: isoOf(table.time(row)),
      })),
    };
  };
  return { steps: steps.map(({ actors, ...step }) => ({ ...step, persons: [...actors].map(shown) })) };
}

/** Who left a funnel at which step, with their last events. */
export const dropOffsKind = queryKind(FunnelsQuery, (query, context) => ({ ...dropOffs(query, context) }));

import { expressionColumn } from "../hogql/expressions.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import { rowsPerStep, type Steps } from "../table.ts";
import { calendarOf } from "./dates.ts";
import { allOf, codeTest, filterTest, queryTest, type RowTest } from "./filters.ts";
import { attributionOf, type FunnelBreakdown, funnelBreakdown } from "./funnel-breakdown.ts";
import { type ActorRows, rowsByActor, withoutRepeats } from "./funnel-events.ts";
import { stepResults, timeToConvert, trendResults } from "./funnel-results.ts";
import { checkFunnel, FunnelsQuery, windowOf } from "./funnel-shape.ts";
import { type FunnelPath, type FunnelRules, funnelPath } from "./funnel-steps.ts";
import { type Entries, funnelEntries, type TrendEvent } from "./funnel-trends.ts";
import { bucketsOf, rangeOf } from "./range.ts";
import { unsupported } from "./refuse.ts";
import { earliestTime, existingEntity, selectRows } from "./series.ts";
import type { SeriesNode } from "./shapes.ts";

/** The actors of a funnel: persons, groups, or the values of an expression. */
function actorsOf({ aggregation_group_type_index: group, funnelsFilter }: FunnelsQuery, context: QueryContext) {
  const { table } = context;
  if (typeof group === "number") return { column: table.group(group), isGroup: true };
  const expression = funnelsFilter?.funnelAggregateByHogQL ?? "person_id";
  if (expression === "" || expression === "person_id") return { column: table.persons, isGroup: false };
  return { column: expressionColumn(expression, context), isGroup: false };
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
  const { codes } = table.persons;
  let first: Map<number, number> | undefined;
  const find = (): Map<number, number> => {
    const found = new Map<number, number>();
    for (let row = 0; row < table.length; row++) {
      const person = codes[row] ?? 0;
      const earlier = found.get(person);
      const isFirst = earlier === undefined || (table.times[row] ?? 0) < (table.times[earlier] ?? 0);
      if (isFirst && test(row)) found.set(person, row);
    }
    return found;
  };
  return (row) => {
    first ??= find();
    return first.get(codes[row] ?? 0) === row;
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

/** A funnel ready to be followed actor by actor. */
interface Funnel {
  readonly query: FunnelsQuery;
  readonly breakdown: FunnelBreakdown;
  readonly rules: FunnelRules;
  readonly actors: readonly ActorRows[];
  eventsOf(actor: ActorRows): TrendEvent[];
}

/** Most tests of steps and exclusions: a row's are bits of a number. */
const mostTests = 30;

function* eachPath(
  { actors, breakdown, rules, eventsOf }: Funnel,
  use: (key: number, path: FunnelPath, actor: ActorRows) => void,
): Steps<void> {
  let work = 0;
  for (const actor of actors) {
    work += actor.rows.length;
    if (work > rowsPerStep / 4) {
      work = 0;
      yield;
    }
    const events = withoutRepeats(eventsOf(actor));
    for (const own of breakdown.pathsOf(events)) {
      const path = funnelPath(own.events, own.key, rules);
      if (path && path.reached >= 0) use(own.key, path, actor);
    }
  }
}

function* eachEntry(
  { query, actors, breakdown, rules, eventsOf }: Funnel,
  use: (key: number, entries: Entries) => void,
): Steps<void> {
  const { funnelFromStep: from, funnelToStep: to } = query.funnelsFilter ?? {};
  const trendRules = { ...rules, fromStep: (from ?? 0) + 1, toStep: typeof to === "number" ? to + 1 : rules.stepCount };
  let work = 0;
  for (const actor of actors) {
    work += actor.rows.length;
    if (work > rowsPerStep / 4) {
      work = 0;
      yield;
    }
    for (const own of breakdown.pathsOf(eventsOf(actor))) {
      use(own.key, funnelEntries(own.events, own.key, trendRules));
    }
  }
}

/** A funnel, its actors and the time that it covers. */
interface OpenFunnel {
  readonly funnel: Funnel;
  readonly actorColumn: ReturnType<typeof actorsOf>["column"];
  readonly calendar: ReturnType<typeof calendarOf>;
  readonly range: ReturnType<typeof rangeOf>;
  readonly buckets: ReturnType<typeof bucketsOf>;
}

function* openFunnel(query: FunnelsQuery, context: QueryContext): Steps<OpenFunnel> {
  checkFunnel(query);
  const { table } = context;
  const calendar = calendarOf(context);
  const filter = query.funnelsFilter ?? {};
  const order = filter.funnelOrderType ?? "ordered";
  const tests = stepTests(query, context);
  if (tests.length > mostTests) throw unsupported(`A funnel with more than ${mostTests} steps and exclusions`);
  const isAll = query.dateRange?.date_from === "all";
  const first = isAll ? yield* earliestTime(context, (row) => tests.some(({ test }) => test(row))) : 0;
  const interval = query.interval ?? "day";
  const range = rangeOf(query.dateRange, calendar, { interval, earliest: () => calendar.wall(first) });
  const buckets = bucketsOf(range, calendar);

  const attribution = attributionOf(filter.breakdownAttributionType);
  const step = filter.breakdownAttributionValue ?? 0;
  const rule = { attribution, step, isUnordered: order === "unordered" };
  const breakdown = funnelBreakdown(query.breakdownFilter, rule, context);
  const { column, isGroup } = actorsOf(query, context);
  const stepsOf = stepsReader(tests);
  const isGrouped: RowTest[] = isGroup ? [codeTest(column, (key) => (key ?? "") !== "")] : [];
  const isStep: RowTest[] = order === "strict" ? [] : [(row) => stepsOf(row).length > 0];
  const span = { from: calendar.instant(range.from), to: calendar.instant(range.to) };
  const rows = yield* selectRows(context, span, allOf([queryTest(query, context), ...isGrouped, ...isStep]));

  const funnel: Funnel = {
    query,
    breakdown,
    rules: {
      stepCount: query.series.length,
      window: windowOf(filter),
      order,
      optional: new Set(query.series.flatMap((it, i) => (it.optionalInFunnel ? [i + 1] : []))),
      attributedStep: attribution === "step" && query.breakdownFilter?.breakdown ? step : undefined,
    },
    actors: yield* rowsByActor(rows, column, table.times),
    eventsOf: ({ rows: own }) =>
      Array.from(own, (row) => {
        const time = table.times[row] ?? 0;
        return { row, time, steps: stepsOf(row), key: breakdown.keyOf(row), interval: buckets.indexOf(time) };
      }),
  };
  return { funnel, actorColumn: column, calendar, range, buckets };
}

/**
 * Follows each actor through a funnel; with a breakdown an actor counts for each of its values.
 * @param use Called with the actor's code and the last step that it reached, from 0
 * @returns The column of the actors
 */
export function* funnelActors(
  query: FunnelsQuery,
  context: QueryContext,
  use: (actor: number, reached: number) => void,
): Steps<OpenFunnel["actorColumn"]> {
  const { funnel, actorColumn } = yield* openFunnel(query, context);
  yield* eachPath(funnel, (_, { reached }, { actor }) => use(actor, reached));
  return actorColumn;
}

function* runFunnel(query: FunnelsQuery, context: QueryContext): Steps<Record<string, unknown>> {
  const { funnel, calendar, range, buckets } = yield* openFunnel(query, context);
  const { breakdown } = funnel;
  return {
    results: yield* resultsOf(funnel),
    resolved_date_range: { date_from: calendar.iso(range.from), date_to: calendar.iso(range.to) },
  };

  function* resultsOf(of: Funnel): Steps<unknown> {
    switch (query.funnelsFilter?.funnelVizType ?? "steps") {
      case "steps":
        return yield* stepResults(query, context, breakdown, (use) => eachPath(of, use));
      case "time_to_convert":
        return yield* timeToConvert(query, (use) => eachPath(of, use));
      case "trends":
        return yield* trendResults(query, context, breakdown, buckets.starts, (use) => eachEntry(of, use));
    }
  }
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/funnels. */
export const funnelsKind: QueryKind<FunnelsQuery> = { kind: "FunnelsQuery", shape: FunnelsQuery, run: runFunnel };

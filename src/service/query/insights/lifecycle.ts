import { z } from "zod";
import { textOf } from "../../flags/engine/values.ts";
import type { QueryContext, QueryKind } from "../kind.ts";
import { rowsPerStep, type Steps } from "../table.ts";
import { sumOf } from "./breakdowns.ts";
import { calendarOf, moved } from "./dates.ts";
import { allOf, codeTest, filterTest, queryTest, type RowTest } from "./filters.ts";
import { type ActorRows, rowsByActor } from "./funnel-events.ts";
import { bucketsOf, dayText, intervalLabel, rangeOf, steps } from "./range.ts";
import { refuse } from "./refuse.ts";
import { earliestTime, existingEntity, selectRows } from "./series.ts";
import { IntervalName, insightFields, SeriesNode } from "./shapes.ts";

const LifecycleQuery = z.strictObject({
  kind: z.literal("LifecycleQuery"),
  ...insightFields,
  interval: IntervalName.nullish(),
  series: z.array(SeriesNode),
  lifecycleFilter: z
    .strictObject({
      // The chart only: results have every status.
      showLegend: z.boolean().nullish(),
      showValuesOnSeries: z.boolean().nullish(),
      stacked: z.boolean().nullish(),
      toggledLifecycles: z.array(z.string()).nullish(),
    })
    .nullish(),
});
type LifecycleQuery = z.infer<typeof LifecycleQuery>;

const statuses = ["new", "returning", "resurrecting", "dormant"] as const;
type Status = (typeof statuses)[number];

/** Time at which each person was created, by code: that of its document, or of its first event. */
function* creationTimes({ table, person }: QueryContext): Steps<Float64Array> {
  const created = new Float64Array(table.persons.values.length).fill(Infinity);
  for (let row = 0; row < table.length; row++) {
    if (row % rowsPerStep === 0) yield;
    const code = table.persons.codes[row] ?? 0;
    created[code] = Math.min(created[code] ?? Infinity, table.times[row] ?? 0);
  }
  return created.map((time, code) => person?.(table.persons.values[code] ?? "")?.created_at ?? time);
}

/** What each series of the result is about. */
function actionOf(node: SeriesNode, name: string | null) {
  const isAction = node.kind === "ActionsNode";
  return {
    id: isAction ? String(node.id) : name,
    name: name ?? "All events",
    type: isAction ? "actions" : "events",
    order: 0,
    math: "total",
  };
}

function* runLifecycle(query: LifecycleQuery, context: QueryContext): Steps<Record<string, unknown>> {
  const [node] = query.series;
  if (!node || query.series.length > 1) throw refuse("Lifecycle insights have exactly one series.", "series");
  const { table } = context;
  const calendar = calendarOf(context);
  const interval = query.interval ?? "day";
  const entity = existingEntity(node, context);
  const first = query.dateRange?.date_from === "all" ? yield* earliestTime(context, entity.test) : 0;
  const range = rangeOf(query.dateRange, calendar, { interval, earliest: () => calendar.wall(first) });
  // One interval more at the start: what happened there decides about the first one.
  const before = moved(calendar.startOf(range.from, interval), steps[interval], -1);
  const { starts, indexOf } = bucketsOf({ interval, from: before, to: range.to }, calendar);
  const end = moved(calendar.startOf(range.to, interval), steps[interval], 1);
  const span = { from: calendar.instant(before), to: calendar.instant(end) - 1 };

  const group = query.aggregation_group_type_index;
  const actors = typeof group === "number" ? table.group(group) : table.persons;
  const hasActor: RowTest[] = typeof group === "number" ? [codeTest(actors, (key) => (key ?? "") !== "")] : [];
  const hasProfile = codeTest(table.property("$process_person_profile"), (it) => textOf(it ?? null) !== "false");
  const rows = yield* selectRows(
    context,
    span,
    allOf([entity.test, filterTest(node.properties, context), queryTest(query, context), hasProfile, ...hasActor]),
  );
  const created = yield* creationTimes(context);
  const counts = new Map<Status, Float64Array>(statuses.map((it) => [it, new Float64Array(starts.length)]));
  let work = 0;
  for (const actor of yield* rowsByActor(rows, actors, table.times)) {
    work += actor.rows.length;
    if (work > rowsPerStep) {
      work = 0;
      yield;
    }
    addActor(actor);
  }

  /** The statuses of an actor, from the intervals in which it was active. */
  function addActor({ rows: own }: ActorRows): void {
    const active = [...new Set(Array.from(own, (row) => indexOf(table.times[row] ?? 0)))];
    const birth = own.reduce(
      (time, row) => Math.min(time, created[table.persons.codes[row] ?? 0] ?? Infinity),
      Infinity,
    );
    const [firstActive = 0] = active;
    const isNew = calendar.startOf(calendar.wall(birth), interval) === starts[firstActive];
    for (const [i, at] of active.entries()) {
      const isNext = active[i - 1] === at - 1;
      add(i === 0 ? (isNew ? "new" : "resurrecting") : isNext ? "returning" : "resurrecting", at, 1);
      if (active[i + 1] !== at + 1) add("dormant", at + 1, -1);
    }
  }

  function add(status: Status, at: number, amount: number): void {
    const own = counts.get(status);
    if (own && at < own.length) own[at] = (own[at] ?? 0) + amount;
  }

  const shown = starts.slice(1);
  const results = statuses.map((status) => {
    const data = [...(counts.get(status) ?? [])].slice(1);
    return {
      action: actionOf(node, entity.name),
      data,
      count: sumOf(data),
      labels: shown.map((start) => intervalLabel(start, range)),
      days: shown.map((start) => dayText(start, interval === "hour" ? "hour" : "day")),
      label: `${entity.name ?? "All events"} - ${status}`,
      status,
    };
  });
  return { results, resolved_date_range: { date_from: calendar.iso(range.from), date_to: calendar.iso(range.to) } };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/lifecycle_query_runner.py. */
export const lifecycleKind: QueryKind<LifecycleQuery> = {
  kind: "LifecycleQuery",
  shape: LifecycleQuery,
  run: runLifecycle,
};

import { z } from "zod";
import { textOf } from "../../flags/engine/values.ts";
import { type QueryContext, queryKind } from "../kind.ts";
import { refuse } from "../refusals.ts";
import { moved } from "./dates.ts";
import { allOf, type RowTest } from "./filters.ts";
import { sumOf } from "./numbers.ts";
import { bucketsOf, dayText, intervalLabel, steps } from "./range.ts";
import { actorsOf, collect, datesOf, existingEntity, resolvedDates } from "./series.ts";
import { IntervalName, insightFields, nullish, SeriesNode } from "./shapes.ts";

const LifecycleQuery = z.strictObject({
  kind: z.literal("LifecycleQuery"),
  ...insightFields,
  interval: IntervalName.nullish(),
  series: z.array(SeriesNode),
  lifecycleFilter: z
    .strictObject({
      // The chart only: results have every status.
      ...nullish(z.boolean(), "showLegend", "showValuesOnSeries", "stacked"),
      toggledLifecycles: z.array(z.string()).nullish(),
    })
    .nullish(),
});
type LifecycleQuery = z.infer<typeof LifecycleQuery>;

const statuses = ["new", "returning", "resurrecting", "dormant"] as const;
type Status = (typeof statuses)[number];

/** Time at which each person was created: that of its document, or of its first event. */
function creationTimes({ table, person }: QueryContext): Map<string, number> {
  const created = new Map<string, number>();
  for (let row = 0; row < table.length; row++) {
    const uuid = table.person(row);
    created.set(uuid, Math.min(created.get(uuid) ?? Infinity, table.time(row)));
  }
  for (const [uuid, time] of created) created.set(uuid, person?.(uuid)?.created_at ?? time);
  return created;
}

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

function runLifecycle(query: LifecycleQuery, context: QueryContext): Record<string, unknown> {
  const [node] = query.series;
  if (!node || query.series.length > 1) throw refuse("Lifecycle insights have exactly one series.", "series");
  const { table } = context;
  const interval = query.interval ?? "day";
  const entity = existingEntity(node, context);
  const { calendar, range } = datesOf(query, [entity.test], context, { interval });
  // One interval more at the start: what happened there decides about the first one.
  const before = moved(calendar.startOf(range.from, interval), steps[interval], -1);
  const { starts, indexOf } = bucketsOf({ interval, from: before, to: range.to }, calendar);
  const end = moved(calendar.startOf(range.to, interval), steps[interval], 1);
  const span = { from: calendar.instant(before), to: calendar.instant(end) - 1 };

  const profile = table.property("$process_person_profile");
  const hasProfile: RowTest = (row) => textOf(profile(row) ?? null) !== "false";
  const actors = actorsOf(context, query.aggregation_group_type_index);
  const collection = collect(query, node, actors, context);
  const created = creationTimes(context);
  const counts = new Map<Status, Float64Array>(statuses.map((it) => [it, new Float64Array(starts.length)]));
  for (const rows of collection.byActor(span, allOf([entity.test, hasProfile])).values()) {
    // The statuses of an actor, from the intervals in which it was active.
    const active = [...new Set(rows.map((row) => indexOf(table.time(row))))];
    const birth = rows.reduce((time, row) => Math.min(time, created.get(table.person(row)) ?? Infinity), Infinity);
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
  return { results, ...resolvedDates(range, calendar) };
}

/** Upstream PostHog/posthog posthog/hogql_queries/insights/lifecycle_query_runner.py. */
export const lifecycleKind = queryKind(LifecycleQuery, runLifecycle);

import type { Json } from "../../../kernel/base/json.ts";
import type { QueryContext } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import {
  cohortsIn,
  columnOf,
  compareValues,
  defaultLimit,
  hasBreakdown,
  isCohortBreakdown,
  valueText,
} from "./breakdowns.ts";
import { cohortTest, everyRow, type RowTest } from "./filters.ts";
import type { FunnelEvent } from "./funnel-steps.ts";
import type { BreakdownFilter } from "./shapes.ts";

/** The value of a breakdown as results have it: a list for properties, text for groups, a number for cohorts. */
export type FunnelValue = readonly string[] | string | number;

/** Which of an actor's values count. Upstream: `FunnelUDFMixin._prop_vals`. */
export type Attribution = "first_touch" | "last_touch" | "all_events" | "step";

export interface FunnelBreakdown {
  /** Key of a row's value. */
  keyOf(row: number): number;
  valueAt(key: number): FunnelValue;
  /** The values for which an actor's path is computed, each with the events that count for it. */
  pathsOf<E extends FunnelEvent>(events: readonly E[]): { key: number; events: readonly E[] }[];
  /** Most values in the results; the rest is added up. Undefined: all of them. */
  readonly limit: number | undefined;
  readonly isList: boolean;
}

const noFunnelBreakdown: FunnelBreakdown = {
  keyOf: () => 0,
  valueAt: () => [],
  pathsOf: (events) => [{ key: 0, events }],
  limit: undefined,
  isList: false,
};

export interface AttributionRule {
  readonly attribution: Attribution;
  /** The step, from 0. */
  readonly step: number;
  readonly isUnordered: boolean;
}

/** @throws SimError if the sim does not have the property, or there is no such cohort */
export function funnelBreakdown(
  filter: BreakdownFilter | null | undefined,
  rule: AttributionRule,
  context: QueryContext,
): FunnelBreakdown {
  if (filter?.breakdowns && filter.breakdowns.length > 0) throw unsupported("`breakdowns` in a funnel");
  if (!hasBreakdown(filter)) return noFunnelBreakdown;
  if (filter.breakdown_histogram_bin_count) throw unsupported("breakdown_histogram_bin_count in a funnel");
  return isCohortBreakdown(filter) ? byCohort(filter, context) : byProperty(filter, rule, context);
}

/** An actor has a path for each of its cohorts. */
function byCohort(filter: BreakdownFilter, context: QueryContext): FunnelBreakdown {
  const cohorts = cohortsIn(filter).map((id): { id: number; test: RowTest } =>
    id === "all" ? { id: 0, test: everyRow } : { id, test: cohortTest(id, context) },
  );
  return {
    keyOf: () => 0,
    valueAt: (key) => cohorts[key]?.id ?? 0,
    pathsOf: (events) =>
      cohorts.flatMap(({ test }, key) => {
        const own = events.filter(({ row }) => test(row));
        return own.length === 0 ? [] : [{ key, events: own.map((it) => ({ ...it, key })) }];
      }),
    limit: undefined,
    isList: false,
  };
}

const withoutEnd = (url: string): string => url.replace(/[\\/?#]*$/, "") || "/";

function byProperty(filter: BreakdownFilter, rule: AttributionRule, context: QueryContext): FunnelBreakdown {
  const { breakdown, breakdown_type: type, breakdown_group_type_index: group } = filter;
  const names = Array.isArray(breakdown) ? breakdown : [breakdown ?? ""];
  const isList = type !== "group" || Array.isArray(breakdown);
  const normalizes = filter.breakdown_normalize_url === true && (type ?? "event") === "event";
  const columns = names.map((name) => columnOf(name, type, group, context));
  const textOf = (value: Json | undefined) => (normalizes ? withoutEnd(valueText(value)) : valueText(value));
  const keys = new Map<string, number>();
  const all: string[][] = [];
  function keyFor(texts: string[]): number {
    const name = JSON.stringify(texts);
    const key = keys.get(name) ?? all.push(texts) - 1;
    keys.set(name, key);
    return key;
  }
  const emptyKey = keyFor(names.map(() => ""));
  return {
    keyOf: (row) => keyFor(columns.map((column) => textOf(column(row)))),
    valueAt: (key) => (isList ? (all[key] ?? []) : (all[key]?.[0] ?? "")),
    pathsOf: pathsBy(rule, emptyKey, isList),
    limit: ["person", "event", "group"].includes(type ?? "event")
      ? (filter.breakdown_limit ?? defaultLimit)
      : undefined,
    isList,
  };
}

function pathsBy(
  { attribution, step, isUnordered }: AttributionRule,
  emptyKey: number,
  isList: boolean,
): FunnelBreakdown["pathsOf"] {
  const hasValue = ({ key }: FunnelEvent) => !isList || key !== emptyKey;
  switch (attribution) {
    case "first_touch":
      return (events) => [{ key: events.find(hasValue)?.key ?? emptyKey, events }];
    case "last_touch":
      return (events) => [{ key: events.findLast(hasValue)?.key ?? emptyKey, events }];
    case "all_events":
      return (events) =>
        [...new Set(events.map(({ key }) => key))].map((key) => ({
          key,
          events: events.filter((it) => it.key === key),
        }));
    case "step":
      return (events) => {
        const of = isUnordered ? events : events.filter(({ steps }) => steps.includes(step + 1));
        const keys = new Set(of.map(({ key }) => key));
        // Upstream: an event of another step has the empty text, where values are no lists.
        if (!isList && of.length < events.length) keys.add(emptyKey);
        return [...keys].map((key) => ({ key, events }));
      };
  }
}

export const compareFunnelValues = (a: FunnelValue, b: FunnelValue): number =>
  typeof a === "number" && typeof b === "number"
    ? a - b
    : compareValues(typeof a === "number" ? String(a) : a, typeof b === "number" ? String(b) : b);

export function attributionOf(name: string | null | undefined): Attribution {
  switch (name ?? "first_touch") {
    case "first_touch":
    case "last_touch":
    case "all_events":
    case "step":
      return (name ?? "first_touch") as Attribution;
    default:
      throw refuse(`${JSON.stringify(name)} is not a valid breakdownAttributionType.`);
  }
}

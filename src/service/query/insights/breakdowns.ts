import type { Json } from "../../../kernel/base/json.ts";
import { compareText, stringOf } from "../../../kernel/base/text.ts";
import { numberOf, textOf } from "../../flags/engine/values.ts";
import { expressionColumn } from "../hogql/expressions.ts";
import type { QueryContext } from "../kind.ts";
import { refuse, unsupported } from "../refusals.ts";
import type { EventColumn } from "../table.ts";
import { columnAt } from "./columns.ts";
import { sumOf } from "./numbers.ts";
import type { BreakdownFilter } from "./shapes.ts";

/** Results by the value of a property. Upstream PostHog/posthog posthog/hogql_queries/insights/trends/breakdown.py. */

export const otherValue = "$$_posthog_breakdown_other_$$";
const nullValue = "$$_posthog_breakdown_null_$$";

/** Values shown if the query has no `breakdown_limit`. */
export const defaultLimit = 25;

/** A value of a breakdown; a list for several properties. */
export type BreakdownValue = string | readonly string[];

interface Part {
  readonly column: EventColumn;
  readonly normalizesUrl: boolean;
  readonly bins: number | undefined;
}

export const hasBreakdown = (filter: BreakdownFilter | null | undefined): filter is BreakdownFilter =>
  filter?.breakdown !== undefined && filter.breakdown !== null ? true : (filter?.breakdowns ?? []).length > 0;

/** True if the query has a result for each of some cohorts. */
export const isCohortBreakdown = (
  filter: BreakdownFilter | null | undefined,
): filter is BreakdownFilter & { breakdown_type: "cohort" } =>
  hasBreakdown(filter) && filter.breakdown_type === "cohort";

/** Cohorts of a breakdown, in order; "all" is everyone. @throws SimError if one is no id */
export function cohortsIn({ breakdown }: BreakdownFilter): (number | "all")[] {
  const list = Array.isArray(breakdown) ? breakdown : [breakdown];
  return list.map((it) => {
    if (it === "all" || typeof it === "number") return it;
    if (typeof it === "string" && /^\d{1,15}$/.test(it)) return Number(it);
    throw refuse(`A breakdown by cohorts needs ids of cohorts, got ${JSON.stringify(it)}.`, "breakdown");
  });
}

const withoutEnd = (url: string): string => url.replace(/[/?#]+$/, "") || "/";

function shownValue(value: Json | undefined, normalizesUrl: boolean): string {
  const text = valueText(value);
  if (normalizesUrl && value !== undefined && value !== null) return withoutEnd(text);
  return text === "" ? nullValue : text;
}

function partsOf(filter: BreakdownFilter, context: QueryContext): Part[] {
  const { breakdowns, breakdown } = filter;
  if (breakdowns && breakdowns.length > 0) {
    return breakdowns.map(({ property, type, group_type_index: group, normalize_url, histogram_bin_count }) => ({
      column: columnOf(property, type, group, context),
      normalizesUrl: normalize_url === true,
      bins: histogram_bin_count ?? undefined,
    }));
  }
  if (Array.isArray(breakdown)) throw unsupported("A list in `breakdown` for other than cohorts");
  return [
    {
      column: columnOf(breakdown ?? "", filter.breakdown_type, filter.breakdown_group_type_index, context),
      normalizesUrl: filter.breakdown_normalize_url === true,
      bins: filter.breakdown_histogram_bin_count ?? undefined,
    },
  ];
}

export function columnOf(
  property: string | number,
  type: string | null | undefined,
  group: number | null | undefined,
  context: QueryContext,
): EventColumn {
  if (type === "hogql") return expressionColumn(stringOf(property), context);
  return columnAt({ type: type ?? "event", key: stringOf(property), group }, context);
}

/** A value as text; "" for none. */
export const valueText = (value: Json | undefined): string =>
  value === undefined || value === null ? "" : textOf(value);

export interface Breakdown {
  keyOf(row: number): string;
  /** What the keys are shown as; several may be the same. Bins of numbers have the limits of all that `keyOf` has read. */
  shown(): (key: string) => BreakdownValue;
}

/** The bin of each number, as a JSON list of its limits. */
function binned(numbers: readonly number[], bins: number): (number: number) => string {
  const real = numbers.filter((it) => !Number.isNaN(it));
  const low = real.reduce((a, b) => Math.min(a, b), Infinity);
  const width = real.reduce((a, b) => Math.max(a, b), -Infinity) - low;
  const limits = Array.from({ length: bins }, (_, i): [number, number] => [
    (width / bins) * i + low,
    (width / bins) * (i + 1) + low + (i + 1 === bins ? 0.01 : 0),
  ]);
  return (number) => {
    const bin = limits.find(([from, to]) => from <= number && number < to);
    return bin ? `[${bin[0]},${bin[1]}]` : nullValue;
  };
}

/** @throws SimError if the sim does not have the property */
export function breakdownOf(filter: BreakdownFilter, context: QueryContext): Breakdown {
  const parts = partsOf(filter, context);
  const isMultiple = (filter.breakdowns ?? []).length > 0;
  const known = new Map<string, readonly (string | number)[]>();
  return {
    keyOf(row) {
      const values = parts.map(({ column, normalizesUrl, bins }) =>
        bins === undefined ? shownValue(column(row), normalizesUrl) : (numberOf(column(row) ?? null) ?? Number.NaN),
      );
      const key = values.join("\0");
      if (!known.has(key)) known.set(key, values);
      return key;
    },
    shown() {
      const binOf = parts.map(({ bins }, i) =>
        bins === undefined
          ? undefined
          : binned(
              [...known.values()].map((it) => Number(it[i])),
              bins,
            ),
      );
      return (key) => {
        const list = (known.get(key) ?? []).map((it, i) => binOf[i]?.(Number(it)) ?? String(it));
        return isMultiple ? list : (list[0] ?? "");
      };
    },
  };
}

/** Numbers of one value of a breakdown. */
export interface BrokenDown {
  readonly value: BreakdownValue;
  readonly data: Float64Array;
}

const has = (value: BreakdownValue, part: string): boolean =>
  Array.isArray(value) ? value.includes(part) : value === part;

export const isOther = (value: BreakdownValue): boolean => has(value, otherValue);
export const isNull = (value: BreakdownValue): boolean => has(value, nullValue);

/** Other values come last, missing ones before them. */
const place = (value: BreakdownValue): number => (isOther(value) ? 2 : isNull(value) ? 1 : 0);

export function compareValues(a: BreakdownValue, b: BreakdownValue): number {
  const [left, right] = [Array.isArray(a) ? a : [a], Array.isArray(b) ? b : [b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const order = compareText(left[i] ?? "", right[i] ?? "");
    if (order !== 0) return order;
  }
  return left.length - right.length;
}

export const sortedByTotal = (all: readonly BrokenDown[]): BrokenDown[] =>
  all.toSorted(
    (a, b) => place(a.value) - place(b.value) || sumOf(b.data) - sumOf(a.data) || compareValues(a.value, b.value),
  );

export function merged(all: Iterable<BrokenDown>): BrokenDown[] {
  const byValue = new Map<string, BrokenDown>();
  for (const { value, data } of all) {
    const key = JSON.stringify(value);
    const known = byValue.get(key);
    if (!known) byValue.set(key, { value, data: data.slice() });
    else for (const [i, it] of data.entries()) known.data[i] = (known.data[i] ?? 0) + it;
  }
  return [...byValue.values()];
}

/** The first values in `ranked` order; the others added up as one. */
export function limited(ranked: readonly BrokenDown[], limit: number): BrokenDown[] {
  const others = ranked.slice(limit).map(({ value, data }): BrokenDown => {
    return { value: Array.isArray(value) ? value.map(() => otherValue) : otherValue, data };
  });
  return [...ranked.slice(0, limit), ...merged(others)];
}

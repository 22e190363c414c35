import { isObject, type Json } from "../../kernel/base/json.ts";
import { didYouMean } from "../../kernel/base/nearest.ts";
import { describePattern, describeValue } from "../../lab/assert/match/describe.ts";
import { isOperatorKey } from "../../lab/assert/match/operators.ts";
import { checkPattern, fits } from "../../lab/assert/match/pattern.ts";
import { quoted } from "../../lab/assert/match/printable.ts";
import type { Pattern } from "../../lab/assert/match/types.ts";
import type { FunnelStep, QueryInput, RetentionCohort, TrendSeries } from "../../service/query/client.ts";

/** The name of a stored insight, or a query with its kind. */
export type InsightOrQuery = string | Exclude<QueryInput, string>;

/** One pattern for an insight with one series, or patterns by the label of the series. */
type BySeries<P> = P | { readonly [label: string]: P };

/** What an insight shows. Numbers, or patterns for them, such as `{ "@gte": 2 }`. */
export interface InsightExpectation {
  /** Of a funnel: how many reached each step; by value for one with a breakdown. */
  steps?: BySeries<readonly Pattern[]>;
  /** Of a trend, stickiness or lifecycle: the sum of a series. */
  total?: BySeries<Pattern>;
  /**
   * Of a trend, stickiness or lifecycle: the values of a series, one for each interval. Of a funnel that is shown as
   * trends: the conversion of each interval, in percent.
   */
  data?: BySeries<readonly Pattern[]>;
  /** Of a trend that is shown as a number, and of HogQL with one row and column: that value. */
  value?: BySeries<Pattern>;
  /** Of HogQL: the rows, each a list of values in the order of the columns. */
  rows?: readonly (readonly Pattern[])[];
  /** Of retention: for each cohort how many came, and came back. */
  retention?: readonly (readonly Pattern[])[];
}

type InsightKey = keyof InsightExpectation;

/** What a result shows: a value, or values by label where there are several. */
type Shown = { readonly one: Json } | { readonly many: ReadonlyMap<string, Json> };

function shownBy<T>(items: readonly T[], labelOf: (item: T) => string, shown: (item: T) => Json): Shown {
  const [only, ...others] = items;
  if (only !== undefined && others.length === 0) return { one: shown(only) };
  return { many: new Map(items.map((it) => [labelOf(it), shown(it)])) };
}

// the series of a funnel that is shown as trends have no label
const labelOf = ({ status, label, breakdown_value }: Partial<TrendSeries>): string =>
  status ?? label ?? valueText(breakdown_value);
const seriesIn = (results: Json): TrendSeries[] => (Array.isArray(results) ? (results as never) : []);
const rowsIn = (results: Json): Json[] => (Array.isArray(results) ? results : []);

function funnelsIn(results: Json): FunnelStep[][] {
  const rows = rowsIn(results);
  return (rows.some((it) => Array.isArray(it)) ? rows : [rows]) as never;
}

type Shape = { readonly kind: string; readonly funnelsFilter?: Json };

/** The kind of a query; a funnel that is shown in another way than by steps has other results. */
export function formOf({ kind, funnelsFilter }: Shape): string {
  const shown = isObject(funnelsFilter) ? funnelsFilter.funnelVizType : undefined;
  const isSteps = kind !== "FunnelsQuery" || typeof shown !== "string" || shown === "steps";
  return isSteps ? kind : `${kind} shown as ${shown}`;
}

const valueText = (value: Json | undefined): string =>
  Array.isArray(value) ? value.map(valueText).join("::") : String(value ?? "");

const trendKinds = ["TrendsQuery", "StickinessQuery", "LifecycleQuery"];

const readings: {
  readonly [K in InsightKey]-?: { readonly kinds: readonly string[]; read(results: Json): Shown };
} = {
  steps: {
    kinds: ["FunnelsQuery"],
    read: (results) =>
      shownBy(
        funnelsIn(results),
        ([first]) => valueText(first?.breakdown_value),
        (steps) => steps.map(({ count }) => count),
      ),
  },
  total: {
    kinds: trendKinds,
    read: (results) => shownBy(seriesIn(results), labelOf, (it) => it.aggregated_value ?? it.count),
  },
  data: {
    kinds: [...trendKinds, "FunnelsQuery shown as trends"],
    read: (results) => shownBy(seriesIn(results), labelOf, ({ data }) => (data ? [...data] : null)),
  },
  value: {
    kinds: ["TrendsQuery", "HogQLQuery"],
    read(results) {
      const [first] = rowsIn(results);
      if (Array.isArray(first)) {
        const isOne = rowsIn(results).length === 1 && first.length === 1;
        return { one: isOne ? (first[0] ?? null) : results };
      }
      return shownBy(seriesIn(results), labelOf, (it) => it.aggregated_value ?? it.count);
    },
  },
  rows: { kinds: ["HogQLQuery"], read: (results) => ({ one: results }) },
  retention: {
    kinds: ["RetentionQuery"],
    read: (results) => ({
      one: (rowsIn(results) as unknown as RetentionCohort[]).map(({ values }) => values.map(({ count }) => count)),
    }),
  },
};

const keys = Object.keys(readings) as InsightKey[];
const isKey = (key: string): key is InsightKey => Object.hasOwn(readings, key);

/** @throws TypeError for an unknown key, with the nearest one, and for a pattern that cannot be read */
export function checkExpectation(title: string, expected: unknown): asserts expected is InsightExpectation {
  if (!isObject(expected)) throw new TypeError(`${title}: expected an object with ${keys.join(", ")}`);
  const names = Object.keys(expected);
  if (names.length === 0) throw new TypeError(`${title}: the expectation is empty; it has ${keys.join(", ")}`);
  for (const name of names) {
    if (!isKey(name))
      throw new TypeError(`${title}: unknown key "${name}"${didYouMean(name, keys, (it) => `"${it}"`)}`);
    checkGiven(title, name, expected[name]);
    for (const { pointer, detail } of checkPattern(expected[name]))
      throw new TypeError(`${title}: ${name}: ${detail}${pointer === "" ? "" : ` (${pointer})`}`);
  }
}

/** @throws TypeError for a value that nothing is compared with */
function checkGiven(title: string, name: InsightKey, given: Pattern): void {
  const inner = Array.isArray(given) ? given : isObject(given) && isByLabel(given) ? Object.values(given) : [];
  const isEmpty = isObject(given) && isByLabel(given) && inner.length === 0;
  if (given !== undefined && !isEmpty && !inner.includes(undefined)) return;
  throw new TypeError(`${title}: ${name} is ${describePattern(given)}; give what the insight shows, or leave it out`);
}

const keysOf = (kind: string): InsightKey[] => keys.filter((it) => readings[it].kinds.includes(kind));

const isByLabel = (pattern: Pattern): pattern is { readonly [label: string]: Pattern } =>
  isObject(pattern) && Object.getPrototypeOf(pattern) === Object.prototype && !Object.keys(pattern).some(isOperatorKey);

const labelsOf = (many: ReadonlyMap<string, Json>): string =>
  many.size === 0
    ? "none"
    : [...many.keys()]
        .slice(0, 10)
        .map((it) => quoted(it))
        .join(", ");

function differencesOf(key: InsightKey, pattern: Pattern, shown: Shown): string[] {
  if ("one" in shown) {
    return fits(pattern, shown.one)
      ? []
      : [`${key}: expected ${describePattern(pattern)}, got ${describeValue(shown.one)}`];
  }
  const { many } = shown;
  if (!isByLabel(pattern)) {
    if (many.size === 0) return [`${key}: expected ${describePattern(pattern)}, got no result`];
    return [`${key}: the insight has ${many.size} series (${labelsOf(many)}); give ${key} by label`];
  }
  return Object.entries(pattern).flatMap(([label, one]) => {
    const value = many.get(label);
    if (value === undefined) {
      const meant = didYouMean(label, [...many.keys()], quoted);
      return [`${key}: there is no series ${quoted(label)}${meant}; series: ${labelsOf(many)}`];
    }
    return fits(one, value)
      ? []
      : [`${key} of ${quoted(label)}: expected ${describePattern(one)}, got ${describeValue(value)}`];
  });
}

/** What a result does not meet of the expectation. @throws TypeError for a key that this kind of query does not have */
export function insightDifferences(
  title: string,
  expected: InsightExpectation,
  { query, results }: { readonly query: Shape; readonly results: Json },
): string[] {
  const form = formOf(query);
  return Object.entries(expected).flatMap(([name, pattern]) => {
    if (!isKey(name) || pattern === undefined) return [];
    if (readings[name].kinds.includes(form)) return differencesOf(name, pattern, readings[name].read(results));
    const known = keysOf(form);
    const has = known.length === 0 ? "nothing that can be expected" : known.join(", ");
    throw new TypeError(`${title}: a ${form} has no ${name}; it has ${has}`);
  });
}

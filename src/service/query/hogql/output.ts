import { memo } from "../memo.ts";
import { compile, compileAll, type HogQLTerm, type Known, type Read, termsIn, type ValueBudget } from "./term.ts";
import type { HogQLValue } from "./types.ts";
import { compareValues, keyOf, weightOf } from "./values.ts";

export type ResultRow = readonly HogQLValue[];

/** Numbers of distinct keys, from 0 in order of their first row. */
function numbered(keyOfRow: (row: number) => HogQLValue): (row: number) => number {
  let count = 0;
  const numberOf = memo((_: HogQLValue) => count++);
  return (row) => numberOf(keyOfRow(row));
}

/** Numbers of the distinct combinations of values; they are below 2^26, as memory ends before. */
export function numbering(reads: readonly Read[]): (row: number) => number {
  const [first = () => 0, ...others] = reads.map((read) => numbered((row) => keyOf(read(row))));
  return others.reduce((left, right) => numbered((row) => left(row) * 0x4000000 + right(row)), first);
}

const valuesAt = (reads: readonly Read[], row: number): ResultRow => reads.map((it) => it(row));

const isMissing = (value: HogQLValue): boolean => value === null || Number.isNaN(value);

/** Order of two rows: NULL and NaN come last in both directions. */
export function order(
  keys: readonly { readonly read: Read; readonly isDescending: boolean }[],
): (a: number, b: number) => number {
  return (a, b) => {
    for (const { read, isDescending } of keys) {
      const [left, right] = [read(a), read(b)];
      const result = compareValues(left, right);
      if (result !== 0) return isDescending && !isMissing(left) && !isMissing(right) ? -result : result;
    }
    return a - b;
  };
}

/** The aggregations of some expressions, for the rows of many groups. */
export function aggregationOf(terms: readonly HogQLTerm[], budget: ValueBudget) {
  const aggregates = [...new Map(terms.flatMap((it) => termsIn(it, "aggregate")).map((it) => [it.key, it])).values()];
  const folds = aggregates.map(({ accumulate, args }) => accumulate(compileAll(args), budget));
  return {
    /** State of a group without rows. */
    start(): unknown[] {
      budget.take(1 + folds.length);
      return folds.map((it) => it.start());
    },
    add(states: readonly unknown[], row: number): void {
      for (let i = 0; i < folds.length; i++) folds[i]?.add(states[i], row);
    },
    /** Results by the keys of the aggregations; a group's number is its place in `groups`. */
    results: (groups: readonly (readonly unknown[])[]): Map<string, Read> =>
      new Map(
        aggregates.map(({ key }, i) => {
          const values = groups.map((states) => folds[i]?.end(states[i]) ?? null);
          return [key, (group) => values[group] ?? null];
        }),
      ),
  };
}

interface Groups {
  readonly length: number;
  /** Keys and results of aggregations by number of the group. */
  readonly known: Known;
}

/** Groups the rows by their keys, in order of the first row. */
export function grouped(
  length: number,
  isKept: (row: number) => boolean,
  keys: readonly HogQLTerm[],
  later: readonly HogQLTerm[],
  budget: ValueBudget,
): Groups {
  const reads = compileAll(keys);
  const aggregation = aggregationOf(later, budget);
  const values: ResultRow[] = [];
  const states: unknown[][] = [];
  const start = (row: ResultRow): unknown[] => {
    budget.take(weightOf(row));
    values.push(row);
    const state = aggregation.start();
    states.push(state);
    return state;
  };
  const numberOf = numbering(reads);
  // Without keys there is one group, also without rows.
  if (keys.length === 0) start([]);
  for (let row = 0; row < length; row++)
    if (isKept(row)) aggregation.add(states[numberOf(row)] ?? start(valuesAt(reads, row)), row);
  const results = aggregation.results(states);
  for (const [i, { key }] of keys.entries()) results.set(key, (group) => values[group]?.[i] ?? null);
  return { length: states.length, known: (term) => results.get(term.key) };
}

interface Output {
  readonly columns: readonly { readonly term: HogQLTerm }[];
  readonly sortTerms: readonly { readonly term: HogQLTerm; readonly isDescending: boolean }[];
  readonly limitTerms: readonly HogQLTerm[];
  readonly limits: {
    readonly limit: number | undefined;
    readonly offset: number;
    readonly by: number | undefined;
    readonly byOffset: number;
  };
  readonly isDistinct: boolean;
  /** Everything that is computed for rows that pass. */
  readonly shown: readonly HogQLTerm[];
  readonly budget: ValueBudget;
}

/** The rows of the result: sorted, limited, without repetitions as the query says. */
export function output(
  length: number,
  passes: (row: number) => boolean,
  computed: Known,
  { columns, sortTerms, limitTerms, limits, isDistinct, budget, shown }: Output,
): ResultRow[] {
  const windows = new Map<string, Read>();
  const known: Known = (term) => windows.get(term.key) ?? computed(term);
  let isKept = passes;
  const calls = shown.flatMap((it) => termsIn(it, "window"));
  if (calls.length > 0) {
    const rows = Array.from({ length }, (_, row) => row).filter(passes);
    for (const it of calls) if (!windows.has(it.key)) windows.set(it.key, it.read(rows, computed, budget));
    const kept = new Set(rows);
    isKept = (row) => kept.has(row);
  }
  const reads = columns.map((it) => compile(it.term, known));
  const sortKeys = sortTerms.map(({ term, isDescending }) => ({ read: compile(term, known), isDescending }));
  const compare = order(sortKeys);
  const isSorted = sortKeys.length > 0;
  const end = limits.limit === undefined ? Number.POSITIVE_INFINITY : limits.offset + limits.limit;
  const isPlain = !isDistinct && limits.by === undefined;
  const most = isPlain ? end : Number.POSITIVE_INFINITY;
  const seen = new Set<unknown>();
  let work: number[] = [];
  for (let row = 0; row < length; row++) {
    if (!isKept(row)) continue;
    if (isDistinct) {
      const key = keyOf(valuesAt(reads, row));
      if (seen.has(key)) continue;
      budget.take(1 + String(key).length / 64);
      seen.add(key);
    }
    work.push(row);
    if (!isSorted && work.length >= most) break;
    // With a limit only the first rows of the order are kept.
    if (isSorted && work.length > 2 * most + 100_000) work = work.sort(compare).slice(0, most);
  }
  if (isSorted) work.sort(compare);
  if (limits.by !== undefined) work = limitedBy(work, compileAll(limitTerms, known), limits.by, limits.byOffset);
  return work.slice(limits.offset, end).map((row) => {
    const values = valuesAt(reads, row);
    budget.take(weightOf(values));
    return values;
  });
}

function limitedBy(rows: readonly number[], reads: readonly Read[], most: number, offset: number): number[] {
  const counts = new Map<unknown, number>();
  return rows.filter((row) => {
    const key = keyOf(valuesAt(reads, row));
    const place = counts.get(key) ?? 0;
    counts.set(key, place + 1);
    return place >= offset && place < offset + most;
  });
}

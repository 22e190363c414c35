import type { Steps } from "../table.ts";
import type { ResultRow } from "./from.ts";
import { aggregationOf, numbering } from "./grouping.ts";
import { order, type SortKey, sorted } from "./sort.ts";
import { compile, type HogQLTerm, type Known, type Read, termsIn, type ValueBudget } from "./term.ts";
import { keyOf, weightOf } from "./values.ts";

/** Rows between two yields: a row costs a microsecond or a few. */
const rowsPerTurn = 2048;

interface Groups {
  readonly length: number;
  /** Keys and results of aggregations by number of the group. */
  readonly known: Known;
}

/** Groups the rows by their keys, in order of the first row. */
export function* grouped(
  length: number,
  isKept: (row: number) => boolean,
  keys: readonly HogQLTerm[],
  later: readonly HogQLTerm[],
  budget: ValueBudget,
): Steps<Groups> {
  const reads = keys.map((it) => compile(it));
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
  for (let row = 0; row < length; row++) {
    if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    if (!isKept(row)) continue;
    aggregation.add(states[numberOf(row)] ?? start(reads.map((it) => it(row))), row);
  }
  const results = yield* aggregation.results(states);
  for (const [i, { key }] of keys.entries()) results.set(key, (group) => values[group]?.[i] ?? null);
  return { length: states.length, known: (term) => results.get(term.key) };
}

export interface Output {
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
export function* output(
  length: number,
  passes: (row: number) => boolean,
  computed: Known,
  { columns, sortTerms, limitTerms, limits, isDistinct, budget, shown }: Output,
): Steps<ResultRow[]> {
  const windows = new Map<string, Read>();
  const known: Known = (term) => windows.get(term.key) ?? computed(term);
  let isKept = passes;
  const calls = shown.flatMap((it) => termsIn(it, "window"));
  if (calls.length > 0) {
    const rows: number[] = [];
    for (let row = 0; row < length; row++) {
      if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
      if (passes(row)) rows.push(row);
    }
    for (const it of calls) if (!windows.has(it.key)) windows.set(it.key, yield* it.read(rows, computed, budget));
    const kept = new Set(rows);
    isKept = (row) => kept.has(row);
  }
  const reads = columns.map((it) => compile(it.term, known));
  const keys: SortKey[] = sortTerms.map(({ term, isDescending }) => ({ read: compile(term, known), isDescending }));
  const end = limits.limit === undefined ? Number.POSITIVE_INFINITY : limits.offset + limits.limit;
  const isPlain = !isDistinct && limits.by === undefined;
  const most = isPlain ? end : Number.POSITIVE_INFINITY;
  const seen = new Set<unknown>();
  let work: number[] = [];
  for (let row = 0; row < length; row++) {
    if (row % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    if (!isKept(row)) continue;
    if (isDistinct) {
      const key = keyOf(reads.map((it) => it(row)));
      if (seen.has(key)) continue;
      budget.take(1 + String(key).length / 64);
      seen.add(key);
    }
    work.push(row);
    if (keys.length === 0 && work.length >= end && isPlain) break;
    // With a limit only the first rows of the order are kept.
    if (keys.length > 0 && work.length > 2 * most + 100_000) work = (yield* sorted(work, order(keys))).slice(0, most);
  }
  if (keys.length > 0) work = yield* sorted(work, order(keys));
  const limitReads = limitTerms.map((it) => compile(it, known));
  if (limits.by !== undefined) work = limitedBy(work, limitReads, limits.by, limits.byOffset);
  const rows: ResultRow[] = [];
  for (const row of work.slice(limits.offset, end)) {
    if (rows.length % rowsPerTurn === rowsPerTurn - 1) yield undefined;
    const values = reads.map((it) => it(row));
    budget.take(weightOf(values));
    rows.push(values);
  }
  return rows;
}

function limitedBy(rows: readonly number[], reads: readonly Read[], most: number, offset: number): number[] {
  const counts = new Map<unknown, number>();
  return rows.filter((row) => {
    const key = keyOf(reads.map((it) => it(row)));
    const place = counts.get(key) ?? 0;
    counts.set(key, place + 1);
    return place >= offset && place < offset + most;
  });
}

import { rowsPerStep, type Steps } from "../table.ts";
import { compile, type HogQLTerm, type Read, termsIn, type ValueBudget } from "./term.ts";
import type { HogQLValue } from "./types.ts";
import { keyOf } from "./values.ts";

/** True for a row before which other work gets a turn. */
export const isTurn = (row: number): boolean => row % rowsPerStep === rowsPerStep - 1;

/** Numbers of distinct keys, from 0 in order of their first row. */
function numbered(keyOfRow: (row: number) => HogQLValue): (row: number) => number {
  const numbers = new Map<HogQLValue, number>();
  return (row) => {
    const key = keyOfRow(row);
    const number = numbers.get(key) ?? numbers.size;
    if (number === numbers.size) numbers.set(key, number);
    return number;
  };
}

/** Numbers of the distinct combinations of values; they are below 2^26, as memory ends before. */
export function numbering(reads: readonly Read[]): (row: number) => number {
  const [first = () => 0, ...others] = reads.map((read) => numbered((row) => keyOf(read(row))));
  return others.reduce((left, right) => numbered((row) => left(row) * 0x4000000 + right(row)), first);
}

/** The aggregations of some expressions, for the rows of many groups. */
export interface Aggregation {
  /** State of a group without rows. */
  start(): unknown[];
  add(states: readonly unknown[], row: number): void;
  /** Results by the keys of the aggregations; a group's number is its place in `groups`. */
  results(groups: readonly (readonly unknown[])[]): Steps<Map<string, Read>>;
}

export function aggregationOf(terms: readonly HogQLTerm[], budget: ValueBudget): Aggregation {
  const aggregates = [...new Map(terms.flatMap((it) => termsIn(it, "aggregate")).map((it) => [it.key, it])).values()];
  const folds = aggregates.map(({ accumulate, args }) =>
    accumulate(
      args.map((it) => compile(it)),
      budget,
    ),
  );
  return {
    start() {
      budget.take(1 + folds.length);
      return folds.map((it) => it.start());
    },
    add(states, row) {
      for (let i = 0; i < folds.length; i++) folds[i]?.add(states[i], row);
    },
    *results(groups) {
      const results = new Map<string, Read>();
      for (const [i, { key }] of aggregates.entries()) {
        const values: HogQLValue[] = [];
        for (const [at, states] of groups.entries()) {
          if (isTurn(at)) yield undefined;
          values.push(folds[i]?.end(states[i]) ?? null);
        }
        results.set(key, (group) => values[group] ?? null);
      }
      return results;
    },
  };
}

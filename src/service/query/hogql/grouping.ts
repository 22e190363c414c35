import { rowsPerStep, type Steps } from "../table.ts";
import { aggregatesIn, compile, dictionaryIn, type HogQLTerm, type Read, type ValueBudget } from "./term.ts";
import type { HogQLValue } from "./types.ts";
import { keyOf } from "./values.ts";

/** Numbers of the distinct values of an expression, from 0 in order of their first row. */
export type Numbering = (row: number) => number;

/** Values of columns with codes are looked up once for each code. */
export function numbering(term: HogQLTerm, read: Read): Numbering {
  const numbers = new Map<HogQLValue, number>();
  const numberOf = (row: number): number => {
    const key = keyOf(read(row));
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
  const dictionary = dictionaryIn(term);
  if (!dictionary) return numberOf;
  const { codes, size } = dictionary;
  const known = new Int32Array(size).fill(-1);
  return (row) => {
    const code = codes[row] ?? 0;
    const number = known[code] ?? -1;
    if (number >= 0) return number;
    const made = numberOf(row);
    known[code] = made;
    return made;
  };
}

/** Numbers of the distinct combinations of several numberings. */
export function combined(numberings: readonly Numbering[]): Numbering {
  const [first, ...others] = numberings;
  if (!first) return () => 0;
  return others.reduce((left, right) => {
    // Numbers are below 2^26: memory ends before.
    const numbers = new Map<number, number>();
    return (row) => {
      const pair = left(row) * 0x4000000 + right(row);
      const known = numbers.get(pair);
      if (known !== undefined) return known;
      numbers.set(pair, numbers.size);
      return numbers.size - 1;
    };
  }, first);
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
  const aggregates = [...new Map(terms.flatMap(aggregatesIn).map((it) => [it.key, it])).values()];
  const folds = aggregates.map(({ aggregate, args }) =>
    aggregate.accumulate(
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
          if (at % rowsPerStep === rowsPerStep - 1) yield undefined;
          values.push(folds[i]?.end(states[i]) ?? null);
        }
        results.set(key, (group) => values[group] ?? null);
      }
      return results;
    },
  };
}

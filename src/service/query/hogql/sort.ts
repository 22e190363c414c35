import { rowsPerStep, type Steps } from "../table.ts";
import type { Read } from "./term.ts";
import type { HogQLValue } from "./types.ts";
import { compareValues } from "./values.ts";

export interface SortKey {
  readonly read: Read;
  readonly isDescending: boolean;
}

const isMissing = (value: HogQLValue): boolean => value === null || Number.isNaN(value);

/** Order of two rows: NULL and NaN come last in both directions. */
export function order(keys: readonly SortKey[]): (a: number, b: number) => number {
  return (a, b) => {
    for (const { read, isDescending } of keys) {
      const [left, right] = [read(a), read(b)];
      const result = compareValues(left, right);
      if (result !== 0) return isDescending && !isMissing(left) && !isMissing(right) ? -result : result;
    }
    return a - b;
  };
}

const chunk = 4096;

/** Merge sort in steps. */
export function* sorted(rows: readonly number[], compare: (a: number, b: number) => number): Steps<number[]> {
  let runs: number[][] = [];
  for (let at = 0; at < rows.length; at += chunk) {
    runs.push(rows.slice(at, at + chunk).sort(compare));
    yield undefined;
  }
  while (runs.length > 1) {
    const next: number[][] = [];
    for (let i = 0; i < runs.length; i += 2) next.push(yield* merged(runs[i] ?? [], runs[i + 1] ?? [], compare));
    runs = next;
  }
  return runs[0] ?? [];
}

function* merged(
  a: readonly number[],
  b: readonly number[],
  compare: (a: number, b: number) => number,
): Steps<number[]> {
  const all: number[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (all.length % rowsPerStep === rowsPerStep - 1) yield undefined;
    const isLeft = j >= b.length || (i < a.length && compare(a[i] ?? 0, b[j] ?? 0) <= 0);
    all.push((isLeft ? a[i++] : b[j++]) ?? 0);
  }
  return all;
}

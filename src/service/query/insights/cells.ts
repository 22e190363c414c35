import { rowsPerStep, type Steps, type ValueColumn } from "../table.ts";

/** Rows sorted into numbered cells, e.g. one for each day and value of a breakdown. */
export interface Cells {
  readonly count: number;
  readonly rows: Uint32Array;
  /** The cell of each row. */
  readonly cells: Uint32Array;
}

/** Positions in `rows` by cell: those of cell c are `order[starts[c]]` to `order[starts[c + 1] - 1]`. */
interface Grouped {
  readonly order: Uint32Array;
  readonly starts: Uint32Array;
}

export function* groupedByCell({ count, cells }: Pick<Cells, "count" | "cells">): Steps<Grouped> {
  const starts = new Uint32Array(count + 1);
  for (let at = 0; at < cells.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const cell = cells[at] ?? 0;
    starts[cell + 1] = (starts[cell + 1] ?? 0) + 1;
  }
  for (let cell = 0; cell < count; cell++) starts[cell + 1] = (starts[cell + 1] ?? 0) + (starts[cell] ?? 0);
  const next = starts.slice();
  const order = new Uint32Array(cells.length);
  for (let at = 0; at < cells.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const cell = cells[at] ?? 0;
    const place = next[cell] ?? 0;
    next[cell] = place + 1;
    order[place] = at;
  }
  return { order, starts };
}

/** Number of rows of each cell. */
export function* countRows({ count, cells }: Cells): Steps<Float64Array> {
  const counts = new Float64Array(count);
  for (let at = 0; at < cells.length; at++) {
    if (at % rowsPerStep === 0) yield;
    const cell = cells[at] ?? 0;
    counts[cell] = (counts[cell] ?? 0) + 1;
  }
  return counts;
}

/** Calls back once for each cell and code in it, with the number of rows; code 0 is left out if it is `isSkipped`. */
export function* eachDistinct(
  all: Cells,
  { codes, values }: Pick<ValueColumn, "codes" | "values">,
  isSkipped: boolean,
  use: (cell: number, code: number, rows: number) => void,
): Steps<void> {
  const { order, starts } = yield* groupedByCell(all);
  const counts = new Uint32Array(values.length);
  const seen: number[] = [];
  let work = 0;
  for (let cell = 0; cell < all.count; cell++) {
    const end = starts[cell + 1] ?? 0;
    for (let at = starts[cell] ?? 0; at < end; at++) {
      if (++work % rowsPerStep === 0) yield;
      const code = codes[all.rows[order[at] ?? 0] ?? 0] ?? 0;
      if (code === 0 && isSkipped) continue;
      const before = counts[code] ?? 0;
      if (before === 0) seen.push(code);
      counts[code] = before + 1;
    }
    for (const code of seen) {
      use(cell, code, counts[code] ?? 0);
      counts[code] = 0;
    }
    seen.length = 0;
  }
}

/** Number of distinct codes in each cell. */
export function* countDistinct(
  all: Cells,
  column: Pick<ValueColumn, "codes" | "values">,
  isSkipped: boolean,
): Steps<Float64Array> {
  const counts = new Float64Array(all.count);
  yield* eachDistinct(all, column, isSkipped, (cell) => {
    counts[cell] = (counts[cell] ?? 0) + 1;
  });
  return counts;
}

/** A quantile of sorted numbers, interpolated as ClickHouse does; NaN for none. */
export function quantile(sorted: ArrayLike<number>, level: number): number {
  const place = level * (sorted.length - 1);
  const low = Math.floor(place);
  const [a = Number.NaN, b = a] = [sorted[low], sorted[low + 1]];
  return b === a ? a : a * (low + 1 - place) + b * (place - low);
}

/** Numbers that belong to cells. */
export interface CellNumbers {
  readonly count: number;
  readonly cells: Uint32Array;
  readonly numbers: Float64Array;
}

/** How the numbers of a cell become one. */
export type Statistic = (numbers: Float64Array) => number;

const sum: Statistic = (numbers) => numbers.reduce((total, it) => total + it, 0);
const atLevel =
  (level: number): Statistic =>
  (numbers) =>
    quantile(numbers.sort(), level);

/** By the name of a math; those with `_count_per_actor` at the end use them as well. */
export const aggregates: Readonly<Record<string, Statistic>> = {
  sum,
  avg: (numbers) => sum(numbers) / numbers.length,
  min: (numbers) => numbers.reduce((least, it) => Math.min(least, it), Infinity),
  max: (numbers) => numbers.reduce((most, it) => Math.max(most, it), -Infinity),
  median: atLevel(0.5),
  p75: atLevel(0.75),
  p90: atLevel(0.9),
  p95: atLevel(0.95),
  p99: atLevel(0.99),
};

/** The aggregate of each cell; 0 for a cell without numbers, as the service has it. */
export function* aggregateCells({ count, cells, numbers }: CellNumbers, aggregate: Statistic): Steps<Float64Array> {
  const { order, starts } = yield* groupedByCell({ count, cells });
  const sorted = new Float64Array(numbers.length);
  for (let at = 0; at < sorted.length; at++) {
    if (at % rowsPerStep === 0) yield;
    sorted[at] = numbers[order[at] ?? 0] ?? 0;
  }
  const results = new Float64Array(count);
  let work = 0;
  for (let cell = 0; cell < count; cell++) {
    const [start = 0, end = 0] = [starts[cell], starts[cell + 1]];
    work += end - start + 1;
    if (work > rowsPerStep) {
      work = 0;
      yield;
    }
    if (end > start) results[cell] = aggregate(sorted.subarray(start, end));
  }
  return results;
}

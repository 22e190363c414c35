/** A quantile of sorted numbers, interpolated as ClickHouse does; NaN for none. */
export function quantile(sorted: ArrayLike<number>, level: number): number {
  const place = level * (sorted.length - 1);
  const low = Math.floor(place);
  const [a = Number.NaN, b = a] = [sorted[low], sorted[low + 1]];
  return b === a ? a : a * (low + 1 - place) + b * (place - low);
}

export type Statistic = (numbers: readonly number[]) => number;

export const sumOf = (numbers: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < numbers.length; i++) total += numbers[i] ?? 0;
  return total;
};

const atLevel =
  (level: number): Statistic =>
  (numbers) =>
    quantile(Float64Array.from(numbers).sort(), level);

/** By the name of a math; those with `_count_per_actor` at the end use them as well. */
export const aggregates: Readonly<Record<string, Statistic>> = {
  sum: sumOf,
  avg: (numbers) => sumOf(numbers) / numbers.length,
  min: (numbers) => numbers.reduce((least, it) => Math.min(least, it), Infinity),
  max: (numbers) => numbers.reduce((most, it) => Math.max(most, it), -Infinity),
  median: atLevel(0.5),
  p75: atLevel(0.75),
  p90: atLevel(0.9),
  p95: atLevel(0.95),
  p99: atLevel(0.99),
};

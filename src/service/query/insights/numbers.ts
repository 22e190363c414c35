import { refuse } from "../refusals.ts";

/** Most numbers of a result, and of a table that it is computed from. */
const most = { result: 500_000, table: 10_000_000 };

/** @throws SimError if there are more numbers than one query may have */
export function checkNumbers(of: keyof typeof most, count: number): void {
  if (count <= most[of]) return;
  throw refuse(
    `The ${of === "result" ? "result" : "table of the query"} has more than ${most[of].toLocaleString("en-US")} numbers: use a longer interval, a shorter date range, fewer series or a breakdown with fewer values.`,
  );
}

/** Lists of numbers by key, all of one length. */
export class NumberLists extends Map<string, Float64Array> {
  readonly #length: number;

  constructor(length: number) {
    super();
    this.#length = length;
  }

  /** @throws SimError if there are too many numbers */
  add(key: string, at: number, amount = 1): void {
    let list = this.get(key);
    if (!list) {
      checkNumbers("table", (this.size + 1) * this.#length);
      list = new Float64Array(this.#length);
      this.set(key, list);
    }
    list[at] = (list[at] ?? 0) + amount;
  }
}

export const sumOf = (numbers: ArrayLike<number>): number => {
  let total = 0;
  for (let i = 0; i < numbers.length; i++) total += numbers[i] ?? 0;
  return total;
};

/** A quantile of sorted numbers, interpolated as ClickHouse does; NaN for none. */
export function quantile(sorted: ArrayLike<number>, level: number): number {
  const place = level * (sorted.length - 1);
  const low = Math.floor(place);
  const [a = Number.NaN, b = a] = [sorted[low], sorted[low + 1]];
  return b === a ? a : a * (low + 1 - place) + b * (place - low);
}

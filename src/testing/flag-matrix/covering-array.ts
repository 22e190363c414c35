import { seededRandom } from "../../kernel/base/seeded-random.ts";

/** A row has the index of a value for each factor. */
type Row = readonly number[];

/** Choices of `size` of the numbers below `count`, in order. */
export function choices(count: number, size: number, from = 0): number[][] {
  if (size === 0) return [[]];
  const rows: number[][] = [];
  for (let first = from; first <= count - size; first++) {
    for (const rest of choices(count, size - 1, first + 1)) rows.push([first, ...rest]);
  }
  return rows;
}

/** Factors whose values are covered together, and the numbers of their tuples of values: `base` and up. */
interface Block {
  readonly factors: readonly number[];
  readonly base: number;
}

/** All tuples of values that an array of some strength must have. */
class Tuples {
  readonly sizes: readonly number[];
  readonly blocks: readonly Block[];
  /** By factor. */
  readonly blocksOf: readonly (readonly Block[])[];
  readonly count: number;

  constructor(sizes: readonly number[], strength: number) {
    this.sizes = sizes;
    let base = 0;
    this.blocks = choices(sizes.length, strength).map((factors) => {
      const block = { factors, base };
      base += factors.reduce((product, it) => product * (sizes[it] ?? 1), 1);
      return block;
    });
    this.count = base;
    this.blocksOf = sizes.map((_, factor) => this.blocks.filter((it) => it.factors.includes(factor)));
  }

  /** The number of the block's tuple in a row; -1 if a factor has no value yet. */
  numberIn({ factors, base }: Block, row: Row): number {
    let number = 0;
    for (const factor of factors) {
      const value = row[factor] ?? -1;
      if (value < 0) return -1;
      number = number * (this.sizes[factor] ?? 1) + value;
    }
    return base + number;
  }

  /** A row with the values of a tuple, and -1 elsewhere. */
  rowWith(tuple: number): number[] {
    const row = this.sizes.map(() => -1);
    const block = this.blocks.findLast(({ base }) => base <= tuple);
    let rest = tuple - (block?.base ?? 0);
    for (const factor of [...(block?.factors ?? [])].reverse()) {
      const size = this.sizes[factor] ?? 1;
      row[factor] = rest % size;
      rest = Math.floor(rest / size);
    }
    return row;
  }
}

/** Rows that are tried for each place of the array. */
const candidates = 6;

/** Each row is the best of a few, grown from a tuple that is missing. */
function greedy(tuples: Tuples, random: () => number): number[][] {
  const missing = new Set(Array.from({ length: tuples.count }, (_, number) => number));
  const rows: number[][] = [];

  function gain(row: Row, factor: number): number {
    return (tuples.blocksOf[factor] ?? []).filter((it) => missing.has(tuples.numberIn(it, row))).length;
  }

  function grown(tuple: number): number[] {
    const row = tuples.rowWith(tuple);
    const open = row.flatMap((value, factor) => (value < 0 ? [{ factor, order: random() }] : []));
    for (const { factor } of open.sort((a, b) => a.order - b.order)) {
      let best = { value: 0, gain: -1 };
      const size = tuples.sizes[factor] ?? 1;
      const first = Math.floor(random() * size);
      for (let step = 0; step < size; step++) {
        const value = (first + step) % size;
        row[factor] = value;
        const found = gain(row, factor);
        if (found > best.gain) best = { value, gain: found };
      }
      row[factor] = best.value;
    }
    return row;
  }

  const covered = (row: Row): number[] => tuples.blocks.map((it) => tuples.numberIn(it, row));
  while (missing.size > 0) {
    const [first = 0] = missing;
    let best: { row: number[]; gain: number } | undefined;
    for (let i = 0; i < candidates; i++) {
      const row = grown(first);
      const found = covered(row).filter((it) => missing.has(it)).length;
      if (!best || found > best.gain) best = { row, gain: found };
    }
    if (!best) break;
    rows.push(best.row);
    for (const it of covered(best.row)) missing.delete(it);
  }
  return rows;
}

/** Tuples beyond which no array is made. */
export const mostTuples = 200_000;

/** Number of tuples that an array must have, or more than `mostTuples`. */
export function tupleCount(sizes: readonly number[], strength: number): number {
  // elementary symmetric polynomial of the sizes
  const sums = [1, ...Array.from({ length: strength }, () => 0)];
  for (const size of sizes) for (let k = strength; k > 0; k--) sums[k] = (sums[k] ?? 0) + (sums[k - 1] ?? 0) * size;
  return sums[strength] ?? 0;
}

/** Limits of the search for an array with one row less: tuples that it looks at, and changes. */
const effort = 1_500_000;
const mostChanges = 20_000;

/**
 * The rows with one less, if changes can bring back what is then missing: each puts a missing tuple in some row, and
 * stays if hardly more is missing after it. Undefined if none is found.
 */
function smaller(tuples: Tuples, all: readonly Row[], random: () => number): number[][] | undefined {
  const rows = all.slice(0, -1).map((row) => [...row]);
  const counts = new Int32Array(tuples.count);
  const missing = new Set(counts.keys());
  const count = (row: Row, by: 1 | -1, blocks: readonly Block[]) => {
    for (const it of blocks) {
      const tuple = tuples.numberIn(it, row);
      const sum = (counts[tuple] ?? 0) + by;
      counts[tuple] = sum;
      if (sum === 0) missing.add(tuple);
      else missing.delete(tuple);
    }
  };
  const change = (row: number[], factor: number, value: number) => {
    const blocks = tuples.blocksOf[factor] ?? [];
    count(row, -1, blocks);
    row[factor] = value;
    count(row, 1, blocks);
  };
  for (const row of rows) count(row, 1, tuples.blocks);
  const cost = Math.max(...tuples.blocksOf.map(({ length }) => length)) * 4;
  const changes = Math.min(mostChanges, Math.floor(effort / cost));
  for (let i = 0; i < changes && missing.size > 0; i++) {
    const wanted = [...missing][Math.floor(random() * missing.size)] ?? 0;
    const row = rows[Math.floor(random() * rows.length)] ?? [];
    const before = { row: [...row], missing: missing.size };
    for (const [factor, value] of tuples.rowWith(wanted).entries())
      if (value >= 0 && row[factor] !== value) change(row, factor, value);
    const worse = missing.size - before.missing;
    if (worse <= 0 || random() < Math.exp(-2 * worse)) continue;
    for (const [factor, value] of before.row.entries()) if (row[factor] !== value) change(row, factor, value);
  }
  return missing.size === 0 ? rows : undefined;
}

/**
 * A covering array: rows in which every tuple of values of any `strength` factors occurs. Greedy, then made smaller by a
 * search with a fixed seed, so the same sizes give the same rows. No array has fewer rows than the product of the
 * `strength` largest sizes.
 * @param sizes Number of values of each factor, each at least 1
 * @param strength From 1 to the number of factors
 */
export function coveringArray(sizes: readonly number[], strength: number): Row[] {
  const tuples = new Tuples(sizes, strength);
  const random = seededRandom(1);
  const least = [...sizes]
    .sort((a, b) => b - a)
    .slice(0, strength)
    .reduce((product, size) => product * size, 1);
  let rows = greedy(tuples, random);
  for (let next: typeof rows | undefined = rows; next && rows.length > least; ) {
    next = smaller(tuples, rows, random);
    rows = next ?? rows;
  }
  const at = (row: Row, factor: number): number => row[factor] ?? 0;
  return rows.sort((a, b) => {
    const factor = a.findIndex((value, i) => value !== at(b, i));
    return factor < 0 ? 0 : at(a, factor) - at(b, factor);
  });
}

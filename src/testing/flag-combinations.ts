import { seededRandom } from "../kernel/base/seeded-random.ts";
import { counted } from "../kernel/base/text.ts";

type FlagValue = boolean | string;

/** Which combinations of flag values a test runs with. */
export interface FlagMatrix {
  /** The values of each flag, e.g. `{ "new-checkout": ["control", "test"], "free-shipping": [true, false] }`. */
  flags: Readonly<Record<string, readonly FlagValue[]>>;
  /** Every choice of values of this many flags occurs in a combination. Default 2, every pair; 1 for one flag. */
  strength?: number;
}

export interface FlagCombination {
  /** For the option `phxProject`, or `sim.project()`. */
  flags: Readonly<Record<string, FlagValue>>;
  /** `new-checkout=test, free-shipping=true`. */
  title: string;
}

type Row = readonly number[];

/** Combinations are run one by one. */
const maxCombinations = 1_000;

/** The search for few combinations is in memory, and takes about a second for these. */
const maxTuples = 20_000;

/** Rows that are tried for each place of an array. */
const candidates = 6;

/** Arrays that are tried for few tuples; one for `maxTuples`. */
const maxArrays = 20;

function problemOf(flags: readonly (readonly [string, readonly FlagValue[]])[], strength: number): string | undefined {
  const empty = flags.find(([, values]) => values.length === 0)?.[0];
  const repeated = flags.find(([, values]) => new Set(values).size < values.length)?.[0];
  if (flags.length === 0) return "there are no flags to combine; name at least one";
  if (empty !== undefined) return `flag "${empty}" has no values; give at least one`;
  if (repeated !== undefined) return `flag "${repeated}" has a value twice; give it once`;
  if (!Number.isInteger(strength) || strength < 1 || strength > flags.length)
    return `the strength must be a whole number from 1 to ${flags.length}, the number of flags, not ${strength}`;
  // the elementary symmetric polynomial of the numbers of values
  const sums = [1, ...Array.from({ length: strength }, () => 0)];
  for (const [, { length }] of flags)
    for (let k = strength; k > 0; k--) sums[k] = (sums[k] ?? 0) + (sums[k - 1] ?? 0) * length;
  if ((sums[strength] ?? 0) > maxTuples)
    return `strength ${strength} of ${counted(flags.length, "flag")} makes too many combinations; lower it, or name fewer flags`;
  return undefined;
}

const choices = (count: number, size: number, from = 0): number[][] =>
  size === 0
    ? [[]]
    : Array.from({ length: Math.max(0, count - size - from + 1) }, (_, i) => from + i).flatMap((first) =>
        choices(count, size - 1, first + 1).map((rest) => [first, ...rest]),
      );

const nameOf = (factors: readonly number[], row: Row): string => factors.map((it) => `${it}:${row[it]}`).join();

/** Rows in which every tuple of values of any `strength` factors occurs. The seed is fixed: equal sizes, equal rows. */
function coveringArray(sizes: readonly number[], strength: number): Row[] {
  const random = seededRandom(1);
  const blocks = choices(sizes.length, strength);
  const blocksOf = sizes.map((_, factor) => blocks.filter((it) => it.includes(factor)));
  /** By their names, as rows with -1 elsewhere. */
  const tuples = new Map<string, Row>();
  for (const factors of blocks) {
    let rows = [sizes.map(() => -1)];
    for (const it of factors)
      rows = rows.flatMap((row) => Array.from({ length: sizes[it] ?? 0 }, (_, value) => row.with(it, value)));
    for (const row of rows) tuples.set(nameOf(factors, row), row);
  }
  const gain = (row: Row, missing: ReadonlyMap<string, Row>, its = blocks): number =>
    its.filter((it) => missing.has(nameOf(it, row))).length;

  /** The tuple with the other values, each the one that adds most. */
  function rowWith(tuple: Row, missing: ReadonlyMap<string, Row>): Row {
    let row = tuple;
    const open = tuple.flatMap((value, factor) => (value < 0 ? [{ factor, order: random() }] : []));
    for (const { factor } of open.sort((a, b) => a.order - b.order)) {
      const size = sizes[factor] ?? 1;
      const first = Math.floor(random() * size);
      const rows = Array.from({ length: size }, (_, i) => row.with(factor, (first + i) % size));
      const gains = rows.map((it) => gain(it, missing, blocksOf[factor]));
      row = rows[gains.indexOf(Math.max(...gains))] ?? row;
    }
    return row;
  }

  function greedy(): Row[] {
    const missing = new Map(tuples);
    const rows: Row[] = [];
    while (missing.size > 0) {
      const tuple = [...missing.values()][Math.floor(random() * missing.size)] ?? [];
      const tried = Array.from({ length: candidates }, () => rowWith(tuple, missing));
      const gains = tried.map((it) => gain(it, missing));
      const row = tried[gains.indexOf(Math.max(...gains))] ?? tuple;
      rows.push(row);
      for (const it of blocks) missing.delete(nameOf(it, row));
    }
    return rows;
  }

  const arrays = Math.max(1, Math.min(maxArrays, Math.floor(maxTuples / tuples.size)));
  return Array.from({ length: arrays }, greedy)
    .reduce((least, it) => (it.length < least.length ? it : least))
    .sort((a, b) => (a.find((value, i) => value !== b[i]) ?? 0) - (b.find((value, i) => value !== a[i]) ?? 0));
}

/**
 * Few combinations of flag values that have every pair of values; the same ones in every run.
 * @example for (const { flags, title } of flagCombinations({ flags: { beta: [true, false] } }))
 *   test.extend({ phxProject: { flags } })(`buys with ${title}`, async ({ ph }) => { … });
 * @throws RangeError if there are no flags, a flag has no values, or there are too many combinations
 */
export function flagCombinations({ flags, strength }: FlagMatrix): FlagCombination[] {
  const entries = Object.entries(flags);
  const size = strength ?? Math.min(2, entries.length);
  const problem = problemOf(entries, size);
  if (problem !== undefined) throw new RangeError(problem);
  const sizes = entries.map(([, values]) => values.length);
  const rows = coveringArray(sizes, size);
  if (rows.length > maxCombinations)
    throw new RangeError(
      `these flags make ${rows.length} combinations, more than ${maxCombinations}; lower the strength, or name fewer flags`,
    );
  return rows.map((row) => {
    const values = entries.map(([key, its], i) => [key, its[row[i] ?? 0] ?? false] as const);
    return { flags: Object.fromEntries(values), title: values.map(([key, value]) => `${key}=${value}`).join(", ") };
  });
}

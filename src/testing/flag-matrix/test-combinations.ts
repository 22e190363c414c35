import { type Combination, combinationsOf, combinationText, type MatrixValue } from "./combinations.ts";

/** Which combinations of flag values a test runs with. */
export interface FlagMatrix {
  /** The values of each flag, e.g. `{ "new-checkout": ["control", "test"], "free-shipping": [true, false] }`. */
  flags: Readonly<Record<string, readonly MatrixValue[]>>;
  /** Every choice of values of this many flags occurs in a combination. Default 2, every pair; 1 for one flag. */
  strength?: number;
}

/** One combination. */
export interface FlagCombination {
  /** For the option `phxProject`, or `sim.project()`. */
  flags: Combination;
  /** `new-checkout=test, free-shipping=true`. */
  title: string;
}

/**
 * The combinations of flag values that have every pair of values; the same ones in every run.
 * @example for (const { flags, title } of flagCombinations({ flags: { beta: [true, false] } }))
 *   test.extend({ phxProject: { flags } })(`buys with ${title}`, async ({ ph }) => { … });
 * @throws RangeError if there are no flags, or a flag has no values
 */
export function flagCombinations({ flags, strength }: FlagMatrix): FlagCombination[] {
  const rows = Object.entries(flags).map(([key, values]) => ({ key, values }));
  return combinationsOf(rows, strength ?? Math.min(2, rows.length)).map((it) => ({
    flags: it,
    title: combinationText(it),
  }));
}

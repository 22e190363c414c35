import { counted } from "../../kernel/base/text.ts";
import { coveringArray, mostTuples, tupleCount } from "./covering-array.ts";

/** A value of a flag: on, off, or a variant. */
export type MatrixValue = boolean | string;

/** A flag with the values to combine. */
export interface MatrixFlag {
  readonly key: string;
  readonly values: readonly MatrixValue[];
}

/** A value for each flag. */
export type Combination = Readonly<Record<string, MatrixValue>>;

/** `new-checkout=test, free-shipping=true`. */
export const combinationText = (combination: Combination): string =>
  Object.entries(combination)
    .map(([key, value]) => `${key}=${value}`)
    .join(", ");

/** Combinations are run one by one, so there are not many. */
const mostCombinations = 1_000;

/** Why these flags cannot be combined; undefined if they can. */
export function flagMatrixProblem(flags: readonly MatrixFlag[], strength: number): string | undefined {
  const keys = flags.map(({ key }) => key);
  const twice = keys.find((key, i) => keys.indexOf(key) !== i);
  const empty = flags.find(({ values }) => values.length === 0);
  const repeated = flags.find(({ values }) => new Set(values).size < values.length);
  if (flags.length === 0) return "there are no flags to combine; name at least one";
  if (twice !== undefined) return `flag "${twice}" is named twice; name it once`;
  if (empty) return `flag "${empty.key}" has no values; give at least one`;
  if (repeated) return `flag "${repeated.key}" has a value twice; give it once`;
  if (!Number.isInteger(strength) || strength < 1 || strength > flags.length)
    return `the strength must be a whole number from 1 to ${flags.length}, the number of flags, not ${strength}`;
  const sizes = flags.map(({ values }) => values.length);
  if (tupleCount(sizes, strength) > mostTuples)
    return `strength ${strength} of ${counted(flags.length, "flag")} makes too many combinations; lower it, or name fewer flags`;
  return undefined;
}

/**
 * Few combinations in which every choice of values of any `strength` flags occurs: with 2 every pair of values. With as
 * many as there are flags: all combinations.
 * @throws RangeError if the flags cannot be combined
 */
export function combinationsOf(flags: readonly MatrixFlag[], strength: number): Combination[] {
  const problem = flagMatrixProblem(flags, strength);
  if (problem !== undefined) throw new RangeError(problem);
  const rows = coveringArray(
    flags.map(({ values }) => values.length),
    strength,
  );
  if (rows.length > mostCombinations)
    throw new RangeError(
      `these flags make ${rows.length} combinations, more than ${mostCombinations}; lower the strength, or name fewer flags`,
    );
  return rows.map((row) => Object.fromEntries(flags.map(({ key, values }, i) => [key, values[row[i] ?? 0] ?? false])));
}

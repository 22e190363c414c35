import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type FlagMatrix, flagCombinations } from "../../src/testing/flag-combinations.ts";

type Flags = FlagMatrix["flags"];

/** Flags `f0`, `f1` … with these numbers of values. */
const flagsOf = (sizes: readonly number[]): Flags =>
  Object.fromEntries(sizes.map((size, i) => [`f${i}`, Array.from({ length: size }, (_, value) => `v${value}`)]));

/** Tuples of values of any `strength` flags that no combination has, as text. */
function missing(all: readonly Record<string, unknown>[], flags: Flags, strength: number): string[] {
  let tuples: [string, unknown][][] = [[]];
  for (const [key, values] of Object.entries(flags))
    tuples = tuples.flatMap((it) => [it, ...values.map((value): [string, unknown][] => [...it, [key, value]])]);
  return tuples
    .filter((it) => it.length === strength && !all.some((row) => it.every(([key, value]) => row[key] === value)))
    .map(String);
}

test("every tuple of values occurs, no combination twice, and each run has the same ones", () => {
  const cases = fc
    .array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 6 })
    .chain((sizes) => fc.tuple(fc.constant(sizes), fc.integer({ min: 1, max: Math.min(3, sizes.length) })));
  fc.assert(
    fc.property(cases, ([sizes, strength]) => {
      const flags = flagsOf(sizes);
      const all = flagCombinations({ flags, strength });
      const rows = all.map((it) => it.flags);
      expect(missing(rows, flags, strength)).toEqual([]);
      expect(missing(rows.slice(1), flags, strength)).not.toEqual([]);
      for (const row of rows) for (const [key, values] of Object.entries(flags)) expect(values).toContain(row[key]);
      expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
      expect(flagCombinations({ flags, strength })).toEqual(all);
    }),
    { numRuns: 25 },
  );
});

const two = (count: number) => Array.from({ length: count }, () => 2);

/** The smallest known size, and what is accepted. */
test.each([
  [[2, 2, 2], 2, 4, 4],
  [two(4), 2, 5, 5],
  [[2, 2, 2, 3], 2, 6, 6],
  [[2, 3, 4], 2, 12, 12],
  [[3, 3, 3, 3], 2, 9, 9],
  [two(10), 2, 6, 8],
  [two(20), 2, 7, 10],
  [two(4), 3, 8, 8],
  [two(5), 3, 10, 11],
  [[5], 1, 5, 5],
  [[2, 3, 2], 3, 12, 12],
  [[4, 2, 3], 1, 4, 4],
])("%j with strength %i: %i combinations are known, at most %i", (sizes, strength, least, most) => {
  const { length } = flagCombinations({ flags: flagsOf(sizes), strength });
  expect(length).toBeGreaterThanOrEqual(least);
  expect(length).toBeLessThanOrEqual(most);
});

test("a combination has a value for each flag", () => {
  const flags = JSON.parse('{"a": ["x", "y"], "__proto__": [true, false]}') as Flags;
  expect(flagCombinations({ flags }).map(({ title }) => title)).toEqual([
    "a=x, __proto__=true",
    "a=x, __proto__=false",
    "a=y, __proto__=true",
    "a=y, __proto__=false",
  ]);
});

describe("a mistake is an error", () => {
  const on = [true, false];
  test.each<[Flags, number | undefined, string]>([
    [{}, undefined, "there are no flags to combine"],
    [{ a: on }, 2, "the strength must be a whole number from 1 to 1, the number of flags, not 2"],
    [{ a: on }, 0, "the strength must be"],
    [{ a: [] }, 1, 'flag "a" has no values'],
    [{ a: ["x", "x"] }, 1, 'flag "a" has a value twice'],
    [flagsOf(two(60)), 8, "makes too many combinations"],
    [flagsOf(two(12)), 12, "make 4096 combinations, more than"],
  ])("%j with strength %s", (flags, strength, words) => {
    expect(() => flagCombinations({ flags, ...(strength !== undefined && { strength }) })).toThrow(words);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { loadScenario } from "../../../src/lab/scenario/load.ts";
import type { ScenarioLayer } from "../../../src/lab/scenario/schema.ts";
import { combinationsOf, combinationText, flagMatrixProblem } from "../../../src/testing/flag-matrix/combinations.ts";
import { choices, coveringArray } from "../../../src/testing/flag-matrix/covering-array.ts";
import { flagMatrixFlags, withFlags } from "../../../src/testing/flag-matrix/scenario-flags.ts";
import { smallestFailing } from "../../../src/testing/flag-matrix/smallest-failing.ts";

/** Every tuple of values of `strength` factors, as text. */
function tuples(sizes: readonly number[], strength: number): Set<string> {
  const all = new Set<string>();
  for (const factors of choices(sizes.length, strength)) {
    let rows: number[][] = [[]];
    for (const factor of factors)
      rows = rows.flatMap((row) => Array.from({ length: sizes[factor] ?? 0 }, (_, value) => [...row, value]));
    for (const row of rows) all.add(JSON.stringify([factors, row]));
  }
  return all;
}

function missing(rows: readonly (readonly number[])[], sizes: readonly number[], strength: number): string[] {
  const left = tuples(sizes, strength);
  for (const row of rows)
    for (const factors of choices(sizes.length, strength))
      left.delete(JSON.stringify([factors, factors.map((it) => row[it])]));
  return [...left];
}

describe("a covering array", () => {
  test("has every tuple, only known values, no row twice, and is deterministic", () => {
    const cases = fc
      .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 7 })
      .chain((sizes) => fc.tuple(fc.constant(sizes), fc.integer({ min: 1, max: Math.min(3, sizes.length) })));
    fc.assert(
      fc.property(cases, ([sizes, strength]) => {
        const rows = coveringArray(sizes, strength);
        expect(missing(rows, sizes, strength)).toEqual([]);
        expect(rows.every((row) => row.every((value, i) => value >= 0 && value < (sizes[i] ?? 0)))).toBe(true);
        expect(new Set(rows.map(String)).size).toBe(rows.length);
        expect(coveringArray(sizes, strength)).toEqual(rows);
      }),
      { numRuns: 40 },
    );
  });

  test("a missing tuple would be noticed", () => {
    expect(missing(coveringArray([2, 3], 2).slice(1), [2, 3], 2)).toHaveLength(1);
  });

  /** The smallest known size, and what is accepted. */
  test.each([
    [[2, 2, 2], 2, 4, 4],
    [[2, 2, 2, 2], 2, 5, 5],
    [[2, 3, 2], 2, 6, 6],
    [[2, 2, 2, 3], 2, 6, 6],
    [[2, 3, 4], 2, 12, 12],
    [[3, 3, 3, 3], 2, 9, 9],
    [Array.from({ length: 10 }, () => 2), 2, 6, 6],
    [Array.from({ length: 20 }, () => 2), 2, 7, 8],
    [Array.from({ length: 10 }, () => 3), 2, 14, 16],
    [[2, 2, 2, 2], 3, 8, 8],
    [[2, 2, 2, 2, 2], 3, 10, 10],
    [[5], 1, 5, 5],
    [[2, 3, 2], 3, 12, 12],
    [[4, 2, 3], 1, 4, 4],
  ])("%j with strength %i: %i rows are known, at most %i", (sizes, strength, least, most) => {
    const { length } = coveringArray(sizes, strength);
    expect(length).toBeGreaterThanOrEqual(least);
    expect(length).toBeLessThanOrEqual(most);
  });
});

describe("combinations", () => {
  test("have a value for each flag", () => {
    const flags = [
      { key: "a", values: ["x", "y"] },
      { key: "__proto__", values: [true, false] },
    ];
    expect(combinationsOf(flags, 2).map(combinationText)).toEqual([
      "a=x, __proto__=true",
      "a=x, __proto__=false",
      "a=y, __proto__=true",
      "a=y, __proto__=false",
    ]);
  });

  const on = [true, false];
  test.each([
    [[], 2, "there are no flags to combine"],
    [[{ key: "a", values: on }], 2, "the strength must be a whole number from 1 to 1, the number of flags, not 2"],
    [[{ key: "a", values: on }], 0, "the strength must be"],
    [[{ key: "a", values: [] }], 1, 'flag "a" has no values'],
    [[{ key: "a", values: ["x", "x"] }], 1, 'flag "a" has a value twice'],
    [
      [
        { key: "a", values: on },
        { key: "a", values: on },
      ],
      1,
      'flag "a" is named twice',
    ],
    [Array.from({ length: 60 }, (_, i) => ({ key: `f${i}`, values: on })), 8, "makes too many combinations"],
    [Array.from({ length: 12 }, (_, i) => ({ key: `f${i}`, values: on })), 12, "make 4096 combinations, more than"],
  ])("%j with strength %i is refused", (flags, strength, words) => {
    expect(() => combinationsOf(flags, strength)).toThrow(words);
  });

  test("valid flags have no problem", () => {
    expect(flagMatrixProblem([{ key: "a", values: on }], 1)).toBeUndefined();
  });
});

describe("the smallest failing combination", () => {
  const flags = [
    { key: "a", values: [true, false] },
    { key: "b", values: ["x", "y", "z"] },
    { key: "c", values: [true, false] },
  ];
  const all = combinationsOf(flags, 3);
  const causeOf = (fails: (it: Readonly<Record<string, unknown>>) => boolean) =>
    smallestFailing(all.map((it) => ({ flags: it, failed: fails(it) })));

  test.each<[string, Parameters<typeof causeOf>[0], ReturnType<typeof causeOf>]>([
    ["nothing failed", () => false, { kind: "none" }],
    ["everything failed", () => true, { kind: "all" }],
    ["one value", ({ b }) => b === "y", { kind: "one", smallest: [{ b: "y" }] }],
    ["two values", ({ a, b }) => a === true && b === "z", { kind: "one", smallest: [{ a: true, b: "z" }] }],
    [
      "two causes",
      ({ a, b, c }) => b === "x" || (a === true && c === false),
      { kind: "several", smallest: [{ b: "x" }, { a: true, c: false }] },
    ],
  ])("%s", (_, fails, expected) => {
    expect(causeOf(fails)).toEqual(expected);
  });

  test("alternatives that the runs cannot separate are listed", () => {
    expect(
      smallestFailing([
        { flags: { a: true, b: "x" }, failed: true },
        { flags: { a: false, b: "y" }, failed: false },
      ]),
    ).toEqual({ kind: "one", smallest: [{ a: true }, { b: "x" }] });
  });
});

describe("flags of a scenario", () => {
  const source: ScenarioLayer = {
    version: 1,
    flags: {
      beta: { rollout: 30, person: { plan: "pro" }, payloads: { true: { n: 1 } } },
      plain: false,
      hero: { rollout: 10, variants: { a: 50, b: 30, c: 20 } },
      service: {
        active: false,
        filters: {
          groups: [
            { properties: [{ key: "x", value: ["1"], operator: "exact", type: "person" }], rollout_percentage: 1 },
          ],
          multivariate: {
            variants: [
              { key: "p", rollout_percentage: 100 },
              { key: "q", rollout_percentage: 0 },
            ],
          },
          payloads: { q: '"Q"' },
        },
      },
    },
  };

  test("all values, or the named ones", async () => {
    const scenario = await loadScenario(source);
    expect(flagMatrixFlags(["beta", "hero", "service", "hero=a|false", "plain=true"], scenario)).toEqual([
      { key: "beta", values: [true, false] },
      { key: "hero", values: ["a", "b", "c"] },
      { key: "service", values: ["p", "q"] },
      { key: "hero", values: ["a", false] },
      { key: "plain", values: [true] },
    ]);
  });

  test.each([
    ["bata", 'the scenario has no flag "bata"; did you mean "beta"?'],
    ["zzzzzzzz", 'the scenario has no flag "zzzzzzzz"; its flags: beta, plain, hero, service'],
    ["hero=a|d", 'flag "hero" has no variant "d"; its values are a, b, c, true, false'],
    ["beta=a", 'flag "beta" has no variant "a"; it has none: true or false'],
    ["constructor", 'the scenario has no flag "constructor"; its flags: beta'],
  ])("%s is refused", async (text, words) => {
    const scenario = await loadScenario(source);
    expect(() => flagMatrixFlags([text], scenario)).toThrow(words);
  });

  test("a combination decides for all users, in the default project and in projects of tests, also after a reset", async () => {
    const wanted = { beta: true, plain: true, hero: "b", service: "q" };
    const scenario = withFlags(await loadScenario(source), wanted);
    await using sim = await startSim({ scenario, proxy: false });
    const values = async (key: string) => {
      const body = JSON.stringify({ token: key, distinct_id: "anyone" });
      const answer = await sim.handle(new Request(`${sim.url}/flags?v=2`, { method: "POST", body }));
      const { flags } = (await answer.json()) as { flags: Record<string, { enabled: boolean; variant?: string }> };
      return Object.fromEntries(
        Object.entries(flags).map(([name, { enabled, variant }]) => [name, variant ?? enabled]),
      );
    };
    await using project = await sim.project();
    await using own = await sim.project({ flags: { hero: "c" } });
    expect(await values(sim.apiKey)).toEqual(wanted);
    expect(await values(project.apiKey)).toEqual(wanted);
    expect(await values(own.apiKey)).toEqual({ ...wanted, hero: "c" });
    await sim.reset();
    expect(await values(sim.apiKey)).toEqual(wanted);
  });

  test("false is off", async () => {
    const scenario = withFlags(await loadScenario(source), { beta: false, hero: false, service: false });
    await using sim = await startSim({ scenario, proxy: false });
    for (const key of ["beta", "hero", "service"])
      expect((await sim.flags.explain(key, { distinctId: "u" })).value).toBe(false);
  });
});

import { describe, expect, test } from "vitest";
import { FlagFailure } from "../../../../src/service/flags/engine/reasons.ts";
import type { Ruleset } from "../../../../src/service/flags/engine/ruleset.ts";
import type { Subject } from "../../../../src/service/flags/engine/run.ts";
import { createSimulation } from "../../../../src/service/flags/explanations.ts";
import { aFlag } from "../../../support/documents.ts";
import { aRuleset, aSubject } from "../engine/a-flag.ts";
import vectors from "../engine/vectors.json" with { type: "json" };

const person = (distinctId: string) => aSubject({ distinctId });
const aPerson = (n: number) => person(`user-${n}`);

/** The values for `count` subjects. */
function simulate(ruleset: Ruleset, key: string, count: number, subjectAt: (n: number) => Subject) {
  const simulation = createSimulation(ruleset, key);
  for (let n = 0; n < count; n++) simulation?.add(subjectAt(n));
  return simulation?.result();
}

describe("simulation", () => {
  test("counts what the service gave a thousand people", () => {
    const flag = aFlag(vectors.flags.multi.key, { filters: vectors.flags.multi.filters });
    const ruleset = aRuleset({ flags: [flag] });
    const seen = simulate(ruleset, flag.key, 1000, (i) => person(`distinct_id_${i}`));
    expect(seen).toMatchObject({ key: flag.key, count: 1000, failed: 0 });
    const counts = seen?.values.map(({ value, count }) => [String(value), count]);
    const { false: none, ...variants } = vectors.totals.multi;
    expect(counts).toEqual([...Object.entries(variants), ["false", none]]);
    expect(seen?.values.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 12);
  });

  test("only the flag itself is counted", () => {
    const flags = [
      aFlag("a", {
        id: 1,
        filters: { groups: [{ properties: [{ key: "2", type: "flag", operator: "flag_evaluates_to", value: true }] }] },
      }),
      aFlag("b", { id: 2, filters: { groups: [{ rollout_percentage: 50 }] } }),
    ];
    const [a, b] = ["a", "b"].map((key) => simulate(aRuleset({ flags }), key, 100, (n) => person(`user-${n}`)));
    expect(a?.values).toEqual(b?.values);
    expect(a?.values.map(({ value }) => value)).toEqual([true, false]);
  });

  test("holdouts come last, failures are counted apart", () => {
    const filters = {
      groups: [{ properties: [{ key: "x", operator: "is_not_set" }] }],
      holdout: { id: 1, exclusion_percentage: 20 },
    };
    const ruleset = aRuleset({ flags: [aFlag("beta", { filters })] });
    const seen = simulate(ruleset, "beta", 200, (i) => ({
      ...person(`user-${i}`),
      property() {
        if (i % 2 === 0) throw new FlagFailure("unsupported_geoip");
        return undefined;
      },
    }));
    expect(seen?.values.map(({ value }) => value)).toEqual([true, "holdout-1"]);
    expect(seen?.failed).toBeGreaterThan(50);
    expect((seen?.failed ?? 0) + (seen?.values.reduce((sum, { count }) => sum + count, 0) ?? 0)).toBe(200);
  });

  test("no such flag, or an inactive one", () => {
    expect(simulate(aRuleset({}), "gone", 10, aPerson)).toBeUndefined();
    expect(simulate(aRuleset({ flags: [aFlag("off", { active: false })] }), "off", 10, aPerson)).toBeUndefined();
  });
});

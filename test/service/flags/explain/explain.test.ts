import { describe, expect, test } from "vitest";
import { evaluateRuleset } from "../../../../src/service/flags/engine/ruleset.ts";
import { type Explanation, explainFlag } from "../../../../src/service/flags/explain/explain.ts";
import type { ConditionTrace } from "../../../../src/service/flags/shapes.ts";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { fc } from "../../../support/chance.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";
import { aRuleset, aSubject, type Who } from "../engine/a-flag.ts";
import { people, rulesets } from "../engine/generated.ts";

type Filters = FeatureFlag["filters"];

const pro = { key: "plan", value: "pro", type: "person" };

function explained(filters: Filters, who: Who = {}, more: Partial<FeatureFlag> = {}): Explanation {
  const flag = aFlag("simple-flag", { id: 1, filters, ...more });
  const reported = explainFlag(aRuleset({ flags: [flag], groupTypes: ["company"] }), "simple-flag", aSubject(who));
  if (!reported) throw new Error("no such flag");
  return reported;
}

/** A set that nothing failed in matches when its filters and its rollout do. */
function isConsistent({ matched, miss, failure, properties, rollout }: ConditionTrace): boolean {
  if (failure !== null || miss === "no_device" || miss === "no_group_type") return !matched;
  return matched === (properties.every((it) => it.passed) && rollout?.passed === true);
}

describe("explanations", () => {
  test("tell what the evaluation came to, for any flag and anyone", () => {
    fc.assert(
      fc.property(rulesets, people, (ruleset, who) => {
        const results = evaluateRuleset(ruleset, aSubject(who));
        for (const { compiled, decision } of results) {
          const reported = explainFlag(ruleset, compiled.flag.key, aSubject(who));
          const { payload, enabled, variant, value, failed, reason, condition_index } = decision;
          expect(reported).toMatchObject({ payload, enabled, variant, value, failed, reason, condition_index });
          expect(JSON.parse(JSON.stringify(reported))).toEqual(reported);
          expect(reported?.hint === null).toBe(enabled && reported?.holdout?.held_out !== true);
          expect(reported?.conditions.filter((it) => !isConsistent(it))).toEqual([]);
          const matched = reported?.conditions.find((it) => it.reached && it.matched);
          if (reason.code === "condition_match") expect(matched?.index).toBe(condition_index);
          else expect(matched).toBeUndefined();
        }
      }),
      { numRuns: 500 },
    );
  });

  test("… and about everything happens to them", () => {
    const seen = new Set(
      fc
        .sample(fc.tuple(rulesets, people), { numRuns: 2000, seed: 1 })
        .flatMap(([ruleset, who]) => evaluateRuleset(ruleset, aSubject(who)))
        .map(({ decision }) => decision.reason.code),
    );
    expect([...seen].sort()).toEqual([
      "condition_match",
      "dependency_cycle_cohort",
      "dependency_cycle_flag",
      "dependency_not_found_cohort",
      "hash_key_override_error",
      "holdout_condition_value",
      "missing_dependency",
      "no_condition_match",
      "no_group_type",
      "out_of_rollout_bound",
      "super_condition_value",
      "unsupported_operator",
    ]);
  });

  test("a rollout: what was hashed, and against what", () => {
    expect(explained({ groups: [{ rollout_percentage: 45 }] }, { distinctId: "distinct_id_0" })).toEqual({
      key: "simple-flag",
      id: 1,
      active: true,
      value: false,
      enabled: false,
      variant: null,
      payload: null,
      failed: false,
      reason: { code: "out_of_rollout_bound", description: "Out of rollout bound" },
      condition_index: 0,
      enrollment: null,
      holdout: null,
      conditions: [
        {
          index: 0,
          reached: true,
          matched: false,
          miss: "out_of_rollout_bound",
          failure: null,
          group_type_index: null,
          group_type: null,
          properties: [],
          rollout: {
            percentage: 45,
            hash: {
              input: "simple-flag.distinct_id_0",
              identifier: "distinct_id_0",
              identifier_kind: "distinct_id",
              hash: expect.closeTo(0.783696, 6),
            },
            threshold: 0.45,
            passed: false,
          },
          variant: null,
          hint: "condition 1: hash 0.7837 > rollout 0.45",
        },
      ],
      hint: "condition 1: hash 0.7837 > rollout 0.45",
    });
  });

  test("properties: expected and actual, also of sets that were not reached", () => {
    const reported = explained(
      { groups: [{ properties: [pro] }, {}, { properties: [{ key: "x", operator: "is_set" }] }] },
      { properties: { plan: "free" } },
    );
    expect(reported).toMatchObject({ value: true, condition_index: 1, hint: null });
    expect(reported.conditions).toMatchObject([
      {
        reached: true,
        matched: false,
        properties: [
          { type: "person", key: "plan", operator: "exact", expected: "pro", actual: "free", passed: false },
        ],
        rollout: null,
        hint: 'condition 1: requires that plan is "pro", but it is "free"',
      },
      { reached: true, matched: true, hint: null },
      {
        reached: false,
        matched: false,
        properties: [{ key: "x", operator: "is_set", passed: false }],
        hint: "condition 3: requires that x is set, but it is not set",
      },
    ]);
    expect(reported.conditions[2]?.properties[0]).not.toHaveProperty("actual");
  });

  test("variants: the ranges and the one that was hit", () => {
    const variants = ["a", "b", "c"].map((key, i) => ({ key, rollout_percentage: [50, 30, 20][i] ?? 0 }));
    const reported = explained({ groups: [{}], multivariate: { variants } }, { distinctId: "distinct_id_0" });
    expect(reported.conditions[0]?.variant).toMatchObject({
      forced: null,
      hash: { input: "simple-flag.distinct_id_0variant", identifier: "distinct_id_0" },
      ranges: [
        { variant: "a", from: 0, to: 0.5 },
        { variant: "b", from: 0.5, to: 0.8 },
        { variant: "c", from: 0.8, to: 1 },
      ],
    });
    const hit = reported.conditions[0]?.variant?.ranges.filter((range) => range.hit);
    expect(hit?.map((range) => range.variant)).toEqual([reported.value]);
    const forced = explained({ groups: [{ variant: "c" }], multivariate: { variants } });
    expect(forced.conditions[0]?.variant).toMatchObject({ forced: "c", hash: null });
  });

  test.each<[name: string, Filters, Who, Partial<FeatureFlag>, kind: string, identifier: string]>([
    ["device", {}, { deviceId: "d" }, { bucketing_identifier: "device_id" }, "device_id", "d"],
    ["stored key", {}, { continuityKey: "k" }, { ensure_experience_continuity: true }, "hash_key_override", "k"],
    ["group", { aggregation_group_type_index: 0 }, { groups: { 0: { key: "g" } } }, {}, "group_key", "g"],
    ["person", {}, { distinctId: "p" }, {}, "distinct_id", "p"],
  ])("what is hashed: %s", (_name, filters, who, more, kind, identifier) => {
    const reported = explained({ groups: [{ rollout_percentage: 50 }], ...filters }, who, more);
    expect(reported.conditions[0]?.rollout?.hash).toMatchObject({ identifier_kind: kind, identifier });
  });

  test("holdouts", () => {
    const filters = { groups: [{}], holdout: { id: 42, exclusion_percentage: 20 } };
    const held = explained(filters, { distinctId: "user-1" });
    expect(held).toMatchObject({
      value: "holdout-42",
      holdout: {
        variant: "holdout-42",
        percentage: 20,
        threshold: 0.2,
        held_out: true,
        hash: { input: "holdout-user-1", identifier_kind: "distinct_id", hash: 0.17805599206573022 },
      },
      conditions: [{ reached: false, matched: true }],
      hint: 'held out as "holdout-42": hash 0.1781 ≤ holdout 0.2',
    });
    expect(explained(filters, { distinctId: "test_user" })).toMatchObject({
      value: true,
      holdout: { held_out: false },
      hint: null,
    });
  });

  test("enrolment", () => {
    const filters = { groups: [{}], feature_enrollment: true };
    const property = "$feature_enrollment/simple-flag";
    expect(explained(filters, { properties: { [property]: "false" } })).toMatchObject({
      value: false,
      enrollment: {
        form: "feature_enrollment",
        decided: true,
        properties: [{ key: property, actual: "false", passed: false }],
      },
      hint: `enrolment decides: requires that ${property} is true, but it is "false"`,
    });
    expect(explained(filters)).toMatchObject({ value: true, enrollment: { decided: false } });
    const legacy = { groups: [{}], super_groups: [{ properties: [pro] }] };
    expect(explained(legacy, { properties: { plan: "x" } })).toMatchObject({
      value: false,
      enrollment: { form: "super_groups", decided: true, properties: [{ key: "plan", actual: "x" }] },
    });
  });

  test.each<[name: string, Filters, Who, Partial<FeatureFlag>, hint: string]>([
    ["no sets", { groups: [] }, {}, {}, "the flag has no condition sets"],
    ["inactive", { groups: [{}] }, {}, { active: false }, "the flag is inactive or deleted"],
    [
      "no group",
      { groups: [{}], aggregation_group_type_index: 0 },
      {},
      {},
      "condition 1: no group of the type company was given",
    ],
    [
      "no group of a type without a name",
      { groups: [{}], aggregation_group_type_index: 3 },
      {},
      {},
      "condition 1: no group of the type 3 was given",
    ],
    ["no device", { groups: [{}] }, {}, { bucketing_identifier: "device_id" }, "condition 1: no device id was given"],
    [
      "several sets",
      { groups: [{ properties: [pro, { key: "x", value: 1 }] }, { rollout_percentage: 0 }] },
      { distinctId: "distinct_id_0", properties: { x: 2 } },
      {},
      'condition 1: requires that plan is "pro", but it is not set; x is 1, but it is 2\n' +
        "condition 2: hash 0.7837 > rollout 0",
    ],
    [
      "early exit",
      { groups: [{ rollout_percentage: 0 }, { properties: [pro] }], early_exit: true },
      { distinctId: "distinct_id_0" },
      {},
      "condition 1: hash 0.7837 > rollout 0",
    ],
    [
      "refused",
      { groups: [{ properties: [{ key: "x", operator: "sounds_like" }] }] },
      {},
      {},
      "A filter's operator is not evaluated by the simulator",
    ],
    [
      "failed on the way",
      { groups: [{ rollout_percentage: 50 }] },
      {},
      { ensure_experience_continuity: true },
      "Failed to fetch hash key override for experience continuity",
    ],
  ])("what would have had to differ: %s", (_name, filters, who, more, hint) => {
    expect(explained(filters, who, more).hint).toBe(hint);
  });

  test("cohorts are reported as trees, each once", () => {
    const filters = (...values: object[]) => ({ properties: { type: "OR", values } }) as never;
    const ask = (value: number) => ({ key: "id", type: "cohort", value });
    const cohorts = [
      aCohort({ id: 1, name: "Outer", filters: filters(ask(2), { ...ask(2), negation: true }, ask(3)) }),
      aCohort({ id: 2, name: "Inner", filters: filters(pro) }),
      aCohort({ id: 3, name: "Listed", is_static: true, persons: ["p1"] }),
    ];
    const flag = aFlag("beta", { filters: { groups: [{ properties: [{ ...ask(1), operator: "not_in" }] }] } });
    const ruleset = aRuleset({ flags: [flag], cohorts });
    const reported = explainFlag(ruleset, "beta", aSubject({ personId: "p1", properties: { plan: "free" } }));
    expect(reported?.hint).toBe('condition 1: requires that the person is not in cohort "Outer" (1)');
    expect(reported?.conditions[0]?.properties).toMatchObject([
      {
        type: "cohort",
        operator: "not_in",
        expected: 1,
        passed: false,
        cohort: {
          name: "Outer",
          member: true,
          tree: {
            type: "OR",
            passed: true,
            values: [
              {
                type: "cohort",
                passed: false,
                cohort: {
                  name: "Inner",
                  member: false,
                  tree: { values: [{ key: "plan", expected: "pro", actual: "free", passed: false }] },
                },
              },
              { negation: true, passed: true, cohort: { name: "Inner", tree: null } },
              { passed: true, cohort: { name: "Listed", is_static: true, member: true, tree: null } },
            ],
          },
        },
      },
    ]);
  });

  test("other flags are reported with their values", () => {
    const on = { key: "2", type: "flag", operator: "flag_evaluates_to", value: true };
    const flags = [
      aFlag("a", { id: 1, filters: { groups: [{ properties: [on] }] } }),
      aFlag("b", { id: 2, filters: { groups: [{ rollout_percentage: 0 }] } }),
      aFlag("c", { id: 3, filters: { groups: [{ properties: [{ ...on, key: "99" }] }] } }),
    ];
    const ruleset = aRuleset({ flags });
    const reported = explainFlag(ruleset, "a", aSubject());
    expect(reported?.hint).toBe('condition 1: requires that flag "b" is on, but it is false');
    expect(reported?.conditions[0]?.properties).toMatchObject([{ flag: { key: "b", value: false }, passed: false }]);
    expect(explainFlag(ruleset, "c", aSubject())?.hint).toBe("it depends on a flag that does not exist");
  });

  test("a chain of cohorts is reported down to a depth", () => {
    const tree = (...values: object[]) => ({ properties: { type: "AND", values } }) as never;
    const ask = (value: number) => ({ key: "id", type: "cohort", value });
    const cohorts = Array.from({ length: 300 }, (_, i) =>
      aCohort({ id: i + 1, filters: i < 299 ? tree(ask(i + 2)) : tree(pro) }),
    );
    const flag = aFlag("beta", { filters: { groups: [{ properties: [ask(1)] }] } });
    const reported = explainFlag(
      aRuleset({ flags: [flag], cohorts }),
      "beta",
      aSubject({ properties: { plan: "pro" } }),
    );
    expect(reported?.value).toBe(true);
    expect(JSON.stringify(reported).match(/"is_static"/g)).toHaveLength(21);
  });

  test("flags that are not selected are false to others", () => {
    const on = { key: "2", type: "flag", operator: "flag_evaluates_to", value: true };
    const flags = [
      aFlag("a", { id: 1, filters: { groups: [{ properties: [on] }] } }),
      aFlag("b", { id: 2, evaluation_runtime: "server" }),
    ];
    const ruleset = aRuleset({ flags });
    const isSelected = (flag: FeatureFlag) => flag.evaluation_runtime !== "server";
    expect(explainFlag(ruleset, "a", aSubject())?.value).toBe(true);
    expect(explainFlag(ruleset, "a", aSubject(), isSelected)?.value).toBe(false);
  });

  test("there is nothing to tell of a flag that does not exist", () => {
    expect(explainFlag(aRuleset({}), "gone", aSubject())).toBeUndefined();
  });

  test("of flags with the same key the living one is reported", () => {
    const flags = [aFlag("a", { id: 1, deleted: true }), aFlag("a", { id: 2 }), aFlag("a", { id: 3, deleted: true })];
    expect(explainFlag(aRuleset({ flags }), "a", aSubject())).toMatchObject({ id: 2, value: true });
  });
});

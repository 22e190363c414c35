import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import type { ConditionSet, Filters } from "../../../../src/service/flags/engine/filters.ts";
import { decide, type Who } from "./a-flag.ts";

const pro = { key: "plan", value: "pro", type: "person" };
const asks = (...properties: NonNullable<ConditionSet["properties"]>): ConditionSet => ({ properties });
const percent = (rollout_percentage: number | null): ConditionSet => ({ rollout_percentage });
/** About groups of a type; null: about persons. */
const of = (aggregation_group_type_index: number | null) => ({ aggregation_group_type_index });
const variants = (shares: Record<string, number>): Filters => ({
  multivariate: { variants: Object.entries(shares).map(([key, it]) => ({ key, rollout_percentage: it })) },
});
const split = variants({ control: 50, test: 50 });
const early = { feature_enrollment: true };
const yes = (key: string) => ({ key, value: ["true"] });
const legacy = { super_groups: [asks(yes("in"))] };
const holdout = (id: number, exclusion_percentage: number) => ({ holdout: { id, exclusion_percentage } });
const oldHoldout = (share: number) => ({ holdout_groups: [{ variant: "holdout-3", ...percent(share) }] });

const has = (properties: JsonObject): Who => ({ properties });
const chose = (choice: boolean | string): Who => has({ "$feature_enrollment/beta": choice });
const id = (distinctId: string): Who => ({ distinctId });
const acme = { groups: { 0: { key: "acme", properties: { plan: "pro" } } } };

/** The reasons of decisions; a number is that of the condition set, from 1. */
const reasons: Readonly<Record<string, readonly [code: string, description: string]>> = {
  set: ["condition_match", "Matched condition set"],
  missed: ["no_condition_match", "No matching condition set"],
  "missed without groups": [
    "no_condition_match",
    "No matching condition set (group conditions were not evaluated because no group type was provided)",
  ],
  outside: ["out_of_rollout_bound", "Out of rollout bound"],
  "no group": ["no_group_type", "No group type"],
  enrolment: ["super_condition_value", "Super condition value"],
  holdout: ["holdout_condition_value", "Holdout condition value"],
};

const rows: [name: string, Filters, Who, outcome: string][] = [
  ["no condition set", { groups: [] }, {}, "false no group"],
  ["no groups key", {}, {}, "false no group"],
  ["everybody", { groups: [{}] }, {}, "true set 1"],
  ["null rollout is everyone", { groups: [percent(null)] }, {}, "true set 1"],
  ["0 % is no one", { groups: [percent(0)] }, {}, "false outside 1"],
  ["0 % is the empty identifier", { groups: [percent(0)] }, id(""), "true set 1"],
  ["a property that fits", { groups: [asks(pro)] }, has({ plan: "pro" }), "true set 1"],
  ["a property that does not fit", { groups: [asks(pro)] }, has({ plan: "free" }), "false missed 1"],
  [
    "an inherited name is no property",
    { groups: [asks({ key: "constructor", operator: "is_set" })] },
    {},
    "false missed 1",
  ],
  ["the second set", { groups: [asks(pro), {}] }, {}, "true set 2"],
  ["the better miss, though it came first", { groups: [percent(0), asks(pro)] }, {}, "false outside 1"],
  ["of equal misses the later", { groups: [asks(pro), asks(pro)] }, {}, "false missed 2"],
  ["early exit stops at a rollout", { groups: [percent(0), {}], early_exit: true }, {}, "false outside 1"],
  ["early exit goes on after properties", { groups: [asks(pro), {}], early_exit: true }, {}, "true set 2"],
  ["an empty identifier gets the first variant", { groups: [{}], ...split }, id(""), "control set 1"],
  ["a forced variant", { groups: [{ variant: "test" }], ...split }, id(""), "test set 1"],
  ["a forced variant that does not exist", { groups: [{ variant: "gone" }], ...split }, id(""), "control set 1"],
  [
    "forced variants do not change the order of sets",
    { groups: [{}, { variant: "test" }], ...split },
    id(""),
    "control set 1",
  ],
  ["variants that leave a rest", { groups: [{}], ...variants({ rare: 0 }) }, {}, "true set 1"],
  ["a group flag without the group", { groups: [{}], ...of(0) }, {}, "false no group 1"],
  ["a group flag", { groups: [asks({ ...pro, type: "group", group_type_index: 0 })], ...of(0) }, acme, "true set 1"],
  [
    "a set about the person in a group flag",
    { groups: [{ ...asks(pro), ...of(null) }], ...of(0) },
    has({ plan: "pro" }),
    "true set 1",
  ],
  ["enrolled", { groups: [], ...early }, chose("true"), "true enrolment 1"],
  ["opted out, though everyone is in", { groups: [{}], ...early }, chose(false), "false enrolment 1"],
  ["no choice made", { groups: [{}], ...early }, {}, "true set 1"],
  ["legacy enrolment decides", { groups: [{}], ...legacy }, has({ in: "false" }), "false enrolment 1"],
  ["legacy enrolment without its property", { groups: [{}], ...legacy }, {}, "true set 1"],
  ["a missed rollout goes on to the next set", { groups: [percent(0), {}] }, {}, "true set 2"],
  ["out of 99.5 %: .997", { groups: [percent(99.5)] }, id("u252"), "false outside 1"],
  ["the variant that the hash picks: .801", { groups: [{}], ...split }, id("u3"), "test set 1"],
  [
    "an empty identifier does not get a variant of 0 %",
    { groups: [{}], ...variants({ rare: 0, usual: 100 }) },
    id(""),
    "usual set 1",
  ],
  [
    "legacy enrolment with one of its two properties",
    { groups: [{}], super_groups: [asks(yes("in"), yes("too"))] },
    has({ in: "true" }),
    "false enrolment 1",
  ],
  ["not held out: .996 of 99.5 %", { groups: [{}], ...holdout(42, 99.5) }, id("u487"), "true set 1"],
  ["held out: .178 of 20 %", { groups: [{}], ...holdout(42, 20) }, id("user-1"), "holdout-42 holdout"],
  ["not held out: .178 of 17 %", { groups: [{}], ...holdout(42, 17) }, id("user-1"), "true set 1"],
  ["an empty device id is none", { groups: [{}] }, { deviceId: "" }, "true set 1"],
  ["persons missed, groups not given", { groups: [asks(pro), of(0)] }, {}, "false missed without groups 1"],
  ["a missed rollout reports nothing of groups", { groups: [percent(0), of(0)] }, {}, "false outside 1"],
  ["groups not given at all: the later set is reported", { groups: [{}, of(1)], ...of(0) }, {}, "false no group 2"],
  [
    "a set about another group than the flag",
    { groups: [of(1)], ...of(0) },
    { groups: { 1: { key: "x" } } },
    "true set 1",
  ],
  [
    "a person's property in a group flag",
    { groups: [asks(pro)], ...of(0) },
    { groups: { 0: { key: "acme" } }, properties: { plan: "pro" } },
    "true set 1",
  ],
  [
    "a group's property in a set about persons",
    { groups: [asks({ ...pro, type: "group", group_type_index: 1 })] },
    { groups: { 1: acme.groups[0] } },
    "true set 1",
  ],
  [
    "a group's property without the group is absent",
    { groups: [asks({ ...pro, operator: "is_not", type: "group", group_type_index: 1 })] },
    {},
    "true set 1",
  ],
  ["a group's property of no type is absent", { groups: [asks({ ...pro, type: "group" })] }, acme, "false missed 1"],
  [
    "a filter without a type reads what the set is about",
    { groups: [asks({ key: "plan", value: "pro" })], ...of(0) },
    acme,
    "true set 1",
  ],
  [
    "a field of the person, not its property",
    { groups: [asks({ key: "created_at", type: "person_metadata", operator: "is_date_before", value: "2026-01-01" })] },
    { metadata: { created_at: "2025-05-05T00:00:00Z" }, properties: { created_at: "2027-01-01" } },
    "true set 1",
  ],
  [
    "a field without a person is absent",
    { groups: [asks({ key: "created_at", type: "person_metadata", operator: "is_not_set" })] },
    {},
    "true set 1",
  ],
  [
    "a filter without a value matches no one, though it is negative",
    { groups: [asks({ key: "x", operator: "is_not" })] },
    {},
    "false missed 1",
  ],
  ["negation is for cohorts", { groups: [asks({ ...pro, negation: true })] }, has({ plan: "pro" }), "true set 1"],
  [
    "a flag that is not known matches nothing",
    { groups: [asks({ key: "3", type: "flag", operator: "flag_evaluates_to", value: false })] },
    {},
    "false missed 1",
  ],
  [
    "enrolment comes before its legacy form, also without a choice",
    { groups: [{}], ...early, ...legacy },
    has({ in: "false" }),
    "true set 1",
  ],
  ["TRUE is no choice for it", { groups: [{}], ...early }, chose("TRUE"), "false enrolment 1"],
  ["enrolment comes before holdouts", { groups: [], ...early, ...holdout(1, 100) }, chose(true), "true enrolment 1"],
  ["everyone is held out", { groups: [{}], ...holdout(7, 250) }, id("test_user"), "holdout-7 holdout"],
  ["no one is held out", { groups: [{}], ...holdout(7, -1) }, id(""), "true set 1"],
  [
    "holdouts of a group flag hash the group",
    { groups: [of(null)], ...of(0), ...holdout(42, 20) },
    { distinctId: "test_user", groups: { 0: { key: "user-1" } } },
    "holdout-42 holdout",
  ],
  ["the newer form of holdouts comes first", { groups: [{}], ...holdout(1, 0), ...oldHoldout(100) }, {}, "true set 1"],
  ["held out by the legacy form", { groups: [{}], ...oldHoldout(20) }, id("user-1"), "holdout-3 holdout"],
];

describe("evaluation", () => {
  test.each(rows)("%s", (_name, filters, who, outcome) => {
    const [, value = "", reason = "", set] = /^(\S+) (.+?)(?: (\d))?$/.exec(outcome) ?? [];
    const [code, text] = reasons[reason] ?? [];
    const description = code === "condition_match" ? `${text} ${set}` : text;
    const variant = value === "true" || value === "false" ? null : value;
    expect(decide({ filters }, who)).toMatchObject({
      ...{ value: variant ?? value === "true", enabled: value !== "false", variant, failed: false },
      ...{ reason: { code, description }, condition_index: set === undefined ? null : Number(set) - 1 },
    });
  });

  test("groups are hashed by their key, also when that is a number's text", () => {
    const filters = { groups: [{ rollout_percentage: 45 }], aggregation_group_type_index: 1 };
    const keyed = (key: string) => decide({ key: "simple-flag", filters }, { groups: { 1: { key } } }).value;
    expect([keyed("distinct_id_1"), keyed("distinct_id_3")]).toEqual([true, false]);
  });

  test("a device flag hashes the device", () => {
    const flag = {
      key: "simple-flag",
      bucketing_identifier: "device_id",
      filters: { groups: [{ rollout_percentage: 45 }] },
    };
    expect(decide(flag, { distinctId: "x", deviceId: "distinct_id_1" }).value).toBe(true);
    expect(decide(flag, { distinctId: "x", deviceId: "distinct_id_3" }).value).toBe(false);
    expect(decide(flag, { distinctId: "distinct_id_1" }).reason.code).toBe("out_of_rollout_bound");
  });

  test("a continuity flag hashes the key that it was given, and fails only when the hash matters", () => {
    const flag = { key: "simple-flag", ensure_experience_continuity: true };
    const some = { ...flag, filters: { groups: [{ rollout_percentage: 45 }] } };
    expect(decide(some, { continuityKey: "distinct_id_1" }).value).toBe(true);
    expect(decide(some, { continuityKey: "distinct_id_3" }).value).toBe(false);
    expect(decide(some)).toMatchObject({ failed: true, reason: { code: "hash_key_override_error" } });
    expect(decide(flag)).toMatchObject({ failed: false, value: true });
  });

  test.each<[string, Filters["payloads"], Filters, Who, string | null]>([
    ["of a plain flag", { true: '{"a":1}' }, {}, {}, '{"a":1}'],
    ["written as a plain value", { true: { a: 1 } }, {}, {}, '{"a":1}'],
    ["of the variant", { test: '"x"', true: "1" }, { groups: [{ variant: "test" }], ...split }, {}, '"x"'],
    ["of another variant", { control: "1" }, { groups: [{ variant: "test" }], ...split }, {}, null],
    ["of a flag that is off", { true: "1" }, { groups: [{ rollout_percentage: 0 }] }, {}, null],
    [
      "of an opted-out person",
      { true: "1" },
      { feature_enrollment: true },
      { properties: { "$feature_enrollment/beta": false } },
      "1",
    ],
    ["null", { true: null }, {}, {}, null],
  ])("payload %s", (_name, payloads, filters, who, expected) => {
    expect(decide({ filters: { groups: [{}], ...filters, payloads } }, who).payload).toBe(expected);
  });

  test("holdouts of a continuity flag do not see stored hash keys", () => {
    const flag = {
      ensure_experience_continuity: true,
      filters: { groups: [{}], holdout: { id: 1, exclusion_percentage: 20 } },
    };
    const held = (who: Who) => decide(flag, { distinctId: "distinct_id_0", ...who }).value;
    expect(held({ continuityKey: "user-1" })).toBe(true);
    expect(held({ continuityKey: "distinct_id_0", anonymousId: "user-1" })).toBe("holdout-1");
    expect(held({ distinctId: "user-1", continuityKey: "distinct_id_0" })).toBe("holdout-1");
  });

  test("without a device, legacy enrolment and holdouts of a device flag fall back to the distinct id", () => {
    const holdout = { groups: [{}], holdout: { id: 1, exclusion_percentage: 20 } };
    const flag = { bucketing_identifier: "device_id", filters: holdout };
    expect(decide(flag, { distinctId: "user-1" }).value).toBe("holdout-1");
    expect(decide(flag, { distinctId: "user-1", deviceId: "test_user" }).value).toBe(true);
    const enrolment = { super_groups: [{ properties: [{ key: "in", value: "x" }], rollout_percentage: 45 }] };
    const old = { key: "simple-flag", bucketing_identifier: "device_id", filters: enrolment };
    const who = (distinctId: string) => ({ distinctId, properties: { in: "x" } });
    expect([decide(old, who("distinct_id_1")).value, decide(old, who("distinct_id_3")).value]).toEqual([true, false]);
  });

  test("early exit is for rollouts, not for missing devices", () => {
    const groups = [{}, { aggregation_group_type_index: 0 }];
    const flag = { bucketing_identifier: "device_id", filters: { groups, early_exit: true } };
    const decision = decide(flag, { groups: { 0: { key: "acme" } } });
    expect(decision).toMatchObject({ value: true, condition_index: 1 });
  });

  test.each<[string, Filters]>([
    ["dependency_not_found_cohort", { groups: [{ properties: [{ key: "id", type: "cohort", value: 1 }] }] }],
    ["cohort_filters_parsing_error", { groups: [{ properties: [{ key: "id", type: "cohort", value: "all" }] }] }],
    [
      "unsupported_property_type",
      { groups: [{}, { properties: [{ key: "$pageview", type: "behavioral", operator: "is_set" }] }] },
    ],
    ["unsupported_property_type", { groups: [{ properties: [{ key: "x", type: "constructor" }] }] }],
    ["unsupported_operator", { groups: [{ properties: [{ key: "x", operator: "sounds_like", value: 1 }] }] }],
    ["unsupported_filter_value", { groups: [{}], holdout: { id: 1 } }],
    ["unsupported_filter_value", { groups: [{}], super_groups: [{ properties: [null] }] }],
    ["unsupported_filter_value", { groups: [{}], super_groups: [{ properties: [{ value: 1 }] }] }],
    ["unsupported_regex", { groups: [{}, { properties: [{ key: "x", operator: "regex", value: "(?>x)" }] }] }],
    ["unsupported_regex", { groups: [{ properties: [{ key: "x", operator: "regex", value: "(?=x)(x+)+$" }] }] }],
  ])("%s: the flag fails instead of guessing", (code, filters) => {
    expect(decide({ filters }, { properties: { x: 1 } })).toEqual({
      value: false,
      enabled: false,
      variant: null,
      payload: null,
      reason: { code, description: expect.any(String) },
      condition_index: null,
      failed: true,
    });
  });

  test("what fails in a set fails only the users whose evaluation leads there", () => {
    const filters = { groups: [{ properties: [pro, { key: "id", type: "cohort", value: 1 }] }, {}] };
    expect(decide({ filters }, { properties: { plan: "pro" } }).failed).toBe(true);
    expect(decide({ filters }, { properties: { plan: "free" } })).toMatchObject({ value: true, failed: false });
  });
});

import { describe, expect, test } from "vitest";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { decide, type Who } from "./a-flag.ts";

type Filters = FeatureFlag["filters"];

const pro = { key: "plan", value: "pro", type: "person" };
const half = [
  { key: "control", rollout_percentage: 50 },
  { key: "test", rollout_percentage: 50 },
];

/** [name, filters, who, value, reason, condition_index, description] */
const rows: [string, Filters, Who, boolean | string, string, number | null, string][] = [
  ["no condition set", { groups: [] }, {}, false, "no_group_type", null, "No group type"],
  ["no groups key", {}, {}, false, "no_group_type", null, "No group type"],
  ["everybody", { groups: [{}] }, {}, true, "condition_match", 0, "Matched condition set 1"],
  [
    "null rollout is everyone",
    { groups: [{ rollout_percentage: null }] },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "0 % is no one",
    { groups: [{ rollout_percentage: 0 }] },
    {},
    false,
    "out_of_rollout_bound",
    0,
    "Out of rollout bound",
  ],
  [
    "0 % is the empty identifier",
    { groups: [{ rollout_percentage: 0 }] },
    { distinctId: "" },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a property that fits",
    { groups: [{ properties: [pro] }] },
    { properties: { plan: "pro" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a property that does not fit",
    { groups: [{ properties: [pro] }] },
    { properties: { plan: "free" } },
    false,
    "no_condition_match",
    0,
    "No matching condition set",
  ],
  [
    "an inherited name is no property",
    { groups: [{ properties: [{ key: "constructor", operator: "is_set" }] }] },
    {},
    false,
    "no_condition_match",
    0,
    "No matching condition set",
  ],
  [
    "the second set",
    { groups: [{ properties: [pro] }, {}] },
    {},
    true,
    "condition_match",
    1,
    "Matched condition set 2",
  ],
  [
    "the better miss, though it came first",
    { groups: [{ rollout_percentage: 0 }, { properties: [pro] }] },
    {},
    false,
    "out_of_rollout_bound",
    0,
    "Out of rollout bound",
  ],
  [
    "of equal misses the later",
    { groups: [{ properties: [pro] }, { properties: [pro] }] },
    {},
    false,
    "no_condition_match",
    1,
    "No matching condition set",
  ],
  [
    "early exit stops at a rollout",
    { groups: [{ rollout_percentage: 0 }, {}], early_exit: true },
    {},
    false,
    "out_of_rollout_bound",
    0,
    "Out of rollout bound",
  ],
  [
    "early exit goes on after properties",
    { groups: [{ properties: [pro] }, {}], early_exit: true },
    {},
    true,
    "condition_match",
    1,
    "Matched condition set 2",
  ],
  [
    "an empty identifier gets the first variant",
    { groups: [{}], multivariate: { variants: half } },
    { distinctId: "" },
    "control",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a forced variant",
    { groups: [{ variant: "test" }], multivariate: { variants: half } },
    { distinctId: "" },
    "test",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a forced variant that does not exist",
    { groups: [{ variant: "gone" }], multivariate: { variants: half } },
    { distinctId: "" },
    "control",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "forced variants do not change the order of sets",
    { groups: [{}, { variant: "test" }], multivariate: { variants: half } },
    { distinctId: "" },
    "control",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "variants that leave a rest",
    { groups: [{}], multivariate: { variants: [{ key: "rare", rollout_percentage: 0 }] } },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a group flag without the group",
    { groups: [{}], aggregation_group_type_index: 0 },
    {},
    false,
    "no_group_type",
    0,
    "No group type",
  ],
  [
    "a group flag",
    {
      groups: [{ properties: [{ key: "plan", value: "pro", type: "group", group_type_index: 0 }] }],
      aggregation_group_type_index: 0,
    },
    { groups: { 0: { key: "acme", properties: { plan: "pro" } } } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a set about the person in a group flag",
    { groups: [{ properties: [pro], aggregation_group_type_index: null }], aggregation_group_type_index: 0 },
    { properties: { plan: "pro" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "enrolled",
    { groups: [], feature_enrollment: true },
    { properties: { "$feature_enrollment/beta": "true" } },
    true,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "opted out, though everyone is in",
    { groups: [{}], feature_enrollment: true },
    { properties: { "$feature_enrollment/beta": false } },
    false,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "no choice made",
    { groups: [{}], feature_enrollment: true },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "legacy enrolment decides",
    { groups: [{}], super_groups: [{ properties: [{ key: "in", value: ["true"] }] }] },
    { properties: { in: "false" } },
    false,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "legacy enrolment without its property",
    { groups: [{}], super_groups: [{ properties: [{ key: "in", value: ["true"] }] }] },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a missed rollout goes on to the next set",
    { groups: [{ rollout_percentage: 0 }, {}] },
    {},
    true,
    "condition_match",
    1,
    "Matched condition set 2",
  ],
  [
    "out of 99.5 %: .997",
    { groups: [{ rollout_percentage: 99.5 }] },
    { distinctId: "u252" },
    false,
    "out_of_rollout_bound",
    0,
    "Out of rollout bound",
  ],
  [
    "the variant that the hash picks: .801",
    { groups: [{}], multivariate: { variants: half } },
    { distinctId: "u3" },
    "test",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "an empty identifier does not get a variant of 0 %",
    {
      groups: [{}],
      multivariate: {
        variants: [
          { key: "rare", rollout_percentage: 0 },
          { key: "usual", rollout_percentage: 100 },
        ],
      },
    },
    { distinctId: "" },
    "usual",
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "legacy enrolment with one of its two properties",
    {
      groups: [{}],
      super_groups: [
        {
          properties: [
            { key: "in", value: ["true"] },
            { key: "too", value: ["true"] },
          ],
        },
      ],
    },
    { properties: { in: "true" } },
    false,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "not held out: .996 of 99.5 %",
    { groups: [{}], holdout: { id: 42, exclusion_percentage: 99.5 } },
    { distinctId: "u487" },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "held out: .178 of 20 %",
    { groups: [{}], holdout: { id: 42, exclusion_percentage: 20 } },
    { distinctId: "user-1" },
    "holdout-42",
    "holdout_condition_value",
    null,
    "Holdout condition value",
  ],
  [
    "not held out: .178 of 17 %",
    { groups: [{}], holdout: { id: 42, exclusion_percentage: 17 } },
    { distinctId: "user-1" },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "an empty device id is none",
    { groups: [{}] },
    { deviceId: "" },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "persons missed, groups not given",
    { groups: [{ properties: [pro] }, { aggregation_group_type_index: 0 }] },
    {},
    false,
    "no_condition_match",
    0,
    "No matching condition set (group conditions were not evaluated because no group type was provided)",
  ],
  [
    "a missed rollout reports nothing of groups",
    { groups: [{ rollout_percentage: 0 }, { aggregation_group_type_index: 0 }] },
    {},
    false,
    "out_of_rollout_bound",
    0,
    "Out of rollout bound",
  ],
  [
    "groups not given at all: the later set is reported",
    { groups: [{}, { aggregation_group_type_index: 1 }], aggregation_group_type_index: 0 },
    {},
    false,
    "no_group_type",
    1,
    "No group type",
  ],
  [
    "a set about another group than the flag",
    { groups: [{ aggregation_group_type_index: 1 }], aggregation_group_type_index: 0 },
    { groups: { 1: { key: "x" } } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a person's property in a group flag",
    { groups: [{ properties: [pro] }], aggregation_group_type_index: 0 },
    { groups: { 0: { key: "acme" } }, properties: { plan: "pro" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a group's property in a set about persons",
    { groups: [{ properties: [{ ...pro, type: "group", group_type_index: 1 }] }] },
    { groups: { 1: { key: "acme", properties: { plan: "pro" } } } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a group's property without the group is absent",
    { groups: [{ properties: [{ ...pro, operator: "is_not", type: "group", group_type_index: 1 }] }] },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a group's property of no type is absent",
    { groups: [{ properties: [{ ...pro, type: "group" }] }] },
    { groups: { 0: { key: "acme", properties: { plan: "pro" } } } },
    false,
    "no_condition_match",
    0,
    "No matching condition set",
  ],
  [
    "a filter without a type reads what the set is about",
    { groups: [{ properties: [{ key: "plan", value: "pro" }] }], aggregation_group_type_index: 0 },
    { groups: { 0: { key: "acme", properties: { plan: "pro" } } } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a field of the person, not its property",
    {
      groups: [
        {
          properties: [{ key: "created_at", type: "person_metadata", operator: "is_date_before", value: "2026-01-01" }],
        },
      ],
    },
    { metadata: { created_at: "2025-05-05T00:00:00Z" }, properties: { created_at: "2027-01-01" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a field without a person is absent",
    { groups: [{ properties: [{ key: "created_at", type: "person_metadata", operator: "is_not_set" }] }] },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a filter without a value matches no one, though it is negative",
    { groups: [{ properties: [{ key: "x", operator: "is_not" }] }] },
    {},
    false,
    "no_condition_match",
    0,
    "No matching condition set",
  ],
  [
    "negation is for cohorts",
    { groups: [{ properties: [{ ...pro, negation: true }] }] },
    { properties: { plan: "pro" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "a flag that is not known matches nothing",
    { groups: [{ properties: [{ key: "3", type: "flag", operator: "flag_evaluates_to", value: false }] }] },
    {},
    false,
    "no_condition_match",
    0,
    "No matching condition set",
  ],
  [
    "enrolment comes before its legacy form, also without a choice",
    { groups: [{}], feature_enrollment: true, super_groups: [{ properties: [{ key: "in", value: ["true"] }] }] },
    { properties: { in: "false" } },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "TRUE is no choice for it",
    { groups: [{}], feature_enrollment: true },
    { properties: { "$feature_enrollment/beta": "TRUE" } },
    false,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "enrolment comes before holdouts",
    { groups: [], feature_enrollment: true, holdout: { id: 1, exclusion_percentage: 100 } },
    { properties: { "$feature_enrollment/beta": true } },
    true,
    "super_condition_value",
    0,
    "Super condition value",
  ],
  [
    "everyone is held out",
    { groups: [{}], holdout: { id: 7, exclusion_percentage: 250 } },
    { distinctId: "test_user" },
    "holdout-7",
    "holdout_condition_value",
    null,
    "Holdout condition value",
  ],
  [
    "no one is held out",
    { groups: [{}], holdout: { id: 7, exclusion_percentage: -1 } },
    { distinctId: "" },
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "holdouts of a group flag hash the group",
    {
      groups: [{ aggregation_group_type_index: null }],
      aggregation_group_type_index: 0,
      holdout: { id: 42, exclusion_percentage: 20 },
    },
    { distinctId: "test_user", groups: { 0: { key: "user-1" } } },
    "holdout-42",
    "holdout_condition_value",
    null,
    "Holdout condition value",
  ],
  [
    "the newer form of holdouts comes first",
    {
      groups: [{}],
      holdout: { id: 1, exclusion_percentage: 0 },
      holdout_groups: [{ variant: "holdout-3", rollout_percentage: 100 }],
    },
    {},
    true,
    "condition_match",
    0,
    "Matched condition set 1",
  ],
  [
    "held out by the legacy form",
    { groups: [{}], holdout_groups: [{ variant: "holdout-3", rollout_percentage: 20 }] },
    { distinctId: "user-1" },
    "holdout-3",
    "holdout_condition_value",
    null,
    "Holdout condition value",
  ],
];

describe("evaluation", () => {
  test.each(rows)("%s", (_name, filters, who, value, code, condition_index, description) => {
    const decision = decide({ filters }, who);
    expect(decision).toMatchObject({ value, reason: { code, description }, condition_index, failed: false });
    expect(decision.enabled).toBe(value !== false);
    expect(decision.variant).toBe(typeof value === "string" ? value : null);
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
    [
      "of the variant",
      { test: '"x"', true: "1" },
      { groups: [{ variant: "test" }], multivariate: { variants: half } },
      {},
      '"x"',
    ],
    [
      "of another variant",
      { control: "1" },
      { groups: [{ variant: "test" }], multivariate: { variants: half } },
      {},
      null,
    ],
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

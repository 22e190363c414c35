import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { ConditionSet, Filters } from "../../../../src/service/flags/engine/filters.ts";
import { defaultMatching, operatorNames, prepareTest } from "../../../../src/service/flags/engine/operators.ts";
import { compileRuleset, type RulesetSource } from "../../../../src/service/flags/engine/ruleset.ts";
import {
  filterWords,
  isNever,
  operatorWords,
  type WordedFilter,
  wordedOperators,
  wordedTypes,
} from "../../../../src/service/flags/explain/filter-words.ts";
import { wordsOf } from "../../../../src/service/flags/explain/flag-words.ts";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";

test("every operator that is evaluated has words, and no other", () => {
  expect([...wordedOperators].sort()).toEqual([...operatorNames].sort());
});

const operators: [operator: string, value: Json | undefined, words: string][] = [
  ["exact", "pro", 'is "pro"'],
  ["exact", ["pro", "team"], 'is "pro" or "team"'],
  ["exact", ["a", "b", "c"], 'is "a", "b" or "c"'],
  // What looks like a boolean compares truth: the opposite of true is anything else.
  ["exact", [], "is true"],
  ["exact", true, "is true"],
  ["exact", "False", "is set to anything but true"],
  ["exact", ["true", "false"], "is set to anything but true"],
  ["is_not", [], "is not true"],
  ["is_not", ["true"], "is not true"],
  ["is_not", false, "is true or not set"],
  ["is_not", ["free"], 'is not "free"'],
  ["is_not", ["free", "trial"], 'is neither "free" nor "trial"'],
  ["icontains", "@x.com", 'contains "@x.com"'],
  ["not_icontains", "test", 'does not contain "test"'],
  ["icontains_multi", ["a", "b"], 'contains "a" or "b"'],
  ["not_icontains_multi", ["a", "b"], 'contains neither "a" nor "b"'],
  ["not_icontains_multi", "a", 'does not contain "a"'],
  ["starts_with", "v", 'starts with "v"'],
  ["not_starts_with", "v", 'does not start with "v"'],
  ["ends_with", "v", 'ends with "v"'],
  ["not_ends_with", "v", 'does not end with "v"'],
  ["regex", "^v", 'matches the pattern "^v"'],
  ["not_regex", "^v", 'does not match the pattern "^v"'],
  ["gt", 5, "is greater than 5"],
  ["gte", "5", 'is at least "5"'],
  ["lt", 5, "is less than 5"],
  ["lte", 5, "is at most 5"],
  ["between", [1, 2], "is between 1 and 2"],
  ["between", [1], 'is compared by "between" with [1], which cannot be read'],
  ["between", [5, 1], 'is compared by "between" with [5,1], which cannot be read'],
  ["not_between", [5, 1], 'is not set, as "not_between" cannot read [5,1]'],
  ["gt", ["5"], 'is compared by "gt" with ["5"], which cannot be read'],
  ["lte", "many", 'is compared by "lte" with "many", which cannot be read'],
  ["regex", "(", 'is compared by "regex" with "(", which cannot be read'],
  ["not_regex", "(", 'is not set, as "not_regex" cannot read "("'],
  ["not_between", [1, 2], "is not between 1 and 2"],
  ["is_set", undefined, "is set"],
  ["is_not_set", "is_not_set", "is not set"],
  ["is_date_before", "2025-01-01", "is before 2025-01-01"],
  ["is_date_before", "-30d", "is earlier than 30 days ago"],
  ["is_date_after", "-1w", "is later than 1 week ago"],
  ["is_date_exact", "3h", "is exactly 3 hours ago"],
  ["is_date_after", "-1x", 'is compared by "is_date_after" with "-1x", which cannot be read'],
  ["is_date_after", 5, 'is compared by "is_date_after" with 5, which cannot be read'],
  ["semver_eq", "1.2.3", "is version 1.2.3"],
  ["semver_neq", "1.2.3", "is a version other than 1.2.3"],
  ["semver_neq", "new", 'is compared by "semver_neq" with "new", which cannot be read'],
  ["semver_gt", "1.2.3", "is later than version 1.2.3"],
  ["semver_gte", "1.2.3", "is version 1.2.3 or later"],
  ["semver_lt", "1.2.3", "is earlier than version 1.2.3"],
  ["semver_lte", "1.2.3", "is version 1.2.3 or earlier"],
  ["semver_tilde", "1.2.3", "is in the version range ~1.2.3, the same minor version"],
  ["semver_caret", "1.2.3", "is in the version range ^1.2.3, the same leftmost number that is not 0"],
  ["semver_wildcard", "1.*", "is in the version range 1.*"],
  ["semver_wildcard", "1.2", "is in the version range ^1.2"],
  ["in", 1, 'is compared by "in", which never matches a property'],
  ["not_in", 1, 'is compared by "not_in", which never matches a property'],
  ["flag_evaluates_to", true, 'is compared by "flag_evaluates_to", which never matches a property'],
  ["exact", undefined, 'is compared by "exact" with no value'],
  ["exact", null, 'is compared by "exact" with no value'],
  ["like", "x", 'is compared by "like", which is not known'],
  ["constructor", "x", 'is compared by "constructor", which is not known'],
];

test.each(operators)("%s %j", (operator, value, words) => {
  expect(operatorWords(operator, value)).toBe(words);
});

test("the rows above are about every operator", () => {
  expect(wordedOperators.filter((name) => !operators.some(([operator]) => operator === name))).toEqual([]);
});

test("text is compared as text where the project says so", () => {
  const matching = { ...defaultMatching, version: 2 } as const;
  expect(operatorWords("exact", false, matching)).toBe("is false");
  expect(operatorWords("is_not", ["true", "false"], matching)).toBe('is neither "true" nor "false"');
});

/** Properties that tell the operators' oddities apart. */
const odd: (Json | undefined)[] = [undefined, null, true, false, "true", "banana", 0, 7, "7", "1.9.0"];

/** Operators whose words describe an evaluation; an unknown operator has none. */
const evaluated = operators.filter(([, , words]) => !words.endsWith("which is not known"));
const passedBy = (operator: string, value: Json | undefined): (Json | undefined)[] => {
  const { missing, passes } = prepareTest(operator, value, defaultMatching);
  return odd.filter((it) => (it === undefined ? missing : passes(it, 0)));
};

test.each(evaluated.filter(([, , words]) => isNever(words)))("%s %j matches nothing: %s", (operator, value) => {
  expect(passedBy(operator, value)).toEqual([]);
});

test.each<[RegExp, (Json | undefined)[]]>([
  [/^is not set, as/, [undefined]],
  [/anything but true/, [null, false, "banana", 0, 7, "7", "1.9.0"]],
  [/^is true or not set$/, [undefined, true, "true"]],
])("operators with the words %s match what the words describe", (words, matched) => {
  const rows = evaluated.filter(([, , text]) => words.test(text));
  expect(rows).not.toEqual([]);
  for (const [operator, value] of rows) expect(passedBy(operator, value)).toEqual(matched);
});

test("long lists and long texts are cut", () => {
  const letters = ["a", "b", "c", "d", "e", "f", "g", "h"];
  expect(operatorWords("exact", letters)).toBe('is "a", "b", "c", "d", "e", "f" or 2 more');
  expect(operatorWords("exact", "x".repeat(500)).length).toBeLessThan(100);
});

const filters: [WordedFilter, string][] = [
  [{ key: "plan", value: "pro" }, 'plan is "pro"'],
  [
    { key: "created_at", type: "person_metadata", operator: "is_date_after", value: "-7d" },
    "the person's own created_at is later than 7 days ago",
  ],
  [{ key: "tier", type: "group", groupType: "company", value: "gold" }, 'the company\'s tier is "gold"'],
  [{ key: "tier", type: "group", value: "gold" }, 'the group\'s tier is "gold"'],
  [{ key: "id", type: "cohort", value: 3 }, "the person is in cohort 3"],
  [
    { key: "id", type: "cohort", operator: "not_in", value: 3, cohortName: "Paying" },
    'the person is not in cohort "Paying" (3)',
  ],
  [{ key: "id", type: "cohort", operator: "exact", value: 3 }, 'cohort 3 is compared by "exact", which never matches'],
  [{ key: "7", type: "flag", operator: "flag_evaluates_to", value: true, flagKey: "beta" }, 'flag "beta" is on'],
  [{ key: "beta", type: "flag", operator: "flag_evaluates_to", value: false }, 'flag "beta" is off'],
  [{ key: "beta", type: "flag", operator: "flag_evaluates_to", value: "blue" }, 'flag "beta" is "blue"'],
  [
    { key: "beta", type: "flag", operator: "exact", value: true },
    'flag "beta" is compared by "exact", which never matches',
  ],
  [{ key: "x", type: "event", value: 1 }, 'x is of the type "event", which is not evaluated'],
  [{ key: "plan", value: "pro", negation: true }, 'not (plan is "pro")'],
];

test.each(filters)("%j", (filter, words) => {
  expect(filterWords(filter)).toBe(words);
});

test("the rows above are about every type", () => {
  const reported = filters.map(([{ type = "person" }]) => type);
  expect(wordedTypes.filter((type) => !reported.includes(type))).toEqual([]);
});

const pro = { key: "plan", type: "person", operator: "exact", value: ["pro"] };
const groups = [{ properties: [], rollout_percentage: 100 }];

const words = (filters: Filters, more: Partial<FeatureFlag> = {}, its: Partial<RulesetSource> = {}) => {
  const flag = aFlag("f", { filters, ...more });
  const { flags = [], ...rest } = its;
  const source = { cohorts: [], groupTypes: ["company", "team"], propertyMatchingVersion: 1 as const };
  return wordsOf(flag, compileRuleset({ ...source, timezone: "UTC", ...rest, flags: [flag, ...flags] }));
};

const blue = { multivariate: { variants: [{ key: "blue", rollout_percentage: 100 }] } };
const ofCompanies = { aggregation_group_type_index: 0 };

const sets: [set: ConditionSet, sentence: string, more?: Filters][] = [
  [{}, "Everyone gets it."],
  [{ properties: [], rollout_percentage: 12.5 }, "12.5 % of all persons get it."],
  [{ rollout_percentage: 0 }, "No one gets it."],
  [{ rollout_percentage: null }, "Everyone gets it."],
  [{ properties: [pro] }, 'When plan is "pro": everyone gets it.'],
  [
    { properties: [pro, { key: "age", operator: "gt", value: 18 }], rollout_percentage: 40 },
    'When plan is "pro", and age is greater than 18: 40 % of them get it.',
  ],
  [{ properties: [pro], variant: "blue" }, 'When plan is "pro": everyone gets variant "blue".', blue],
  [{ variant: "blue" }, 'Everyone gets it, as it has no variant "blue".'],
  [
    { properties: [{ key: "tier", value: "gold" }] },
    'When the company\'s tier is "gold": every company gets it.',
    ofCompanies,
  ],
  [{ rollout_percentage: 5 }, '5 % of all groups of the type "company" get it.', ofCompanies],
  [{}, "Every group type 3 gets it.", { aggregation_group_type_index: 3 }],
  [{ aggregation_group_type_index: null, rollout_percentage: 5 }, "5 % of all persons get it.", ofCompanies],
];

test.each(sets)("a set in words: %j, %s", (set, sentence, more) => {
  expect(words({ ...more, groups: [set] }).sets).toEqual([sentence]);
});

const variants = [
  { key: "a", rollout_percentage: 60 },
  { key: "b", rollout_percentage: 30 },
];
const tenOut = { holdout: { id: 7, exclusion_percentage: 10 } };
const askedFlag = (key: string, value: boolean) => ({ key, type: "flag", operator: "flag_evaluates_to", value });
const asking = (...properties: NonNullable<ConditionSet["properties"]>): Filters => ({ groups: [{ properties }] });
const early = "Early access: for a person with one of these properties, only this decides:";

/** Filters beside a set for everyone, and what the words before or after the sets are. */
const others: [part: "before" | "after", Filters, sentences: string[], more?: Partial<FeatureFlag>][] = [
  ["before", {}, ["It is inactive: responses leave it out."], { active: false }],
  ["before", {}, ["Only for servers."], { evaluation_runtime: "server" }],
  [
    "before",
    {},
    ['Clients that send contexts get it only with one of these: "docs".'],
    { evaluation_contexts: ["docs"] },
  ],
  ["before", tenOut, ['10 % are held out and get variant "holdout-7", regardless of the condition sets.']],
  [
    "before",
    { holdout_groups: [{ rollout_percentage: 100, variant: "holdout-8" }] },
    ['Everyone is held out and gets variant "holdout-8", regardless of the condition sets.'],
  ],
  [
    "before",
    { holdout: { id: 7 } },
    ["It cannot be computed: A filter's value cannot be read by the simulator.", "Its holdout has no percentage."],
  ],
  [
    "before",
    { feature_enrollment: true },
    [
      "Early access: for a person with the property $feature_enrollment/f, only it decides: if it is true, the person gets it.",
    ],
  ],
  ["before", { super_groups: [{ properties: [pro] }] }, [`${early} when plan is "pro": everyone gets it.`]],
  [
    "before",
    { multivariate: { variants }, super_groups: [{ properties: [pro], rollout_percentage: 20 }] },
    [`${early} when plan is "pro": 20 % of them get true, no variant.`],
  ],
  ["before", { super_groups: [{ properties: [] }] }, []],
  [
    "before",
    {},
    ["It is remote configuration: its endpoint returns the same payload to every client."],
    { is_remote_configuration: true },
  ],
  [
    "before",
    asking({ key: "x", type: "event", value: 1 }),
    ["It cannot be computed: A filter of this type is not evaluated by the simulator."],
  ],
  ["before", asking(askedFlag("404", false)), ["It depends on a flag that does not exist: it is off."]],
  ["before", asking(askedFlag("f", true)), ["It cannot be computed: Flag dependency cycle detected."]],
  ["after", { groups: [] }, ["It has no condition sets: it is off."]],
  [
    "after",
    { multivariate: { variants } },
    ['A match gives a variant: "a" 60 %, "b" 30 %; 10 % get true, no variant.'],
  ],
  [
    "after",
    { payloads: { true: '{"a":1}', b: [2] } },
    ['Payload: {"a":1}', 'Payload with "b", which is not one of its variants: [2]'],
  ],
  [
    "after",
    { ...blue, payloads: { true: "1", blue: "2", "holdout-7": "3" }, ...tenOut },
    [
      'A match gives a variant: "blue" 100 %.',
      "Payload with true, which is no variant: 1",
      'Payload with "blue": 2',
      'Payload with "holdout-7": 3',
    ],
  ],
  [
    "after",
    { multivariate: { variants: [...variants, { key: "c", rollout_percentage: 30 }] } },
    ['A match gives a variant: "a" 60 %, "b" 30 %, "c" 30 %; shares beyond 100 %, in this order, are never reached.'],
  ],
  [
    "after",
    { payloads: { true: "secret" } },
    ["Its payloads are encrypted: /flags leaves it out, only the remote config endpoint has them."],
    { has_encrypted_payloads: true },
  ],
  [
    "after",
    { early_exit: true },
    ["The first set whose properties match decides, even if its rollout excludes the subject."],
  ],
  [
    "after",
    {},
    ["The device is hashed, not the person. Without a device id, it is off."],
    { bucketing_identifier: "device_id" },
  ],
  [
    "after",
    {},
    ["Identified persons keep their earlier value, by $anon_distinct_id."],
    { ensure_experience_continuity: true },
  ],
  [
    "after",
    ofCompanies,
    ["The company's key is hashed: all members of one company get the same value. Without one, it is off."],
  ],
  [
    "after",
    { groups: [{ aggregation_group_type_index: 1 }] },
    ["The team's key is hashed: all members of one team get the same value. Without one, it is off."],
  ],
  [
    "after",
    { groups: [{}, { aggregation_group_type_index: null }], ...ofCompanies },
    [
      "The company's key is hashed: all members of one company get the same value. Without one, its sets are skipped.",
      "The device is hashed, not the person. Without a device id, its sets are skipped.",
    ],
    { bucketing_identifier: "device_id", ensure_experience_continuity: true },
  ],
];

test.each(others)("%s the sets of a flag with %j: %j", (part, filters, sentences, more) => {
  expect(words({ groups, ...filters }, more)[part]).toEqual(sentences);
});

describe("cohorts", () => {
  const asks = (...ids: number[]): Filters => ({
    groups: [{ properties: ids.map((value) => ({ key: "id", type: "cohort", value })) }],
  });
  const tree = (type: string, ...values: Json[]) => ({ properties: { type, values } });
  const leaf = { key: "plan", type: "person", value: "pro" };
  const cohorts = [
    aCohort({ id: 1, name: "Paying", filters: tree("OR", { type: "AND", values: [leaf, leaf] }, leaf) }),
    aCohort({ id: 2, name: "Listed", is_static: true, persons: ["u"] }),
    aCohort({ id: 3, filters: tree("AND", { key: "id", type: "cohort", value: 1, negation: true }) }),
    aCohort({ id: 4, filters: tree("XOR", leaf) }),
    aCohort({ id: 5, filters: tree("AND", { type: "behavioral", value: "performed_event" }) }),
    aCohort({ id: 6 }),
    aCohort({ id: 7, filters: tree("AND", { key: "id", type: "cohort", value: 8 }) }),
    aCohort({ id: 8, filters: tree("AND", { key: "id", type: "cohort", value: 8 }) }),
    aCohort({ id: 9, filters: tree("AND", { type: "OR", values: [{ type: "OR", values: [leaf, leaf] }] }, leaf) }),
  ];
  const paying = 'Cohort "Paying" (1): (plan is "pro", and plan is "pro"), or plan is "pro".';
  const circular = "the person is in cohort 8. It depends on a cycle of cohorts: the flag cannot be computed.";
  const rows: [number[], string[]][] = [
    [[6], ["Cohort 6: no one."]],
    [[1], [paying]],
    [[2], ['Cohort "Listed" (2) is a list of 1 person.']],
    [
      [3, 1],
      ['Cohort 3: not (the person is in cohort "Paying" (1)).', paying],
    ],
    [[4], ["Cohort 4 cannot be read: the flag cannot be computed."]],
    [[5], ['Cohort 5: a condition of the type "behavioral", which never matches.']],
    [[7], [`Cohort 7: ${circular}`, `Cohort 8: ${circular}`]],
    [[9], ['Cohort 9: (plan is "pro", or plan is "pro"), and plan is "pro".']],
    [[404], ["Cohort 404 does not exist: the flag cannot be computed."]],
  ];
  test.each(rows)("%j", (ids, sentences) => {
    const named = cohorts.map((it) => (it.id > 2 ? { ...it, name: null } : it));
    expect(words(asks(...ids), {}, { cohorts: named }).cohorts).toEqual(sentences);
  });

  test("are named in the sets", () => {
    expect(words(asks(1), {}, { cohorts }).sets).toEqual([
      'When the person is in cohort "Paying" (1): everyone gets it.',
    ]);
  });
});

test("flags are named by their keys", () => {
  const flags = [aFlag("base", { id: 9 })];
  expect(words(asking(askedFlag("9", true)), {}, { flags }).sets).toEqual([
    'When flag "base" is on: everyone gets it.',
  ]);
});

test("a flag that does not exist matches nothing, wanted on or off", () => {
  expect(words(asking(askedFlag("gone", false))).sets).toEqual([
    'When flag "gone" is required, which does not exist: no one gets it.',
  ]);
});

const oddFilters: [string, Filters][] = [
  ["a holdout that is a text", { groups, holdout: "7" }],
  ["super groups that are odd", { groups, super_groups: [{ properties: [null, 5] }] }],
  ["keys of prototypes", asking({ key: "__proto__", type: "constructor", operator: "toString" })],
  ["values that are odd", asking({ key: "a", operator: 5, value: { a: [] }, type: 7 })],
];

test.each(oddFilters)("never throws for %s", (_, filters) => {
  expect(words(filters).sets).toHaveLength(1);
});

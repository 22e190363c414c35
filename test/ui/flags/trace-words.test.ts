import { describe, expect, test } from "vitest";
import type { DecidedFlag, FlagDecision as Decision } from "../../../src/service/flags/decision-shapes.ts";
import { actualWords, hashText, hashWords, missWords } from "../../../src/service/flags/explain/trace-words.ts";
import type { ConditionTrace, PropertyTrace } from "../../../src/service/flags/shapes.ts";
import {
  clientWords,
  drawnWords,
  reasonWords,
  sinceWords,
  stateOf,
  subjectOf,
} from "../../../ui/parts/flag-trace/trace-words.ts";
import { aDecision, aFlag } from "./a-decision.ts";

const property = (more: Partial<PropertyTrace> = {}): PropertyTrace => ({
  type: "person",
  key: "plan",
  operator: "exact",
  expected: ["pro"],
  words: 'plan is "pro"',
  passed: false,
  ...more,
});

const properties: [string, Partial<PropertyTrace>, actual: string][] = [
  ["a property", { actual: "free" }, 'is "free"'],
  ["one that does not exist", {}, "is not set"],
  ["one that is null", { actual: null }, "is null"],
  [
    "a cohort",
    { type: "cohort", operator: "in", cohort: { id: 1, name: null, is_static: true, member: false, tree: null } },
    "is not a member",
  ],
  ["a flag", { type: "flag", operator: "flag_evaluates_to", flag: { key: "f", value: "x" } }, 'is "x"'],
  ["what no person fulfils", { type: "behavioral", key: "", operator: "" }, "never matches"],
  [
    "a failure",
    { failure: "unsupported_regex" },
    "cannot be computed: A regular expression is not evaluated by the simulator: its syntax, or too slow",
  ],
];
test.each(properties)("%s", (_, more, actual) => {
  expect(actualWords(property(more))).toBe(actual);
});

test.each([
  [0.7312345, 0.5, "0.7312"],
  [0.500001, 0.5, "0.500001"],
  [0.5, 0.5, "0.5"],
])("a hash of %d beside %d is %s", (hash, threshold, text) => {
  expect(hashText(hash, threshold)).toBe(text);
});

test("a hash and its threshold", () => {
  const hash = { input: "f.anna", identifier: "anna", identifier_kind: "distinct_id" as const, hash: 0.7312 };
  expect(hashWords(hash, 0.5, false, "rollout")).toBe("hash 0.7312 > rollout 0.5");
  expect(hashWords(hash, 0.8, true, "rollout")).toBe("hash 0.7312 ≤ rollout 0.8");
});

const ranges = [
  { variant: "a", from: 0, to: 0.5, hit: false },
  { variant: "rare", from: 0.5, to: 0.501, hit: true },
];
test.each([
  [ranges, 'hash 0.5004 draws "rare", 0.5 to 0.501'],
  [[], "hash 0.5004 draws no variant"],
])("a variant that is drawn: %j", (given, words) => {
  const hash = { input: "f.annavariant", identifier: "anna", identifier_kind: "distinct_id" as const, hash: 0.50041 };
  expect(drawnWords(hash, given)).toBe(words);
});

const set = (more: Partial<ConditionTrace> = {}): ConditionTrace => ({
  index: 0,
  reached: true,
  matched: false,
  miss: null,
  failure: null,
  group_type_index: null,
  group_type: null,
  properties: [],
  rollout: null,
  variant: null,
  hint: null,
  ...more,
});

test.each([
  [{ matched: true }, "matched"],
  [{ miss: "no_condition_match" }, "missed"],
  [{ failure: "unsupported_regex" }, "failed"],
  [{ reached: false, matched: true }, "not reached"],
] as const)("a set with %j is %s", (more, state) => {
  expect(stateOf(set(more))).toBe(state);
});

test.each([
  [{ miss: "no_group_type", group_type: "company" }, "no group of the type company was given"],
  [{ miss: "no_group_type", group_type_index: 3 }, "no group of the type 3 was given"],
  [{ miss: "no_device" }, "no device id was given"],
  [{ miss: "no_condition_match" }, undefined],
] as const)("a set that was passed over with %j", (more, words) => {
  expect(missWords(set(more))).toBe(words);
});

const reasons: [DecidedFlag["reason"], number | null, string][] = [
  [null, null, "no reason given"],
  [{ code: "condition_match", description: "Matched condition set 2" }, 1, "matched set 2"],
  [{ code: "out_of_rollout_bound", description: "" }, 0, "outside the rollout of set 1"],
  [{ code: "override", description: "" }, null, "overridden here"],
  [{ code: "new_code", description: "Something else" }, null, "Something else"],
  [{ code: "new_code", description: "" }, null, "new_code"],
  [{ code: "__proto__", description: "x" }, null, "x"],
];
test.each(reasons)("the reason %j of set %j", (reason, condition_index, words) => {
  expect(reasonWords(aFlag("f", true, { reason, condition_index }))).toBe(words);
});

test.each([
  [null, "unknown client"],
  ["posthog-node/5.2.0", "posthog-node/5.2.0"],
  ["Mozilla/5.0 (X11) AppleWebKit/537.36 Chrome/150.0 Safari/537.36", "Chrome"],
  ["Mozilla/5.0 (X11; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox"],
  ["Mozilla/5.0 something", "browser"],
])("the client %s is %s", (client, words) => {
  expect(clientWords(client)).toBe(words);
});

describe("the subject of the next request", () => {
  const asked: Decision["asked"] = {
    person_properties: { plan: "pro" },
    groups: { company: "acme", team: { odd: true } },
    group_properties: { company: { tier: 1 }, team: "odd" },
    device_id: "d",
    anon_distinct_id: null,
    ip: null,
    keys: null,
  };
  test("gets all that the request had and can be used", () => {
    expect(subjectOf(aDecision({}, { asked }))).toEqual({
      distinct_id: "anna",
      project: 1,
      person: { plan: "pro" },
      groups: { company: "acme" },
      group_properties: { company: { tier: 1 } },
      device_id: "d",
      anon_distinct_id: null,
      ip: null,
    });
  });
  test.each([
    [{ distinct_id: null }, undefined],
    [{ distinct_id: "" }, undefined],
    [{ project: null }, undefined],
    [{}, { distinct_id: "anna", project: 1 }],
  ])("with %j", (more, expected) => {
    expect(subjectOf(aDecision({}, more))).toEqual(expected);
  });
});

test("a value that is another one now is reported", () => {
  const now = {
    project: 1,
    distinct_id: "anna",
    key: "f",
    id: 1,
    active: true,
    value: false,
    enabled: false,
    variant: null,
    payload: null,
    failed: false,
    condition_index: null,
    reason: { code: "", description: "" },
    override: null,
    by_rules: null,
    enrollment: null,
    holdout: null,
    conditions: [],
    hint: null,
  };
  expect(sinceWords(aFlag("f", true), now)).toContain("It was true then and would be false now");
  expect(sinceWords(aFlag("f", false), now)).toBeUndefined();
});

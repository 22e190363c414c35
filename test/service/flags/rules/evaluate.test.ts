import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { bucketOf } from "../../../../src/service/flags/engine/bucket-hash.ts";
import { noCohorts } from "../../../../src/service/flags/engine/cohorts.ts";
import { compileFlag } from "../../../../src/service/flags/engine/compile.ts";
import { decide } from "../../../../src/service/flags/engine/evaluate.ts";
import type { HashUse, Subject } from "../../../../src/service/flags/engine/run.ts";
import { blankFeatureFlag } from "../../../../src/state/documents/blank.ts";
import { document, experiment, percentage, person, targeted } from "./documents.ts";
import { fractionOf, subjectWhere } from "./hash.ts";

/** The decision about a flag with these filters, and the hashes that were compared. */
function decided(filters: JsonObject, distinctId: string, properties: JsonObject = {}, device?: string) {
  const flag = blankFeatureFlag(
    { id: 1, project: 1, key: "k", filters, ensure_experience_continuity: true, bucketing_identifier: "device_id" },
    "2025-01-01T00:00:00Z",
  );
  const subject: Subject = {
    distinctId,
    deviceId: device,
    anonymousId: "anonymous",
    now: Date.UTC(2025, 0, 1),
    continuityKey: () => "kept",
    property: (name) => (Object.hasOwn(properties, name) ? properties[name] : undefined),
    metadata: () => undefined,
    personId: () => undefined,
    group: () => undefined,
  };
  const hashes: HashUse[] = [];
  const decision = decide(compileFlag(flag), {
    id: {},
    subject,
    cohorts: noCohorts,
    bucketOf,
    values: new Map(),
    members: undefined,
    recorder: { hashed: (use) => hashes.push(use), tried: () => {} },
  });
  return { ...decision, code: decision.rule?.code ?? decision.reason.code, uses: hashes.map(({ use }) => use), hashes };
}

const always = { rollout_percentage: 100 };
const never = { rollout_percentage: 0 };
const pro = person();
const holdout = (exclusion_percentage: number) => ({ id: null, seed: "h", exclusion_percentage });

test.each([
  ["targeting before all", [experiment({ paused: true, targeting: { properties: [pro] } })], "no_rule_match", null, []],
  [
    "a pause before the holdout",
    [experiment({ ...always, paused: true, holdout: holdout(100) })],
    "experiment_paused",
    0,
    [],
  ],
  ["the holdout before the rollout", [experiment({ rollout_percentage: 50, holdout: holdout(100) })], "holdout", 0, []],
  [
    "a holdout below 100 % is hashed",
    [experiment({ ...always, holdout: holdout(0) })],
    "targeting_match",
    0,
    ["holdout", "variant"],
  ],
  ["at 100 % only the variant is hashed", [experiment(always)], "targeting_match", 0, ["variant"]],
  ["a missed rollout goes on", [percentage(never), targeted()], "targeting_match", 1, ["rollout"]],
  [
    "a missed rollout stops",
    [percentage({ ...never, on_rollout_miss: "return_default" }), targeted()],
    "rollout_miss",
    0,
    ["rollout"],
  ],
  ["a missed rollout of the last rule", [percentage(never)], "no_rule_match", null, ["rollout"]],
  ["the first rule that matches", [targeted(false), targeted(true, [], 7)], "targeting_match", 0, []],
  ["no rule", [], "no_rule_match", null, []],
] as [string, JsonObject[], string, number | null, string[]][])("%s", (_name, rules, code, index, uses) => {
  const { code: found, condition_index, uses: used } = decided(document(rules), "user-1");
  expect([found, condition_index, used]).toEqual([code, index, uses]);
});

test("the hashes are of the seed and the distinct id, whatever the flag's own identifier is", () => {
  for (let n = 0; n < 50; n++) {
    const distinctId = `ü${n}`;
    const rule = experiment({ rollout_percentage: 99.99, holdout: holdout(0.01) });
    const { hashes } = decided(document([rule]), distinctId, {}, "device");
    const found = Object.fromEntries(hashes.map(({ use, bucket }) => [use, bucket]));
    expect(found.holdout).toBe(fractionOf(`h${distinctId}`));
    expect(found.rollout).toBe(fractionOf(`seed.${distinctId}`));
    expect(found.variant).toBe(fractionOf(`seed.${distinctId}variant`));
  }
});

test("a share in hundredths decides where the hash is", () => {
  const distinctId = subjectWhere(
    (it) => `seed.${it}`,
    (it) => it > 0.1 && it < 0.9,
  );
  const share = fractionOf(`seed.${distinctId}`) * 100;
  const at = (rollout_percentage: number) => decided(document([percentage({ rollout_percentage })]), distinctId).value;
  expect([at(Math.floor(share * 100) / 100), at(Math.ceil(share * 100) / 100)]).toEqual([false, true]);
});

test("an empty distinct id is in no rollout and in no holdout", () => {
  const rules = [experiment({ ...always, holdout: holdout(100) }), percentage(always), targeted(true, [], 9)];
  expect(decided(document(rules), "")).toMatchObject({ code: "targeting_match", condition_index: 2, uses: [] });
});

const asks = (change: JsonObject) => document([targeted(true, [person(change)])]);
test.each([
  ["a value", {}, { plan: "pro" }, true],
  ["another value", {}, { plan: "free" }, false],
  ["no value", {}, {}, false],
  ["a negated value", { negation: true }, { plan: "pro" }, false],
  ["a negated value that is absent", { negation: true }, {}, true],
  ["a filter without a value", { value: null }, { plan: "pro" }, false],
  ["a negated filter without a value", { value: null, negation: true }, { plan: "pro" }, true],
  ["a number", { operator: "gt", value: "3" }, { plan: 4 }, true],
  ["a number that is absent", { operator: "gt", value: "x" }, {}, false],
  ["a pattern", { operator: "regex", value: "^p" }, { plan: "pro" }, true],
  ["a version that is none", { operator: "semver_gt", value: "1.0.0" }, { plan: "x" }, false],
] as [string, JsonObject, JsonObject, boolean][])("targeting: %s", (_name, change, properties, isMatch) => {
  expect(decided(asks(change), "u", properties)).toMatchObject({ failed: false, value: isMatch });
});

test.each([
  ["an invalid pattern", { operator: "regex", value: "(" }, {}, 'The regular expression for "plan" is invalid'],
  [
    "an invalid pattern, negated",
    { operator: "not_regex", value: "(", negation: true },
    { plan: "a" },
    'The regular expression for "plan" is invalid',
  ],
  [
    "a property that is no number",
    { operator: "lt", value: 3 },
    { plan: "pro" },
    'The property "plan" is not a number',
  ],
  ["a value that is no number", { operator: "lt", value: "x" }, { plan: 3 }, 'The value for "plan" is not a number'],
] as [string, JsonObject, JsonObject, string][])(
  "%s fails the flag when it is reached",
  (_name, change, properties, description) => {
    const filter = person(change);
    const failure = { failed: true, value: false, reason: { code: "flag_evaluation_error", description } };
    expect(decided(document([targeted(true, [filter])]), "u", properties)).toMatchObject(failure);
    expect(decided(document([targeted(), targeted(true, [filter], 2)]), "u", properties)).toMatchObject({
      value: true,
    });
    const other = person({ key: "other" });
    expect(decided(document([targeted(true, [other, filter])]), "u", properties)).toMatchObject({ failed: false });
  },
);

test.each([
  ["malformed", [targeted(1)], "filters.rules[0].value: Must be true or false."],
  [
    "not evaluated by the service",
    [experiment({ experiment_id: 4 })],
    "filters.rules[0].experiment_id: Rules that are linked to an experiment are not available yet.",
  ],
] as [string, Json, string][])("rules that are %s fail the flag", (_name, rules, description) => {
  expect(decided(document(rules), "u")).toMatchObject({
    failed: true,
    reason: { code: "flag_data_parsing_error", description },
  });
});

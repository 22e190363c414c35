import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { placeOf, problemsOfRules } from "../../../../src/service/flags/engine/rule-config.ts";
import { document, experiment, idOf, nested, percentage, person, targeted, variants } from "./documents.ts";

const without = (object: JsonObject, key: string): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));
const found = (filters: JsonObject): string[] => problemsOfRules(filters).map((it) => `${it.code} ${placeOf(it)}`);

const first = (change: JsonObject): JsonObject => document([{ ...targeted(), ...change }]);
const rollout = (change: JsonObject): JsonObject => document([percentage(change)]);
const trial = (change: JsonObject): JsonObject => document([experiment(change)]);
const asks = (change: JsonObject): JsonObject => document([targeted(true, [person(change)])]);
const many = (count: number) => Array.from({ length: count }, (_, n) => targeted(true, [], n));
const holdout = { id: null, seed: "h", exclusion_percentage: 10 };
const typed = (return_type: string, value: never): JsonObject =>
  document([targeted(value)], { return_type, default_value: null });

test.each([
  ["no rule", document([])],
  ["all types of rules", document([targeted(), percentage(), experiment({ holdout })])],
  ["100 rules", document(many(100))],
  ["100 properties", document([targeted(true, Array(100).fill(person()))])],
  ["a description and metadata", first({ description: "d", metadata: { a: 1 } })],
  ["an id in upper case", first({ id: "ABCDEF00-1111-4111-8111-111111111111" })],
  ["no default", document([], { default_value: null })],
  ["0 %", rollout({ rollout_percentage: 0 })],
  ["100 %", rollout({ rollout_percentage: 100 })],
  ["two decimal places", rollout({ rollout_percentage: 33.33 })],
  ["a seed of one character", rollout({ seed: "s" })],
  ["a seed of 400 characters", rollout({ seed: "😀".repeat(400) })],
  ["assign_by person", rollout({ assign_by: "person" })],
  ["2 variants", trial({ variants: variants([0, 100]) })],
  ["20 variants", trial({ variants: variants(Array(20).fill(5)) })],
  ["weights that sum in hundredths", trial({ variants: variants([33.33, 33.33, 33.34]) })],
  ["a text", typed("string", "a" as never)],
  ["the largest number", typed("number", Number.MAX_SAFE_INTEGER as never)],
  ["20 levels", typed("object", nested(20) as never)],
  ["a null operator", asks({ operator: null, negation: null, group_type_index: null })],
  ["names for the page", asks({ label: "l", cohort_name: null, group_key_names: { a: "b" } })],
  ["exact without a value", asks({ value: null })],
  ["a regular expression that is invalid", asks({ operator: "regex", value: "(" })],
  ["a relative date", asks({ operator: "is_date_after", value: "-7d" })],
  ["a wildcard", asks({ operator: "semver_wildcard", value: "1.2.*" })],
  ["a number as text", asks({ operator: "gt", value: "5" })],
] as const)("%s is accepted", (_name, filters) => {
  expect(found(filters)).toEqual([]);
});

const rule = "filters.rules[0]";
const property = `${rule}.targeting.properties[0]`;
test.each([
  ["an unknown key", document([], { groups: [] }), "unknown_field filters.groups"],
  ["no return type", without(document([]), "return_type"), "required filters.return_type"],
  ["another return type", document([], { return_type: "text" }), "invalid filters.return_type"],
  ["no default value", without(document([]), "default_value"), "required filters.default_value"],
  ["a default of another type", document([], { default_value: 1 }), "invalid filters.default_value"],
  [
    "a group type",
    document([], { aggregation_group_type_index: 0 }),
    "unsupported filters.aggregation_group_type_index",
  ],
  [
    "a group type that is no integer",
    document([], { aggregation_group_type_index: null }),
    "invalid filters.aggregation_group_type_index",
  ],
  ["no rules", without(document([]), "rules"), "required filters.rules"],
  ["rules that are no list", document({}), "invalid filters.rules"],
  ["101 rules", document(many(101)), "limit_exceeded filters.rules"],
  ["a rule that is no object", document([1]), `invalid ${rule}`],
  ["another type of rule", first({ rule_type: "other" }), `invalid ${rule}.rule_type`],
  ["no id", document([without(targeted(), "id")]), `required ${rule}.id`],
  ["an id without hyphens", first({ id: idOf(1).replaceAll("-", "") }), `invalid ${rule}.id`],
  ["an id in braces", first({ id: `{${idOf(1)}}` }), `invalid ${rule}.id`],
  ["the same id twice", document([targeted(), targeted()]), "not_unique filters.rules[1].id"],
  ["a rollout of a targeted release", first({ rollout_percentage: 1 }), `unknown_field ${rule}.rollout_percentage`],
  ["no targeting", document([without(targeted(), "targeting")]), `required ${rule}.targeting`],
  ["another key in targeting", first({ targeting: { properties: [], or: [] } }), `unknown_field ${rule}.targeting.or`],
  [
    "101 properties",
    document([targeted(true, Array(101).fill(person()))]),
    `limit_exceeded ${rule}.targeting.properties`,
  ],
  ["a description that is no text", first({ description: null }), `invalid ${rule}.description`],
  ["metadata that is no object", first({ metadata: [] }), `invalid ${rule}.metadata`],
  ["no value", document([without(targeted(), "value")]), `required ${rule}.value`],
  ["a null value", first({ value: null }), `invalid ${rule}.value`],
  ["a value of another type", first({ value: "true" }), `invalid ${rule}.value`],
  ["an empty text", typed("string", "" as never), `invalid ${rule}.value`],
  ["a number that is too large", typed("number", (2 ** 53) as never), `invalid ${rule}.value`],
  ["a number in an object that is too large", typed("object", { a: [2 ** 53] } as never), `invalid ${rule}.value`],
  ["21 levels", typed("object", nested(21) as never), `invalid ${rule}.value`],
  ["less than 0 %", rollout({ rollout_percentage: -0.01 }), `invalid ${rule}.rollout_percentage`],
  ["more than 100 %", rollout({ rollout_percentage: 100.01 }), `invalid ${rule}.rollout_percentage`],
  ["three decimal places", rollout({ rollout_percentage: 33.333 }), `invalid ${rule}.rollout_percentage`],
  ["another policy for misses", rollout({ on_rollout_miss: "next" }), `invalid ${rule}.on_rollout_miss`],
  ["another algorithm", rollout({ assignment_algorithm: "md5" }), `invalid ${rule}.assignment_algorithm`],
  ["another assignment", rollout({ assign_by: "group" }), `invalid ${rule}.assign_by`],
  ["an empty seed", rollout({ seed: "" }), `invalid ${rule}.seed`],
  ["a seed of 401 characters", rollout({ seed: "s".repeat(401) }), `invalid ${rule}.seed`],
  ["no experiment id", document([without(experiment(), "experiment_id")]), `required ${rule}.experiment_id`],
  ["a linked experiment", trial({ experiment_id: 7 }), `unsupported ${rule}.experiment_id`],
  ["another experiment id", trial({ experiment_id: "7" }), `invalid ${rule}.experiment_id`],
  ["no pause", document([without(experiment(), "paused")]), `required ${rule}.paused`],
  ["one variant", trial({ variants: variants([100]) }), `invalid ${rule}.variants`],
  ["21 variants", trial({ variants: variants([...Array(20).fill(5), 0]) }), `limit_exceeded ${rule}.variants`],
  ["weights below 100", trial({ variants: variants([50, 49.99]) }), `invalid ${rule}.variants`],
  [
    "a weight of three decimal places",
    trial({ variants: variants([50.001, 50]) }),
    `invalid ${rule}.variants[0].weight`,
  ],
  [
    "the same key twice",
    trial({ variants: [...variants([50]), ...variants([50])] }),
    `not_unique ${rule}.variants[1].key`,
  ],
  [
    "a key with a space",
    trial({ variants: [{ key: "a b", weight: 50, value: true }, ...variants([50])] }),
    `invalid ${rule}.variants[0].key`,
  ],
  ["a shared holdout", trial({ holdout: { ...holdout, id: 4 } }), `invalid ${rule}.holdout.id`],
  ["a holdout without a seed", trial({ holdout: without(holdout, "seed") }), `required ${rule}.holdout.seed`],
  [
    "a holdout above 100 %",
    trial({ holdout: { ...holdout, exclusion_percentage: 101 } }),
    `invalid ${rule}.holdout.exclusion_percentage`,
  ],
  ["a cohort", asks({ type: "cohort", key: "id", value: 1 }), `unsupported ${property}.type`],
  ["a group", asks({ type: "group" }), `unsupported ${property}.type`],
  ["a flag", asks({ type: "flag" }), `unsupported ${property}.type`],
  ["another type of property", asks({ type: "event" }), `invalid ${property}.type`],
  ["no type of property", document([targeted(true, [without(person(), "type")])]), `required ${property}.type`],
  ["an empty key", asks({ key: "" }), `invalid ${property}.key`],
  ["an unknown key of a property", asks({ other: 1 }), `unknown_field ${property}.other`],
  ...["between", "not_between", "in", "not_in", "flag_evaluates_to", "like"].map(
    (operator): [string, JsonObject, string] => [operator, asks({ operator }), `invalid ${property}.operator`],
  ),
  ["a group type of a person", asks({ group_type_index: 0 }), `invalid ${property}.group_type_index`],
  ["negation that is no boolean", asks({ negation: 1 }), `invalid ${property}.negation`],
  ...(
    [
      ["regex", 1],
      ["icontains", ["a"]],
      ["icontains_multi", "a"],
      ["gt", true],
      ["is_date_before", "soon"],
      ["semver_gt", "v1.2.3"],
      ["semver_wildcard", "1.*.3"],
    ] as const
  ).map(([operator, value]): [string, JsonObject, string] => [
    `${operator} with ${JSON.stringify(value)}`,
    asks({ operator, value: value as never }),
    `invalid ${property}.value`,
  ]),
] as [string, JsonObject, string][])("%s is refused", (_name, filters, expected) => {
  expect(found(filters)).toEqual([expected]);
});

describe("the size of a document", () => {
  const ofSize = (bytes: number): JsonObject => {
    const make = (text: string) => first({ description: text });
    return make("d".repeat(bytes - JSON.stringify(make("")).length));
  };
  test("is at most 512 kB", () => {
    expect(found(ofSize(512 * 1024))).toEqual([]);
    expect(found(ofSize(512 * 1024 + 1))).toEqual(["limit_exceeded filters"]);
  });
});

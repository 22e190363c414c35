import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import type { Cohort, FeatureFlag } from "../../../../src/state/documents/world.ts";
import { fc } from "../../../support/chance.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";
import { aRuleset, type Who } from "./a-flag.ts";

/** Rulesets and subjects in which about everything happens. */

const keys = ["a", "b", "plan", "distinct_id"];
const values: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>("x", "X", "pro", "true", "false", true, false, null, 1, 2, "2", "1.2.3", "2026-01-01", "-1d"),
  fc.constantFrom<Json>([], ["x", "pro"], [1, 2], { a: 1 }),
);
const operators = fc.constantFrom(
  ...["exact", "is_not", "icontains", "not_icontains", "regex", "not_regex", "gt", "lte", "between", "is_set"],
  ...["is_not_set", "is_date_before", "is_date_after", "semver_gt", "semver_caret", "sounds_like"],
);

const propertyFilter = fc.record(
  {
    key: fc.constantFrom(...keys),
    operator: operators,
    value: values,
    type: fc.constantFrom("person", "person", "person", "group", "person_metadata"),
    group_type_index: fc.constantFrom(0, 1),
  },
  { requiredKeys: ["key", "type"] },
);
const id = fc.integer({ min: 1, max: 6 });
const flagFilter = fc.record({
  key: id.map(String),
  type: fc.constant("flag"),
  operator: fc.constant("flag_evaluates_to"),
  value: fc.constantFrom<Json>(true, false, "v1"),
});
const cohortFilter = fc.record({
  key: fc.constant("id"),
  type: fc.constant("cohort"),
  operator: fc.constantFrom("in", "not_in"),
  value: id,
});
const filter = fc.oneof(
  { arbitrary: propertyFilter, weight: 6 },
  { arbitrary: flagFilter, weight: 1 },
  { arbitrary: cohortFilter, weight: 1 },
);

const percentage = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant(100));
const aggregation = fc.constantFrom(null, 0, 1);
const conditionSet = fc.record(
  {
    properties: fc.array(filter, { maxLength: 2 }),
    rollout_percentage: fc.oneof(percentage, fc.constant(null)),
    variant: fc.constantFrom("v1", "gone", null),
    aggregation_group_type_index: aggregation,
  },
  { requiredKeys: [] },
);
const filters = fc.record(
  {
    groups: fc.array(conditionSet, { maxLength: 3 }),
    multivariate: fc.record({
      variants: fc.tuple(percentage, percentage).map(([a, b]) => [
        { key: "v1", rollout_percentage: a },
        { key: "v2", rollout_percentage: b },
      ]),
    }),
    aggregation_group_type_index: aggregation,
    early_exit: fc.boolean(),
    feature_enrollment: fc.constant(true),
    super_groups: fc.tuple(conditionSet),
    holdout: fc.record({ id: fc.constant(1), exclusion_percentage: percentage }),
  },
  { requiredKeys: ["groups"] },
);

const flag = fc.record({
  filters,
  active: fc.constantFrom(true, true, true, false),
  ensure_experience_continuity: fc.constantFrom(false, false, true),
  bucketing_identifier: fc.constantFrom(null, null, "device_id"),
});

const tree = fc.record({
  properties: fc.record({
    type: fc.constantFrom("AND", "OR"),
    values: fc.array(fc.oneof({ arbitrary: propertyFilter, weight: 3 }, { arbitrary: cohortFilter, weight: 1 }), {
      maxLength: 3,
    }),
  }),
});

const numbered = <T>(items: fc.Arbitrary<T>) => fc.array(items, { minLength: 1, maxLength: 5 });

/** A ruleset of flags `f1`… with ids 1…, and cohorts 1…; some references lead nowhere or in a circle. */
export const rulesets = fc
  .record({
    // The generated filters are JSON of the documents' shape.
    flags: numbered(flag).map((all) =>
      all.map((it, i) => aFlag(`f${i + 1}`, { id: i + 1, ...(it as Partial<FeatureFlag>) })),
    ),
    cohorts: numbered(tree).map((all) => all.map((it, i) => aCohort({ id: i + 1, filters: it } as Partial<Cohort>))),
    propertyMatchingVersion: fc.constantFrom<1 | 2>(1, 2),
    timezone: fc.constantFrom("UTC", "Europe/Berlin"),
  })
  .map((source) => aRuleset({ ...source, groupTypes: ["company"] }));

const properties: fc.Arbitrary<JsonObject> = fc.dictionary(fc.constantFrom(...keys, "$feature_enrollment/f1"), values, {
  maxKeys: 3,
});
const group = fc.record({ key: fc.constantFrom("acme", "globex"), properties });

export const people: fc.Arbitrary<Who> = fc.record(
  {
    distinctId: fc.oneof(fc.string({ maxLength: 4 }), fc.constant("")),
    deviceId: fc.constantFrom("device", ""),
    anonymousId: fc.constant("anonymous"),
    continuityKey: fc.constantFrom("key", "other"),
    properties,
    metadata: fc.constant({ created_at: "2025-01-01T00:00:00Z" }),
    groups: fc.record({ 0: group, 1: group }, { requiredKeys: [] }),
  },
  { requiredKeys: ["distinctId"] },
);

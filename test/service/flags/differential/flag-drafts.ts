import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { fc } from "../../../support/chance.ts";
import { defined, maybe, seldom, which } from "./arbitraries.ts";
import { oddFilters, propertyFilters } from "./properties.ts";

/** Of which type a filter on a property is: that of its set, none, or this one. */
type FilterType = "own" | "none" | "group" | "person" | "person_metadata";

/** A filter of a condition set, before its references are resolved. */
export type FilterDraft =
  | { readonly about: "property"; readonly type: FilterType; readonly filter: JsonObject }
  | { readonly about: "cohort"; readonly which: number; readonly filter: JsonObject }
  | { readonly about: "flag"; readonly which: number; readonly filter: JsonObject };

export interface ConditionDraft {
  readonly filters: readonly FilterDraft[];
  readonly rest: JsonObject;
}

export interface FlagDraft {
  readonly document: JsonObject;
  readonly filters: JsonObject;
  readonly conditions: readonly ConditionDraft[];
}

const rollout = fc.oneof(
  { arbitrary: fc.constant<number | null>(100), weight: 6 },
  { arbitrary: fc.constantFrom<number | null>(null, 0, 1, 50, 99.9), weight: 3 },
  { arbitrary: fc.double({ min: 0, max: 100, noNaN: true }), weight: 2 },
);

/** Mostly of what its set is about. */
const filterType = fc.oneof(
  { arbitrary: fc.constant<FilterType>("own"), weight: 40 },
  { arbitrary: fc.constantFrom<FilterType>("none", "group", "person", "person_metadata"), weight: 2 },
);

const filterDraft: fc.Arbitrary<FilterDraft> = fc.oneof(
  {
    arbitrary: fc.record({ about: fc.constant("property" as const), filter: propertyFilters, type: filterType }),
    weight: 14,
  },
  {
    arbitrary: fc
      .record({ which, operator: fc.constantFrom("in", "not_in", undefined) })
      .map(({ which, operator }) => ({ about: "cohort" as const, which, filter: defined({ operator }) })),
    weight: 3,
  },
  {
    arbitrary: fc
      .record({ which, value: fc.constantFrom<Json>(true, false, "control", "variant-1") })
      .map(({ which, value }) => ({ about: "flag" as const, which, filter: { value } })),
    weight: 2,
  },
);

const groupType = fc.oneof(
  { arbitrary: fc.constantFrom(0, 1, 2), weight: 12 },
  { arbitrary: fc.constant(3), weight: 1 },
);

const conditionDraft: fc.Arbitrary<ConditionDraft> = fc.record({
  filters: fc.array(filterDraft, { maxLength: 3 }),
  rest: fc
    .record({
      rollout_percentage: fc.oneof({ arbitrary: rollout, weight: 9 }, { arbitrary: fc.constant(undefined), weight: 1 }),
      variant: fc.oneof(
        { arbitrary: fc.constant<string | null | undefined>(undefined), weight: 6 },
        { arbitrary: fc.constantFrom("control", "variant-1", "no-such-variant", null), weight: 2 },
      ),
      aggregation_group_type_index: fc.oneof(
        { arbitrary: fc.constant<number | null | undefined>(undefined), weight: 20 },
        { arbitrary: groupType, weight: 2 },
        { arbitrary: fc.constant(null), weight: 1 },
      ),
    })
    .map(defined),
});

/** One filter decides. */
const singleFilter: fc.Arbitrary<ConditionDraft> = fc
  .oneof(
    { arbitrary: filterDraft, weight: 2 },
    { arbitrary: oddFilters.map((filter): FilterDraft => ({ about: "property", type: "own", filter })), weight: 1 },
  )
  .map((filter) => ({ filters: [filter], rest: { rollout_percentage: 100 } }));

/** The hash decides, in some cases after a set that it passes over. */
const bareConditions = fc.array(
  fc.record({
    filters: fc.constant([]),
    rest: fc.record({ rollout_percentage: fc.constantFrom(0, 5, 33.3, 50, 80, 99.9) }),
  }),
  { minLength: 1, maxLength: 2 },
);

const variantKeys = ["control", "variant-1", "вариант", "four"];
const variants = fc
  .array(fc.constantFrom(0, 5, 20, 33.3, 50, 100), { maxLength: 4 })
  .map((shares) => shares.map((share, i) => ({ key: variantKeys[i] ?? "", rollout_percentage: share })));

const payload = fc.constantFrom<Json>('{"a":1}', '"text"', "not json", "false", "0", "", "[1,2]");

const payloads = fc.dictionary(fc.constantFrom("true", "holdout-7", ...variantKeys), payload, { maxKeys: 3 });

const holdout = fc.record({ id: fc.constantFrom(7, 8), exclusion_percentage: fc.constantFrom(0, 10, 50, 100) });

const legacyHoldouts = fc
  .record({ rollout_percentage: fc.constantFrom(20, 80), variant: fc.constant("holdout-9") })
  .map((it) => [{ properties: [], ...it }]);

const superGroups = propertyFilters.map((filter) => [
  { properties: [{ ...filter, type: "person" }], rollout_percentage: 100 },
]);

export const flagDraft: fc.Arbitrary<FlagDraft> = fc.record({
  document: fc.record({
    active: seldom(false, true, 20),
    deleted: seldom(true, false, 25),
    ensure_experience_continuity: seldom(true, false, 40),
    is_remote_configuration: seldom(true, false, 60),
    bucketing_identifier: seldom<string | null>("device_id", null, 12),
    evaluation_runtime: fc.constantFrom("all", "server", "client"),
  }),
  filters: fc
    .record({
      aggregation_group_type_index: fc.oneof(
        { arbitrary: fc.constant<number | null | undefined>(undefined), weight: 8 },
        { arbitrary: groupType, weight: 2 },
        { arbitrary: fc.constant(null), weight: 1 },
      ),
      multivariate: maybe(
        variants.map((list) => ({ variants: list })),
        3,
      ),
      payloads: maybe(payloads, 3),
      early_exit: maybe(fc.boolean(), 5),
      holdout: maybe(holdout, 10),
      holdout_groups: maybe(legacyHoldouts, 40),
      feature_enrollment: seldom<boolean | undefined>(true, undefined, 20),
      super_groups: maybe(superGroups, 60),
    })
    .map(defined),
  conditions: fc.oneof(
    { arbitrary: fc.array(conditionDraft, { maxLength: 4 }), weight: 4 },
    { arbitrary: fc.tuple(singleFilter), weight: 2 },
    { arbitrary: bareConditions, weight: 1 },
  ),
});

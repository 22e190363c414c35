import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { fc } from "../../../support/chance.ts";
import { defined, seldom, which } from "./arbitraries.ts";
import { propertyFilters } from "./properties.ts";
import { personIdOf } from "./subjects.ts";

/** A node of a cohort's tree. */
export type TreeDraft =
  | { readonly type: string; readonly values: readonly TreeDraft[] }
  | { readonly leaf: JsonObject }
  | { readonly which: number; readonly leaf: JsonObject };

export interface CohortDraft {
  readonly document: JsonObject;
  /** undefined: no condition at all. */
  readonly tree: TreeDraft | undefined;
}

const leafRest = fc
  .record({ negation: fc.constantFrom(true, false, undefined), type: fc.constant("person") })
  .map(defined);

const behaviour = { type: "behavioral", key: "$pageview", value: "performed_event", event_type: "events" };

const leafDraft: fc.Arbitrary<TreeDraft> = fc.oneof(
  {
    arbitrary: fc
      .tuple(propertyFilters, leafRest)
      .map(([filter, rest]): TreeDraft => ({ leaf: { ...filter, ...rest } })),
    weight: 20,
  },
  {
    arbitrary: fc
      .record({ which, operator: fc.constantFrom("in", "not_in", undefined), negation: fc.boolean() })
      .map(({ which, ...leaf }): TreeDraft => ({ which, leaf: defined(leaf) })),
    weight: 3,
  },
  { arbitrary: fc.constant<TreeDraft>({ leaf: behaviour }), weight: 1 },
);

const joined = fc.constantFrom("AND", "OR");
const leafGroup = (minLength: number): fc.Arbitrary<TreeDraft> =>
  fc.record({
    type: fc.constantFrom("AND", "OR", "property"),
    values: fc.array(leafDraft, { minLength, maxLength: 3 }),
  });

const deeper: fc.Arbitrary<TreeDraft> = fc.record({
  type: joined,
  values: fc.array(leafGroup(1), { minLength: 1, maxLength: 2 }),
});

const treeDraft: fc.Arbitrary<TreeDraft> = fc.oneof(
  {
    arbitrary: fc.record({
      type: joined,
      values: fc.array(fc.oneof({ arbitrary: leafGroup(1), weight: 8 }, { arbitrary: deeper, weight: 1 }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    weight: 12,
  },
  { arbitrary: leafGroup(0), weight: 4 },
  {
    arbitrary: fc.record({
      type: joined,
      values: fc.array(fc.oneof(leafDraft, leafGroup(0)), { minLength: 2, maxLength: 3 }),
    }),
    weight: 2,
  },
);

export const cohortDraft: fc.Arbitrary<CohortDraft> = fc
  .record({
    isStatic: seldom(true, false, 12),
    deleted: seldom(true, false, 20),
    persons: fc.uniqueArray(fc.nat(9), { maxLength: 6 }),
    tree: fc.oneof({ arbitrary: treeDraft, weight: 20 }, { arbitrary: fc.constant(undefined), weight: 1 }),
  })
  .map(({ isStatic, deleted, persons, tree }) => ({
    document: { deleted, ...(isStatic && { is_static: true, persons: persons.map(personIdOf) }) },
    tree,
  }));

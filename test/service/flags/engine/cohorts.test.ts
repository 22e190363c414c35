import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { cohortName, compileCohorts, noCohorts } from "../../../../src/service/flags/engine/cohorts.ts";
import { defaultMatching } from "../../../../src/service/flags/engine/operators.ts";
import type { Cohort } from "../../../../src/state/documents/world.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";
import { aRuleset, valuesOf, type Who } from "./a-flag.ts";
import table from "./cohorts.json" with { type: "json" };

type Row<T> = [name: string, conditions: T, properties: JsonObject, expected: boolean | string];

const asking = (value: Json, operator = "in") => ({ key: "id", type: "cohort", operator, value });

const inCohorts = (...properties: ReturnType<typeof asking>[]) =>
  aFlag("beta", { id: 1, filters: { groups: [{ properties }] } });

/** What a flag for cohort 1 comes to. */
function membership(cohorts: Cohort[], who: Who = {}, ...asked: ReturnType<typeof asking>[]) {
  const flag = inCohorts(...(asked.length === 0 ? [asking(1)] : asked));
  return valuesOf(aRuleset({ flags: [flag], cohorts }), who)[0]?.[1];
}

const treeOf = (type: "AND" | "OR", ...values: Json[]): Json => ({ properties: { type, values } });
const isSet = (key: string) => ({ key, operator: "is_set", type: "person" });

describe("cohorts", () => {
  // The file's types are a union of everything in it.
  test.each(table.trees as unknown as Row<Json>[])("%s", (_name, filters, properties, expected) => {
    const cohort = aCohort({ ...(filters !== null && { filters }) });
    expect(membership([cohort], { properties })).toBe(expected);
  });

  test.each(table.legacy as unknown as Row<Json[]>[])("legacy groups: %s", (_name, groups, properties, expected) => {
    expect(membership([aCohort({ groups })], { properties })).toBe(expected);
    const filters = treeOf("AND", isSet("never"));
    expect(membership([aCohort({ groups, filters })], { properties })).toBe(false);
  });

  test("filters that are null leave the legacy groups", () => {
    const groups = [{ properties: { a: "1" } }];
    expect(membership([aCohort({ groups, filters: null })], { properties: { a: 1 } })).toBe(true);
  });

  test("a field of the person is read from the person", () => {
    const filters = treeOf("AND", { key: "plan", value: "pro", type: "person_metadata" });
    expect(membership([aCohort({ filters })], { metadata: { plan: "pro" } })).toBe(true);
    expect(membership([aCohort({ filters })], { properties: { plan: "pro" } })).toBe(false);
  });

  const wrapped = (levels: number): Json =>
    levels === 0 ? isSet("a") : { type: "AND", values: [wrapped(levels - 1)] };

  test.each<[string, number, (tree: Json) => Partial<Cohort>]>([
    ["filters", 64, (tree) => ({ filters: { properties: tree } })],
    ["a legacy tree", 63, (tree) => ({ groups: [{ properties: tree }] })],
    ["a legacy list", 62, (tree) => ({ groups: [{ properties: [tree] }] })],
  ])("the deepest that is read: %s of %d levels", (_, most, cohortOf) => {
    const who = { properties: { a: 1 } };
    expect(membership([aCohort(cohortOf(wrapped(most)))], who)).toBe(true);
    expect(membership([aCohort(cohortOf(wrapped(most + 1)))], who)).toBe("cohort_filters_parsing_error");
  });

  test.each<[Who, boolean]>([
    [{ personId: "p1" }, true],
    [{ personId: "p3" }, false],
    [{}, false],
  ])("a static cohort lists its persons: %j", (who, expected) => {
    const cohort = aCohort({ is_static: true, persons: ["p1", "p2"], filters: treeOf("AND") });
    expect(membership([cohort], who)).toBe(expected);
    expect(membership([cohort], who, asking(1, "not_in"))).toBe(!expected);
    expect(membership([cohort], who, asking("1"))).toBe(expected);
    expect(membership([cohort], who, asking(1, "exact"))).toBe(false);
  });

  const nested = [
    aCohort({ id: 1, filters: treeOf("AND", asking(2), { ...asking(3), negation: true }) }),
    aCohort({ id: 2, filters: treeOf("OR", asking(3), asking(4, "not_in")) }),
    aCohort({ id: 3, filters: treeOf("AND", isSet("a")) }),
    aCohort({ id: 4, is_static: true, persons: ["p4"] }),
  ];

  test.each<[Who, boolean]>([
    [{}, true],
    [{ properties: { a: 1 } }, false],
    [{ personId: "p4" }, false],
    [{ personId: "p4", properties: { a: 1 } }, false],
    [{ personId: "p5" }, true],
  ])("cohorts in cohorts: %j", (who, expected) => {
    expect(membership(nested, who)).toBe(expected);
    expect(membership([...nested].reverse(), who)).toBe(expected);
  });

  test.each(["exact", "is_set", "flag_evaluates_to"])("a cohort in a cohort by %s: no one", (operator) => {
    const cohorts = [
      aCohort({ id: 1, filters: treeOf("AND", asking(2, operator)) }),
      aCohort({ id: 2, is_static: true, persons: ["p1"] }),
    ];
    for (const personId of ["p1", "p2"]) expect(membership(cohorts, { personId })).toBe(false);
  });

  test.each<[string, Cohort[], string]>([
    ["there is none", [], "dependency_not_found_cohort"],
    ["it is deleted", [aCohort({ deleted: true })], "dependency_not_found_cohort"],
    [
      "one that it asks for is missing, though it is not needed",
      [aCohort({ filters: treeOf("OR", isSet("distinct_id"), asking(9)) })],
      "dependency_not_found_cohort",
    ],
    ["it asks for itself", [aCohort({ filters: treeOf("OR", asking(1)) })], "dependency_cycle_cohort"],
    [
      "two ask for each other, further down",
      [
        aCohort({ id: 1, filters: treeOf("OR", asking(2)) }),
        aCohort({ id: 2, filters: treeOf("OR", asking(3)) }),
        aCohort({ id: 3, filters: treeOf("OR", asking(2)) }),
      ],
      "dependency_cycle_cohort",
    ],
    ["it asks for no number", [aCohort({ filters: treeOf("OR", asking("x")) })], "cohort_filters_parsing_error"],
  ])("a flag fails when %s", (_name, cohorts, code) => {
    expect(membership(cohorts)).toBe(code);
  });

  test("every cohort of a set is computed before any is compared", () => {
    const noOne = aCohort({ filters: treeOf("AND", isSet("never")) });
    expect(membership([noOne], {}, asking(1), asking(9))).toBe("dependency_not_found_cohort");
  });

  test("cohorts are asked last, and only where the other filters pass", () => {
    const flag = aFlag("beta", { filters: { groups: [{ properties: [asking(9), isSet("a")] }] } });
    const ruleset = aRuleset({ flags: [flag] });
    expect(valuesOf(ruleset)).toEqual([["beta", false]]);
    expect(valuesOf(ruleset, { properties: { a: 1 } })).toEqual([["beta", "dependency_not_found_cohort"]]);
  });

  test("in a set about groups, cohorts are about the person", () => {
    const cohort = aCohort({ filters: treeOf("AND", { key: "plan", value: "pro", type: "person" }) });
    const flag = aFlag("beta", { filters: { groups: [{ properties: [asking(1)] }], aggregation_group_type_index: 0 } });
    const groups = { 0: { key: "acme", properties: { plan: "pro" } } };
    const ruleset = aRuleset({ flags: [flag], cohorts: [cohort] });
    expect(valuesOf(ruleset, { groups })).toEqual([["beta", false]]);
    expect(valuesOf(ruleset, { groups, properties: { plan: "pro" } })).toEqual([["beta", true]]);
  });

  test("long chains of cohorts do not exhaust the stack", () => {
    const count = 3000;
    const chain = Array.from({ length: count }, (_, i) =>
      aCohort({ id: i + 1, filters: i + 1 < count ? treeOf("OR", asking(i + 2)) : treeOf("AND", isSet("a")) }),
    );
    expect(membership(chain, { properties: { a: 1 } })).toBe(true);
  });
});

test("the name of a cohort", () => {
  const cohorts = [aCohort({ id: 1, name: "Power users" }), aCohort({ id: 2, name: null })];
  const rulesets = compileCohorts(cohorts, defaultMatching);
  expect([1, 2, 3, undefined].map((id) => cohortName(rulesets, id))).toEqual([
    "Power users",
    undefined,
    undefined,
    undefined,
  ]);
  expect(cohortName(noCohorts, 1)).toBeUndefined();
});

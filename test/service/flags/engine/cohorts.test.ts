import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { cohortName, compileCohorts, noCohorts } from "../../../../src/service/flags/engine/cohorts.ts";
import { defaultMatching } from "../../../../src/service/flags/engine/operators.ts";
import type { Cohort } from "../../../../src/state/documents/world.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";
import { aRuleset, valuesOf, type Who } from "./a-flag.ts";

type Row<T> = [name: string, conditions: T, properties: JsonObject, expected: boolean | string];

const asking = (value: Json, operator = "in") => ({ key: "id", type: "cohort", operator, value });

const inCohorts = (...properties: ReturnType<typeof asking>[]) =>
  aFlag("beta", { id: 1, filters: { groups: [{ properties }] } });

/** What a flag for cohort 1 comes to. */
function membership(cohorts: Cohort[], who: Who = {}, ...asked: ReturnType<typeof asking>[]) {
  const flag = inCohorts(...(asked.length === 0 ? [asking(1)] : asked));
  return valuesOf(aRuleset({ flags: [flag], cohorts }), who)[0]?.[1];
}

const all = (...values: Json[]): JsonObject => ({ type: "AND", values });
const any = (...values: Json[]): JsonObject => ({ type: "OR", values });
const not = (filter: JsonObject): JsonObject => ({ ...filter, negation: true });
const is = (key: string, value: Json = "1"): JsonObject => ({ key, value, type: "person" });
const visited = { key: "$pageview", type: "behavioral", value: "performed_event" };
const flagIsOn = { key: "1", operator: "flag_evaluates_to", value: true, type: "flag" };
const treeOf = (join: typeof all, ...values: Json[]): Json => ({ properties: join(...values) });
const isSet = (key: string) => ({ key, operator: "is_set", type: "person" });

describe("cohorts", () => {
  test.each<Row<Json>>([
    ["an empty tree", {}, {}, true],
    ["an empty AND", all(), {}, true],
    ["an empty OR", any(), {}, true],
    ["one filter", all(is("plan", "pro")), { plan: "pro" }, true],
    ["one filter, another value", all(is("plan", "pro")), { plan: "free" }, false],
    ["one filter, absent", all(is("plan", "pro")), {}, false],
    ["a negated filter", all(not(is("plan", "pro"))), { plan: "free" }, true],
    ["a negated filter, absent", all(not(is("plan", "pro"))), {}, true],
    [
      "an evaluation error, negated",
      all(not({ key: "age", operator: "gt", value: 5, type: "person" })),
      { age: "old" },
      true,
    ],
    ["OR of two ANDs: the second", any(all(is("a"), is("b")), all(is("c"))), { a: 1, c: 1 }, true],
    ["OR of two ANDs: halves of both", any(all(is("a"), is("b")), all(is("c"), is("d"))), { a: 1, c: 1 }, false],
    ["AND of two ORs", all(any(is("a"), is("b")), any(is("c"))), { b: 1, c: 1 }, true],
    ["AND of two ORs, one missed", all(any(is("a"), is("b")), any(is("c"))), { b: 1 }, false],
    ["property is an old AND", all({ type: "property", values: [is("a"), is("b")] }), { a: 1 }, false],
    ["three levels", any(all(is("a"), any(is("b"), is("c")))), { a: 1, c: 1 }, true],
    ["what persons did is not known: no one", any(all(visited)), {}, false],
    ["nor is it when negated", any(all(not(visited))), {}, false],
    ["… or something else", any(all(visited), is("a")), { a: 1 }, true],
    [
      "a field of the person",
      all({ key: "created_at", operator: "is_set", type: "person_metadata" }),
      { created_at: "2026-01-01" },
      false,
    ],
    [
      "a group's filter reads the person",
      all({ key: "a", value: "1", type: "group", group_type_index: 0 }),
      { a: 1 },
      true,
    ],
    ["a filter on a flag never passes", all(flagIsOn), {}, false],
    ["an unknown join", { type: "XOR", values: [] }, {}, "cohort_filters_parsing_error"],
    [
      "an unknown operator of a cohort",
      all({ key: "id", operator: "sounds_like", value: 2, type: "cohort" }),
      {},
      "unsupported_operator",
    ],
    ["a filter on a flag, negated", all(not(flagIsOn)), {}, true],
    ["no name of a property", all({ operator: "is_not_set", value: "is_not_set", type: "person" }), {}, false],
    ["a condition that is no object", any(5), {}, "cohort_filters_parsing_error"],
    ["a join without conditions", { type: "AND" }, {}, false],
    ["a tree that is none", [], {}, "cohort_filters_parsing_error"],
    [
      "an unknown operator",
      all({ key: "a", operator: "sounds_like", value: "1", type: "person" }),
      {},
      "unsupported_operator",
    ],
  ])("%s", (_name, tree, properties, expected) => {
    expect(membership([aCohort({ filters: { properties: tree } })], { properties })).toBe(expected);
  });

  test.each<Row<Json>>([
    ["no conditions at all", null, {}, false],
    ["an empty object", {}, {}, true],
    ["filters that are a list", [], {}, "cohort_filters_parsing_error"],
    ["filters without a tree", all(), {}, "cohort_filters_parsing_error"],
  ])("filters: %s", (_name, filters, properties, expected) => {
    const cohort = aCohort({ ...(filters !== null && { filters }) });
    expect(membership([cohort], { properties })).toBe(expected);
  });

  test.each<Row<Json[]>>([
    [
      "a list",
      [
        {
          properties: [
            { key: "a", value: "1" },
            { key: "b", value: "1", type: "event" },
          ],
        },
      ],
      { a: 1, b: 1 },
      true,
    ],
    [
      "a list, not all of it",
      [
        {
          properties: [
            { key: "a", value: "1" },
            { key: "b", value: "1" },
          ],
        },
      ],
      { a: 1 },
      false,
    ],
    ["any group is enough", [{ properties: { a: "1" } }, { properties: { b: "1" } }], { b: 1 }, true],
    ["a tree", [{ properties: any(is("a")) }], { a: 1 }, true],
    ["a list of one", [{ properties: [{ key: "a", value: "1" }] }], { a: 1 }, true],
    ["a list of none", [{ properties: [] }], {}, false],
    ["a list with what persons did", [{ properties: [{ key: "a", value: "1", type: "behavioral" }] }], { a: 1 }, false],
    ["a list with nothing in it", [{ properties: [null] }], {}, "cohort_filters_parsing_error"],
    ["half a tree that would be a filter", [{ properties: { type: "person", key: "a", value: "1" } }], { a: 1 }, false],
    ["the other half of a tree", [{ properties: { values: "x" } }], { values: "x" }, false],
    ["half a tree", [{ properties: { type: "OR" } }], { type: "OR" }, false],
    ["an event", [{ event_id: "$pageview", days: 7 }], {}, false],
    ["nothing", [], {}, false],
  ])("legacy groups: %s", (_name, groups, properties, expected) => {
    expect(membership([aCohort({ groups })], { properties })).toBe(expected);
    const filters = { properties: all(isSet("never")) };
    expect(membership([aCohort({ groups, filters })], { properties })).toBe(false);
  });

  test("filters that are null leave the legacy groups", () => {
    const groups = [{ properties: { a: "1" } }];
    expect(membership([aCohort({ groups, filters: null })], { properties: { a: 1 } })).toBe(true);
  });

  test("a field of the person is read from the person", () => {
    const filters = treeOf(all, { key: "plan", value: "pro", type: "person_metadata" });
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
    const cohort = aCohort({ is_static: true, persons: ["p1", "p2"], filters: treeOf(all) });
    expect(membership([cohort], who)).toBe(expected);
    expect(membership([cohort], who, asking(1, "not_in"))).toBe(!expected);
    expect(membership([cohort], who, asking("1"))).toBe(expected);
    expect(membership([cohort], who, asking(1, "exact"))).toBe(false);
  });

  const nested = [
    aCohort({ id: 1, filters: treeOf(all, asking(2), { ...asking(3), negation: true }) }),
    aCohort({ id: 2, filters: treeOf(any, asking(3), asking(4, "not_in")) }),
    aCohort({ id: 3, filters: treeOf(all, isSet("a")) }),
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
      aCohort({ id: 1, filters: treeOf(all, asking(2, operator)) }),
      aCohort({ id: 2, is_static: true, persons: ["p1"] }),
    ];
    for (const personId of ["p1", "p2"]) expect(membership(cohorts, { personId })).toBe(false);
  });

  test.each<[string, Cohort[], string]>([
    ["there is none", [], "dependency_not_found_cohort"],
    ["it is deleted", [aCohort({ deleted: true })], "dependency_not_found_cohort"],
    [
      "one that it asks for is missing, though it is not needed",
      [aCohort({ filters: treeOf(any, isSet("distinct_id"), asking(9)) })],
      "dependency_not_found_cohort",
    ],
    ["it asks for itself", [aCohort({ filters: treeOf(any, asking(1)) })], "dependency_cycle_cohort"],
    [
      "two ask for each other, further down",
      [
        aCohort({ id: 1, filters: treeOf(any, asking(2)) }),
        aCohort({ id: 2, filters: treeOf(any, asking(3)) }),
        aCohort({ id: 3, filters: treeOf(any, asking(2)) }),
      ],
      "dependency_cycle_cohort",
    ],
    ["it asks for no number", [aCohort({ filters: treeOf(any, asking("x")) })], "cohort_filters_parsing_error"],
  ])("a flag fails when %s", (_name, cohorts, code) => {
    expect(membership(cohorts)).toBe(code);
  });

  test("every cohort of a set is computed before any is compared", () => {
    const noOne = aCohort({ filters: treeOf(all, isSet("never")) });
    expect(membership([noOne], {}, asking(1), asking(9))).toBe("dependency_not_found_cohort");
  });

  test("cohorts are asked last, and only where the other filters pass", () => {
    const flag = aFlag("beta", { filters: { groups: [{ properties: [asking(9), isSet("a")] }] } });
    const ruleset = aRuleset({ flags: [flag] });
    expect(valuesOf(ruleset)).toEqual([["beta", false]]);
    expect(valuesOf(ruleset, { properties: { a: 1 } })).toEqual([["beta", "dependency_not_found_cohort"]]);
  });

  test("in a set about groups, cohorts are about the person", () => {
    const cohort = aCohort({ filters: treeOf(all, { key: "plan", value: "pro", type: "person" }) });
    const flag = aFlag("beta", { filters: { groups: [{ properties: [asking(1)] }], aggregation_group_type_index: 0 } });
    const groups = { 0: { key: "acme", properties: { plan: "pro" } } };
    const ruleset = aRuleset({ flags: [flag], cohorts: [cohort] });
    expect(valuesOf(ruleset, { groups })).toEqual([["beta", false]]);
    expect(valuesOf(ruleset, { groups, properties: { plan: "pro" } })).toEqual([["beta", true]]);
  });

  test("long chains of cohorts do not exhaust the stack", () => {
    const count = 3000;
    const chain = Array.from({ length: count }, (_, i) =>
      aCohort({ id: i + 1, filters: i + 1 < count ? treeOf(any, asking(i + 2)) : treeOf(all, isSet("a")) }),
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

import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { PropertyFilter } from "../../../../src/service/flags/engine/filters.ts";
import { evaluateRuleset } from "../../../../src/service/flags/engine/ruleset.ts";
import type { FeatureFlag } from "../../../../src/state/documents/world.ts";
import { aCohort, aFlag } from "../../../support/documents.ts";
import { aRuleset, aSubject, valuesOf } from "./a-flag.ts";

const asking = (key: string, value: Json, operator = "flag_evaluates_to") => ({ key, type: "flag", operator, value });

type Needs = [key: string, value: Json, operator?: string];

/** A flag that is on when the flags with these ids have these values. */
const aDependent = (id: number, needs: Needs[], more: Partial<FeatureFlag> = {}): FeatureFlag =>
  aFlag(`f${id}`, { id, filters: { groups: [{ properties: needs.map((it) => asking(...it)) }] }, ...more });

const off = { groups: [{ rollout_percentage: 0 }] };
const ab = {
  groups: [{ variant: "b" }],
  multivariate: { variants: ["a", "b"].map((key) => ({ key, rollout_percentage: 50 })) },
};

test("flags with equal filters are decided for each subject anew", () => {
  const filter = (more: Partial<PropertyFilter> = {}): PropertyFilter => ({
    ...{ key: "plan", operator: "exact", value: "pro" },
    ...more,
  });
  const withFilter = (key: string, properties: PropertyFilter[]) =>
    aFlag(key, { filters: { groups: [{ properties }] } });
  const ruleset = aRuleset({
    flags: [
      withFilter("one", [filter({ type: "person" })]),
      withFilter("two", [filter()]),
      withFilter("other", [filter({ operator: "is_not" })]),
      withFilter("group", [filter({ type: "group", group_type_index: 0 })]),
    ],
  });
  const on = (who: Parameters<typeof valuesOf>[1]) =>
    valuesOf(ruleset, who).flatMap(([key, value]) => (value === true ? [key] : []));
  expect(on({ properties: { plan: "pro" } })).toEqual(["one", "two"]);
  expect(on({ properties: { plan: "free" } })).toEqual(["other"]);
  expect(on({ groups: { 0: { key: "acme", properties: { plan: "pro" } } } })).toEqual(["other", "group"]);
  expect(on({ properties: { plan: "pro" } })).toEqual(["one", "two"]);
});

describe("dependencies between flags", () => {
  const targets = [
    aFlag("on", { id: 1 }),
    aFlag("off", { id: 2, filters: off }),
    aFlag("ab", { id: 3, filters: ab }),
    aFlag("inactive", { id: 4, active: false }),
    aFlag("deleted", { id: 5, deleted: true }),
    aFlag("failed", { id: 6, filters: { groups: [{ properties: [{ key: "x", operator: "sounds_like" }] }] } }),
  ];

  test.each<[key: string, value: Json, expected: boolean]>([
    ["1", true, true],
    ["1", false, false],
    ["1", "true", false],
    ["1", null, false],
    ["2", false, true],
    ["2", true, false],
    ["3", true, true],
    ["3", false, false],
    ["3", "b", true],
    ["3", "B", false],
    ["3", "a", false],
    ["4", false, true],
    ["4", true, false],
    ["5", false, true],
    ["6", true, false],
    ["6", false, false],
    ["on", true, true],
    ["ab", "b", true],
    ["gone", false, false],
  ])("flag %s evaluates to %j: %s", (key, value, expected) => {
    for (const flags of [
      [aDependent(9, [[key, value]]), ...targets],
      [...targets, aDependent(9, [[key, value]])],
    ]) {
      expect(new Map(valuesOf(aRuleset({ flags }))).get("f9")).toBe(expected);
    }
  });

  test("other operators match nothing", () => {
    const flags = [aDependent(9, [["1", true, "exact"]]), ...targets];
    expect(valuesOf(aRuleset({ flags }))[0]).toEqual(["f9", false]);
  });

  test("chains are computed dependencies first and answered in the document's order", () => {
    const flags = [
      aDependent(1, [["2", true]]),
      aDependent(2, [["3", false]]),
      aDependent(3, [
        ["4", true],
        ["4", "b"],
      ]),
      aFlag("f4", { id: 4, filters: off }),
    ];
    expect(valuesOf(aRuleset({ flags }))).toEqual([
      ["f1", true],
      ["f2", true],
      ["f3", false],
      ["f4", false],
    ]);
  });

  test("a missing dependency is no error, and is handed on", () => {
    const flags = [
      aDependent(1, [["2", false]]),
      aDependent(2, [["99", true]], { active: false }),
      aDependent(3, [["2", false]]),
    ];
    const results = evaluateRuleset(aRuleset({ flags }), aSubject());
    const decision = {
      value: false,
      failed: false,
      condition_index: null,
      reason: { code: "missing_dependency", description: "Flag cannot be evaluated due to missing dependency" },
    };
    expect(results.map((it) => it.compiled.flag.key)).toEqual(["f1", "f3"]);
    for (const result of results) expect(result.decision).toMatchObject(decision);
  });

  test("flags on a circle and behind it fail, others do not", () => {
    const flags = [
      aDependent(1, [["1", true]]),
      aDependent(2, [["3", true]]),
      aDependent(3, [["4", true]]),
      aDependent(4, [
        ["2", true],
        ["5", true],
      ]),
      aFlag("f5", { id: 5 }),
      aDependent(6, [["4", false]]),
      aDependent(7, [["5", true]]),
    ];
    expect(valuesOf(aRuleset({ flags }))).toEqual([
      ["f1", "dependency_cycle_flag"],
      ["f2", "dependency_cycle_flag"],
      ["f3", "dependency_cycle_flag"],
      ["f4", "dependency_cycle_flag"],
      ["f5", true],
      ["f6", "dependency_cycle_flag"],
      ["f7", true],
    ]);
  });

  test("a flag that cannot be compiled still closes a circle", () => {
    const properties = [asking("1", true), { key: "x", operator: "sounds_like", value: 1 }];
    const flags = [aFlag("f1", { id: 1, filters: { groups: [{ properties }] } }), aDependent(2, [["1", true]])];
    expect(valuesOf(aRuleset({ flags }))).toEqual([
      ["f1", "dependency_cycle_flag"],
      ["f2", "dependency_cycle_flag"],
    ]);
  });

  test("a long chain does not exhaust the stack", () => {
    const count = 5000;
    const flags = Array.from({ length: count }, (_, i) =>
      i + 1 < count ? aDependent(i + 1, [[String(i + 2), true]]) : aFlag(`f${count}`, { id: count }),
    );
    const values = valuesOf(aRuleset({ flags }));
    expect(values).toHaveLength(count);
    expect(values.every(([, value]) => value === true)).toBe(true);
  });
});

describe("selection", () => {
  const flags = [
    aDependent(1, [["2", true]]),
    aDependent(2, [["3", true]]),
    aFlag("f3", { id: 3 }),
    aFlag("f4", { id: 4 }),
    aDependent(5, [["4", false]]),
  ];
  const ruleset = aRuleset({ flags });
  const keysOf = (keys: string[], isSelected?: (flag: FeatureFlag) => boolean) =>
    valuesOf(ruleset, {}, { keys: new Set(keys), isSelected });

  test("keys pull in what they depend on", () => {
    expect(keysOf(["f1"])).toEqual([
      ["f1", true],
      ["f2", true],
      ["f3", true],
    ]);
    expect(keysOf(["f4", "gone"])).toEqual([["f4", true]]);
    expect(keysOf([])).toEqual([]);
  });

  test("flags that are not selected are false to others, and not in the answer", () => {
    const isSelected = (flag: FeatureFlag) => flag.key !== "f4" && flag.key !== "f3";
    expect(valuesOf(ruleset, {}, { isSelected })).toEqual([
      ["f1", false],
      ["f2", false],
      ["f5", true],
    ]);
    expect(keysOf(["f2"], isSelected)).toEqual([["f2", false]]);
  });

  test("without dependencies: keys and selection alike", () => {
    const plain = aRuleset({ flags: [aFlag("a", { id: 1 }), aFlag("b", { id: 2 }), aFlag("c", { active: false })] });
    expect(valuesOf(plain)).toEqual([
      ["a", true],
      ["b", true],
    ]);
    expect(valuesOf(plain, {}, { keys: new Set(["b", "c"]) })).toEqual([["b", true]]);
    expect(valuesOf(plain, {}, { isSelected: (flag) => flag.key === "a" })).toEqual([["a", true]]);
  });
});

describe("recompilation", () => {
  const flags = [aFlag("a", { id: 1 }), aFlag("b", { id: 2 })];
  const cohorts = [aCohort()];
  const first = aRuleset({ flags, cohorts });

  test("documents that are the same objects are not compiled again", () => {
    const next = aRuleset({ flags: [flags[0] ?? aFlag("a"), aFlag("b", { id: 2, filters: off })], cohorts }, first);
    expect(next.flags[0]).toBe(first.flags[0]);
    expect(next.flags[1]).not.toBe(first.flags[1]);
    expect(next.cohorts.compiled.get(1)).toBe(first.cohorts.compiled.get(1));
    expect(valuesOf(next)).toEqual([
      ["a", true],
      ["b", false],
    ]);
  });

  test("another way of matching compiles all again", () => {
    expect(aRuleset({ flags, timezone: "Asia/Tokyo" }, first).flags[0]).not.toBe(first.flags[0]);
    expect(aRuleset({ flags, propertyMatchingVersion: 2 }, first).flags[0]).not.toBe(first.flags[0]);
  });

  test("a changed cohort reaches the flags that ask for it, through other cohorts", () => {
    const ask = (value: number) => ({ key: "id", type: "cohort", value });
    const tree = (...values: Json[]) => ({ properties: { type: "AND", values } });
    const outer = aCohort({ id: 1, filters: tree(ask(2)) });
    const flag = aFlag("a", { filters: { groups: [{ properties: [ask(1)] }] } });
    const before = aRuleset({ flags: [flag], cohorts: [outer] });
    expect(valuesOf(before)).toEqual([["a", "dependency_not_found_cohort"]]);
    const after = aRuleset({ flags: [flag], cohorts: [outer, aCohort({ id: 2, filters: {} })] }, before);
    expect(after.flags[0]).toBe(before.flags[0]);
    expect(valuesOf(after)).toEqual([["a", true]]);
  });
});

test("matching follows the ruleset's version and zone, in flags and in cohorts", () => {
  const no = { key: "x", value: false, type: "person" };
  const since = { key: "at", operator: "is_date_exact", value: "2026-01-01", type: "person" };
  const cohort = aCohort({ filters: { properties: { type: "AND", values: [no, since] } } });
  const flags = [
    aFlag("a", { id: 1, filters: { groups: [{ properties: [no, since] }] } }),
    aFlag("b", { id: 2, filters: { groups: [{ properties: [{ key: "id", type: "cohort", value: 1 }] }] } }),
  ];
  const who = { properties: { x: "banana", at: "2025-12-31T15:00:00Z" } };
  const both = (expected: boolean) => [
    ["a", expected],
    ["b", expected],
  ];
  const source = { flags, cohorts: [cohort] };
  expect(valuesOf(aRuleset({ ...source, timezone: "Asia/Tokyo" }), who)).toEqual(both(true));
  expect(valuesOf(aRuleset(source), who)).toEqual(both(false));
  expect(valuesOf(aRuleset({ ...source, timezone: "Asia/Tokyo", propertyMatchingVersion: 2 }), who)).toEqual(
    both(false),
  );
});

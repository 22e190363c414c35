import { describe, expect, test } from "vitest";
import {
  overriddenDecision,
  overriddenFlag,
  overriddenFlags,
  overridesFor,
  withOverrides,
} from "../../../../src/service/flags/engine/overrides.ts";
import { evaluateRuleset } from "../../../../src/service/flags/engine/ruleset.ts";
import type { FeatureFlag, StoredFlagOverride } from "../../../../src/state/documents/world.ts";
import { aFlag, aWorld } from "../../../support/documents.ts";
import { aRuleset, aSubject, decide } from "./a-flag.ts";

const anOverride = (flag: string, more: Partial<StoredFlagOverride> = {}): StoredFlagOverride => ({
  id: `${more.project ?? 1}/${flag}/${more.distinct_id ?? ""}`,
  project: 1,
  flag,
  distinct_id: null,
  value: true,
  payload: null,
  created_at: "2026-01-01T00:00:00Z",
  ...more,
});

const mapOf = (...list: StoredFlagOverride[]) => new Map(list.map((it) => [it.flag, it]));

describe("which overrides count", () => {
  const world = aWorld({
    flag_overrides: [
      anOverride("a", { distinct_id: "u1", value: "own" }),
      anOverride("a", { value: "all" }),
      anOverride("b", { value: "all" }),
      anOverride("b", { distinct_id: "u1", value: "own" }),
      anOverride("c", { distinct_id: "", value: "own" }),
      anOverride("d", { project: 2 }),
    ],
  });

  test.each<[string | undefined, Record<string, string>]>([
    ["u1", { a: "own", b: "own" }],
    ["u2", { a: "all", b: "all" }],
    ["", { a: "all", b: "all", c: "own" }],
    [undefined, { a: "all", b: "all" }],
  ])("for %j: %j", (distinctId, expected) => {
    const found = overridesFor({ current: world }, 1, distinctId);
    expect(Object.fromEntries(Array.from(found, ([key, { value }]) => [key, value]))).toEqual(expected);
  });
});

describe("an overridden flag, in full", () => {
  const flag = aFlag("a", { filters: { groups: [], payloads: { true: '"on"', red: '"red"' } } });
  const rows: [StoredFlagOverride["value"], string | null, object][] = [
    [true, '"on"', { groups: [{ properties: [], rollout_percentage: 100 }], payloads: { true: '"on"' } }],
    [false, null, { groups: [], payloads: {} }],
    [
      "red",
      '"red"',
      {
        groups: [{ properties: [], rollout_percentage: 100, variant: "red" }],
        multivariate: { variants: [{ key: "red", rollout_percentage: 100 }] },
        payloads: { red: '"red"' },
      },
    ],
  ];
  test.each(rows)("%j", (value, payload, filters) => {
    const override = anOverride("a", { value });
    const continuous = { ...flag, ensure_experience_continuity: true, active: false };
    expect(overriddenFlag(continuous, override)).toMatchObject({
      ensure_experience_continuity: false,
      bucketing_identifier: null,
      active: true,
    });
    expect(overriddenFlag(flag, override).filters).toEqual(filters);
    expect(overriddenDecision(flag, override)).toEqual({
      value,
      enabled: value !== false,
      variant: value === "red" ? "red" : null,
      payload,
      reason: { code: "override", description: expect.any(String) },
      condition_index: null,
      failed: false,
    });
  });

  test("one that the project does not have belongs to the project, and has no version", () => {
    const [made] = overriddenFlags([], 7, mapOf(anOverride("b", { project: 7 })));
    expect(made).toMatchObject({ id: 0, project: 7, key: "b", version: 0, active: true });
  });
});

const payloads = { true: '"on"', red: '"red"' };
const never: Partial<FeatureFlag> = {
  bucketing_identifier: "device_id",
  ensure_experience_continuity: true,
  filters: {
    aggregation_group_type_index: 0,
    groups: [{ rollout_percentage: 0 }],
    holdout: { id: 1, exclusion_percentage: 100 },
    multivariate: { variants: [{ key: "red", rollout_percentage: 100 }] },
    payloads,
  },
};

const values: [Partial<StoredFlagOverride>, boolean | string, string | null][] = [
  [{ value: true }, true, '"on"'],
  [{ value: true, payload: { a: 1 } }, true, '{"a":1}'],
  [{ value: true, payload: "plain" }, true, '"plain"'],
  [{ value: true, payload: '{"a": 1}' }, true, '{"a": 1}'],
  [{ value: true, payload: 0 }, true, "0"],
  [{ value: false, payload: { a: 1 } }, false, null],
  [{ value: "red" }, "red", '"red"'],
  [{ value: "unheard-of" }, "unheard-of", null],
  [{ value: "__proto__", payload: 1 }, "__proto__", "1"],
  [{ value: "true", payload: 1 }, "true", "1"],
];

describe("an overridden flag", () => {
  test.each(values)("%j is decided", (override, value, payload) => {
    expect(overriddenDecision(aFlag("beta", never), anOverride("beta", override))).toEqual({
      value,
      enabled: value !== false,
      variant: typeof value === "string" ? value : null,
      payload,
      reason: { code: "override", description: "Overridden in phx-sim" },
      condition_index: null,
      failed: false,
    });
  });

  test.each(values)("%j: its rules come to the same", (override, value, payload) => {
    const forced = overriddenFlag(aFlag("beta", { ...never, active: false }), anOverride("beta", override));
    for (const distinctId of ["u1", ""]) {
      expect(decide(forced, { distinctId })).toMatchObject({ value, payload, failed: false });
    }
  });

  test("for one distinct_id says so", () => {
    const { reason } = overriddenDecision(aFlag("beta"), anOverride("beta", { distinct_id: "u1" }));
    expect(reason.description).toBe("Overridden in phx-sim for this distinct_id");
  });
});

describe("overridden rulesets", () => {
  const onFlag = (key: string, value: boolean | string) => ({
    groups: [{ properties: [{ key, type: "flag", operator: "flag_evaluates_to", value }] }],
  });
  const flags = [
    aFlag("off", { id: 1, filters: { groups: [] } }),
    aFlag("child", { id: 2, filters: onFlag("1", "red") }),
    aFlag("inactive", { id: 3, active: false }),
    aFlag("deleted", { id: 4, deleted: true }),
    aFlag("broken", { id: 5, filters: { groups: [{ properties: [{ key: "x", type: "moon" }] }] } }),
  ];
  const decided = (...list: StoredFlagOverride[]) => {
    const overrides = mapOf(...list);
    const ruleset = aRuleset({ flags: overriddenFlags(flags, 1, overrides) });
    return withOverrides(evaluateRuleset(ruleset, aSubject()), overrides).map(
      ({ compiled, decision }) => [compiled.flag.key, decision.value, decision.reason.code, compiled.flag.id] as const,
    );
  };

  test("nothing overridden, nothing changed", () => {
    expect(overriddenFlags(flags, 1, new Map())).toEqual(flags);
    expect(decided().map(([key, value]) => [key, value])).toEqual([
      ["off", false],
      ["child", false],
      ["broken", false],
    ]);
  });

  test("flags that depend on it follow, failed and inactive ones are on, unknown keys come last", () => {
    const list = ["inactive", "deleted", "broken", "unknown"].map((key) => anOverride(key));
    expect(decided(anOverride("off", { value: "red" }), ...list)).toEqual([
      ["off", "red", "override", 1],
      ["child", true, "condition_match", 2],
      ["inactive", true, "override", 3],
      ["broken", true, "override", 5],
      ["deleted", true, "override", 0],
      ["unknown", true, "override", 0],
    ]);
  });
});

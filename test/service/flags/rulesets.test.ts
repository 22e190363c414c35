import { expect, test } from "vitest";
import { overridesFor } from "../../../src/service/flags/engine/overrides.ts";
import { createRulesets } from "../../../src/service/flags/rulesets.ts";
import type { Draft, StoredFlagOverride, StoredProject } from "../../../src/state/documents/world.ts";
import { memoryWorld } from "../../../src/state/documents/world-store.ts";
import { openPersonStore } from "../../../src/state/persons/person-store.ts";
import { aFlag, aProject, aWorld } from "../../support/documents.ts";

const override: StoredFlagOverride = {
  id: "o",
  project: 1,
  flag: "a",
  distinct_id: null,
  value: true,
  payload: null,
  created_at: "",
};

function open(project: Partial<StoredProject> = {}) {
  const worlds = memoryWorld(
    aWorld({
      projects: [aProject(project), aProject({ id: 2 })],
      feature_flags: [aFlag("a", { id: 1 }), aFlag("b", { id: 2 }), aFlag("other", { id: 3, project: 2 })],
      cohorts: [{ id: 1, project: 1 }],
    }),
  );
  const people = openPersonStore();
  const rulesets = createRulesets({ worlds, people });
  const one = () => worlds.projectById(1) ?? expect.unreachable();
  const ruleset = () => rulesets.rulesetOf(one());
  return { worlds, people, rulesets, one, ruleset };
}

test("a project's ruleset has its own flags, cohorts and settings", () => {
  const settings = { property_matching_version: 2 };
  const { ruleset, people } = open({ timezone: "Europe/Berlin", settings });
  people.addGroupType(1, "company");
  expect(ruleset().flags.map(({ flag }) => flag.key)).toEqual(["a", "b"]);
  expect(ruleset().source).toMatchObject({
    cohorts: [{ id: 1 }],
    groupTypes: ["company"],
    propertyMatchingVersion: 2,
    timezone: "Europe/Berlin",
  });
});

test.each([undefined, 1, "2", 3, null])("matching version %j is 1", (property_matching_version) => {
  const { ruleset } = open({ settings: property_matching_version === undefined ? {} : { property_matching_version } });
  expect(ruleset().source.propertyMatchingVersion).toBe(1);
});

test("it is compiled once, and what did not change is not compiled again", () => {
  const { worlds, ruleset } = open();
  const first = ruleset();
  expect(ruleset()).toBe(first);
  worlds.change((draft) => draft.put("feature_flags", aFlag("b", { id: 2, active: false })));
  const second = ruleset();
  expect(second.flags).toEqual([first.flags[0]]);
  expect(second.flags[0]).toBe(first.flags[0]);
});

test.each<[string, (it: ReturnType<typeof open>) => void]>([
  ["a flag", ({ worlds }) => worlds.change((draft) => draft.remove("feature_flags", 1))],
  ["a cohort", ({ worlds }) => worlds.change((draft) => draft.put("cohorts", { id: 2, project: 1 }))],
  ["a group type", ({ people }) => people.addGroupType(1, "company")],
  [
    "the project",
    ({ worlds }) => worlds.change((draft) => draft.put("projects", aProject({ timezone: "Asia/Tokyo" }))),
  ],
  ["the whole world", ({ worlds }) => worlds.replacing(aWorld({ projects: [aProject()] })).take()],
])("%s changes: it is compiled again", (_name, change) => {
  const it = open();
  const first = it.ruleset();
  change(it);
  expect(it.ruleset()).not.toBe(first);
});

test("overridden rulesets are kept until overrides change", () => {
  const { worlds, rulesets, one } = open();
  const overridden = () => rulesets.overriddenRulesetOf(one(), overridesFor(worlds, 1, "u1"));
  const put = (value: StoredFlagOverride["value"]) => (draft: Draft) =>
    draft.put("flag_overrides", { ...override, value });
  expect(overridden()).toBe(rulesets.rulesetOf(one()));
  worlds.change(put("red"));
  const first = overridden();
  expect(overridden()).toBe(first);
  expect(first.flags[0]?.variants).toEqual(["red"]);
  expect(first.flags[1]).toBe(rulesets.rulesetOf(one()).flags[1]);
  worlds.change(put("blue"));
  expect(overridden().flags[0]?.variants).toEqual(["blue"]);
  worlds.change((draft) => draft.remove("flag_overrides", "o"));
  expect(overridden()).toBe(rulesets.rulesetOf(one()));
});

test("ever more subjects with overrides of their own are all served", () => {
  const { worlds, rulesets, one } = open();
  worlds.change((draft) => {
    for (let i = 0; i < 250; i++) {
      draft.put("flag_overrides", { ...override, id: `o${i}`, distinct_id: `u${i}`, value: `v${i}` });
    }
  });
  const variantOf = (i: number) =>
    rulesets.overriddenRulesetOf(one(), overridesFor(worlds, 1, `u${i}`)).flags[0]?.variants[0];
  for (const i of [...Array(250).keys(), 0, 120, 249]) expect(variantOf(i)).toBe(`v${i}`);
});

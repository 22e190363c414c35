import { describe, expect, test } from "vitest";
import { readScenario, type Scenario, startSim } from "../../../src/index.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { folderOf } from "./files.ts";

const folder = folderOf();

async function warningsOf(text: string): Promise<string[]> {
  const { problems, warnings } = await readScenario(folder.write("it.yaml", text));
  expect(problems).toEqual([]);
  return linesOf(warnings, folder.path).map((line) => line.replace(/^it\.yaml:/, ""));
}

/** A flag in the service's form; what is given begins in line 3. */
const flag = (filters: string): string => `flags:\n  a:\n    filters:\n${filters.replace(/^/gm, "      ")}\n`;

const property = (text: string): string => flag(`groups:\n  - properties:\n      - { ${text} }`);

const cohort = (name: string, value: string): string =>
  `  - { name: ${name}, filters: { properties: { type: AND, values: [{ key: id, type: cohort, value: ${value} }] } } }\n`;

describe("what cannot work is a warning", () => {
  test.each<[string, string, string[]]>([
    ["nothing", "flags: { a: { variants: { x: 33.3, y: 33.3, z: 33.4 } } }\n", []],
    [
      "variants that add up to less",
      "flags: { a: { variants: { x: 50, y: 40 } } }\n",
      ["1:25 /flags/a/variants: the variants add up to 90, not 100: the rest gets no variant; change the percentages"],
    ],
    [
      "variants that add up to more",
      flag(
        "multivariate:\n  variants:\n    - { key: x, rollout_percentage: 60 }\n    - { key: x, rollout_percentage: 50 }",
      ),
      [
        "6:11 /flags/a/filters/multivariate/variants: the variants add up to 110, not 100: the part over 100 is never used; change the percentages",
        '7:20 /flags/a/filters/multivariate/variants/1/key: two variants are called "x"',
      ],
    ],
    [
      "a payload without a variant",
      "flags:\n  a: { variants: { test: 100 }, payloads: { tset: 1 } }\n  b: { payloads: { test: 1 } }\n",
      [
        '2:51 /flags/a/payloads/tset: a payload for "tset", which is no variant of the flag; did you mean "test"?',
        '3:26 /flags/b/payloads/test: a payload for "test", but the flag has no variants; name it "true", or add the variants',
      ],
    ],
    [
      "a variant of a condition set",
      flag("groups: [{ variant: y }]\nmultivariate: { variants: [{ key: test, rollout_percentage: 100 }] }"),
      ['4:27 /flags/a/filters/groups/0/variant: "y" is no variant of the flag; variants are test'],
    ],
    [
      "a share out of range",
      flag("groups: [{ rollout_percentage: 150 }]"),
      ["4:38 /flags/a/filters/groups/0/rollout_percentage: expected a percentage from 0 to 100, got 150"],
    ],
    [
      "a group type that does not exist",
      `group_types: [company]\n${flag("groups: [{ aggregation_group_type_index: 1 }]")}`,
      [
        '5:48 /flags/a/filters/groups/0/aggregation_group_type_index: there is no group type with the index 1; group types are 0 "company"',
      ],
    ],
    [
      "operators",
      property("key: plan, operator: equals, value: pro"),
      ['6:38 /flags/a/filters/groups/0/properties/0/operator: unknown operator "equals"; did you mean "exact"?'],
    ],
    [
      "types of filters",
      property("key: plan, type: persn, value: pro"),
      [
        '6:34 /flags/a/filters/groups/0/properties/0/type: a filter of the type "persn" is not evaluated; did you mean "person"?',
      ],
    ],
    [
      "a cohort by its name",
      `${property("key: id, type: cohort, value: Beta users")}cohorts:\n  - { name: Beta users, is_static: true, persons: [] }\n`,
      [
        '6:47 /flags/a/filters/groups/0/properties/0/value: expected the id of a cohort, got "Beta users"; give that cohort an `id`, and use it here (now 1)',
      ],
    ],
    [
      "a cohort that does not exist",
      property("key: id, type: cohort, value: 9"),
      [
        "6:47 /flags/a/filters/groups/0/properties/0/value: there is no cohort with the id 9; cohorts of the project: none",
      ],
    ],
    [
      "cohorts that contain each other",
      `cohorts:\n${cohort("A", "2")}${cohort("B", "1")}`,
      [
        '2:93 /cohorts/0/filters/properties/values/0/value: cohorts contain each other: "A" → "B" → "A"; none of them can be evaluated; remove one of these conditions',
      ],
    ],
    [
      "a cohort that contains itself",
      `cohorts:\n${cohort("A", "1")}`,
      [
        '2:93 /cohorts/0/filters/properties/values/0/value: cohorts contain each other: "A" → "A"; none of them can be evaluated; remove one of these conditions',
      ],
    ],
    [
      "flags that depend on each other",
      "flags:\n" +
        ["b", "c", "a"]
          .map(
            (to, i) =>
              `  ${"abc"[i]}: { filters: { groups: [{ properties: [{ key: ${to}, type: flag, operator: flag_evaluates_to, value: true }] }] } }\n`,
          )
          .join(""),
      [
        "2:50 /flags/a/filters/groups/0/properties/0/key: flags depend on each other: a → b → c → a; none of them can be evaluated; remove one of these conditions",
      ],
    ],
    [
      "a flag that does not exist",
      property("key: beta, type: flag, operator: flag_evaluates_to, value: true"),
      ['6:22 /flags/a/filters/groups/0/properties/0/key: there is no flag "beta"'],
    ],
    [
      "members of a dynamic cohort",
      "persons: [{ distinct_ids: [ann] }]\ncohorts: [{ name: A, persons: [ann] }]\n",
      ["2:31 /cohorts/0/persons: only a static cohort has these members; add `is_static: true`"],
    ],
    [
      "conditions on events",
      "cohorts:\n  - { name: A, filters: { properties: { type: OR, values: [{ type: behavioral, key: x }] } } }\n",
      [
        "2:60 /cohorts/0/filters/properties/values/0: conditions on past events are not evaluated: no person meets this one",
      ],
    ],
    [
      "a survey's flag",
      "flags: { beta: true }\nsurveys: [{ name: S, linked_flag_key: beat }]\n",
      ['2:39 /surveys/0/linked_flag_key: there is no flag "beat"; did you mean "beta"?'],
    ],
    [
      "what cannot be read at all",
      flag("groups: []\nholdout: { id: 1, exclusion_percentage: ten }"),
      ["4:7 /flags/a/filters: the flag cannot be evaluated: A filter's value cannot be read by the simulator"],
    ],
  ])("%s", async (_, text, lines) => {
    expect(await warningsOf(text)).toEqual(lines);
  });

  test("also in a long chain, once for each circle", async () => {
    const count = 3000;
    const flags: Scenario["flags"] = {};
    for (let i = 0; i < count; i++) {
      const key = `f${(i + 1) % count}`;
      const condition = { key, type: "flag", operator: "flag_evaluates_to", value: true };
      flags[`f${i}`] = { filters: { groups: [{ properties: [condition] }] } };
    }
    const { warnings } = await readScenario({ flags });
    expect(warnings.map((it) => it.message)).toEqual([
      expect.stringMatching(/^flags depend on each other: f0 → f1 .* … → f0;/),
    ]);
  });
});

const odd = "flags: { a: { variants: { x: 50, y: 40 } } }\n";

test("a start reports warnings, `info` lists them", async () => {
  const notices: string[] = [];
  const file = folder.write("odd.yaml", odd);
  await using sim = await startSim({ scenario: file, onNotice: (text) => notices.push(text) });
  expect(notices).toEqual([
    expect.stringMatching(/^the scenario has 1 warning:\n.*odd\.yaml:1:25 \/flags\/a\/variants: /),
  ]);
  expect((await sim.info()).scenario_warnings).toMatchObject([{ line: 1, column: 25, pointer: "/flags/a/variants" }]);
});

test("a flag that fails is reported once for each reason, with its key", async () => {
  const notices: string[] = [];
  const scenario = folder.write("failing.yaml", `${property("key: id, type: cohort, value: 9")}`);
  await using sim = await startSim({ scenario, onNotice: (text) => notices.push(text) });
  const ask = async (distinctId: string) => {
    const body = JSON.stringify({ token: sim.apiKey, distinct_id: distinctId });
    const answer = await fetch(`${sim.url}/flags/?v=2`, { method: "POST", body });
    expect(await answer.json()).toMatchObject({ errorsWhileComputingFlags: true });
  };
  await ask("u1");
  await ask("u2");
  expect(notices.filter((text) => text.includes("cannot be evaluated"))).toEqual([
    'the flag "a" cannot be evaluated and is off: Cohort dependency not found (dependency_not_found_cohort); `phx-sim flags explain "a"` shows why',
  ]);
});

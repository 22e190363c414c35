import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Scenario, type SimOptions, startSim } from "../../../src/index.ts";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { shippedFolder } from "../../../src/lab/scenario/shipped.ts";
import type { ScenarioSource } from "../../../src/lab/scenario/source.ts";
import { folderOf } from "./files.ts";

const folder = folderOf();

/** The scenario, which has no problems. */
async function sound(source: ScenarioSource) {
  const { scenario, problems, warnings } = await readScenario(source);
  expect([...problems, ...warnings]).toEqual([]);
  return scenario ?? expect.fail("no scenario");
}

const projectsOf = async (source: ScenarioSource) =>
  (await sound(source)).organizations.flatMap(({ projects }) => projects);

const linesFor = async (text: string): Promise<string[]> =>
  linesOf((await readScenario(folder.write("it.yaml", text))).problems, folder.path);

describe("a scenario with one project", () => {
  test("needs nothing but its flags; its project and its keys are those of the default scenario", async () => {
    const {
      description: _,
      $schema: __,
      users: ___,
      ...usual
    } = JSON.parse(readFileSync(join(shippedFolder(), "default.json"), "utf8"));
    const [{ id, name, api_key }] = usual.organizations[0].projects;
    const scenario = await sound(folder.write("flags.yaml", "flags: { beta: true }\n"));
    expect(scenario).toEqual({
      version: 1,
      organizations: [{ name: "Local", projects: [{ id, name, api_key, flags: { beta: true } }] }],
      personal_api_keys: usual.personal_api_keys,
    });
  });

  test("serves its flags, persons and cohorts, and takes the default keys for everything", async () => {
    const scenario: Scenario = {
      flags: {
        beta: true,
        "for-known": {
          filters: { groups: [{ properties: [{ key: "id", type: "cohort", operator: "in", value: 1 }] }] },
        },
      },
      persons: [{ distinct_ids: ["ann"], properties: { plan: "pro" } }],
      cohorts: [{ name: "Known", is_static: true, persons: ["ann"] }],
      group_types: ["company"],
      surveys: [{ id: "s1", name: "Survey" }],
      dashboards: [{ name: "Main", tiles: [{ insight: "Signups" }] }],
      insights: [{ name: "Signups" }],
      settings: { quota_limited: [] },
    };
    await using sim = await startSim({ scenario });
    expect([sim.apiKey, sim.personalApiKey]).toEqual(["phc_sim_default", "phx_sim_default"]);
    const answer = await fetch(`${sim.url}/flags/?v=2`, {
      method: "POST",
      body: JSON.stringify({ token: "phc_sim_default", distinct_id: "ann" }),
    });
    expect(await answer.json()).toMatchObject({ flags: { beta: { enabled: true }, "for-known": { enabled: true } } });
    const dashboards = await fetch(`${sim.url}/api/projects/1/dashboards/`, {
      headers: { authorization: "Bearer phx_sim_default" },
    });
    expect(await dashboards.json()).toMatchObject({ results: [{ name: "Main" }] });
    const exported = await sim.state.export();
    expect(JSON.stringify(exported)).toContain('"for-known"');
  });

  test("may have its own key", async () => {
    await using sim = await startSim({ scenario: { api_key: "phc_mine", flags: { beta: true } } });
    expect(sim.apiKey).toBe("phc_mine");
  });

  test("may name its project and keep the rest at the top", async () => {
    const text = "flags: { a: true }\norganizations: [{ name: O, projects: [{ name: P, api_key: phc_p }] }]\n";
    expect(await projectsOf(folder.write("named.yaml", text))).toEqual([
      { name: "P", api_key: "phc_p", flags: { a: true } },
    ]);
  });

  test("types know the keys of the only project, and no others", () => {
    const options: SimOptions = { scenario: { flags: { a: { rollout: 5 } }, persons: [] } };
    // @ts-expect-error what identifies a project does not stand at the top
    const unknown: SimOptions = { scenario: { is_demo: true } };
    expect([options, unknown]).toHaveLength(2);
  });
});

describe("layers", () => {
  test("keys at the top are laid over the only project of another scenario", async () => {
    const file = folder.write(
      "over.yaml",
      "extends: default\nflags: { beta-feature: false, mine: true, half-rollout: null }\n",
    );
    const [project] = await projectsOf(file);
    expect(Object.keys(project?.flags ?? {})).toEqual(["beta-feature", "new-checkout", "off-for-everyone", "mine"]);
    expect(project).toMatchObject({ name: "Default project", flags: { "beta-feature": false } });
  });

  test("later layers win, wherever they say it", async () => {
    const short = { flags: { a: true, b: true }, persons: [{ distinct_ids: ["p"], properties: { x: 1, y: 1 } }] };
    const long = {
      organizations: [{ name: "O", projects: [{ name: "P", api_key: "phc_p", flags: { a: false, c: false } }] }],
    };
    expect((await projectsOf([short, long]))[0]?.flags).toEqual({ a: false, b: true, c: false });
    expect((await projectsOf([long, short]))[0]?.flags).toEqual({ a: true, c: false, b: true });
    const upper = { persons: [{ distinct_ids: ["p"], properties: { x: 2 } }], flags: { b: null } };
    expect((await projectsOf([short, upper]))[0]).toMatchObject({
      flags: { a: true },
      persons: [{ distinct_ids: ["p"], properties: { x: 2, y: 1 } }],
    });
  });
});

describe("mistakes", () => {
  const two = "organizations:\n  - { name: O, projects: [{ name: P, api_key: phc_p }, { name: Q, api_key: phc_q }] }\n";

  test.each<[string, string, string[]]>([
    [
      "two projects",
      `persons: []\nflags: { a: true }\n${two}`,
      [
        'it.yaml:1:1 /persons: "persons" at the top is for a scenario with one project, and this one has 2; move it into one of them: "P", "Q"',
        'it.yaml:2:1 /flags: "flags" at the top is for a scenario with one project, and this one has 2; move it into one of them: "P", "Q"',
      ],
    ],
    [
      "in both places",
      "flags: { a: true }\norganizations:\n  - name: O\n    projects:\n      - name: P\n        api_key: phc_p\n        flags: { b: true }\n",
      ['it.yaml:1:1 /flags: "flags" is given here and in the project (line 7); keep one of them'],
    ],
    [
      "a mistake in a flag is where the author wrote it",
      "flags: { a: { rolout: 5 } }\n",
      ['it.yaml:1:15 /flags/a/rolout: unknown key "rolout"; did you mean "rollout"?'],
    ],
    [
      "so is a reference",
      "persons:\n  - { distinct_ids: [a] }\n  - { distinct_ids: [a] }\n",
      ["it.yaml:3:22 /persons/1/distinct_ids/0: the same distinct id in project 1 as /persons/0/distinct_ids/0"],
    ],
    ["a key with a slip", "flgs: {}\n", ['it.yaml:1:1 /flgs: unknown key "flgs"; did you mean "flags"?']],
    [
      "flags as a list",
      "flags:\n  - beta\n",
      ["it.yaml:2:3 /flags: expected an object, got a list of 1; write each flag as KEY: true, without a dash"],
    ],
    [
      "a percentage as text",
      'flags: { a: { rollout: "50%" } }\n',
      ['it.yaml:1:24 /flags/a/rollout: expected a number, got "50%"; write the number alone, such as 50'],
    ],
    [
      "variants as a list",
      "flags: { a: { variants: [x, y] } }\n",
      ["it.yaml:1:25 /flags/a/variants: expected an object, got a list of 2; write { control: 50, test: 50 }"],
    ],
    [
      "variants as objects",
      "flags: { a: { variants: { x: { rollout_percentage: 50 } } } }\n",
      ["it.yaml:1:30 /flags/a/variants/x: expected a number, got an object; write only its percentage, such as 50"],
    ],
    [
      "keys of the service's JSON in the short form",
      "flags: { a: { rollout_percentage: 50 }, b: { enabled: true } }\n",
      [
        'it.yaml:1:15 /flags/a/rollout_percentage: unknown key "rollout_percentage"; write "rollout" in the short form',
        'it.yaml:1:46 /flags/b/enabled: unknown key "enabled"; write true or false instead of the object',
      ],
    ],
    [
      "words for on and off",
      "flags: { a: on, b: off, c: }\n",
      [
        'it.yaml:1:13 /flags/a: expected a flag: true, false or an object, got "on"; write true',
        'it.yaml:1:20 /flags/b: expected a flag: true, false or an object, got "off"; write false',
        "it.yaml:1:28 /flags/c: expected a flag: true, false or an object, got null; write true or false",
      ],
    ],
    [
      "an object instead of a list",
      "persons: { ann: {} }\n",
      ["it.yaml:1:10 /persons: expected a list, got an object; begin each entry with a dash; in JSON put them in [ ]"],
    ],
  ])("%s", async (_, text, lines) => {
    expect(await linesFor(text)).toEqual(lines);
  });
});

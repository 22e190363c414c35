import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import { readScenario } from "../../../../src/lab/scenario/load.ts";
import { newFolder } from "../../../support/folder.ts";
import { document, experiment, targeted } from "./documents.ts";

const folder = newFolder();

const colours = [
  { key: "a", weight: 40, value: "red" },
  { key: "b", weight: 60, value: "blue" },
];

const yaml = `version: 1
flags:
  next:
    filters:
      version: 2
      return_type: boolean
      default_value: false
      rules:
        - id: 11111111-1111-4111-8111-111111111111
          rule_type: percentage_rollout
          targeting: { properties: [] }
          value: true
          rollout_percentage: 33.333
          on_rollout_miss: continue
          assignment_algorithm: sha1_60_v1
          sead: s
`;

test("mistakes are reported with their places", async () => {
  const file = join(folder, "scenario.yaml");
  writeFileSync(file, yaml);
  const at = "/flags/next/filters/rules/0";
  const { problems } = await readScenario(file);
  expect(problems).toMatchObject([
    { file, line: 9, column: 11, pointer: `${at}/seed`, message: "this field is required" },
    {
      file,
      line: 13,
      column: 31,
      pointer: `${at}/rollout_percentage`,
      message: "must be between 0 and 100, with at most 2 decimal places",
    },
    { file, line: 16, column: 11, pointer: `${at}/sead`, message: "unknown field" },
  ]);
});

test("a flag that depends on one with rules gets its value", async () => {
  const flag = (value: string | boolean) => ({
    filters: { groups: [{ properties: [{ type: "flag", key: "base", operator: "flag_evaluates_to", value }] }] },
  });
  const rules = document([targeted("blue")], { return_type: "string", default_value: null });
  const flags = { base: { filters: rules }, on: flag(true), blue: flag("blue"), red: flag("red") };
  await using sim = await startSim({ scenario: { version: 1, flags } as never });
  const values = await Promise.all(["on", "blue", "red"].map((key) => sim.flags.explain(key, { distinctId: "u" })));
  expect(values.map(({ value }) => value)).toEqual([true, true, false]);
});

test("a project of a test takes values that the rules can give", async () => {
  const filters = document([experiment({ paused: true, variants: colours })], {
    return_type: "string",
    default_value: "none",
  });
  await using sim = await startSim({
    scenario: { version: 1, settings: { flags_v3_response_enabled: true }, flags: { colour: { filters } } } as never,
  });
  await using project = await sim.project({ flags: { colour: "blue" } });
  const valueFor = async (api_key: string) => {
    const body = JSON.stringify({ api_key, distinct_id: "u" });
    const response = await fetch(`${sim.url}/flags?v=3`, { method: "POST", body });
    return ((await response.json()) as { flags: { colour: { value: unknown } } }).flags.colour.value;
  };
  expect(await valueFor("phc_sim_default")).toBe("none");
  expect(await valueFor(project.apiKey)).toBe("blue");
  await expect(sim.project({ flags: { colour: "green" } })).rejects.toThrow("green");
});

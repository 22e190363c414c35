import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadScenario } from "../../../src/lab/scenario/load.ts";
import { type Scenario, worldOf } from "../../../src/lab/scenario/scenario.ts";
import { WorldSchema } from "../../../src/state/documents/world.schema.ts";
import { newFolder } from "../../support/folder.ts";
import { fullExample } from "./full-example.ts";

const repository = join(import.meta.dirname, "../../..");
const folder = newFolder();

function fileOf(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

test("the default world", async () => {
  const world = worldOf(await loadScenario("default"));
  expect(world.users.map((it) => [it.id, it.email])).toEqual([[1, "dev@phx-sim.test"]]);
  expect(world.organizations.map((it) => it.name)).toEqual(["Local"]);
  expect(world.projects.map((it) => [it.id, it.api_key, it.secret_api_key])).toEqual([
    [1, "phc_sim_default", "phs_sim_default"],
  ]);
  expect(world.personal_api_keys).toMatchObject([{ key: "phx_sim_default", scopes: ["*"], user: 1 }]);
  expect(world.feature_flags.map((it) => it.key)).toEqual([
    "beta-feature",
    "new-checkout",
    "half-rollout",
    "off-for-everyone",
  ]);
  const [text, insight] = world.dashboards[0]?.tiles ?? [];
  expect(world.dashboards.map((it) => it.name)).toEqual(["Welcome"]);
  expect([text?.text === null, text?.insight, insight?.insight]).toEqual([false, null, 1]);
});

describe("a file", () => {
  test("is read and checked", async () => {
    const file = fileOf("full.json", `\ufeff${JSON.stringify(fullExample())}`);
    expect(await loadScenario(file)).toEqual(fullExample());
  });

  test.each([
    ["missing.json", undefined, /missing\.json: does not exist; shipped scenarios are default/],
    ["broken.json", '{\n  "version" 1\n}', /broken\.json:2:13: expected a colon after the key$/],
    [
      "schema.json",
      '{"version": 1, "organizations": 1, "personal_api_keys": []}',
      /^.*schema\.json:1:33 \/organizations: .*\n.*schema\.json:1:57 \/personal_api_keys: .*$/,
    ],
    [
      "names.json",
      JSON.stringify({ ...fullExample(), users: [{ email: "ada@acme.test" }] }),
      /^.*names\.json:1:\d+ \/organizations\/0\/members\/bob@acme\.test: unknown user /,
    ],
  ])("%s is refused", async (name, text, message) => {
    const file = text === undefined ? join(folder, name) : fileOf(name, text);
    await expect(loadScenario(file)).rejects.toMatchObject({
      name: "ScenarioError",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/./),
    });
  });
});

describe("a scenario that is given", () => {
  test("is copied: what its owner does later changes nothing", async () => {
    const given = fullExample();
    const loaded = await loadScenario(given);
    given.organizations.pop();
    expect(loaded).toEqual(fullExample());
  });

  test("keys that are undefined are absent", async () => {
    const dashboards = [{ name: undefined, tags: undefined }];
    const given: Scenario = {
      version: 1,
      organizations: [{ name: "O", projects: [{ name: "P", api_key: "phc_p", timezone: undefined, dashboards }] }],
      personal_api_keys: [{ key: "phx_p", scopes: ["*"], label: undefined }],
    };
    const world = worldOf(await loadScenario(given));
    expect(WorldSchema.parse(world)).toEqual(world);
  });
});

/** The files that loading `file` loads: imports of values, not those of types and not the late ones. */
function loadedBy(file: string, seen = new Set<string>()): Set<string> {
  if (seen.has(file)) return seen;
  seen.add(file);
  if (!file.startsWith("/")) return seen;
  const code = readFileSync(file, "utf8");
  for (const [, what = "", target = ""] of code.matchAll(/^(?:import|export) ([^;]*?)from "([^"]+)"/gm)) {
    if (!what.startsWith("type ")) loadedBy(target.startsWith(".") ? join(dirname(file), target) : target, seen);
  }
  return seen;
}

describe("the start", () => {
  const source = join(repository, "src/lab/scenario");

  test("the checker is reached by its import", () => {
    expect(loadedBy(join(source, "check-scenario.ts"))).toContain("zod");
  });

  test.each(["load.ts", "scenario.ts"])("%s loads no checker", (file) => {
    expect([...loadedBy(join(source, file))].filter((it) => /zod|schema|yaml|jsonc/.test(it))).toEqual([]);
  });
});

import { describe, expect, test } from "vitest";
import { readScenario } from "../../../src/lab/scenario/load.ts";
import { linesOf } from "../../../src/lab/scenario/problems.ts";
import { worldOf } from "../../../src/lab/scenario/scenario.ts";
import type { ScenarioSource } from "../../../src/lab/scenario/source.ts";
import { folderOf } from "./files.ts";

const base = `
version: 1
description: base
users:
  - { email: ann@x.test, first_name: Ann }
  - { email: bob@x.test }
organizations:
  - name: Org
    members: { ann@x.test: owner, bob@x.test: member }
    projects:
      - name: One
        api_key: phc_1
        settings: { a: { b: 1, c: 2 }, list: [1, 2] }
        flags:
          short: { rollout: 10, variants: { a: 100 } }
          gone: true
        dashboards:
          - { name: Main, tags: [old], tiles: [{ text: a }, { text: b }] }
          - { name: Other }
        persons: [{ distinct_ids: [p1, p1b], properties: { plan: free, age: 3 } }]
        groups: [{ type: team, key: red, properties: { size: 1 } }]
      - { name: Two, api_key: phc_2 }
geoip: [{ address: 203.0.113.1, country_code: SE }]
personal_api_keys:
  - { key: phx_1, scopes: ["*"] }
`;
const folder = folderOf({ "base.yaml": base });

async function laidOver(upper: string, format = "yaml") {
  const { scenario, problems } = await readScenario(folder.write(`upper.${format}`, upper));
  expect(problems).toEqual([]);
  if (!scenario) throw new Error("no scenario");
  const [one, two, ...more] = scenario.organizations[0]?.projects ?? [];
  return { scenario, one, two, more };
}

describe("a layer", () => {
  test("of nothing changes nothing", async () => {
    const { scenario } = await laidOver('{ "extends": "base.yaml" }', "json");
    expect(scenario).toEqual((await readScenario(folder.file("base.yaml"))).scenario);
  });

  test("objects merge by key, plain values and other lists are replaced", async () => {
    const { one } = await laidOver(`
extends: ./base.yaml
organizations: [{ name: Org, projects: [{ name: One, settings: { a: { b: 5 }, list: [3] }, timezone: Europe/Oslo }] }]
`);
    expect(one).toMatchObject({
      settings: { a: { b: 5, c: 2 }, list: [3] },
      timezone: "Europe/Oslo",
      api_key: "phc_1",
    });
  });

  test("named things meet, and new ones come after them", async () => {
    const { scenario, one, two, more } = await laidOver(`
extends: base.yaml
users: [{ email: BOB@x.test, first_name: Bob }, { email: eve@x.test }]
organizations:
  - name: Org
    projects:
      - { name: Three, api_key: phc_3 }
      - { name: Two, is_demo: true }
      - name: One
        dashboards: [{ name: Other, pinned: true }, { name: Main, tags: [new], tiles: [{ text: c }] }]
        persons: [{ distinct_ids: [p1], properties: { plan: pro } }, { distinct_ids: [p2] }]
        groups: [{ type: team, key: red, properties: { floor: 2 } }, { type: office, key: red }]
geoip: [{ address: 203.0.113.1, country_code: "NO" }]
personal_api_keys: [{ key: phx_1, label: L }, { key: phx_2, scopes: [] }]
`);
    expect(scenario.users).toMatchObject([
      { email: "ann@x.test" },
      { email: "BOB@x.test", first_name: "Bob" },
      { email: "eve@x.test" },
    ]);
    expect([one?.name, two, ...more]).toEqual([
      "One",
      { name: "Two", api_key: "phc_2", is_demo: true },
      { name: "Three", api_key: "phc_3" },
    ]);
    expect(one?.dashboards).toEqual([
      { name: "Main", tags: ["new"], tiles: [{ text: "c" }] },
      { name: "Other", pinned: true },
    ]);
    expect(one?.persons).toEqual([
      { distinct_ids: ["p1"], properties: { plan: "pro", age: 3 } },
      { distinct_ids: ["p2"] },
    ]);
    expect(one?.groups).toMatchObject([
      { type: "team", key: "red", properties: { size: 1, floor: 2 } },
      { type: "office", key: "red" },
    ]);
    expect(scenario.geoip).toEqual([{ address: "203.0.113.1", country_code: "NO" }]);
    expect(scenario.personal_api_keys).toMatchObject([{ key: "phx_1", scopes: ["*"], label: "L" }, { key: "phx_2" }]);
  });

  test("an id is nearer than a name: things can be renamed", async () => {
    folder.write("numbered.yaml", base.replace("{ name: Other }", "{ id: 9, name: Other }"));
    const { one } = await laidOver(`
extends: numbered.yaml
organizations: [{ name: Org, projects: [{ name: One, dashboards: [{ id: 9, name: New }, { id: 10, name: Other }] }] }]
`);
    expect(one?.dashboards?.map((it) => [it.id, it.name])).toEqual([
      [undefined, "Main"],
      [9, "New"],
      [10, "Other"],
    ]);
  });

  test("null takes away what is below", async () => {
    const { scenario, one } = await laidOver(`
extends: base.yaml
description: null
geoip: null
organizations: [{ name: Org, members: { bob@x.test: null }, projects: [{ name: One, flags: { gone: null }, dashboards: null }] }]
`);
    expect(scenario).not.toHaveProperty("description");
    expect(scenario).not.toHaveProperty("geoip");
    expect(scenario.organizations[0]?.members).toEqual({ "ann@x.test": "owner" });
    expect(one?.flags).toEqual({ short: { rollout: 10, variants: { a: 100 } } });
    expect(one).not.toHaveProperty("dashboards");
  });

  test("flags merge within a form, and are replaced by another form", async () => {
    const flags = (text: string) =>
      laidOver(`{ extends: base.yaml, organizations: [{ name: Org, projects: [{ name: One, flags: { ${text} } }] }] }`);
    expect((await flags("short: { rollout: 90 }")).one?.flags?.short).toEqual({ rollout: 90, variants: { a: 100 } });
    expect((await flags("short: { filters: { groups: [] } }")).one?.flags?.short).toEqual({ filters: { groups: [] } });
    expect((await flags("short: false")).one?.flags?.short).toBe(false);
  });

  test("what is there twice in a layer stays there twice", async () => {
    const file = folder.write(
      "twice.yaml",
      "extends: base.yaml\nusers:\n  - email: ann@x.test\n  - email: ann@x.test\n",
    );
    const { problems } = await readScenario(file);
    expect(linesOf(problems, folder.path)).toEqual([
      "twice.yaml:4:12 /users/2/email: the same e-mail address as /users/0/email",
    ]);
  });

  test("keys that mean something to JavaScript change nothing", async () => {
    const { one } = await laidOver(
      '{ "extends": "base.yaml", "organizations": [{ "name": "Org", "projects": [{ "name": "One", "settings": { "__proto__": { "x": 1 } } }] }] }',
      "json",
    );
    expect(one?.settings).toMatchObject({ list: [1, 2] });
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

describe("several layers", () => {
  const layer = (name: string, more = "") => folder.write(name, `{ description: ${name}, ${more} }`);

  test("a list: later ones win, the file itself last", async () => {
    layer("a.yaml", "extends: base.yaml");
    layer("b.yaml", "users: [{ email: ann@x.test, last_name: B }]");
    const { scenario } = await laidOver("extends: [a.yaml, b.yaml]\nusers: [{ email: ann@x.test, first_name: Top }]");
    expect(scenario.description).toBe("b.yaml");
    expect(scenario.users?.[0]).toEqual({ email: "ann@x.test", first_name: "Top", last_name: "B" });
  });

  test("paths start from the file that has them; the same file may be extended twice", async () => {
    folder.write("sub/one.yaml", "extends: ../base.yaml");
    folder.write("sub/two.yaml", "extends: [one.yaml, ../base.yaml]");
    const { scenario } = await laidOver("extends: sub/two.yaml");
    expect(scenario.description).toBe("base");
  });

  test("however often files are extended, each is read once", async () => {
    folder.write("wide15.yaml", "extends: base.yaml");
    for (let i = 0; i < 15; i++) {
      folder.write(`wide${i}.yaml`, `extends: [${`wide${i + 1}.yaml, `.repeat(50)}]`);
    }
    const { files, problems } = await readScenario(folder.file("wide1.yaml"));
    expect([files.length, problems]).toEqual([16, []]);
  });

  test("shipped names", async () => {
    const { scenario } = await laidOver("extends: default\ndescription: mine");
    expect(worldOf(scenario).projects[0]?.api_key).toBe("phc_sim_default");
  });

  test("may be given one by one, as files and as objects", async () => {
    const sources: ScenarioSource = [
      folder.file("base.yaml"),
      { organizations: [{ name: "Org", projects: [{ name: "One", flags: { extra: true, gone: null } }] }] },
    ];
    const { scenario, files } = await readScenario(sources);
    expect(Object.keys(scenario?.organizations[0]?.projects[0]?.flags ?? {})).toEqual(["short", "extra"]);
    expect(files).toEqual([folder.file("base.yaml")]);
  });

  test("an object may extend, too", async () => {
    const { scenario } = await readScenario({ extends: "default", description: "inline" });
    expect(scenario?.description).toBe("inline");
    expect(scenario).not.toHaveProperty("extends");
  });
});

describe("what cannot be laid over", () => {
  folder.write("loop-a.yaml", "extends: loop-b.yaml");
  folder.write("loop-b.yaml", "extends: [base.yaml, loop-a.yaml]");
  folder.write("itself.yaml", "extends: itself.yaml");
  folder.write("broken.json", '{ "version": 1,\n  "users" }');
  for (let i = 0; i < 20; i++) folder.write(`deep${i}.yaml`, `extends: deep${i + 1}.yaml`);

  test.each([
    ["itself.yaml", "itself.yaml:1:10 /extends: itself.yaml → itself.yaml: a scenario cannot extend itself"],
    [
      "loop-a.yaml",
      "loop-b.yaml:1:22 /extends/1: loop-a.yaml → loop-b.yaml → loop-a.yaml: a scenario cannot extend itself",
    ],
    ["deep0.yaml", "deep15.yaml:1:10 /extends: expected at most 16 scenarios above each other"],
  ])("%s", async (name, line) => {
    expect(linesOf((await readScenario(folder.file(name))).problems, folder.path)).toEqual([line]);
  });

  folder.write("folder.yaml/deep.yaml", base);

  test.each([
    [
      "a file that does not exist",
      "extends: bse.yaml",
      'it.yaml:1:10 /extends: "bse.yaml" does not exist; did you mean "base.yaml"?',
    ],
    [
      "a shipped name with a slip",
      "extends: defualt",
      'it.yaml:1:10 /extends: "defualt" does not exist; did you mean "default"?',
    ],
    ["a folder", "extends: [./sub]", 'it.yaml:1:11 /extends/0: "./sub" is a folder; expected a file'],
    [
      "a folder with a file's name",
      "extends: ./folder.yaml",
      'it.yaml:1:10 /extends: "./folder.yaml" is a folder; expected a file',
    ],
    ["a broken file", "extends: broken.json", "broken.json:2:11: expected a colon after the key"],
    ["a number", "extends: 5", "it.yaml:1:10 /extends: expected the name or the path of a scenario"],
  ])("%s", async (_, text, line) => {
    const { problems } = await readScenario(folder.write("it.yaml", text));
    expect(linesOf(problems, folder.path)[0]?.replace(/; shipped .*/, "")).toBe(line);
  });

  test("a problem stands where its value came from", async () => {
    folder.write("low.yaml", `${base}\nuser: 1\n`);
    const upper = folder.write("it.yaml", "extends: low.yaml\norganizations:\n  - name: Org\n    slug: a b\n");
    const { problems } = await readScenario(upper);
    expect(problems).toEqual([
      {
        file: upper,
        line: 4,
        column: 11,
        pointer: "/organizations/0/slug",
        message: 'expected letters, digits, `-` and `_`, at most 48, got "a b"',
        hint: null,
      },
      {
        file: folder.file("low.yaml"),
        line: base.split("\n").length + 1,
        column: 1,
        pointer: "/user",
        message: 'unknown key "user"',
        hint: 'did you mean "users"?',
      },
    ]);
  });
});

describe("the files to watch", () => {
  test("are all that were read, the top one first", async () => {
    const file = folder.write("watch.yaml", "extends: sub/one.yaml");
    folder.write("sub/one.yaml", "extends: ../base.yaml");
    expect((await readScenario(file)).files).toEqual([file, folder.file("sub/one.yaml"), folder.file("base.yaml")]);
  });

  test("and those that are missing or broken", async () => {
    const file = folder.write("watch.yaml", "extends: [nowhere.yaml, broken.json]");
    expect((await readScenario(file)).files).toEqual([file, folder.file("nowhere.yaml"), folder.file("broken.json")]);
  });

  test("what is read again is what stands there now", async () => {
    const file = folder.write("again.yaml", "extends: base.yaml\ndescription: one");
    expect((await readScenario(file)).scenario?.description).toBe("one");
    folder.write("again.yaml", "extends: base.yaml\ndescription: two");
    expect((await readScenario(file)).scenario?.description).toBe("two");
  });
});

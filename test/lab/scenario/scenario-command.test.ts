import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endAll, newFolder, phxSim, post, runHere, startReady } from "../../support/phx-sim.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});
afterEach(endAll);

const run = (...args: string[]) => runHere(["scenario", ...args], { cwd });
const write = (name: string, text: string) => writeFileSync(join(cwd, name), text);

const broken = "extends: default\ncolour: red\nusers:\n  - email: nobody\n";

describe("check", () => {
  test("a sound file is one line", async () => {
    write("my.yaml", "extends: default\ndescription: Mine.\n");
    const { code, stdout, stderr } = await run("check", "my.yaml");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^my\.yaml \+ .*default\.json: ok\n$/);
  });

  test("everything that is wrong is a line with its place", async () => {
    write("bad.yaml", broken);
    expect(await run("check", "bad.yaml")).toEqual({
      code: 1,
      stdout: [
        'bad.yaml:2:1 /colour: unknown key "colour"',
        'bad.yaml:4:12 /users/1/email: expected an e-mail address, got "nobody"',
        "",
      ].join("\n"),
      stderr: "phx-sim: 2 problems\n",
    });
  });

  test("several files are laid over each other", async () => {
    write("one.jsonc", '{ "extends": "default", /* a comment */ }');
    write("two.yaml", "description: null\nversion: 3\n");
    const { code, stdout } = await run("check", "one.jsonc", "two.yaml");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "two.yaml:2:10 /version: expected 1, got 3\n" });
  });

  test.each(["default", "shop", "saas-team", "flags-gallery", "exports", "bad-day"])("the shipped %s", async (name) => {
    expect((await run("check", name)).code).toBe(0);
  });

  test("--json is one line for programs", async () => {
    write("bad.yaml", broken);
    const { code, stdout } = await run("check", "bad.yaml", "--json");
    expect(code).toBe(1);
    const file = join(cwd, "bad.yaml");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [
        { file, line: 2, column: 1, pointer: "/colour", message: 'unknown key "colour"', hint: null },
        { file, line: 4, column: 12, pointer: "/users/1/email" },
      ],
      files: [file, expect.stringMatching(/default\.json$/)],
    });
  });

  test("warnings are listed, and errors with --strict", async () => {
    write("odd.yaml", "flags: { a: { variants: { x: 50, y: 40 } } }\n");
    const line =
      "odd.yaml:1:25 /flags/a/variants: warning: the variants add up to 90, not 100: the rest gets no variant; change the percentages\n";
    expect(await run("check", "odd.yaml")).toEqual({ code: 0, stdout: `${line}odd.yaml: ok, 1 warning\n`, stderr: "" });
    expect(await run("check", "odd.yaml", "--strict")).toEqual({
      code: 1,
      stdout: line,
      stderr: "phx-sim: 1 warning\n",
    });
    const { stdout } = await run("check", "odd.yaml", "--json", "--strict");
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      problems: [],
      warnings: [{ line: 1, column: 25, pointer: "/flags/a/variants" }],
    });
  });

  test("of thousands of mistakes the first are printed, and --json has all", async () => {
    const mistakes = (count: number, line: (i: number) => string) =>
      Array.from({ length: count }, (_, i) => line(i)).join("");
    write(
      "many.yaml",
      `flags:\n${mistakes(5000, (i) => `  f${i}: { rolout: 5 }\n`)}` +
        `dashboards:\n${mistakes(5000, (i) => `  - { tiles: [{ insight: missing${i} }] }\n`)}` +
        `insights:\n${mistakes(5000, (i) => `  - { name: insight${i} }\n`)}`,
    );
    const { code, stdout, stderr } = await run("check", "many.yaml");
    const lines = stdout.trimEnd().split("\n");
    expect({ code, stderr, count: lines.length }).toEqual({ code: 1, stderr: "phx-sim: 5000 problems\n", count: 51 });
    expect(lines.at(-1)).toBe("and 4,950 more; --json lists all");
    expect(JSON.parse((await run("check", "many.yaml", "--json")).stdout).problems).toHaveLength(5000);
  });

  test("hostile text does not reach the terminal", async () => {
    write("bad.json", '{ "version": 1, "\\u001b[2J": 1 }');
    const { stdout } = await run("check", "bad.json");
    expect(stdout.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  test("without a file it says what it needs", async () => {
    expect(await run("check")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^phx-sim: scenario check needs FILE /),
    });
  });
});

describe("init", () => {
  test.each([
    ["scenario.yaml", []],
    ["world.yml", ["world.yml"]],
    ["world.json", ["world.json"]],
  ])("%s is sound, and starts", async (name, args) => {
    const { code, stdout } = await run("init", ...args);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${name} is written; start it with: phx-sim start --scenario ${name}\n`,
    });
    expect((await run("check", name)).code).toBe(0);
    const { ready } = await startReady(["--memory", "--scenario", `./${name}`], { cwd });
    const answer = await post(`${ready.url}/flags/?v=2`, { token: "phc_sim_default", distinct_id: "u" });
    expect(await answer.json()).toMatchObject({ flags: { on: { enabled: true } } });
  });

  test("never writes over a file", async () => {
    write("mine.yaml", "precious");
    const { code, stderr } = await run("init", "mine.yaml");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "phx-sim: mine.yaml already exists; give another name\n" });
    expect(readFileSync(join(cwd, "mine.yaml"), "utf8")).toBe("precious");
    expect((await run("init", "none/mine.yaml")).stderr).toBe(
      "phx-sim: none/mine.yaml cannot be written: there is no such file or folder\n",
    );
  });

  test("of no format it knows is a mistake", async () => {
    expect(await run("init", "mine.txt")).toMatchObject({
      code: 2,
      stderr: "phx-sim: mine.txt must end in .yaml or .json\n",
    });
    expect(existsSync(join(cwd, "mine.txt"))).toBe(false);
  });
});

test("schema prints the published JSON Schema", async () => {
  const { code, stdout } = await run("schema");
  const published = join(import.meta.dirname, "../../../scenarios/scenario.schema.json");
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(readFileSync(published, "utf8")));
});

describe("list", () => {
  test("reports the shipped ones with what they are for", async () => {
    const { stdout } = await run("list");
    const names = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ {2,}/)[0]);
    expect(names).toEqual(["default", "bad-day", "exports", "flags-gallery", "saas-team", "shop", "traffic"]);
    expect(stdout).toMatch(/^shop +A web shop .*\.$/m);
  });

  test("--json is one line", async () => {
    const { scenarios } = JSON.parse((await run("list", "--json")).stdout);
    expect(scenarios[0]).toMatchObject({ name: "default", file: expect.stringMatching(/default\.json$/) });
  });
});

test("a start with a bad scenario ends with 3 and reports everything", async () => {
  write("bad.yaml", broken);
  const { code, stdout, stderr } = await phxSim(["start", "--memory", "--scenario", "./bad.yaml"], { cwd }).ended;
  expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
  expect(stderr).toBe(
    [
      'phx-sim: bad.yaml:2:1 /colour: unknown key "colour"',
      'bad.yaml:4:12 /users/1/email: expected an e-mail address, got "nobody"; fix the scenario and start again',
      "",
    ].join("\n"),
  );
});

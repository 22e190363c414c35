import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import type { Shell } from "../../../src/kernel/command/command.ts";
import { findConfig } from "../../../src/kernel/command/config-file.ts";
import { plain } from "../../../src/kernel/command/style.ts";
import { redactionSection } from "../../../src/lab/tapes/redact/config-section.ts";
import { init } from "../../../src/tools/init/init.ts";
import { root } from "../../support/docs.ts";
import { endAll, newFolder, phxSim, startReady } from "../../support/phx-sim.ts";

/** A folder with these files. */
function folderWith(files: Record<string, string | object>): string {
  const folder = newFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
  }
  return folder;
}

/** Runs the command in this process. */
async function run(cwd: string, ...switches: string[]) {
  const said: string[] = [];
  const lines = { say: (...more: string[]) => void said.push(...more), flush() {} };
  const shell: Shell = {
    ...{ env: {}, cwd, config: null, out: lines, err: lines },
    ...{ outStyle: plain, errStyle: plain, quit() {} },
  };
  const flags = Object.fromEntries(
    ["json", ...switches].map((it) => it.split("=")).map(([name = "", value = "true"]) => [name, [value]]),
  );
  await init.run(flags, shell);
  const answer = JSON.parse(said.join("\n"));
  return {
    ...answer,
    actions: Object.fromEntries(answer.files.map((it: { path: string; action: string }) => [it.path, it.action])),
  };
}

const read = (folder: string, path: string) => readFileSync(join(folder, path), "utf8");
const listed = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((it) => it.isFile())
    .map((it) => join(it.parentPath, it.name).slice(folder.length + 1))
    .sort();

const stacks = [
  [
    "next",
    { dependencies: { next: "15" }, devDependencies: { vitest: "4", typescript: "5" } },
    "vitest",
    "test/analytics.test.ts",
    "NEXT_PUBLIC_POSTHOG_KEY",
  ],
  ["vite", { devDependencies: { vite: "8", jest: "30" } }, "jest", "test/analytics.test.js", "VITE_POSTHOG_KEY"],
  [
    "nuxt",
    { dependencies: { nuxt: "4", vue: "3" }, devDependencies: { "@playwright/test": "1" } },
    "playwright",
    "tests/analytics.spec.js",
    "NUXT_PUBLIC_POSTHOG_KEY",
  ],
  [
    "sveltekit",
    { devDependencies: { "@sveltejs/kit": "2", vite: "8", vitest: "4" } },
    "vitest",
    "test/analytics.test.js",
    "PUBLIC_POSTHOG_KEY",
  ],
  [
    "expo",
    { dependencies: { expo: "53" }, devDependencies: { jest: "30" }, type: "module" },
    "jest",
    "test/analytics.test.cjs",
    "EXPO_PUBLIC_POSTHOG_KEY",
  ],
  [null, { dependencies: { "posthog-node": "5" } }, "node:test", "test/analytics.test.mjs", "POSTHOG_HOST"],
] as const;

describe("the stack", () => {
  test.each(stacks)("%s %j: %s", async (framework, manifest, runner, path, variable) => {
    const folder = folderWith({ "package.json": manifest });
    const { stack, actions, next } = await run(folder);
    expect(stack).toMatchObject({ language: "javascript", framework, runner });
    expect(actions).toEqual({
      "phx-sim.config.json": "create",
      "scenario.yaml": "create",
      ".env.phx-sim.example": "create",
      [path]: "create",
      ...(runner === "playwright" && { "playwright.config.mjs": "create" }),
      ...(runner === "jest" && { "jest.config.cjs": "create" }),
      "package.json": "update",
    });
    expect(next).toContain("npm run test:analytics");
    expect(read(folder, ".env.phx-sim.example")).toContain(`\n${variable}=`);
    const written = JSON.parse(read(folder, "package.json"));
    expect(written.scripts["test:analytics"]).toMatch(new RegExp(`^phx-sim exec -- .* ${path}$`));
    expect({ ...written, scripts: undefined }).toEqual({ ...manifest, scripts: undefined });
  });

  test("a Python project gets a test for pytest, and no package.json", async () => {
    const folder = folderWith({ "requirements.txt": "Django==5.1\nposthog\n" });
    const { stack, next } = await run(folder);
    expect(stack).toMatchObject({ language: "python", framework: "django", runner: "pytest" });
    expect(listed(folder)).toEqual(
      [
        ".env.phx-sim.example",
        "phx-sim.config.json",
        "requirements.txt",
        "scenario.yaml",
        "tests/test_analytics.py",
      ].sort(),
    );
    expect(next[0]).toBe("npx phx-sim exec -- pytest tests/test_analytics.py");
  });

  test("without a project no test is written; options name what is not found", async () => {
    const folder = newFolder();
    expect((await run(folder, "dry-run")).stack).toMatchObject({ language: null, runner: null });
    const { actions } = await run(folder, "runner=node:test", "framework=rails");
    expect(actions).toHaveProperty(["test/analytics.test.mjs"], "create");
  });

  test("the config and the keys of the example are those of the scenario", async () => {
    const folder = folderWith({ "package.json": {} });
    await run(folder);
    const { commands } = await import("../../../src/cli/commands.ts");
    const { configOptions } = await import("../../../src/kernel/command/command.ts");
    const config = await findConfig(folder, async () => configOptions(commands), [redactionSection]);
    await using sim = await startSim({ scenario: join(folder, config?.texts.get("scenario") ?? "") });
    const example = read(folder, ".env.phx-sim.example");
    expect(example).toContain(`POSTHOG_API_KEY=${sim.apiKey}\n`);
    expect(example).toContain(`POSTHOG_PERSONAL_API_KEY=${sim.personalApiKey}\n`);
    expect(example).toContain(`POSTHOG_PROJECT_ID=${sim.projectId}\n`);
  });
});

describe("what exists", () => {
  test("stays, is listed, and is replaced with --force; a second run changes nothing", async () => {
    const manifest = '{\n\t"name": "app",\n\t"scripts": {\n\t\t"test": "x"\n\t}\n}\n';
    const folder = folderWith({ "package.json": manifest, "scenario.yaml": "flags: {}\n" });
    expect((await run(folder, "dry-run", "agents")).actions).toMatchObject({ "scenario.yaml": "exists" });
    expect(listed(folder)).toEqual(["package.json", "scenario.yaml"]);
    await run(folder, "agents");
    expect(read(folder, "scenario.yaml")).toBe("flags: {}\n");
    expect(read(folder, "package.json")).toContain('\n\t\t"test:analytics": "phx-sim exec -- node --test');
    const before = listed(folder).map((it) => read(folder, it));
    const { actions } = await run(folder, "agents");
    expect(new Set(Object.values(actions))).toEqual(new Set(["unchanged", "exists"]));
    expect(listed(folder).map((it) => read(folder, it))).toEqual(before);
    expect((await run(folder, "force")).actions).toMatchObject({ "scenario.yaml": "replace" });
    expect(read(folder, "scenario.yaml")).toContain("api_key: phc_sim_default");
  });

  test("another script of the name stays", async () => {
    const folder = folderWith({ "package.json": { scripts: { "test:analytics": "mine" } } });
    expect((await run(folder)).actions["package.json"]).toBe("exists");
    expect(JSON.parse(read(folder, "package.json")).scripts["test:analytics"]).toBe("mine");
  });

  test("a damaged file is named with its place, and nothing is written", async () => {
    const folder = folderWith({ "package.json": '{\n  "name": "app",\n}\n' });
    await expect(run(folder)).rejects.toThrow(/^package\.json:3:1: this is not JSON; repair the file/);
    const other = folderWith({ ".mcp.json": '{ "mcpServers": { oops } }', "package.json": {} });
    await expect(run(other, "agents")).rejects.toThrow(/^\.mcp\.json:1:19: this is not JSON/);
    expect(listed(other)).toEqual([".mcp.json", "package.json"]);
  });
});

describe("--agents", () => {
  test("writes one skill twice, a section in place, and keeps other servers", async () => {
    const other = { type: "http", url: "https://example.test/mcp" };
    const folder = folderWith({
      "AGENTS.md": "# Rules\n\nUse tabs.\n",
      ".mcp.json": { mcpServers: { other }, extra: 1 },
    });
    await run(folder, "agents");
    const skill = read(folder, ".claude/skills/phx-sim/SKILL.md");
    expect(skill).toMatch(/^---\nname: phx-sim\ndescription: .+\n---\n/);
    expect(read(folder, ".agents/skills/phx-sim/SKILL.md")).toBe(skill);
    const agents = read(folder, "AGENTS.md");
    expect(agents).toMatch(/^# Rules\n\nUse tabs\.\n\n<!-- phx-sim: start -->\n/);
    expect(JSON.parse(read(folder, ".mcp.json"))).toEqual({
      mcpServers: { other, "phx-sim": { command: "npx", args: ["phx-sim", "mcp"] } },
      extra: 1,
    });
    writeFileSync(join(folder, "AGENTS.md"), `${agents.replace("## Analytics", "## Old")}\n## After\n`);
    expect((await run(folder, "agents")).actions["AGENTS.md"]).toBe("update");
    expect(read(folder, "AGENTS.md")).toBe(`${agents}\n## After\n`);
    writeFileSync(join(folder, "AGENTS.md"), agents.replace("<!-- phx-sim: end -->", ""));
    await expect(run(folder, "agents")).rejects.toThrow(/^AGENTS\.md:5:1: the section of phx-sim has no pair/);
  });

  test("a linked AGENTS.md stays a link; a server of the name that differs stays", async () => {
    const own = { command: "node", args: ["mine.js"] };
    const folder = folderWith({ "CLAUDE.md": "# Rules\n", ".mcp.json": { mcpServers: { "phx-sim": own } } });
    symlinkSync("CLAUDE.md", join(folder, "AGENTS.md"));
    expect((await run(folder, "agents")).actions[".mcp.json"]).toBe("unchanged");
    expect(read(folder, "CLAUDE.md")).toContain("<!-- phx-sim: end -->");
    expect(JSON.parse(read(folder, ".mcp.json")).mcpServers["phx-sim"]).toEqual(own);
  });
});

/** The folder with this package and the runner, as npm would install them. */
function install(folder: string, ...packages: string[]): void {
  mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(folder, "node_modules/phx-sim"));
  symlinkSync(join(root, "bin/phx-sim.js"), join(folder, "node_modules/.bin/phx-sim"));
  for (const it of packages) symlinkSync(join(root, "node_modules", it), join(folder, "node_modules", it));
  for (const it of packages.filter((name) => existsSync(join(root, "node_modules/.bin", name))))
    symlinkSync(join(root, "node_modules/.bin", it), join(folder, "node_modules/.bin", it));
}

test.each([
  ["vitest", { type: "module", devDependencies: { vitest: "4" } }, ["vitest"]],
  ["jest", { devDependencies: { jest: "30" } }, ["jest"]],
  ["node:test", {}, []],
])("the test that is written for %s passes", async (_, manifest, packages) => {
  const folder = folderWith({ "package.json": manifest });
  install(folder, ...packages);
  await run(folder);
  // a busy machine needs more than the 5 s that runners give a test
  const patience = packages.length > 0 ? ["--testTimeout=60000"] : [];
  const { status, stdout, stderr } = spawnSync("npm", ["run", "test:analytics", "--", ...patience], {
    cwd: folder,
    encoding: "utf8",
  });
  expect(status, stdout + stderr).toBe(0);
  expect(stdout + stderr).toMatch(/1 event/);
  // without `exec` it starts a sim of its own, with the same scenario
  const file = listed(folder).find((it) => it.startsWith("test/analytics.")) ?? "";
  const flags = "(await ph.flags.list()).map(({ key }) => key)";
  const checked = read(folder, file)
    .replace("await expect(ph).toHaveNoDroppedEvents();", `expect(${flags}).toContain("button-color");`)
    .replace("assert.deepEqual(await ph.events.dropped(), [])", `assert.ok(${flags}.includes("button-color"))`);
  expect(checked).toContain("button-color");
  writeFileSync(join(folder, file), checked);
  const [, line = ""] = / exec -- (.*)/.exec(JSON.parse(read(folder, "package.json")).scripts["test:analytics"]) ?? [];
  const alone = spawnSync("npx", ["--no-install", ...line.split(" "), ...patience], { cwd: folder, encoding: "utf8" });
  expect(alone.status, alone.stdout + alone.stderr).toBe(0);
});

const hasPytest = spawnSync("python3", ["-m", "pytest", "--version"]).status === 0;

test.skipIf(!hasPytest)("the test that is written for pytest passes", async () => {
  const folder = folderWith({ "pyproject.toml": "" });
  await run(folder);
  const args = ["exec", "--", "python3", "-m", "pytest", "tests"];
  expect(await phxSim(args, { cwd: folder }).ended).toMatchObject({ code: 0 });
  // without `exec` it starts a sim of its own
  install(folder);
  const alone = spawnSync("python3", ["-m", "pytest", "tests"], { cwd: folder, encoding: "utf8" });
  expect(alone.status, alone.stdout + alone.stderr).toBe(0);
});

test("without a Playwright configuration one is written that starts the app", async () => {
  const manifest = { scripts: { dev: "vite" }, devDependencies: { vite: "8", "@playwright/test": "1" } };
  const folder = folderWith({ "package.json": manifest });
  install(folder, "@playwright");
  // Playwright compiles what is outside of node_modules, and a link leads there
  const own = join(folder, "node_modules/phx-sim");
  rmSync(own);
  for (const it of ["package.json", "dist"]) cpSync(join(root, it), join(own, it), { recursive: true });
  await run(folder);
  const config = read(folder, "playwright.config.mjs");
  expect(config).toContain('webServer: { command: "npm run dev", url: "http://localhost:5173"');
  const cli = join(root, "node_modules/@playwright/test/cli.js");
  const { status, stdout, stderr } = spawnSync("node", [cli, "test", "--list"], { cwd: folder, encoding: "utf8" });
  expect([status, stdout, stderr]).toEqual([0, expect.stringContaining("a visit is tracked"), ""]);
  const other = folderWith({ "package.json": manifest, "playwright.config.ts": "export default {};\n" });
  expect((await run(other)).actions).not.toHaveProperty(["playwright.config.mjs"]);
});

test("the command line lists the files and the next steps", async () => {
  const folder = folderWith({ "package.json": {} });
  const { code, stdout } = await phxSim(["init", "--dry-run"], { cwd: folder }).ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^would set up for: javascript, node:test\n {2}create {4}phx-sim\.config\.json/);
  expect(stdout).toContain("next: npm install --save-dev phx-sim; npm run test:analytics; npx phx-sim start");
});

test("while a sim runs in the folder, the next step is its end", async () => {
  const folder = folderWith({ "package.json": {} });
  const { ready } = await startReady([], { cwd: folder });
  const { stdout } = await phxSim(["init"], { cwd: folder }).ended;
  expect(stdout).toContain(`the sim at ${ready.url} runs with its own scenario on .phx-sim; `);
  const next = /next: .*npm run test:analytics; npx (phx-sim stop); npx phx-sim start\n/.exec(stdout)?.[1];
  const stopped = await phxSim((next ?? "").split(" ").slice(1), { cwd: folder }).ended;
  expect(stopped).toMatchObject({ code: 0, stdout: expect.stringContaining(ready.url) });
  expect((await phxSim(["init"], { cwd: folder }).ended).stdout).not.toContain("phx-sim stop");
  await endAll();
});

test("without a script that starts the app, Playwright's next step names that", async () => {
  const packages = { devDependencies: { "@playwright/test": "1" } };
  const bare = await run(folderWith({ "package.json": packages }));
  expect(bare.next).toContainEqual(expect.stringContaining("package.json has no script dev or start"));
  const whole = await run(folderWith({ "package.json": { ...packages, scripts: { start: "vite" } } }));
  expect(whole.next).not.toContainEqual(expect.stringContaining("has no script"));
});

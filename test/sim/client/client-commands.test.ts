import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { version } from "../../../src/kernel/base/version.ts";
import { endAll, newFolder, phxSim, type Ready, runHere, startReady } from "../../support/phx-sim.ts";

let cwd: string;
beforeEach(() => {
  cwd = newFolder();
});
afterEach(endAll);

const run = (args: string[], folder = cwd, env: Record<string, string> = {}) => runHere(args, { cwd: folder, env });

describe("status", () => {
  test("finds the sim by the locator, from a folder below, too", async () => {
    const { ready } = await startReady([], { cwd });
    const below = join(cwd, "packages", "app");
    mkdirSync(below, { recursive: true });
    for (const folder of [cwd, below]) {
      const { code, stdout, stderr } = await run(["status"], folder);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout).toContain(`phx-sim ${version} is running at ${ready.url}\n`);
      expect(stdout).toMatch(new RegExp(`^  pid +${ready.pid}$`, "m"));
      expect(stdout).toContain(join(cwd, ".phx-sim", "run.json"));
    }
  });

  test.each<[string, (ready: Ready) => [string[], Record<string, string>]]>([
    ["--url", ({ url }) => [["--url", url], {}]],
    ["PHX_SIM_URL", ({ url }) => [[], { PHX_SIM_URL: url }]],
  ])("finds the sim by %s", async (name, how) => {
    const { ready } = await startReady(["--memory"], { cwd });
    const [args, env] = how(ready);
    const { code, stdout } = await run(["status", "--json", ...args], newFolder(), env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ ...ready, found_by: name });
  });

  test("--data on the command line is nearer than PHX_SIM_URL", async () => {
    const { ready } = await startReady([], { cwd });
    const { stdout } = await run(["status", "--json", "--data", ".phx-sim"], cwd, {
      PHX_SIM_URL: "http://127.0.0.1:1",
    });
    expect(JSON.parse(stdout)).toMatchObject({ url: ready.url });
  });

  test("uses the locator's token where the sim is bound wider", async () => {
    const { ready } = await startReady(["--host", "0.0.0.0"], { cwd });
    expect((await run(["status"])).code).toBe(0);
    const stranger = await run(["status", "--url", ready.url], newFolder());
    expect(stranger).toMatchObject({ code: 5, stderr: expect.stringMatching(/requires its token.*--token/) });
    const token = ["--token", ready.control_token ?? ""];
    expect((await run(["status", "--url", ready.url, ...token], newFolder())).code).toBe(0);
  });

  test("--wait returns once a sim is ready", async () => {
    const waiting = run(["status", "--wait", "60s"]);
    await startReady([], { cwd });
    expect((await waiting).code).toBe(0);
  });
});

describe("without a running sim", () => {
  const none =
    /^phx-sim: no running sim found from .*\.phx-sim; start one with phx-sim start, or give --url or PHX_SIM_URL\n$/;

  test.each([[["status"]], [["status", "--wait", "100ms"]], [["env", "--data", ".phx-sim"]]])(
    "%j ends with 5",
    async (args) => {
      const { code, stdout, stderr } = await run(args);
      expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
      expect(stderr).toMatch(none);
    },
  );

  test("a stale locator is no running sim", async () => {
    const gone = phxSim(["--version"], { cwd, isOwn: true });
    await gone.ended;
    mkdirSync(join(cwd, ".phx-sim"));
    const locator = { url: "http://127.0.0.1:1", pid: gone.child.pid };
    writeFileSync(join(cwd, ".phx-sim", "run.json"), JSON.stringify(locator));
    expect((await run(["status"])).stderr).toMatch(none);
  });

  test("an address where no one answers is named", async () => {
    const { code, stderr } = await run(["status", "--url", "http://127.0.0.1:1"]);
    expect(code).toBe(5);
    expect(stderr).toBe("phx-sim: no phx-sim answers at http://127.0.0.1:1 (from --url)\n");
  });
});

describe("env", () => {
  let ready: Ready;
  beforeEach(async () => {
    ({ ready } = await startReady([], { cwd }));
  });
  const server = () => ({
    POSTHOG_HOST: ready.url,
    POSTHOG_API_KEY: ready.project_api_key,
    POSTHOG_PROJECT_TOKEN: ready.project_api_key,
    POSTHOG_PERSONAL_API_KEY: ready.personal_api_key,
    POSTHOG_PROJECT_ID: String(ready.project_id),
    PHX_SIM_URL: ready.url,
  });

  test.each([
    ["node", []],
    ["next", ["NEXT_PUBLIC_POSTHOG_KEY"]],
    ["vite", ["VITE_PUBLIC_POSTHOG_KEY", "VITE_POSTHOG_KEY"]],
    ["nuxt", ["NUXT_PUBLIC_POSTHOG_KEY"]],
    ["expo", ["EXPO_PUBLIC_POSTHOG_KEY", "EXPO_PUBLIC_POSTHOG_API_KEY"]],
  ])("--framework %s has its names beside the server's, and no other's", async (framework, names) => {
    const { code, stdout } = await run(["env", "--format", "json", "--framework", framework]);
    expect(code).toBe(0);
    const env: Record<string, string> = JSON.parse(stdout);
    expect(env).toMatchObject(server());
    for (const name of names) {
      expect(env).toHaveProperty(name, ready.project_api_key);
      expect(env).toHaveProperty(name.replace(/(API_)?KEY$/, "HOST"), ready.url);
    }
    const prefix = new RegExp(`^(POSTHOG|PHX_SIM|${framework.toUpperCase()})_`);
    expect(Object.keys(env).filter((name) => !prefix.test(name))).toEqual([]);
  });

  test("dotenv says which key POSTHOG_API_KEY is; without --framework all names are there", async () => {
    const { stdout } = await run(["env"]);
    expect(stdout).toMatch(/^# POSTHOG_API_KEY is the project key/m);
    for (const [name, value] of Object.entries(server())) expect(stdout).toContain(`\n${name}=${value}\n`);
    expect(stdout).toMatch(
      /^NEXT_PUBLIC_POSTHOG_HOST=.*[\s\S]*^VITE_PUBLIC_.*[\s\S]*^NUXT_PUBLIC_.*[\s\S]*^EXPO_PUBLIC_/m,
    );
  });

  test("github has assignments only", async () => {
    const { stdout } = await run(["env", "--format", "github"]);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .filter((line) => !/^[A-Z_]+=\S+$/.test(line)),
    ).toEqual([]);
  });

  test.skipIf(process.platform === "win32")("shell can be evaluated", async () => {
    const { stdout } = await run(["env", "--format", "shell"]);
    const script = `${stdout}\nprintf '%s' "$POSTHOG_HOST $POSTHOG_API_KEY"`;
    const shown = execFileSync("sh", ["-c", script], { encoding: "utf8" });
    expect(shown).toBe(`${ready.url} ${ready.project_api_key}`);
  });
});

test.each([["--version"], ["-v"]])("%s", async (flag) => {
  expect(await run([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

test("--help goes to stdout", async () => {
  const { code, stdout, stderr } = await run(["--help"]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const text of ["Exit codes:", "PHX_SIM_PORT", "NO_COLOR", "phx-sim status"]) expect(stdout).toContain(text);
});

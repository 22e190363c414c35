import { request } from "node:http";
import { parseEnv } from "node:util";
import { describe, expect, test } from "vitest";
import { envLines } from "../../src/lab/egress/env-lines.ts";
import { type Access, envGroups, type Framework, frameworks } from "../../src/lab/egress/env-names.ts";
import { readDoc } from "../support/docs.ts";
import { newFolder, runHere, startReady } from "../support/phx-sim.ts";

const cwd = newFolder();
const { ready } = await startReady([], { cwd });

const run = (...args: string[]) => runHere(["env", ...args], { cwd });
const printed = (framework: Framework, access: Access = ready) => envLines(envGroups(access, framework), "dotenv");

/** Variables of a .env file, as Node and the loaders of the frameworks read it. */
const dotenv = (framework: Framework) => parseEnv(printed(framework).join("\n"));

/** By framework: the file, and the names that have the prefix for the browser. */
const browser: [Framework, file: string, prefix: string, names: string[]][] = [
  ["next", ".env.local", "NEXT_PUBLIC_", ["NEXT_PUBLIC_POSTHOG_KEY"]],
  ["vite", ".env.local", "VITE_", ["VITE_POSTHOG_KEY", "VITE_PUBLIC_POSTHOG_KEY"]],
  ["vue", ".env.local", "V(ITE|UE_APP)_", ["VITE_POSTHOG_KEY", "VUE_APP_POSTHOG_KEY"]],
  ["sveltekit", ".env.local", "PUBLIC_", ["PUBLIC_POSTHOG_KEY", "PUBLIC_POSTHOG_PROJECT_TOKEN"]],
  ["astro", ".env", "PUBLIC_", ["PUBLIC_POSTHOG_KEY", "PUBLIC_POSTHOG_PROJECT_TOKEN"]],
  ["react-router", ".env.local", "VITE_", ["VITE_PUBLIC_POSTHOG_KEY", "VITE_PUBLIC_POSTHOG_PROJECT_TOKEN"]],
  ["remix", ".env", "VITE_", ["VITE_PUBLIC_POSTHOG_KEY"]],
  ["nuxt", ".env", "NUXT_PUBLIC_", ["NUXT_PUBLIC_POSTHOG_PUBLIC_KEY"]],
  ["angular", ".env", "NG_APP_", ["NG_APP_POSTHOG_KEY"]],
  ["expo", ".env.local", "EXPO_PUBLIC_", ["EXPO_PUBLIC_POSTHOG_API_KEY"]],
  ["laravel", ".env", "VITE_", ["VITE_POSTHOG_KEY"]],
  ["node", ".env", "-", []],
  ["django", ".env", "-", []],
  ["rails", ".env", "-", []],
];

test.each(browser)("%s: %s, and its prefix only", async (framework, file, prefix, names) => {
  const { code, stdout } = await run("--framework", framework);
  expect([code, stdout.split("\n")[0]]).toEqual([0, expect.stringMatching(`^# ${framework}: ${file}(?: |$)`)]);
  const variables = parseEnv(stdout);
  for (const name of names) expect(variables).toHaveProperty(name, ready.project_api_key);
  const isOwn = new RegExp(`^(POSTHOG_|PHX_SIM_|(${prefix})\\w*POSTHOG_(HOST|KEY|API_KEY|PUBLIC_KEY|PROJECT_TOKEN)$)`);
  expect(Object.keys(variables).filter((name) => !isOwn.test(name))).toEqual([]);
  expect(variables).toMatchObject({
    POSTHOG_HOST: ready.url,
    POSTHOG_API_KEY: ready.project_api_key,
    POSTHOG_PERSONAL_API_KEY: ready.personal_api_key,
  });
  const hosts = Object.entries(variables).filter(([name]) => name.endsWith("_HOST"));
  expect(hosts.map(([, value]) => value)).toEqual(hosts.map(() => ready.url));
  // what a browser loads never holds a personal key
  const shown = Object.entries(variables).filter(([name]) => new RegExp(`^(${prefix})`).test(name));
  expect(shown.filter(([, value]) => value?.startsWith("phx_"))).toEqual([]);
});

describe("an app on a device", () => {
  test("Android's emulator calls this machine 10.0.2.2, and reaches the sim there", async () => {
    const { stdout } = await run("--framework", "android");
    expect(stdout).toMatch(/^# android: local\.properties .*\n# emulator: .*usesCleartextTraffic="true"/);
    const variables = parseEnv(stdout);
    const { port } = new URL(ready.url);
    expect(variables).toEqual({
      POSTHOG_HOST: `http://10.0.2.2:${port}`,
      POSTHOG_API_KEY: ready.project_api_key,
      POSTHOG_PROJECT_TOKEN: ready.project_api_key,
    });
  });

  test.each(["/flags/?v=2", "/batch/"])("the sim answers at that name: %s", async (path) => {
    const event = { event: "e", distinct_id: "u" };
    const body = JSON.stringify({ api_key: ready.project_api_key, distinct_id: "u", batch: [event] });
    const headers = { host: `10.0.2.2:${new URL(ready.url).port}`, "content-type": "application/json" };
    const status = await new Promise((resolve, reject) => {
      request(`${ready.url}${path}`, { method: "POST", headers }, (res) => resolve(res.resume().statusCode))
        .on("error", reject)
        .end(body);
    });
    expect(status).toBe(200);
  });

  test("iOS has an .xcconfig file: no # and no // in it but for comments", async () => {
    const { stdout } = await run("--framework", "ios");
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toMatch(/^\/\/ ios: Config\.xcconfig /);
    expect(lines[1]).toMatch(/^\/\/ simulator: .*NSAllowsLocalNetworking/);
    const settings = lines.filter((line) => !line.startsWith("//"));
    for (const line of settings) expect(line).toMatch(/^[A-Z_]+ = (?:(?!\/\/|#).)+$/);
    const read = Object.fromEntries(settings.map((line) => line.replaceAll("$()", "").split(" = ")));
    const { port } = new URL(ready.url);
    expect(read).toEqual({
      POSTHOG_HOST: `http://localhost:${port}`,
      POSTHOG_API_KEY: ready.project_api_key,
      POSTHOG_PROJECT_TOKEN: ready.project_api_key,
    });
  });

  test("other formats have the address as it is", async () => {
    for (const format of ["json", "shell", "github"]) {
      const { stdout } = await run("--framework", "ios", "--format", format);
      expect(stdout).toMatch(/http:\/\/localhost:\d+/);
    }
  });

  test.each(["android", "ios"] as const)("%s keeps an address that is not of this machine", (framework) => {
    const lines = envLines(envGroups({ ...ready, url: "http://sim.test:7490" }, framework), "json");
    expect(JSON.parse(lines.join("\n")).POSTHOG_HOST).toBe("http://sim.test:7490");
  });
});

test("without a framework each name is there once, and nothing but .env lines", async () => {
  const { stdout } = await run();
  const names = stdout.split("\n").flatMap((line) => /^(\w+)=/.exec(line)?.[1] ?? []);
  expect(new Set(names).size).toBe(names.length);
  for (const framework of frameworks) {
    if (framework === "android" || framework === "ios") continue;
    expect(parseEnv(stdout)).toMatchObject(dotenv(framework));
  }
});

test("the documentation names every framework", () => {
  const table = readDoc("docs/sdks.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  for (const framework of frameworks) expect(table).toContainEqual(expect.stringMatching(`^\\| [^|]*\`${framework}\``));
});

test.each([
  ["svelte", "sveltekit"],
  ["nextjs", "next"],
  ["anglar", "angular"],
  ["react", "react-router"],
])("%s is not known; the nearest is %s", async (given, nearest) => {
  const { code, stderr } = await run("--framework", given);
  expect([code, stderr]).toEqual([2, expect.stringContaining(`, not "${given}"; did you mean ${nearest}?`)]);
});

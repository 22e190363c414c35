import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";

const root = join(import.meta.dirname, "../..");
const apps = join(import.meta.dirname, "apps");

let place = "";

/** A folder with the sample apps and this package as npm would install it: the published files, nothing else. */
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), "phx-sim-runners-"));
  const modules = join(place, "node_modules");
  const own = join(modules, "phx-sim");
  mkdirSync(own, { recursive: true });
  const { files } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { files: string[] };
  for (const file of ["package.json", ...files].filter((it) => existsSync(join(root, it))))
    cpSync(join(root, file), join(own, file), { recursive: true });
  for (const name of readdirSync(join(root, "node_modules")).filter((it) => !it.startsWith(".")))
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  cpSync(apps, join(place, "apps"), { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

interface Ran {
  code: number | null;
  out: string;
}

/** Runs a runner in an app's folder, as its own script would. */
function run(folder: string, script: string, args: readonly string[], env: Record<string, string> = {}) {
  const { VITEST: _1, NODE_OPTIONS: _2, PHX_SIM_URL: _3, ...rest } = process.env;
  return new Promise<Ran>((resolve, reject) => {
    const child = spawn(process.execPath, [...(script === "" ? [] : [join(place, script)]), ...args], {
      cwd: join(place, "apps", folder),
      env: { ...rest, NO_COLOR: "1", CI: "1", FORCE_COLOR: undefined, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let out = "";
    child.stdout.on("data", (text) => {
      out += text;
    });
    child.stderr.on("data", (text) => {
      out += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out }));
  });
}

interface Runner {
  runner: string;
  folder: string;
  script: string;
  args: string[];
  passed: RegExp;
}

const runners: Runner[] = [
  {
    runner: "vitest",
    folder: "vitest",
    script: "node_modules/vitest/vitest.mjs",
    args: ["run"],
    passed: /Tests {2}6 passed \(6\)/,
  },
  {
    runner: "jest",
    folder: "jest",
    script: "node_modules/jest/bin/jest.js",
    args: ["--ci"],
    passed: /Tests: +4 passed, 4 total/,
  },
  { runner: "node:test", folder: "node-test", script: "", args: ["--test"], passed: /^[#ℹ] pass 3$/m },
];

const failing = (folder: string): string => join("failing", folder);

describe.each(runners)("$runner", ({ folder, script, args, passed }) => {
  test("runs the sample suite", async () => {
    const { code, out } = await run(folder, script, args);
    expect(out).toMatch(passed);
    expect(code).toBe(0);
  });

  test("uses the sim of `phx-sim exec`", async () => {
    await using sim = await startSim();
    let events = 0;
    sim.onRequest((it) => {
      events += it.events;
    });
    const { code, out } = await run(folder, script, args, { PHX_SIM_URL: sim.url });
    expect(out).toMatch(passed);
    expect(code).toBe(0);
    expect(events).toBeGreaterThan(0);
  });

  test("shows the report of what fails", async () => {
    const { code, out } = await run(failing(folder), script, args);
    expect(out).toMatch(/(toHaveCaptured|waitFor)\("signup_completed", \{plan: "free"\}/);
    expect(out).toMatch(/signup_started/);
    expect(out).toMatch(/wrong\.test\.[jt]s/);
    expect(code).toBe(1);
  });
});

const others: Runner[] = [
  {
    runner: "vitest without a global setup",
    folder: "vitest-plain",
    script: "node_modules/vitest/vitest.mjs",
    args: ["run"],
    passed: /Tests {2}2 passed \(2\)/,
  },
  {
    runner: "jest with ES modules, where there is no fetch",
    folder: "jest-esm",
    script: "",
    args: ["--experimental-vm-modules", "../../node_modules/jest/bin/jest.js", "--ci"],
    passed: /Tests: +1 passed, 1 total/,
  },
];

test.each(others)("$runner", async ({ folder, script, args, passed }) => {
  const { code, out } = await run(folder, script, args);
  expect(out).toMatch(passed);
  expect(code).toBe(0);
});

const notAwaited = (call: string): string => `assertion not awaited: ${call}`;
const nope = notAwaited('toHaveCaptured("nope")');
const atTheLimit = 'toHaveCaptured("missing at the limit") — not captured within ';
const realService = "POST https://us.i.posthog.com/batch/";
const everyMistake = [
  nope,
  notAwaited('toHaveCaptured("flushed late")'),
  notAwaited('expectNone("nothing")'),
  notAwaited('not.toHaveCaptured("anything")'),
  atTheLimit,
  realService,
];

const mistakes: [runner: string, script: string, args: string[], failed: RegExp, reported: string[]][] = [
  [
    "vitest",
    "node_modules/vitest/vitest.mjs",
    ["run"],
    /Tests {2}9 failed \(9\)/,
    [
      ...everyMistake,
      'toHaveCaptured("missing after a hook") — not captured within ',
      "GET https://e.example.com/batch/",
    ],
  ],
  [
    "jest",
    "node_modules/jest/bin/jest.js",
    ["--ci"],
    /Tests: +8 failed, 8 total/,
    [...everyMistake, notAwaited('toHaveCaptured("concurrently")')],
  ],
  [
    "jest-esm",
    "",
    ["--experimental-vm-modules", "../../../node_modules/jest/bin/jest.js", "--ci"],
    /Tests: +3 failed, 3 total/,
    [nope, atTheLimit, realService],
  ],
];

test.each(mistakes)("mistakes of tests fail in %s", async (...row) => {
  const [runner, script, args, failed, reported] = row;
  const { code, out } = await run(join("strict", runner), script, args);
  for (const text of reported) expect(out).toContain(text);
  expect(out).not.toContain(notAwaited('toHaveCaptured("left behind")'));
  expect(out).not.toMatch(/timed out|Exceeded timeout/);
  expect(out).toMatch(failed);
  expect(code).toBe(1);
});

test("jest without a sim says how to have one", async () => {
  const { code, out } = await run(failing("jest-alone"), "node_modules/jest/bin/jest.js", ["--ci"]);
  expect(out).toMatch(/PHX_SIM_URL is not set.*globalSetup: "phx-sim\/jest\/global"/);
  expect(out).toMatch(/alone\.test\.cjs/);
  expect(code).toBe(1);
});

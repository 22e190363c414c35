import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startSim } from "../../src/index.ts";
import { installed as installedAlone } from "../bench/install.ts";
import { chromiumEnv } from "../support/chromium.ts";
import { newFolder } from "../support/folder.ts";

const root = join(import.meta.dirname, "../..");
const apps = join(import.meta.dirname, "apps");
/** A folder for each further major of a runner, with what npm installed for it. */
const versions = join(import.meta.dirname, "runners");

interface Manifest {
  version: string;
  files: string[];
  peerDependencies: Record<string, string>;
}

const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

const places: string[] = [];
afterAll(() => {
  for (const it of places) rmSync(it, { recursive: true, force: true });
});

/** What npm installed in a folder, by the name it is imported by. */
const installedIn = (folder: string): [name: string, path: string][] =>
  readdirSync(join(folder, "node_modules"))
    .filter((it) => !it.startsWith("."))
    .map((name) => [name, join(folder, "node_modules", name)]);

/**
 * A folder with the sample apps and this package as npm installs it: the published files, nothing else.
 * @param version A folder of `runners`, whose packages replace those that this project runs its own tests with
 * @param packages These packages
 */
function installed(
  version?: string,
  packages = version === undefined ? [] : installedIn(join(versions, version)),
): string {
  const place = newFolder();
  places.push(place);
  const modules = join(place, "node_modules");
  const own = join(modules, "phx-sim");
  mkdirSync(own, { recursive: true });
  const { files } = manifestOf(root);
  for (const file of ["package.json", ...files].filter((it) => existsSync(join(root, it))))
    cpSync(join(root, file), join(own, file), { recursive: true });
  for (const [name, path] of new Map([...installedIn(root), ...packages]))
    symlinkSync(path, join(modules, name));
  cpSync(apps, join(place, "apps"), { recursive: true });
  writeFileSync(join(place, "package.json"), '{ "type": "module" }');
  return place;
}

interface Ran {
  code: number | null;
  out: string;
}

interface Runner {
  /** The package; "" for Node's own. */
  runner: string;
  /** A folder of `runners`; without it the runner of this project. */
  version?: string;
  folder: string;
  script: string;
  args: readonly string[];
  passed: RegExp;
}

const made = new Map<string | undefined, string>();

/** Runs a runner in an app's folder, as its own script would. */
function run(
  { version, folder, script, args }: Omit<Runner, "runner" | "passed">,
  env: Record<string, string> = {},
  prepare = (_apps: string) => {},
) {
  const { VITEST: _1, NODE_OPTIONS: _2, PHX_SIM_URL: _3, ...rest } = process.env;
  const place = made.get(version) ?? installed(version);
  made.set(version, place);
  prepare(join(place, "apps"));
  const command = [process.execPath, ...(script === "" ? [] : [join(place, script)]), ...args];
  return runIn(join(place, "apps", folder), command, { ...rest, ...env });
}

function runIn(cwd: string, [program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv) {
  return new Promise<Ran>((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { NO_COLOR: "1", CI: "1", FORCE_COLOR: undefined, ...env },
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

// The runners' own limit of 5 s is too short for a busy machine.
const patient = "--testTimeout=60000";
const vitest = { script: "node_modules/vitest/vitest.mjs", args: ["run", patient] };
const jest = { script: "node_modules/jest/bin/jest.js", args: ["--ci", patient] };
const inVitest = { runner: "vitest", folder: "vitest", ...vitest, passed: /Tests {2}10 passed \(10\)/ };
const inJest = { runner: "jest", folder: "jest", ...jest, passed: /Tests: +5 passed, 5 total/ };

const runners: Runner[] = [
  inVitest,
  { ...inVitest, version: "vitest-5" },
  inJest,
  { ...inJest, version: "jest-29" },
  { runner: "", folder: "node-test", script: "", args: ["--test"], passed: /^[#ℹ] pass 3$/m },
];

const packageOf = ({ runner, version }: Pick<Runner, "runner" | "version">): Manifest =>
  manifestOf(join(version === undefined ? root : join(versions, version), "node_modules", runner));

const named = runners.map((it) => ({
  ...it,
  title: it.runner === "" ? "node:test" : `${it.runner} ${packageOf(it).version}`,
}));

/** Vitest 5 does not start on Node 20. */
const runsHere = (it: Runner): boolean => it.version !== "vitest-5" || !process.version.startsWith("v20.");

test("every declared major of vitest and jest is in the table", () => {
  const { peerDependencies } = manifestOf(root);
  const majors = (text = "") => [...text.matchAll(/\^(\d+)/g)].map(([, major]) => major);
  for (const name of ["vitest", "jest"]) {
    const tested = runners
      .filter(({ runner }) => runner === name)
      .flatMap((it) => majors(`^${packageOf(it).version}`));
    expect(tested.sort()).toEqual(majors(peerDependencies[name]).sort());
  }
  const playwright = packageOf({ runner: "@playwright/test" });
  expect(majors(peerDependencies["@playwright/test"])).toEqual(majors(`^${playwright.version}`));
});

describe.each(named)("$title", (runner) => {
  const here = test.runIf(runsHere(runner));
  const { folder, passed } = runner;
  here("runs the sample suite", async () => {
    const { code, out } = await run(runner);
    expect(out).toMatch(passed);
    expect(code).toBe(0);
  });

  here("uses the sim of `phx-sim exec`", async () => {
    await using sim = await startSim();
    let events = 0;
    sim.onRequest((it) => {
      events += it.events;
    });
    const { code, out } = await run(runner, { PHX_SIM_URL: sim.url });
    expect(out, out).toMatch(passed);
    expect(code).toBe(0);
    expect(events).toBeGreaterThan(0);
  });

  here("shows the report of what fails", async () => {
    const { code, out } = await run({ ...runner, folder: join("failing", folder) });
    expect(out).toMatch(/(toHaveCaptured|waitFor)\("signup_completed", \{plan: "free"\}/);
    expect(out).toMatch(/signup_started/);
    expect(out).toMatch(/wrong\.test\.[jt]s/);
    expect(code).toBe(1);
    const fixtures = folder !== "node-test";
    expect(/phx-sim report: phx-report\/expects-what-is-not-captured-\w{6}\.html/.test(out), out).toBe(
      fixtures,
    );
  });
});

const onePassed = { vitest: /Tests {2}1 passed \(1\)/, jest: /Tests: +1 passed, 1 total/ };
const inDom = { ...vitest, folder: "vitest-dom", passed: onePassed.vitest };
const withSetup = "--config=../vitest/vitest.config.ts";

const others: Runner[] = [
  {
    runner: "vitest without a global setup",
    folder: "vitest-plain",
    ...vitest,
    passed: /Tests {2}2 passed \(2\)/,
  },
  {
    runner: "jest with ES modules, where there is no fetch",
    folder: "jest-esm",
    script: "",
    args: ["--experimental-vm-modules", "../../node_modules/jest/bin/jest.js", "--ci", patient],
    passed: onePassed.jest,
  },
  { runner: "posthog-js in jest with jsdom", folder: "jest-dom", ...jest, passed: onePassed.jest },
  {
    runner: "posthog-js in vitest with jsdom",
    ...inDom,
    args: ["run", patient, "--environment=jsdom", withSetup],
  },
  {
    runner: "posthog-js in vitest with happy-dom",
    ...inDom,
    args: ["run", patient, "--environment=happy-dom", withSetup],
  },
  {
    runner: "posthog-js in vitest with happy-dom, without a global setup",
    ...inDom,
    args: ["run", patient, "--environment=happy-dom"],
  },
  {
    runner: "vitest, where the client is a constant",
    folder: "constant/vitest",
    ...vitest,
    passed: /Tests {2}7 passed \(7\)/,
  },
  {
    runner: "jest, where the client is a constant",
    folder: "constant/jest",
    ...jest,
    passed: /Tests: +3 passed, 3 total/,
  },
  {
    runner: "jest beside MSW and nock, and with modules that are reset",
    folder: "doubles/jest",
    ...jest,
    passed: /Tests: +8 passed, 8 total/,
  },
  {
    runner: "vitest beside MSW and nock",
    folder: "doubles/vitest",
    ...vitest,
    passed: /Tests {2}4 passed \(4\)/,
  },
];

test.each(others)("$runner", async ({ passed, ...runner }) => {
  const { code, out } = await run(runner);
  expect(out).toMatch(passed);
  expect(code).toBe(0);
});

const notAwaited = (call: string): string => `assertion not awaited: ${call}`;
const nope = notAwaited('toHaveCaptured("nope")');
const atTheLimit = 'toHaveCaptured("missing at the limit") — not captured within ';
const onBusyMachine = 'toHaveCaptured("missing on a busy machine") — not captured within ';
const realService = "POST https://us.i.posthog.com/batch/";
const ownDomain = "POST https://e.myapp.example/batch/";
const everyMistake = [
  nope,
  notAwaited('toHaveCaptured("flushed late")'),
  notAwaited('expectNone("nothing")'),
  notAwaited('not.toHaveCaptured("anything")'),
  atTheLimit,
  onBusyMachine,
  realService,
];

const mistakes: [runner: string, script: string, args: string[], failed: RegExp, reported: string[]][] = [
  [
    "vitest",
    "node_modules/vitest/vitest.mjs",
    ["run"],
    /Tests {2}11 failed \(11\)/,
    [
      ...everyMistake,
      'toHaveCaptured("missing after a hook") — not captured within ',
      "GET https://e.example.com/batch/",
      ownDomain,
    ],
  ],
  [
    "jest",
    "node_modules/jest/bin/jest.js",
    ["--ci"],
    /Tests: +12 failed, 1 passed, 13 total/,
    [
      ...everyMistake,
      notAwaited('toHaveCaptured("concurrently")'),
      ownDomain,
      "withProject(…) makes the body of a test and does not run it",
      'the SDK used the key of "first", which has ended',
      'came for tests that had ended: "first"',
    ],
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
  const { code, out } = await run({ folder: join("strict", runner), script, args });
  for (const text of reported) expect(out).toContain(text);
  expect(out).not.toContain(notAwaited('toHaveCaptured("left behind")'));
  // the machine was busy when the limit came: the runner's line, and below it the report
  expect(out.match(/(Test timed out|Exceeded timeout) (in|of) (?!1500)/)).toBeNull();
  expect(out).toMatch(failed);
  expect(code).toBe(1);
});

const oneOfTen: [runner: string, script: string, args: string[], failed: RegExp][] = [
  ["vitest", vitest.script, ["run"], /Tests {2}2 failed \| 18 passed \(20\)/],
  ["jest", jest.script, ["--ci"], /Tests: +1 failed, 9 passed, 10 total/],
];

test.each(oneOfTen)(
  "of concurrent tests in %s, the one that calls the real service fails",
  async (...row) => {
    const [runner, script, args, failed] = row;
    const { code, out } = await run({ folder: join("concurrent", runner), script, args });
    expect(out).toMatch(failed);
    expect(out).toContain(realService);
    const wrong = runner === "vitest" ? /^ FAIL .* test number 7$/gm : /^ {2}● test number 7$/gm;
    expect(out.match(wrong)).toHaveLength(runner === "vitest" ? 2 : 1);
    expect(code).toBe(1);
  },
);

test("jest without a sim says how to have one", async () => {
  const { code, out } = await run({ ...jest, folder: "failing/jest-alone" });
  expect(out).toMatch(/PHX_SIM_URL is not set.*globalSetup: "phx-sim\/jest\/global"/);
  expect(out).toMatch(/alone\.test\.cjs/);
  expect(code).toBe(1);
});

/** The runners of the apps in which nothing arrives. */
const silent: Record<string, Omit<Runner, "runner" | "passed" | "folder">> = {
  vitest,
  "vitest-dom": { ...vitest, args: [...vitest.args, "--environment=jsdom"] },
  jest,
  "jest-dom": jest,
};
const settings = "no request has reached the sim: the app should use the host";
const queue = "the event may still be in the SDK's queue";
const allQueued = "the SDK still has all events in its queue";
const fake = "fake timers are in force";
const noOperator = 'there is no operator "@greater"; did you mean @gt?';
const blocked = "- blocked (phx-sim guard): POST https://us.i.posthog.com/batch/ (at";

interface CauseRow {
  runners: string[];
  title: string;
  has: string[];
  hasNot?: string[];
}

const causes: CauseRow[] = [
  {
    runners: ["vitest", "jest"],
    title: "a client with the real host",
    has: [blocked],
    hasNot: [settings, allQueued, queue],
  },
  {
    runners: ["vitest"],
    title: "a client with the real host, which should ask for a flag",
    has: ["blocked (phx-sim guard): POST https://us.i.posthog.com/flags/"],
    hasNot: ["check the client's host"],
  },
  {
    runners: ["vitest"],
    title: "a client with another key",
    has: ["the SDK used the key phc_other, which no project has"],
    hasNot: [settings, allQueued, queue],
  },
  {
    runners: ["vitest", "jest"],
    title: "an event stays in the queue",
    has: [settings, fake],
    hasNot: [allQueued, queue],
  },
  { runners: ["vitest"], title: "only the time is fake", has: [settings, allQueued], hasNot: [fake] },
  {
    runners: ["vitest", "jest"],
    title: "a pattern with an operator that does not exist",
    has: [noOperator, '|   await expect(ph).toHaveCaptured("paid", '],
  },
  {
    runners: ["vitest", "jest"],
    title: "an SDK that is mocked",
    has: ["no request has reached the sim: ", '.mock("posthog-node") is in force'],
    hasNot: [settings, allQueued, fake],
  },
  {
    runners: ["vitest-dom", "jest-dom"],
    title: "a visitor who has opted out",
    has: ["has opted out of capturing", "for the key phc_", "and the host http://127.0.0.1:"],
    hasNot: [settings, allQueued, queue, "automated browsers"],
  },
];

const outputs = new Map<string, Promise<Ran>>();

/** The parts of a runner's output that are about a test; the runner runs once. */
async function outputOf(name: string, title: string): Promise<string> {
  const ran = outputs.get(name) ?? run({ ...vitest, ...silent[name], folder: `silent/${name}` });
  outputs.set(name, ran);
  const { out } = await ran;
  const parts = out.split(/^(?= +● |[ \w|]*FAIL .*>)/m);
  const own = parts.filter((it) => it.split("\n", 1)[0]?.trimEnd().endsWith(` ${title}`));
  expect(own, out).not.toEqual([]);
  return own.join("\n");
}

describe.each(causes.flatMap((it) => it.runners.map((runner) => ({ runner, ...it }))))(
  "a report of $runner",
  ({ runner, title, has, hasNot = [] }) => {
    test(title, async () => {
      const text = await outputOf(runner, title);
      for (const it of has) expect(text).toContain(it);
      for (const it of hasNot) expect(text).not.toContain(it);
    });
  },
);

/** A runner that this project does not need itself. */
interface FurtherRunner {
  name: string;
  /** What `npm run check:runners` installs; absent: it is installed with this project. */
  spec?: string;
  /** The command in an app's folder. @param modules Where the runner is installed @param file The file of tests */
  command(modules: string, file: string): readonly string[];
  passed: RegExp;
  /** What the app that fails prints (default: the report). */
  failed?: RegExp;
  /** Variables that it needs. */
  env?(): Promise<Record<string, string>>;
}

const byNode = (...args: readonly string[]): readonly string[] => [process.execPath, ...args];

/** Bun's package has one more package for each platform, with the program. */
const bunIn = (modules: string): string =>
  readdirSync(join(modules, "@oven"))
    .map((it) => join(modules, "@oven", it, "bin/bun"))
    .find((it) => existsSync(it)) ?? "bun";

const further: FurtherRunner[] = [
  {
    name: "mocha",
    command: (modules, file) => byNode(join(modules, "mocha/bin/mocha.js"), "--timeout=60000", file),
    passed: /2 passing/,
  },
  {
    name: "ava",
    spec: "ava@7.0.0",
    command: (modules, file) => byNode(join(modules, "ava/entrypoints/cli.mjs"), file),
    passed: /2 tests passed/,
  },
  {
    name: "tap",
    spec: "tap@21.8.0",
    command: (modules, file) =>
      byNode(join(modules, "tap/dist/esm/run.mjs"), "--disable-coverage", "--allow-empty-coverage", file),
    passed: /pass: 2 }/,
  },
  {
    name: "bun",
    spec: "bun@1.4.5",
    command: (modules, file) => [bunIn(modules), "test", `./${file}`],
    passed: /2 pass\n +0 fail/,
  },
  {
    name: "deno",
    spec: "deno@2.9.6",
    command: (modules, file) => byNode(join(modules, "deno/bin.cjs"), "test", "-A", file),
    passed: /2 passed \| 0 failed/,
  },
  {
    name: "vitest-browser",
    spec: "@vitest/browser-playwright@4.1.12",
    command: (modules, file) => byNode(join(modules, "vitest/vitest.mjs"), "run", patient, file),
    passed: /Tests {2}1 passed \(1\)/,
    failed: /phx-sim runs in Node and cannot be loaded in a browser.*test\.browser\.commands/,
    env: () => chromiumEnv(),
  },
];

const isChosen = process.env.RUNNERS === "all";

const homeOf = (name: string): string => join("phx-runners", name);
const cacheOf = (name: string): string => join(root, "node_modules/.cache", homeOf(name));
const isHere = ({ name, spec }: FurtherRunner): boolean =>
  spec === undefined || isChosen || existsSync(join(cacheOf(name), "node_modules"));

describe.each(further)("$name", (runner) => {
  if (!isHere(runner)) return void test.skip("runs with npm run check:runners", () => {});
  const { name, spec, command, passed, failed } = runner;
  let place = "";
  let own: Record<string, string> | undefined;
  beforeAll(async () => {
    if (spec !== undefined) await installedAlone(homeOf(name), spec);
    place = installed(undefined, spec === undefined ? [] : installedIn(cacheOf(name)));
    own = await runner.env?.();
  });
  const inFolder = (folder: string, file: string, env: Record<string, string> = {}) => {
    const { VITEST: _1, NODE_OPTIONS: _2, PHX_SIM_URL: _3, ...rest } = process.env;
    return runIn(join(place, "apps", folder), command(join(place, "node_modules"), file), {
      ...rest,
      ...own,
      ...env,
    });
  };

  test("runs the sample suite", async () => {
    const { code, out } = await inFolder(name, "shop.test.js");
    expect(out).toMatch(passed);
    expect(code).toBe(0);
  });

  test("uses the sim of `phx-sim exec`", async () => {
    await using sim = await startSim();
    let events = 0;
    sim.onRequest((it) => {
      events += it.events;
    });
    const { code, out } = await inFolder(name, "shop.test.js", { PHX_SIM_URL: sim.url });
    expect(out).toMatch(passed);
    expect(code).toBe(0);
    expect(events).toBeGreaterThan(0);
  });

  test("shows the report of what fails", async () => {
    const { code, out } = await inFolder(join("failing", name), "wrong.test.js");
    expect(out).toMatch(
      failed ?? /waitFor\("signup_completed", \{plan: "free"\}[\s\S]*properties\.plan +- "free"/,
    );
    expect(out).not.toMatch(/in_flight/);
    expect(code).toBe(1);
    const isGuarded = name === "bun" || name === "deno";
    expect(out.includes("1 call to a guarded host was blocked")).toBe(isGuarded);
  });
});

/** Runners in a folder below a phx-sim.config.json, which names a scenario. */
const configured: [name: string, runner: Pick<Runner, "folder" | "script" | "args">, passed: RegExp][] = [
  ["vitest", { ...vitest, folder: "configured/vitest" }, onePassed.vitest],
  ["vitest without a global setup", { ...vitest, folder: "configured/vitest-alone" }, onePassed.vitest],
  ["jest", { ...jest, folder: "configured/jest" }, onePassed.jest],
  [
    "Playwright",
    {
      folder: "configured/playwright",
      script: "node_modules/@playwright/test/cli.js",
      args: ["test", "--output=results"],
    },
    /1 passed/,
  ],
];

describe.each(configured)("the nearest phx-sim.config.json in %s", (_, runner, passed) => {
  test("counts without `phx-sim exec`", async () => {
    const { code, out } = await run(runner);
    expect(out).toMatch(passed);
    expect(code).toBe(0);
  });

  test("counts with it", async () => {
    const { script, args, folder } = runner;
    const command = [process.execPath, `../../../${script}`, ...args];
    const { code, out } = await run({
      folder,
      script: "node_modules/phx-sim/bin/phx-sim.js",
      args: ["exec", "--", ...command],
    });
    expect(out).toMatch(passed);
    expect(code).toBe(0);
  });

  test("fails with its place if it is wrong", async () => {
    const folder = `${runner.folder}-wrong`;
    const { code, out } = await run({ ...runner, folder }, {}, (place) => {
      cpSync(join(place, runner.folder), join(place, folder), { recursive: true });
      writeFileSync(join(place, folder, "phx-sim.config.json"), '{\n  "scenaro": "flags.json"\n}');
    });
    expect(out).toContain('phx-sim.config.json:2:3: "scenaro" is not an option; did you mean scenario?');
    expect(code).toBe(1);
  });
});

test("a scenario of the suite comes before that of the config file", async () => {
  const { code, out } = await run({ ...vitest, folder: "configured/own" });
  expect(out).toMatch(onePassed.vitest);
  expect(code).toBe(0);
});

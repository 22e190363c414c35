import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { afterEach, describe, expect, vi } from "vitest";
import { diagnose } from "../../../src/tools/doctor/doctor-checks.ts";
import type { DoctorFacts, SimFacts, Traffic } from "../../../src/tools/doctor/doctor-facts.ts";
import { roleOf } from "../../../src/tools/doctor/doctor-variables.ts";
import { endAll, newFolder, post, runHere, startReady } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";

afterEach(async () => {
  vi.unstubAllEnvs();
  await endAll();
});

const traffic: Traffic = { requests: 3, kept: 2, dropped: [], rejected: [], results: [], unmatched: [], browser: null };
const sim: SimFacts = {
  url: "http://127.0.0.1:7490",
  foundBy: "--url",
  version: "1.2.3",
  projects: [{ id: 1, api_key: "phc_mine" }],
  personalKey: "phx_mine",
  adoptsTokens: false,
  clock: { now: "2031-01-01T00:00:00.000Z", frozen: false, real: true },
  faults: [],
  scenarioMistakes: [],
  traffic,
};
const well: DoctorFacts = {
  sim,
  variables: [{ name: "POSTHOG_HOST", value: "http://localhost:7490", source: "environment" }],
  framework: null,
  libraries: [],
  preflight: null,
};

/** What is found of one kind of thing: `level text → fix`. */
const found = (check: string, facts: Partial<DoctorFacts>): string[] =>
  diagnose({ ...well, ...facts })
    .filter((it) => it.check === check)
    .map(({ level, text, fix }) => `${level} ${text}${fix === undefined ? "" : ` → ${fix}`}`);

const variable = (name: string, value: string, source = ".env") => ({ name, value, source });

describe("variables", () => {
  const rows: [name: string, value: string, said: string][] = [
    ["POSTHOG_HOST", "http://127.0.0.1:7490", "ok POSTHOG_HOST (.env): names the sim"],
    ["POSTHOG_HOST", "http://127.0.0.1:7490/", "ok POSTHOG_HOST (.env): names the sim"],
    ["NEXT_PUBLIC_POSTHOG_HOST", "http://[::1]:7490", "ok NEXT_PUBLIC_POSTHOG_HOST (.env): names the sim"],
    [
      "POSTHOG_HOST",
      "http://localhost:8000",
      "warning POSTHOG_HOST (.env): names http://localhost:8000, and the sim is at",
    ],
    ["POSTHOG_HOST", "http://localhost:7490/ingest", "warning POSTHOG_HOST (.env): has /ingest after"],
    ["POSTHOG_HOST", "/ingest", "warning POSTHOG_HOST (.env): is the path /ingest"],
    [
      "VITE_POSTHOG_API_HOST",
      "https://us.i.posthog.com",
      "problem VITE_POSTHOG_API_HOST (.env): names the real service",
    ],
    [
      "POSTHOG_HOST",
      "https://user:hunter2@eu.posthog.com/x",
      "problem POSTHOG_HOST (.env): names the real service, eu.posthog.com:",
    ],
    ["POSTHOG_HOST", "https://notposthog.com", "warning POSTHOG_HOST (.env): names https://notposthog.com"],
    ["POSTHOG_HOST", "localhost:7490", "problem POSTHOG_HOST (.env): is not an address"],
    ["POSTHOG_HOST", "", "warning POSTHOG_HOST (.env): is empty"],
    ["POSTHOG_HOST", '"http://127.0.0.1:7490"', "problem POSTHOG_HOST (.env): has quotes or spaces"],
    ["POSTHOG_API_KEY", "phc_mine", "ok POSTHOG_API_KEY (.env): is the key of project 1"],
    [
      "POSTHOG_API_KEY",
      "phc_other_secretish",
      "problem POSTHOG_API_KEY (.env): is a key that no project of the sim has",
    ],
    ["POSTHOG_API_KEY", "phx_hunter2", "problem POSTHOG_API_KEY (.env): is a personal key (phx_…): SDKs expect"],
    [
      "POSTHOG_PROJECT_TOKEN",
      "phs_hunter2",
      "problem POSTHOG_PROJECT_TOKEN (.env): is phs_…, and a project key (phc_…) belongs there",
    ],
    [
      "POSTHOG_KEY",
      "hunter2",
      "warning POSTHOG_KEY (.env): is a value without phc_, phx_ …: not the form of a project key",
    ],
    ["POSTHOG_PERSONAL_API_KEY", "phx_mine", "ok POSTHOG_PERSONAL_API_KEY (.env): is the sim's personal key"],
    ["POSTHOG_PERSONAL_API_KEY", "phs_mine", "ok POSTHOG_PERSONAL_API_KEY (.env): is a personal key by its form"],
    [
      "POSTHOG_PERSONAL_API_KEY",
      "phc_mine",
      "problem POSTHOG_PERSONAL_API_KEY (.env): is phc_…, and a personal key (phx_…) belongs there",
    ],
    [
      "NEXT_PUBLIC_POSTHOG_KEY",
      "phx_hunter2",
      "problem NEXT_PUBLIC_POSTHOG_KEY (.env): is phx_…, and every user of the app can read it",
    ],
    [
      "VITE_POSTHOG_PERSONAL_API_KEY",
      "phx_hunter2",
      "problem VITE_POSTHOG_PERSONAL_API_KEY (.env): is phx_…, and every user",
    ],
    ["POSTHOG_PROJECT_ID", "1", "ok POSTHOG_PROJECT_ID (.env): is project 1"],
    ["POSTHOG_PROJECT_ID", "2", "problem POSTHOG_PROJECT_ID (.env): is 2, and the sim has no such project"],
    ["POSTHOG_PROJECT_ID", "one", "problem POSTHOG_PROJECT_ID (.env): is not a number"],
  ];
  test.each(rows)("%s=%s", (name, value, said) => {
    const lines = found("variables", { variables: [variable(name, value)] });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.startsWith(said), lines[0]).toBe(true);
    expect(lines[0]).not.toContain("hunter2");
  });

  test.each([
    ["NEXT_PUBLIC_POSTHOG_UI_HOST", undefined],
    ["POSTHOG_DEBUG", undefined],
    ["PHX_SIM_URL", "host"],
    ["REACT_APP_PUBLIC_POSTHOG_KEY", "project key"],
    ["POSTHOG_FEATURE_FLAGS_SECRET_KEY", "secret key"],
  ])("%s is for: %s", (name, role) => {
    expect(roleOf(name)).toBe(role);
  });

  test("the same of many is said once", () => {
    const variables = ["A_POSTHOG_KEY", "B_POSTHOG_KEY"].map((name) => variable(name, "phc_mine"));
    expect(found("variables", { variables })).toEqual([
      "ok A_POSTHOG_KEY, B_POSTHOG_KEY (.env): is the key of project 1",
    ]);
  });

  test("none at all", () => {
    expect(found("variables", { variables: [], framework: "next" })).toEqual([
      "warning no variable with POSTHOG_ in its name is set here, nor in a .env file → phx-sim env --framework next --write .env.local; or phx-sim exec -- your command",
    ]);
  });

  test("without a sim their form is checked", () => {
    const missing = { sim: { missing: "none" } };
    expect(found("variables", { ...missing, variables: [variable("POSTHOG_KEY", "phc_x")] })).toEqual([
      "ok POSTHOG_KEY (.env): is a project key by its form",
    ]);
    expect(found("variables", missing)).toEqual(["ok POSTHOG_HOST (environment): names http://localhost:7490"]);
  });
});

describe("everything else", () => {
  const of = (change: Partial<SimFacts>): Partial<DoctorFacts> => ({ sim: { ...sim, ...change } });
  const having = (change: Partial<Traffic>) => of({ traffic: { ...traffic, ...change } });
  const node = [{ name: "posthog-node", version: "5.70.0" }];
  const key = [variable("POSTHOG_KEY", "phc_mine")];
  const rows: [check: string, facts: Partial<DoctorFacts>, said: RegExp | undefined][] = [
    ["sim", {}, /^ok phx-sim 1\.2\.3 answers at http:\/\/127\.0\.0\.1:7490 \(found by --url\)$/],
    ["sim", { sim: { missing: "no phx-sim answers" } }, /^problem no phx-sim answers → phx-sim start/],
    ["prefix", { framework: "next", variables: key }, /^warning next passes only names that begin with NEXT_PUBLIC_/],
    ["prefix", { framework: "vite", variables: [variable("VITE_PUBLIC_POSTHOG_KEY", "phc_mine")] }, undefined],
    ["prefix", { variables: key }, undefined],
    ["libraries", { libraries: node }, /^ok posthog-node 5\.70\.0$/],
    ["libraries", { libraries: [{ name: "posthog-node", version: "^3.1.0" }] }, /^warning .*tested with version 5/],
    ["libraries", { libraries: [{ name: "posthog-react-native", version: "4.0.0" }] }, /^ok /],
    [
      "libraries",
      { libraries: [{ name: "posthog-node", version: "6.0.1" }] },
      /^ok posthog-node 6\.0\.1: .*capture v1 of version 5/,
    ],
    ["cors", { preflight: { origin: "http://localhost:3000", status: 200, allowed: "http://localhost:3000" } }, /^ok /],
    ["cors", { preflight: { origin: "https://x.test", status: 200, allowed: "https://x.test" } }, /^warning .*https/],
    ["cors", { preflight: { origin: "http://x.test", status: 200, allowed: null } }, /^problem .*may not send/],
    ["cors", { preflight: { origin: "http://x.test", status: 503, allowed: "http://x.test" } }, /^problem .*503/],
    ["traffic", {}, /^ok 3 requests, 2 events kept$/],
    ["traffic", having({ requests: 0 }), /^warning no request has arrived yet/],
    ["flush", { ...having({ kept: 0 }), libraries: node }, /^warning posthog-node sends events in batches/],
    ["flush", { libraries: node }, undefined],
    [
      "bot-filter",
      having({ kept: 0, browser: { automated: "HeadlessChrome" } }),
      /HeadlessChrome.*opt_out_useragent_filter/,
    ],
    ["bot-filter", having({ browser: { automated: "HeadlessChrome" } }), undefined],
    ["clock", {}, undefined],
    [
      "clock",
      of({ clock: { now: "2031", frozen: true, real: false } }),
      /^warning the sim's clock shows 2031, and is frozen/,
    ],
    [
      "faults",
      of({ faults: ["flags-down"] }),
      /^warning faults make requests fail: flags-down → phx-sim faults clear$/,
    ],
    ["faults", {}, undefined],
  ];
  test.each(rows)("%s %j", (check, facts, said) => {
    const lines = found(check, facts);
    if (said === undefined) expect(lines).toEqual([]);
    else expect(lines).toEqual([expect.stringMatching(said)]);
  });

  test("what went wrong so far, each with its reason", () => {
    const trouble = (reason: string) => ({ reason, count: 2, fix: "fix it" });
    const lines = found(
      "traffic",
      having({
        dropped: [trouble("d")],
        rejected: [trouble("r")],
        unmatched: [
          { what: "GET /x", fix: "check it" },
          { what: "GET /x", fix: "check it" },
        ],
      }),
    );
    expect(lines.slice(1)).toEqual([
      "warning 2 dropped events: d → fix it",
      "warning 2 rejected requests: r → fix it",
      "warning request for a path that does not exist: GET /x → check it",
    ]);
  });
});

describe("phx-sim doctor", () => {
  const run = (args: string[], cwd: string, env: Record<string, string> = {}) =>
    runHere(["doctor", ...args], { cwd, env: { ...unset, ...env } });
  /** The variables of anyone who runs the tests are not the app's; empty ones stay out of the way of .env files. */
  const unset = Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (/POSTHOG/.test(name) ? [[name, ""]] : [])),
  );

  test("all is well", async ({ folder: cwd }) => {
    const { ready } = await startReady(["--memory"], { cwd });
    await post(`${ready.url}/capture/`, { api_key: ready.project_api_key, event: "a", distinct_id: "u" });
    writeFileSync(
      join(cwd, ".env"),
      `POSTHOG_HOST=${ready.url} # here\nexport POSTHOG_API_KEY='${ready.project_api_key}'\n`,
    );
    const { code, stdout, stderr } = await run(["--origin", "http://localhost:3000"], cwd, { PHX_SIM_URL: ready.url });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("✓ POSTHOG_HOST (.env): names the sim\n");
    expect(stdout).toContain("✓ POSTHOG_API_KEY (.env): is the key of project 1\n");
    expect(stdout).toContain("✓ pages of http://localhost:3000 may send to it\n");
    expect(stdout).toContain("✓ 1 request, 1 event kept\n");
    expect(stdout).not.toMatch(/[!✗]/);
  });

  test("an edit of the scenario that is not in force: also `status` names the mistake", async () => {
    const cwd = newFolder();
    const file = join(cwd, "s.yaml");
    writeFileSync(file, "flags: { a: true }\n");
    const { sim, ready } = await startReady(["--scenario", "s.yaml"], { cwd });
    writeFileSync(file, "flgs: { a: true }\n");
    await sim.says("stderr", /did you mean "flags"/);
    const { code, stdout } = await run(["--url", ready.url], cwd);
    expect(code).toBe(1);
    const mistake = 's.yaml:1:1 /flgs: unknown key "flgs"; did you mean "flags"?';
    expect(stdout).toContain(
      `✗ the scenario's files are not valid, and its last valid version is in force: ${mistake} → fix it`,
    );
    const status = await runHere(["status"], { cwd });
    expect(status.stdout).toContain(`\n  scenario edit     not valid, the last good one is in force: ${mistake}\n`);
  });

  test("results of capture v1, by reason; events that were not sent again", async () => {
    vi.stubEnv("POSTHOG_CAPTURE_MODE", "v1");
    const { ready } = await startReady(["--memory"], { cwd: newFolder() });
    const send = async (event: string) => {
      const client = new PostHog(ready.project_api_key, { host: ready.url, fetchRetryCount: 0 });
      client.capture({ distinctId: "u", event });
      await client.shutdown();
    };
    await send("e".repeat(201));
    await post(`${ready.url}/__sim/faults`, { preset: "events-dropped", times: 1 });
    await send("bought");
    await post(`${ready.url}/__sim/faults`, { preset: "events-retried", times: 1 });
    await send("lost");
    const { stdout } = await run(["--url", ready.url], newFolder());
    const had = (result: string) => `! 1 event of capture v1 had the result ${result}`;
    expect(stdout).toContain(
      `${had("drop")}: event_name_too_long: the event's name is longer than 200 characters → shorten it\n`,
    );
    expect(stdout).toContain(
      `${had("drop")}: billing_limit_exceeded: a fault gave this result → \`phx-sim faults clear\``,
    );
    expect(stdout).toContain(
      `${had("retry")}: not_persisted: a fault gave this result; 1 event did not arrive again → keep the process alive`,
    );
    expect(stdout).not.toContain("scripted_result");
  });

  test("no sim, and secrets in the wrong places", async ({ folder: cwd }) => {
    writeFileSync(
      join(cwd, ".env.local"),
      "NEXT_PUBLIC_POSTHOG_KEY=phx_hunter2\nPOSTHOG_HOST=https://us.i.posthog.com\n",
    );
    writeFileSync(join(cwd, ".env"), "POSTHOG_HOST=http://127.0.0.1:1\n");
    writeFileSync(join(cwd, "package.json"), `{"dependencies":{"next":"15","posthog-js":"^1.2.0"}}`);
    const { code, stdout } = await run([], cwd, { POSTHOG_API_KEY: "phx_hunter3" });
    expect(code).toBe(1);
    expect(stdout).not.toMatch(/hunter/);
    expect(stdout).toContain("✗ no running sim found");
    expect(stdout).toContain("✗ NEXT_PUBLIC_POSTHOG_KEY (.env.local): is phx_…, and every user");
    expect(stdout).toContain("✗ POSTHOG_HOST (.env.local): names the real service");
    expect(stdout).toContain("✗ POSTHOG_API_KEY (environment): is a personal key");
    expect(stdout).toContain("✓ posthog-js ^1.2.0");
  });

  test("what the sim saw, as JSON", async ({ folder: cwd }) => {
    const { ready } = await startReady(["--memory", "--clock", "2031-01-01"], { cwd });
    const flags = { api_key: ready.project_api_key, distinct_id: "u" };
    await fetch(`${ready.url}/flags/?v=2`, {
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "Mozilla/5.0 (X11) HeadlessChrome/140.0" },
      body: JSON.stringify(flags),
    });
    await post(`${ready.url}/capture/`, { api_key: ready.project_api_key, event: "lost" });
    await post(`${ready.url}/capture/`, { api_key: "phc_nobodys", event: "a", distinct_id: "u" });
    await post(`${ready.url}/nowhere`, {});
    await post(`${ready.url}/__sim/faults`, { preset: "flags-down" });
    mkdirSync(join(cwd, "node_modules/posthog-node"), { recursive: true });
    writeFileSync(join(cwd, "node_modules/posthog-node/package.json"), `{"version":"5.9.9"}`);
    writeFileSync(join(cwd, "package.json"), `{"devDependencies":{"posthog-node":"^5.0.0","left-pad":"1"}}`);
    const { code, stdout } = await run(["--json"], cwd, { PHX_SIM_URL: ready.url });
    expect(code).toBe(0);
    const { passed, findings } = JSON.parse(stdout) as { passed: boolean; findings: { check: string; text: string }[] };
    const text = (check: string) => findings.filter((it) => it.check === check).map((it) => it.text);
    expect(passed).toBe(true);
    expect(text("libraries")).toEqual(["posthog-node 5.9.9"]);
    expect(text("traffic")).toEqual([
      "4 requests, 0 events kept",
      "1 dropped event: missing_distinct_id",
      expect.stringMatching(/^1 rejected request: \w+$/),
      expect.stringMatching(/^request for a path that does not exist: POST \/nowhere/),
    ]);
    expect(text("flush")).toHaveLength(1);
    expect(text("bot-filter")).toEqual([expect.stringContaining("HeadlessChrome")]);
    expect(text("clock")).toEqual([expect.stringContaining("2031-01-01")]);
    expect(text("faults")).toEqual([expect.stringContaining("flags-down")]);
  });

  test.each([
    [["--origin", "ftp://x"], "--origin must be an http address"],
    [["--url", "nonsense://"], "--url must be an http address"],
    [["now"], 'unexpected argument "now"'],
  ])("%j is a mistake", async (args, said) => {
    const { code, stderr } = await run(args, newFolder());
    expect(code).toBe(2);
    expect(stderr).toContain(said);
  });

  test("odd files do no harm", async ({ folder: cwd }) => {
    mkdirSync(join(cwd, ".env"));
    writeFileSync(join(cwd, ".env.local"), "\0\n=\nPOSTHOG_HOST\n__proto__=x\nPOSTHOG_KEY='unended\n");
    writeFileSync(join(cwd, "package.json"), "{");
    const { code, stderr } = await run([], cwd);
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
  });
});

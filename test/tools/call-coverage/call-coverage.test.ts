import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect } from "vitest";
import {
  callCoverageLcov,
  callCoverageLines,
  callCoverageSection,
  callCoverageSummary,
  type Fired,
  firedIn,
  measureCallCoverage,
} from "../../../src/tools/call-coverage/measure.ts";
import { CallCoverage } from "../../../src/tools/call-coverage/shapes.ts";
import { findSites } from "../../../src/tools/call-coverage/source-files.ts";
import { endAll, newFolder, phxSim, post, runHere } from "../../support/phx-sim.ts";
import { test } from "../../support/sim.ts";
import { verdict } from "../../testing/run-report/facts.ts";

afterEach(endAll);

const app = join(import.meta.dirname, "../../usage/coverage-app");
const shown = (name: string): string =>
  readFileSync(join(import.meta.dirname, "../../usage/output", `${name}.txt`), "utf8");

async function* eventsOf(...events: (readonly [event: string, properties?: object, outcome?: string])[]) {
  for (const [event, properties = {}, outcome = "kept"] of events)
    yield { event, outcome, properties: { ...properties } };
}

const called = (key: string, value: boolean | string) =>
  ["$feature_flag_called", { $feature_flag: key, $feature_flag_response: value }] as const;

const none = { tests: false, ignore: [], wrappers: [] };

async function measured(fired: Fired) {
  return CallCoverage.parse(measureCallCoverage(await findSites([app], app, none), fired));
}

describe("the result", () => {
  test("joins the calls with what fired", async () => {
    const events = eventsOf(
      ...([["payment_started"], ["payment_completed"], ["$pageview"], ["survey sent"], ["signed_up"]] as const),
      ["refund_failed", {}, "dropped"],
      called("new-checkout", true),
    );
    const result = await measured(await firedIn(events));
    expect(result).toMatchObject({
      ...{ percent: 60, covered: 3, total: 5, files: 1, problems: [] },
      events: { calls: 4, fired: 2, computed: 0 },
      flags: { read: 1, both: 0, keys: [{ key: "new-checkout", read: true, values: ["true"] }] },
      without_site: [{ event: "signed_up", count: 1 }],
    });
    expect(`${[...callCoverageLines(result), `phx-sim: ${callCoverageSummary(result)}`].join("\n")}\n`).toBe(
      shown("coverage"),
    );
    expect(callCoverageLcov(result)).toBe(
      ["TN:", "SF:src/pay.ts", "DA:6,1", "DA:7,1", "DA:8,0", "DA:9,1", "LF:4", "LH:3", "end_of_record", ""].join("\n"),
    );
  });

  test("both values of a flag, and one that was served only", async () => {
    const both = await measured(await firedIn(eventsOf(called("new-checkout", true), called("new-checkout", false))));
    expect(both.flags).toMatchObject({ read: 1, both: 1 });
    const totals = [{ key: "new-checkout", values: [{ value: true, served: 3 }] }];
    const served = await measured(await firedIn(eventsOf(), totals));
    expect(served.flags).toMatchObject({ read: 0, both: 0 });
    expect(served.sites.find(({ kind }) => kind === "flag")).toMatchObject({ state: "served", count: 0 });
  });

  test("is a section of the verdict, and fails it below a percentage", async () => {
    const result = await measured(await firedIn(eventsOf(["payment_started"])));
    expect(verdict({ sections: [callCoverageSection(result, 20)] })).toMatchObject({ verdict: "passed" });
    const failed = verdict({ sections: [callCoverageSection(result, 21)] });
    expect(failed).toMatchObject({ exit_code: 1, failures: [{ code: "coverage", count: 4 }] });
    expect(failed.sections[0]).toMatchObject({
      summary: expect.stringMatching(/^below 21 %: 20 % of 5 calls: 4 capture calls, 1 fired; never: refund_failed/),
      items: expect.arrayContaining([
        expect.objectContaining({ code: "never_fired", what: "refund_failed src/pay.ts:8" }),
      ]),
    });
  });
});

test("packages, builds, declarations and tests are left out", async ({ folder }) => {
  const files = "src/a.ts src/a.test.ts src/a.d.ts tests/b.js node_modules/d/e.js dist/f.js g/h.jsx .i/j.js g/k.py";
  for (const file of files.split(" ")) {
    mkdirSync(join(folder, file, ".."), { recursive: true });
    writeFileSync(join(folder, file), 'posthog.capture("x")');
  }
  const filesOf = async (options: object) =>
    (await findSites([folder], folder, { ...none, ...options })).sites.map(({ file }) => file);
  expect(await filesOf({})).toEqual(["g/h.jsx", "src/a.ts"]);
  expect(await filesOf({ tests: true })).toEqual(["g/h.jsx", "src/a.test.ts", "src/a.ts", "tests/b.js"]);
  expect(await filesOf({ tests: true, ignore: ["src"] })).toEqual(["g/h.jsx", "tests/b.js"]);
});

describe("commands", () => {
  test("with the events of a running sim", async ({ sim, folder: cwd }) => {
    cpSync(app, cwd, { recursive: true });
    writeFileSync(join(cwd, "src/broken.ts"), "posthog.a = ;\n");
    writeFileSync(join(cwd, "src/bundle.js"), "posthog;".repeat(300_000));
    writeFileSync(
      join(cwd, "src/a.svelte"),
      `{#if posthog.isFeatureEnabled("f")}<b on:click={() => posthog.capture("payment_started")} />{/if}\n`,
    );
    await post(`${sim.url}/capture/`, { api_key: sim.apiKey, event: "payment_started", distinct_id: "u" });
    // The first answer loads the control API; the command waits five seconds for one.
    expect((await fetch(`${sim.url}/__sim/info`)).status).toBe(200);
    const args = ["coverage", "src", "--url", sim.url, "--min", "80", "--lcov", "lcov.info"];
    const { code, stdout, stderr } = await runHere(args, { isOwn: true, cwd });
    expect(code, stderr).toBe(1);
    expect(stdout).toContain("never refund_failed src/pay.ts:8\n");
    expect(stdout).toContain("never flag f src/a.svelte:1\n");
    expect(stdout).toContain("src/broken.ts:1:13 Unexpected token\n");
    expect(stdout).toContain("src/bundle.js:1:1 a file of more than 2 MB is not read\n");
    expect(stderr).toContain("; 2 places not read: src/broken.ts:1:13 Unexpected token\n");
    expect(stderr).toContain("phx-sim: coverage is 28 %, below --min 80\n");
    expect(readFileSync(join(cwd, "lcov.info"), "utf8")).toMatch(/SF:src\/a.svelte\nDA:1,1[\s\S]*DA:6,1/);
  });

  test.each([
    [["coverage", "nowhere", "--report", "r"], 2, /^phx-sim: coverage: \S+nowhere cannot be read: /],
    [
      ["coverage", "empty", "--report", "r"],
      1,
      /^phx-sim: no call sites in 0 files; names that are looked for: capture, /,
    ],
    [
      ["coverage", "c.py", "--report", "r"],
      1,
      /; c\.py:1:1 only JavaScript, TypeScript, Vue, Svelte and Astro are read\n$/,
    ],
    [["coverage", "b.vue", "--report", "r"], 1, /looked for: [^;]*; b\.vue:1:\d+ Unexpected token[^;]*\n$/],
    [["coverage", "--report", "missing"], 2, /events\.ndjson cannot be read: there is no such file/],
    [["exec", "--coverage", "nowhere", "--", "node", "-v"], 2, /^phx-sim: coverage: \S+nowhere cannot be read: /],
    [["exec", "--min-coverage", "5", "--", "node", "-v"], 2, /^phx-sim: --min-coverage needs --coverage/],
  ])("%j ends with %i", async (args, expected, words) => {
    const cwd = newFolder();
    for (const it of ["empty", "r"]) mkdirSync(join(cwd, it));
    writeFileSync(join(cwd, "r/events.ndjson"), "");
    writeFileSync(join(cwd, "c.py"), 'posthog.capture("u", "x")');
    writeFileSync(join(cwd, "b.vue"), `<b @click="posthog.capture('x'" />`);
    const { code, stdout, stderr } = await runHere(args, { isOwn: true, cwd });
    expect({ code, stdout }).toEqual({ code: expected, stdout: "" });
    expect(stderr).toMatch(words);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });

  test("of a run: a section of the verdict; of its report: the same result", async ({ folder: cwd }) => {
    cpSync(app, cwd, { recursive: true });
    const send = `fetch(process.env.POSTHOG_HOST + "/capture/", { method: "POST", body: JSON.stringify({
      api_key: process.env.POSTHOG_API_KEY, event: "payment_started", distinct_id: "u" }) })`;
    const args = ["exec", "--coverage", ".", "--min-coverage", "50", "--report", "out", "--json"];
    const { code, stdout, stderr } = await phxSim([...args, "--", process.execPath, "-e", send], { isOwn: true, cwd })
      .ended;
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      failures: [{ code: "coverage" }],
      sections: [{ name: "coverage", failed: true, total: 4 }],
    });
    expect(stderr).toContain("phx-sim: coverage: below 50 %: 20 % of 5 calls");
    const { stdout: json } = await runHere(["coverage", "src", "--report", "out", "--json"], { isOwn: true, cwd });
    expect(CallCoverage.parse(JSON.parse(json))).toMatchObject({ percent: 20, total: 5 });
  });
});

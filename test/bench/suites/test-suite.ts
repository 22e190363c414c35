import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figure, hold, median, pairedRange, pairedRatio } from "../statistics.ts";
import type { Bench, Suite } from "../suite.ts";

/** Small tests: each makes a client of its own, captures, and looks. */
const most = 1_000;
const testsInFile = 100;

const stubbed = `import { PostHog } from "posthog-node";
import { expect, test } from "vitest";

function stub() {
  const events = [];
  const fetch = async (_, { body }) => {
    events.push(...JSON.parse(body).batch);
    return new Response('{"status":"Ok"}', { headers: { "content-type": "application/json" } });
  };
  return { events, fetch };
}

for (let i = 0; i < ${testsInFile}; i++) {
  test("signup " + i, async () => {
    const { events, fetch } = stub();
    const client = new PostHog("phc_stub", { host: "http://stub", fetch, disableCompression: true });
    client.capture({ distinctId: "u" + i, event: "signed_up", properties: { plan: "pro" } });
    await client.shutdown();
    expect(events).toContainEqual(
      expect.objectContaining({ event: "signed_up", properties: expect.objectContaining({ plan: "pro" }) }),
    );
  });
}
`;

const simulated = `import { PostHog } from "posthog-node";
import { expect, test } from "phx-sim/vitest";

for (let i = 0; i < ${testsInFile}; i++) {
  test("signup " + i, async ({ ph }) => {
    const client = new PostHog(ph.apiKey, { host: ph.host });
    client.capture({ distinctId: "u" + i, event: "signed_up", properties: { plan: "pro" } });
    await client.shutdown();
    await expect(ph).toHaveCaptured("signed_up", { plan: "pro" });
  });
}
`;

const suites = { "hand-written stubs": stubbed, "phx-sim, a project per test": simulated } as const;
type Kind = keyof typeof suites;
const kinds = Object.keys(suites) as Kind[];

/** Below the package, so that its own name leads to it; not in node_modules, where no runner looks for tests. */
const folderOf = (kind: Kind): string => join(".bench", kind.replaceAll(/\W+/g, "-"));

/** Without a file the runner would take the project's own. An installed package is not transformed, so `dist` is not. */
const vitestConfig = "export default { test: { server: { deps: { external: [/[/]dist[/]/] } } } };\n";

function write(kind: Kind, tests: number): void {
  const folder = folderOf(kind);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "vitest.config.mjs"), vitestConfig);
  for (let i = 0; i < tests / testsInFile; i++) writeFileSync(join(folder, `suite-${i}.test.mjs`), suites[kind]);
}

interface Result {
  numPassedTests: number;
  testResults: { startTime: number; endTime: number }[];
}

interface Run {
  /** From the runner's start to its end. */
  wall: number;
  /** In the tests themselves, hooks and fixtures included, one file after the other. */
  tests: number;
}

/** @throws Error when not every test passed */
async function runOnce(kind: Kind, expected: number): Promise<Run> {
  const report = join(folderOf(kind), "report.json");
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--root", folderOf(kind)];
  const from = performance.now();
  const child = spawn(process.execPath, [...vitest, "--reporter=json", "--outputFile=report.json"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(child, "exit");
  const wall = performance.now() - from;
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8")) as Result;
  if (numPassedTests !== expected) throw new Error(`${kind}: ${numPassedTests} tests passed`);
  return { wall, tests: testResults.reduce((sum, it) => sum + it.endTime - it.startTime, 0) };
}

async function measure({ pace, progress }: Bench, tests: number): Promise<Record<Kind, Run[]>> {
  const runs: Record<Kind, Run[]> = { "hand-written stubs": [], "phx-sim, a project per test": [] };
  for (const kind of kinds) write(kind, tests);
  for (let round = 1; round <= pace.rounds; round++) {
    for (const kind of kinds) {
      progress(`round ${round} of ${pace.rounds}: ${kind}`);
      runs[kind].push(await runOnce(kind, tests));
    }
  }
  return runs;
}

export const suite: Suite = {
  name: "test-suite",
  title: `A vitest suite of ${most.toLocaleString("en-US")} small tests with posthog-node`,
  async run(bench) {
    const tests = Math.min(most, bench.pace.most);
    const runs = await measure(bench, tests);
    const base = runs["hand-written stubs"];
    const of = (kind: Kind, figureOf: keyof Run) => runs[kind].map((it) => it[figureOf]);
    const ratio = (kind: Kind, figureOf: keyof Run) =>
      pairedRatio(
        of(kind, figureOf),
        base.map((it) => it[figureOf]),
      );
    return {
      tables: [
        {
          title: "",
          columns: ["", "whole run ms", "× stubs", "from–to", "tests ms", "× stubs", "a test ms"],
          rows: kinds.map((kind) => [
            kind,
            figure(median(of(kind, "wall"))),
            figure(ratio(kind, "wall")),
            pairedRange(
              of(kind, "wall"),
              base.map((it) => it.wall),
            ),
            figure(median(of(kind, "tests"))),
            figure(ratio(kind, "tests")),
            figure(median(of(kind, "tests")) / tests),
          ]),
        },
      ],
      verdicts: [
        hold(
          "a test in addition to one with stubs",
          median(
            of("phx-sim, a project per test", "tests").map(
              (ms, round) => (ms - (of("hand-written stubs", "tests")[round] ?? Number.NaN)) / tests,
            ),
          ),
          "atMost",
          3,
          "ms",
        ),
      ],
      notes: ["Each test makes a client, captures, shuts it down and asserts; vitest's own settings, ten files."],
    };
  },
};

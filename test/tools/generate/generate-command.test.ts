import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Sim, startSim, type TrafficFigures } from "../../../src/index.ts";
import { newFolder, runHere } from "../../support/phx-sim.ts";

let sim: Sim;
const cwd = newFolder();
const run = (...args: string[]) => runHere(["generate", ...args], { cwd, env: { PHX_SIM_URL: sim.url } });
const read = (name: string) => readFileSync(join(cwd, name), "utf8");

beforeAll(async () => {
  const projects = [
    { name: "App", api_key: "phc_app", timezone: "Europe/Berlin" },
    { name: "Shop", api_key: "phc_shop" },
  ];
  sim = await startSim({ scenario: { clock: "2025-06-04T15:20:00Z", organizations: [{ name: "Org", projects }] } });
});
afterAll(async () => {
  await sim.close();
});

const small = ["--users", "20", "--days", "10", "--seed", "7"];

test("sends the events to the running sim, and writes their figures", async () => {
  const { code, stdout, stderr } = await run(...small, "--figures", "figures.json");
  const figures: TrafficFigures = JSON.parse(read("figures.json"));
  expect([code, stderr]).toEqual([0, ""]);
  const [first, funnel, revenue] = stdout.split("\n");
  expect(first).toBe(
    `${figures.events.total} events of 20 users (shopper, seed 7), 2025-05-26 to 2025-06-04 (Europe/Berlin): project 1 "App"`,
  );
  expect(funnel).toMatch(/^users in order: product viewed \d+ → added to basket \d+ → /);
  expect(revenue).toBe(`sum of order placed.revenue: ${figures.revenue?.total.toFixed(2)}`);
  const events = await sim.events.list({ project: 1, limit: 10_000 });
  expect(events).toHaveLength(figures.events.total);
  const [request] = await sim.requests.list({ limit: 1 });
  expect(JSON.stringify(await sim.requests.get(request?.n ?? 0))).toContain("gzip");
});

test("a second time, the sim has them already", async () => {
  const { code, stdout, stderr } = await run(...small, "--until", "2025-06-04T15:20:00Z", "--json");
  expect([code, stderr]).toEqual([
    0,
    expect.stringMatching(/^\d+ events dropped, as after the same command before: the sim has them already\n$/),
  ]);
  expect(JSON.parse(stdout)).toEqual(JSON.parse(read("figures.json")));
});

test("writes NDJSON without a sim", async () => {
  const args = ["--persona", "reader", "--until", "2025-06-01", "--time-zone", "Asia/Tokyo", "--out", "events.ndjson"];
  const { code, stdout } = await runHere(["generate", ...small, ...args, "--json"], { cwd });
  const figures: TrafficFigures = JSON.parse(stdout);
  expect([code, figures.persona, figures.time_zone]).toEqual([0, "reader", "Asia/Tokyo"]);
  const lines = read("events.ndjson").trimEnd().split("\n");
  expect(lines).toHaveLength(figures.events.total);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({
    uuid: expect.any(String),
    event: "$pageview",
    distinct_id: expect.any(String),
    timestamp: expect.any(String),
    properties: { $session_id: expect.any(String) },
  });
});

test("takes a persona file and another project", async () => {
  const persona = "name: baker\nsteps:\n  - event: bread chosen\n";
  const file = join(cwd, "baker.yaml");
  writeFileSync(file, persona);
  const { code } = await run("--persona", "baker.yaml", "--users", "4", "--project", "2", "--quiet");
  expect(code).toBe(0);
  const events = await sim.events.list({ project: 2 });
  expect(events.map((it) => it.event)).toEqual(Array(4).fill("bread chosen"));
  writeFileSync(file, `${persona}    rat: 1\n`);
  const wrong = await run("--persona", "baker.yaml");
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    'phx-sim: baker.yaml:4:5 /steps/0/rat: unknown key "rat"; did you mean "rate"?\n',
  ]);
});

test.each<[string[], string]>([
  [["--persona", "shoper"], '--persona: there is no persona "shoper"; did you mean shopper?'],
  [["--persona", "none.json"], "none.json: does not exist; built-in personas are shopper, saas, reader"],
  [["--users", "0"], "--users: expected a number of at least 1, got 0"],
  [["--users", "many"], '--users must be a whole number, not "many"'],
  [["--days", "4000"], "--days: expected a number of at most 3660, got 4000"],
  [["--until", "soon"], '--until: expected a time from 1970 to 9999, such as 2025-06-01T12:00:00Z, got "soon"'],
  [["--project", "9"], "--project: there is no project 9"],
  [["--out", "x", "--project", "1"], "--project has no effect with --out: the file is of no project"],
  [["--time-zone", "UTC"], "--time-zone is for --out: in a sim, the time zone is that of the project"],
  [["--out", "x", "--time-zone", "Mars"], 'the time zone "Mars" does not exist; use a name such as Europe/Berlin'],
])("%j is a mistake in one line", async (args, line) => {
  const { code, stdout, stderr } = await run(...args);
  expect([code, stdout, stderr.replaceAll(`${cwd}/`, "")]).toEqual([2, "", `phx-sim: ${line}\n`]);
});

test("other failures", async () => {
  expect((await runHere(["generate"], { cwd })).code).toBe(5);
  const late = await run("--until", "2030-01-01");
  expect([late.code, late.stderr]).toEqual([
    2,
    expect.stringMatching(/^phx-sim: the end, 2030-01-01T00:00:00.000Z, is after the sim's time, 2025-06-04T/),
  ]);
  const noFolder = await run("--users", "1", "--out", "no/such/folder/x");
  expect([noFolder.code, noFolder.stderr]).toEqual([
    1,
    expect.stringMatching(/cannot be written: there is no such file/),
  ]);
});

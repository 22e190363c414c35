import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import { bombs } from "./bombs.ts";

const sims: Sim[] = [];
afterEach(async () => {
  for (const sim of sims.splice(0)) await sim.close();
});

async function start(options: SimOptions = {}): Promise<Sim> {
  const sim = await startSim({ queryTimeout: 60_000, ...options });
  sims.push(sim);
  return sim;
}

async function post(sim: Sim, path: string, body: object, signal?: AbortSignal) {
  const response = await fetch(sim.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${sim.personalApiKey}`, "content-type": "application/json" },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
  return { status: response.status, json: (await response.json()) as any };
}

const capture = (sim: Sim, ...batch: object[]) => post(sim, "/batch/", { api_key: sim.apiKey, batch });

const query = (sim: Sim, of: string | object, more: object = {}, signal?: AbortSignal) =>
  post(
    sim,
    "/api/projects/1/query/",
    { query: typeof of === "string" ? { kind: "HogQLQuery", query: of } : of, ...more },
    signal,
  );

const many = (count: number): object[] =>
  Array.from({ length: count }, (_, n) => ({
    event: `e${n % 3}`,
    distinct_id: `u${n % 100}`,
    properties: { n, plan: `p${n % 5}` },
  }));

/** Computes until it is ended. */
const endless = "SELECT arraySum(arrayMap(x -> arraySum(arrayMap(y -> x * y, range(200000))), range(200000)))";

const rows = async (sim: Sim, of: string) => (await query(sim, of)).json.results;

describe("a query that takes too much", () => {
  const events = 5_000;
  let sim: Sim;
  beforeAll(async () => {
    sim = await startSim({ queryTimeout: 4_000 });
    await capture(sim, ...many(events));
  });
  afterAll(() => sim.close());

  /** The process of queries, which is ended with a query, may take longer to start than a query may. */
  async function patiently(of: string | object) {
    for (;;) {
      const answer = await query(sim, of);
      if (answer.status !== 504) return answer.json.results;
    }
  }
  beforeEach(() => patiently("SELECT 1"));

  test.each(bombs)("$name: an error of the service, and captures go on", async ({ name, query: of, refused }) => {
    const over: string[] = [];
    const asked = query(sim, of).finally(() => over.push("query"));
    await capture(sim, { event: name, distinct_id: "x" }).finally(() => over.push("capture"));
    const { status, json } = await asked;
    expect(json).toMatchObject({ type: expect.any(String), code: expect.any(String) });
    if (refused) expect(status).toBe(refused);
    else {
      expect([400, 504, 513]).toContain(status);
      expect(over).toEqual(["capture", "query"]);
    }
    if (status === 504) expect(json.detail).toMatch(/^Query has hit the max execution time/);
    if (status === 513) expect(json.code).toBe("clickhouse_memory_limit_exceeded");
    const named = { query: "SELECT count() FROM events WHERE event = {name}", values: { name } };
    expect(await patiently({ kind: "HogQLQuery", ...named })).toEqual([[1]]);
  });

  test("those that wait behind it are computed", async () => {
    const counted = "SELECT count() FROM events WHERE event = 'e0'";
    const all = [endless, counted, "SELECT length(nope('x'))", "SELECT 1 + 1"];
    const answers = await Promise.all(all.map((it) => query(sim, it)));
    expect(answers.map((it) => it.status)).toEqual([504, 200, 400, 200]);
    expect(answers.map((it) => it.json.results)).toEqual([undefined, [[Math.ceil(events / 3)]], undefined, [[2]]]);
  });

  test("a tile of a dashboard has its error", async () => {
    const created = await post(sim, "/api/projects/1/insights/", {
      query: { kind: "DataVisualizationNode", source: { kind: "HogQLQuery", query: endless } },
    });
    const response = await fetch(`${sim.url}/api/projects/1/insights/${created.json.id}/?refresh=force_blocking`, {
      headers: { authorization: `Bearer ${sim.personalApiKey}` },
    });
    expect(await response.text()).toContain("Query has hit the max execution time");
  });
});

describe("a query is ended", () => {
  const unlimited = { queryTimeout: 600_000 };

  test("when it is cancelled by its id", async () => {
    const sim = await start(unlimited);
    const asked = query(sim, endless, { client_query_id: "mine", refresh: "force_blocking" });
    let isOver = false;
    const ended = asked.finally(() => {
      isOver = true;
    });
    while (!isOver)
      await fetch(`${sim.url}/api/projects/1/query/mine/`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${sim.personalApiKey}` },
      });
    expect((await ended).status).toBeGreaterThanOrEqual(400);
    expect(await rows(sim, "SELECT 1")).toEqual([[1]]);
  });

  test("when its client goes away", async () => {
    const sim = await start(unlimited);
    const leaving = new AbortController();
    const asked = query(sim, endless, {}, leaving.signal);
    const next = rows(sim, "SELECT 1");
    await capture(sim, { event: "e", distinct_id: "x" });
    leaving.abort();
    await expect(asked).rejects.toThrow();
    expect(await next).toEqual([[1]]);
  });

  test("when the sim closes", async () => {
    const sim = await start(unlimited);
    const asked = query(sim, endless).catch(() => "gone");
    await capture(sim, { event: "e", distinct_id: "x" });
    await sim.close();
    expect(await asked).toBeDefined();
  });
});

describe.each([
  ["in memory", undefined],
  ["in a folder", "data"],
])("what was answered before a query is in its result, %s", (_, folder) => {
  const open = async () => start(folder === undefined ? {} : { data: mkdtempSync(join(tmpdir(), "phx-")) });

  test("events, and persons who are merged, changed and deleted", async () => {
    const sim = await open();
    const persons = () => rows(sim, "SELECT uniq(person_id), count() FROM events WHERE event = 'e'");
    for (let n = 1; n <= 3; n++) {
      await capture(sim, { event: "e", distinct_id: `anonymous${n}` });
      expect(await persons()).toEqual([[n, n]]);
    }
    const identify = (n: number) => ({
      event: "$identify",
      distinct_id: "ada",
      properties: { $anon_distinct_id: `anonymous${n}`, $set: { step: n } },
    });
    for (let n = 1; n <= 3; n++) {
      await capture(sim, identify(n));
      expect(await persons()).toEqual([[4 - n, 3]]);
      expect(await rows(sim, "SELECT DISTINCT person.properties.step FROM events ORDER BY 1")).toContainEqual([n]);
    }
    expect(await rows(sim, "SELECT properties.step, is_identified FROM persons")).toEqual([[3, true]]);
    await sim.events.clear();
    expect(await rows(sim, "SELECT count() FROM events")).toEqual([[0]]);
    await capture(sim, { event: "e", distinct_id: "ada", properties: { a: { b: [1] } } });
    expect(await rows(sim, "SELECT properties.a FROM events")).toEqual([['{"b":[1]}']]);
  });

  test("groups, cohorts and actions", async () => {
    const sim = await open();
    await capture(
      sim,
      {
        event: "$groupidentify",
        distinct_id: "x",
        properties: { $group_type: "company", $group_key: "acme", $group_set: { size: 1 } },
      },
      { event: "e", distinct_id: "x", properties: { $groups: { company: "acme" }, $set: { plan: "pro" } } },
      { event: "f", distinct_id: "y" },
    );
    expect(await rows(sim, "SELECT group_0.properties.size FROM events WHERE event = 'e'")).toEqual([[1]]);
    expect(await rows(sim, "SELECT key, properties.size FROM groups")).toEqual([["acme", 1]]);
    const cohort = await post(sim, "/api/projects/1/cohorts/", {
      name: "Pro",
      filters: {
        properties: {
          type: "OR",
          values: [{ type: "AND", values: [{ key: "plan", value: ["pro"], operator: "exact", type: "person" }] }],
        },
      },
    });
    const action = await post(sim, "/api/projects/1/actions/", { name: "An f", steps: [{ event: "f" }] });
    const trend = async (series: object, properties: object[] = []) =>
      (await query(sim, { kind: "TrendsQuery", series: [series], properties })).json.results[0].count;
    const inCohort = { type: "cohort", key: "id", value: cohort.json.id };
    expect(await trend({ kind: "EventsNode", event: null }, [inCohort])).toBe(2);
    expect(await trend({ kind: "ActionsNode", id: action.json.id })).toBe(1);
    await capture(sim, { event: "f", distinct_id: "y", properties: { $set: { plan: "pro" } } });
    expect(await trend({ kind: "EventsNode", event: null }, [inCohort])).toBe(4);
    expect(await trend({ kind: "ActionsNode", id: action.json.id })).toBe(2);
  });

  test("whole events and persons, many and in any order", async () => {
    const sim = await open();
    await capture(sim, ...many(1_500));
    await capture(sim, ...many(1_500));
    const sorted = "SELECT properties FROM events ORDER BY toInt(properties.n) DESC, uuid LIMIT 2";
    expect((await rows(sim, sorted)).map(([it]: string[]) => JSON.parse(it ?? "").n)).toEqual([1499, 1499]);
    expect(await rows(sim, "SELECT sum(JSONExtractInt(properties, 'n')) FROM events")).toEqual([[1500 * 1499]]);
    const { json } = await query(sim, { kind: "EventsQuery", select: ["*", "person"], limit: 1000, after: "all" });
    const shown: [{ properties: { n: number }; distinct_id: string }, { distinct_id: string; uuid: string }][] =
      json.results;
    expect(shown).toHaveLength(1000);
    for (const [event, person] of shown) {
      expect(event.distinct_id).toBe(`u${event.properties.n % 100}`);
      expect(person).toMatchObject({ distinct_id: event.distinct_id, uuid: expect.any(String) });
    }
  });
});

describe("the process of queries", () => {
  const run = async (script: string) =>
    promisify(execFile)(
      process.execPath,
      ["--input-type=module", "--eval", `import { startSim } from ${JSON.stringify(built)};\n${script}`],
      { timeout: 120_000 },
    );
  const built = pathToFileURL(join(import.meta.dirname, "../../../dist/index.js")).href;

  test("ends with its sim, which keeps nothing open", async () => {
    const { stdout } = await run(`
      const sim = await startSim();
      console.log((await sim.query("SELECT 1 + 1")).results);
      await sim.close();
    `);
    expect(stdout).toBe("[ [ 2 ] ]\n");
  });

  test("comes after its sim where processors are scarce", async () => {
    const { stdout } = await run(`
      import { getPriority } from "node:os";
      const sim = await startSim();
      await sim.query("SELECT 1");
      const [child] = process.report.getReport().libuv.filter((it) => it.type === "process");
      console.log(getPriority(child.pid) === Math.min(19, getPriority() + 5));
      await sim.close();
    `);
    expect(stdout).toBe("true\n");
  });

  test("is started again after it was ended from outside", async () => {
    const { stdout } = await run(`
      import { execFileSync } from "node:child_process";
      const children = () => process.report.getReport().libuv.filter((it) => it.type === "process").map((it) => it.pid);
      const sim = await startSim();
      await sim.query("SELECT 1");
      for (const pid of children()) process.kill(pid, "SIGKILL");
      const { results } = await sim.query("SELECT 2").catch((error) => sim.query("SELECT 3"));
      console.log(results[0][0] > 1);
      await sim.close();
    `);
    expect(stdout).toBe("true\n");
  });

  test("that cannot be started is an error", async () => {
    const { stdout } = await run(`
      const sim = await startSim();
      process.execPath = "/nowhere/node";
      await sim.query("SELECT 1").catch((error) => console.log(error.code, error.message));
      await sim.close();
    `);
    expect(stdout).toMatch(/^not_ready .*process that computes queries cannot be started: .*ENOENT/);
  });
});

test("a query is computed for as long as the option allows", async () => {
  await expect(startSim({ queryTimeout: 0 })).rejects.toThrow(/queryTimeout cannot be 0/);
  const sim = await start({ queryTimeout: 1 });
  expect((await query(sim, endless)).status).toBe(504);
});

test("much data is no internal error", async () => {
  const sim = await start();
  for (let from = 0; from < 130_000; from += 10_000)
    await capture(
      sim,
      ...Array.from({ length: 10_000 }, (_, n) => ({ event: "e", distinct_id: "u", properties: { n: from + n } })),
    );
  const series = [{ kind: "EventsNode", event: "e" }];
  const outOfRange = { kind: "LifecycleQuery", series, dateRange: { date_from: "-9999999d" } };
  expect((await query(sim, outOfRange)).status).toBe(400);
  // more values than a call has arguments
  const breakdownFilter = { breakdown: "n", breakdown_limit: 1_000_000 };
  const many = { kind: "TrendsQuery", series, dateRange: { date_from: "-7d" }, breakdownFilter };
  expect((await query(sim, many)).status).toBe(400);
  expect((await query(sim, { kind: "EventsQuery", select: ["*", "person"] })).status).toBe(200);
});

test("a long result is the same at once, from the cache, and in an insight", async () => {
  const sim = await start();
  await capture(sim, ...many(4_000));
  const text = "SELECT event, properties, '\"é\\\\' FROM events ORDER BY toInt(properties.n) LIMIT 4000";
  const check = (results: [string, string, string][]) => {
    expect(results).toHaveLength(4_000);
    for (const [n, [event, properties, sign]] of results.entries()) {
      expect([event, JSON.parse(properties).n, sign]).toEqual([`e${n % 3}`, n, '"é\\']);
    }
  };
  for (const isCached of [false, true]) {
    const { json } = await query(sim, text);
    expect(json).toMatchObject({ is_cached: isCached, columns: ["event", "properties", expect.any(String)] });
    check(json.results);
  }
  check((await sim.query(text)).results as [string, string, string][]);
  const source = { kind: "HogQLQuery", query: text };
  const insight = await post(sim, "/api/projects/1/insights/", { query: { kind: "DataVisualizationNode", source } });
  const shown = await fetch(`${sim.url}/api/projects/1/insights/${insight.json.id}/?refresh=blocking`, {
    headers: { authorization: `Bearer ${sim.personalApiKey}` },
  });
  const { result } = (await shown.json()) as { result: [string, string, string][] };
  check(result);
});

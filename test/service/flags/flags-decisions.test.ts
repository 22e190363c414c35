import { describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { FlagDecision, FlagDecisions } from "../../../src/service/flags/decision-shapes.ts";
import { newFolder } from "../../support/folder.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();

type Project = Awaited<ReturnType<Sim["project"]>>;

const flags = { multi: "test", on: true, off: false };

const ask = async (project: Project, body: Record<string, unknown> = {}, path = "/flags/?v=2", headers = {}) => {
  const answer = await fetch(`${sim.url}${path}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ token: project.apiKey, distinct_id: "anna", ...body }),
  });
  return answer.ok ? ((await answer.json()) as { requestId: string }) : { requestId: "" };
};

/** An app says that it used a flag. */
const use = (project: Project, key: string, response: unknown, properties: Record<string, unknown> = {}) =>
  fetch(`${sim.url}/capture/`, {
    method: "POST",
    body: JSON.stringify({
      api_key: project.apiKey,
      event: "$feature_flag_called",
      distinct_id: "anna",
      properties: { $feature_flag: key, $feature_flag_response: response, ...properties },
    }),
  });

const reported = async (query: string): Promise<FlagDecisions> => {
  const answer = await fetch(`${sim.url}/__sim/flag-decisions${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as FlagDecisions;
};

const of = async (project: Project, query = "") => (await reported(`?project=${project.id}${query}`)).decisions;

const callsOf = (made: FlagDecision | undefined) =>
  made?.called.map(({ key, response, differs }) => [key, response, differs]);

describe("an answer", () => {
  test("reports who asked and what each flag was, and why", async () => {
    await using project = await sim.project({ flags });
    await ask(
      project,
      {
        person_properties: { plan: "pro", $device_id: "phone" },
        groups: { company: "acme" },
        group_properties: { company: { tier: "gold" } },
        $anon_distinct_id: "anon",
      },
      "/flags/?v=2",
      { "user-agent": "shop/1.0", "x-forwarded-for": "1.2.3.4" },
    );
    const [made, ...others] = await of(project);
    expect(others).toEqual([]);
    expect(made).toMatchObject({
      by: "answer",
      project: project.id,
      distinct_id: "anna",
      client: "shop/1.0",
      status: 200,
      rejected: null,
      fault: null,
      has_errors: false,
      seq: null,
      called: [],
      asked: {
        person_properties: { plan: "pro", $device_id: "phone" },
        groups: { company: "acme" },
        group_properties: { company: { tier: "gold" } },
        device_id: "phone",
        anon_distinct_id: "anon",
        ip: "1.2.3.4",
        keys: null,
      },
    });
    const byKey = new Map(made?.flags.map((it) => [it.key, it]));
    expect(byKey.get("beta-feature")).toMatchObject({
      value: true,
      reason: { code: "condition_match" },
      condition_index: 0,
      failed: false,
    });
    expect(byKey.get("off-for-everyone")).toMatchObject({
      value: false,
      reason: { code: "out_of_rollout_bound" },
      condition_index: 0,
    });
    expect(byKey.get("multi")).toMatchObject({ value: "test", reason: { code: "override" }, condition_index: null });
  });

  const versions: [path: string, key: string, value: unknown][] = [
    ["/flags/?v=1", "multi", "test"],
    ["/decide/?v=4", "multi", "test"],
    ["/decide/?v=3", "off", false],
    ["/decide/?v=2", "multi", "test"],
    ["/decide/?v=1", "multi", true],
  ];
  test.each(versions)("of %s has %s", async (path, key, value) => {
    await using project = await sim.project({ flags });
    await ask(project, {}, path);
    expect(await of(project, `&key=${key}`)).toMatchObject([{ flags: [{ key, value }] }]);
  });

  test("says what else was said under other names", async () => {
    await using project = await sim.project({ flags });
    await ask(project, {
      distinct_id: undefined,
      $distinct_id: 7,
      $groups: { company: 5 },
      flag_keys: ["on"],
      geoip_disable: true,
    });
    expect(await of(project)).toMatchObject([
      { distinct_id: "7", asked: { groups: { company: 5 }, keys: ["on"], ip: null }, flags: [{ key: "on" }] },
    ]);
  });

  test("an override is its reason, its payload is reported", async () => {
    await using project = await sim.project({ flags });
    await project.flags.set("on", false);
    await project.flags.set("new", true, { payload: { a: 1 }, force: true });
    await ask(project);
    const [made] = await of(project);
    expect(made?.flags.find((it) => it.key === "on")).toMatchObject({ value: false, reason: { code: "override" } });
    expect(made?.flags.find((it) => it.key === "new")).toMatchObject({ value: true, payload: '{"a":1}' });
  });

  test("one that was refused has no flags, and says why", async () => {
    await using project = await sim.project({ flags });
    await ask(project, { distinct_id: undefined });
    expect(await of(project)).toMatchObject([
      { status: 400, flags: [], distinct_id: null, rejected: expect.stringContaining("distinct_id") },
    ]);
    expect(await of(project, "&key=on")).toHaveLength(1);
  });

  test.each([{ groups: [] }, { $anon_distinct_id: 7 }, { $distinct_id: "second" }])(
    "refused for %j: lists and totals go on",
    async (extra) => {
      await using own = await startSim({ scenario: { version: 1, flags: { on: true } } });
      await fetch(`${own.url}/flags/?v=2`, {
        method: "POST",
        body: JSON.stringify({ token: own.apiKey, distinct_id: "anna", ...extra }),
      });
      const read = async (path: string) => (await fetch(`${own.url}/__sim/${path}`)).json();
      expect(await read("flag-decisions")).toMatchObject({
        decisions: [{ status: 400, flags: [], rejected: expect.stringContaining("invalid JSON") }],
      });
      expect(await read("flag-decisions/totals")).toMatchObject({ flags: [] });
    },
  );
});

describe("the uses that followed", () => {
  test("belong to the nearest answer before them", async () => {
    await using project = await sim.project({ flags });
    await ask(project);
    await use(project, "on", true);
    await ask(project);
    await use(project, "multi", "test");
    await use(project, "multi", "control");
    const [second, first] = await of(project);
    expect(callsOf(first)).toEqual([["on", true, false]]);
    expect(callsOf(second)).toEqual([
      ["multi", "control", true],
      ["multi", "test", false],
    ]);
  });

  test("or to the one that they name", async () => {
    await using project = await sim.project({ flags });
    const { requestId } = await ask(project);
    await ask(project);
    await use(project, "on", true, { $feature_flag_request_id: requestId });
    const [second, first] = await of(project);
    expect([callsOf(first), callsOf(second)]).toEqual([[["on", true, false]], []]);
  });

  const responses: [key: string, response: unknown, differs: boolean][] = [
    ["on", true, false],
    ["on", false, true],
    ["on", "test", true],
    ["on", undefined, true],
    ["off", false, false],
    ["multi", true, true],
    ["nowhere", undefined, false],
    ["nowhere", false, false],
    ["nowhere", true, true],
    ["__proto__", false, false],
  ];
  test.each(responses)("%s was %s", async (key, response, differs) => {
    await using project = await sim.project({ flags });
    await ask(project);
    await use(project, key, response);
    expect(callsOf((await of(project))[0])).toEqual([[key, response ?? null, differs]]);
  });

  const strangers: [string, Record<string, unknown>][] = [
    ["another user", { distinct_id: "ben" }],
    ["an answer about other flags", { flag_keys_to_evaluate: ["off"] }],
  ];
  test.each(strangers)("are not those of %s", async (_, body) => {
    await using project = await sim.project({ flags });
    await ask(project, body);
    await use(project, "on", true);
    expect((await of(project)).map(callsOf)).toEqual([[]]);
  });

  test("nor those of another project", async () => {
    await using project = await sim.project({ flags });
    await using other = await sim.project({ flags });
    await ask(project);
    await use(other, "on", true);
    expect((await of(project)).map(callsOf)).toEqual([[]]);
  });

  test("are found from an older page, too", async () => {
    await using project = await sim.project({ flags });
    await ask(project);
    await use(project, "on", true);
    await ask(project);
    const first = await reported(`?project=${project.id}&limit=1`);
    expect(first.decisions).toHaveLength(1);
    const second = await reported(`?project=${project.id}&limit=1&before=${first.before}`);
    expect(second.decisions.map(callsOf)).toEqual([[["on", true, false]]]);
  });
});

test("an SDK that evaluates by itself made a decision", async () => {
  await using project = await sim.project({ flags });
  await use(project, "on", true, { locally_evaluated: true, $feature_flag_reason: "Evaluated locally" });
  expect(await of(project)).toMatchObject([
    {
      by: "local_evaluation",
      seq: expect.any(Number),
      distinct_id: "anna",
      asked: null,
      flags: [{ key: "on", value: true, reason: { description: "Evaluated locally" } }],
      called: [{ key: "on", response: true, differs: false }],
    },
  ]);
});

test("what is asked for: a flag, someone, a part of the journal", async () => {
  await using project = await sim.project({ flags });
  await ask(project);
  await ask(project, { distinct_id: "ben", flag_keys_to_evaluate: ["on"] });
  const [ben, anna] = await of(project);
  expect((await of(project, "&key=multi")).map((it) => [it.distinct_id, it.flags.map(({ key }) => key)])).toEqual([
    ["anna", ["multi"]],
  ]);
  expect((await of(project, "&distinct_id=ben")).map((it) => it.request)).toEqual([ben?.request]);
  expect((await of(project, `&since=${anna?.request}`)).map((it) => it.request)).toEqual([ben?.request]);
  expect((await of(project, `&before=${ben?.request}`)).map((it) => it.request)).toEqual([anna?.request]);
  expect(await of(project, "&key=nowhere")).toEqual([]);
  expect((await reported(`?project=${project.id}`)).before).toBeNull();
});

/** Requests that have nothing to do with flags: more than one answer looks through. */
async function others(project: Project, count: number): Promise<void> {
  const batch = Array.from({ length: 200 }, (_, i) => ({
    event: "viewed",
    distinct_id: "anna",
    properties: { i, text: "x".repeat(300) },
  }));
  for (let i = 0; i < count; i++)
    await fetch(`${sim.url}/batch/`, { method: "POST", body: JSON.stringify({ api_key: project.apiKey, batch }) });
}

type Totals = {
  complete: boolean;
  flags: { key: string; served: number; called: number; differs: number; values: unknown[] }[];
};

async function totalsOf(url: string, project: number): Promise<Totals> {
  for (;;) {
    const totals = (await (await fetch(`${url}/__sim/flag-decisions/totals?project=${project}`)).json()) as Totals;
    if (totals.complete) return totals;
  }
}

test("decisions are found behind any number of other requests, in one call", async () => {
  await using project = await sim.project({ flags });
  for (let i = 0; i < 34; i++) await ask(project, { distinct_id: `user-${i % 3}` });
  await others(project, 160);
  expect((await reported(`?project=${project.id}&limit=100`)).decisions).toHaveLength(34);
  expect(await project.flags.decisions({ key: "on", limit: 30 })).toHaveLength(30);
  expect(await project.flags.decisions({ distinctId: "user-2" })).toHaveLength(11);
  expect((await of(project, "&key=on&distinct_id=user-1")).map((it) => it.distinct_id)).toEqual(
    Array.from({ length: 11 }, () => "user-1"),
  );
});

test("a flag, or a subject, is found behind decisions about others", async () => {
  await using project = await sim.project({ flags });
  await ask(project);
  const filling = "x".repeat(900_000);
  for (let i = 0; i < 10; i++) await use(project, "else", filling);
  // a busy machine may need several calls
  const query = `?project=${project.id}&key=on`;
  let found = await reported(query);
  while (found.decisions.length === 0 && found.before !== null)
    found = await reported(`${query}&before=${found.before}`);
  expect(found.decisions).toMatchObject([{ distinct_id: "anna", flags: [{ key: "on" }] }]);
});

test("a use of a flag that the answer did not have is found by the flag", async () => {
  await using project = await sim.project({ flags });
  await ask(project);
  await use(project, "removed", true);
  expect(await of(project, "&key=removed")).toMatchObject([{ flags: [], called: [{ key: "removed", differs: true }] }]);
});

describe("totals", () => {
  test("count every decision and every use, also those that come later", async () => {
    await using project = await sim.project({ flags });
    for (let i = 0; i < 120; i++) await ask(project, { distinct_id: `user-${i}` });
    await ask(project);
    await use(project, "on", true);
    await use(project, "on", "other");
    await use(project, "off", false, { locally_evaluated: true });
    const row = async (key: string) => (await totalsOf(sim.url, project.id)).flags.find((it) => it.key === key);
    expect(await row("on")).toMatchObject({
      served: 121,
      called: 2,
      differs: 1,
      values: [
        { value: true, served: 121, called: 1 },
        { value: "other", served: 0, called: 1 },
      ],
    });
    expect(await row("off")).toMatchObject({ served: 122, called: 1, differs: 0 });
    await use(project, "on", false);
    await ask(project, { flag_keys_to_evaluate: ["on"] });
    expect(await row("on")).toMatchObject({ served: 122, called: 3, differs: 2 });
    expect(await row("off")).toMatchObject({ served: 122 });
    expect(await row("never")).toBeUndefined();
  });

  test("of a data folder are the same after a restart", async () => {
    const data = newFolder();
    const run = async <T>(use: (it: Sim) => Promise<T>): Promise<T> => {
      await using one = await startSim({ data });
      return await use(one);
    };
    const before = await run(async (one) => {
      for (let i = 0; i < 40; i++)
        await fetch(`${one.url}/flags/?v=2`, {
          method: "POST",
          body: JSON.stringify({ token: one.apiKey, distinct_id: `user-${i}` }),
        });
      return totalsOf(one.url, one.projectId);
    });
    expect(before.flags.length).toBeGreaterThan(0);
    const byKey = (it: Totals) => it.flags.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await run(async (one) => {
      expect(byKey(await totalsOf(one.url, one.projectId))).toEqual(byKey(before));
      const found = await fetch(`${one.url}/__sim/flag-decisions?distinct_id=user-7`);
      expect(await found.json()).toMatchObject({ decisions: [{ distinct_id: "user-7" }], before: null });
    });
  });
});

const wrong: [query: string, pointer: string][] = [
  ["?project=x", "?project"],
  ["?before=0", "?before"],
  ["?since=-1", "?since"],
  ["?limit=0", "?limit"],
  ["?limit=501", "?limit"],
];
test.each(wrong)("%s is a mistake", async (query, pointer) => {
  const answer = await fetch(`${sim.url}/__sim/flag-decisions${query}`);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ code: "invalid_input", pointer });
});

describe("GET /__sim/flags", () => {
  test("has the rules in words, and each variant's share", async () => {
    const found = (await sim.flags.list()).find((it) => it.key === "new-checkout");
    expect(found).toMatchObject({
      shares: [
        { variant: "control", percentage: 50 },
        { variant: "test", percentage: 50 },
      ],
      words: {
        before: [],
        sets: ["Everyone gets it."],
        after: expect.arrayContaining(['A match gives a variant: "control" 50 %, "test" 50 %.']),
        cohorts: [],
      },
    });
    expect(await sim.flags.get("new-checkout")).toMatchObject({ filters: { multivariate: { variants: [{}, {}] } } });
  });

  test("a key that is only overridden has none", async () => {
    await using project = await sim.project();
    await project.flags.set("later", true, { force: true });
    expect(await project.flags.get("later")).toMatchObject({ words: null, shares: [], filters: null });
  });
});

describe("DELETE /__sim/flags/:key?for=everyone", () => {
  const remove = (project: Project, query: string) =>
    fetch(`${sim.url}/__sim/flags/on?project=${project.id}${query}`, { method: "DELETE" });

  test("leaves those for someone", async () => {
    await using project = await sim.project({ flags });
    await project.flags.set("on", false);
    await project.flags.set("on", false, { distinctId: "anna" });
    expect(await (await remove(project, "&for=everybody")).json()).toEqual({ removed: 1 });
    expect((await project.flags.get("on")).overrides).toMatchObject([{ distinct_id: "anna" }]);
    expect(await (await remove(project, "&for=everybody")).json()).toEqual({ removed: 0 });
  });

  test("anything else is a mistake", async () => {
    await using project = await sim.project({ flags });
    expect((await remove(project, "&for=nobody")).status).toBe(400);
  });
});

import { describe, expect, test } from "vitest";
import { readScenario, type Scenario, startSim } from "../../../../src/index.ts";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { scenarioFromTape } from "../../../../src/lab/scenario/from-tape/scenario-from-tape.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { routeOf } from "../../../../src/lab/tapes/format/routes.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { type Asked, openSim, recorded } from "../../tapes/verify/recorded.ts";

/** An exchange whose answer is this JSON. */
function exchange(method: string, target: string, answer: Json, request: Json = {}, status = 200): Exchange {
  const wire = { bytes: 0, encodings: [] };
  return {
    i: 1,
    at: "2026-01-01T00:00:00Z",
    route: routeOf(method, target),
    req: { method, url: `https://x.test${target}`, http: "1.1", headers: [], wire, body: { json: request } },
    res: { status, reason: "", http: "1.1", headers: [], wire, body: { json: answer }, ttfb: 0, total: 0 },
    complete: true,
    redacted: [],
  };
}

const projectsOf = ({ organizations = [] }: Scenario) => organizations.flatMap(({ projects }) => projects);

/** Nothing is wrong with the scenario. */
async function checked(made: Scenario): Promise<Scenario> {
  const { scenario, problems } = await readScenario([made]);
  expect(problems).toEqual([]);
  return scenario ?? expect.fail("no scenario");
}

const visit: readonly Asked[] = [
  { path: "/api/users/@me/" },
  { path: "/api/organizations/" },
  { path: "/api/projects/1/" },
  { path: "/api/projects/1/dashboards/" },
  { path: "/api/projects/1/dashboards/1/" },
  { path: "/api/projects/1/dashboards/2/" },
  { path: "/api/projects/1/feature_flags/" },
  { path: "/api/projects/1/persons/" },
  { path: "/api/projects/1/batch_exports/" },
  { path: "/flags/definitions?token=$key" },
];

describe("a world that was looked at", () => {
  test.each(["saas-team", "shop", "exports", "flags-gallery"])("%s comes back with its ids", async (name) => {
    const { redact } = createRedactor();
    const sim = await openSim("documented", name);
    const tape = (await recorded(sim, visit)).map((it) => redact(it));
    await sim.close();
    const made = await scenarioFromTape(tape);
    expect(made.leftOut).toEqual([]);
    const scenario = await checked(made.scenario);
    expect(scenario).toEqual(made.scenario);
    expect(JSON.stringify(scenario)).not.toMatch(/\{\{secret:project_key|phx_(?!tape_)/);

    const again = await startSim({ scenario });
    const second = await recorded(again, visit);
    await again.close();
    for (const path of [/dashboards\//, /feature_flags\/$/, /persons\//, /batch_exports\/$/]) {
      const ids = (exchanges: Exchange[]) =>
        exchanges
          .filter(({ req, res }) => path.test(req.url) && res?.status === 200)
          .map(({ res }) => JSON.stringify(res?.body).match(/"(?:id|key|distinct_ids|text)":[^,]*/g));
      expect(ids(second)).toEqual(ids(tape));
    }
  });
});

describe("what was changed on the way", () => {
  const board = (id: number, name: string): Json => ({ id, name, team_id: 1, deleted: false });
  const tape = [
    exchange("GET", "/api/projects/1/dashboards/", { results: [board(1, "one"), board(2, "two")] }),
    exchange("PATCH", "/api/projects/1/dashboards/1/", board(1, "uno"), { name: "uno" }),
    exchange("DELETE", "/api/projects/1/dashboards/2/", null, {}, 204),
    exchange("POST", "/api/projects/1/dashboards/", board(3, "three"), { name: "three" }, 201),
    exchange("PATCH", "/api/projects/1/dashboards/4/", board(4, "vier"), { name: "vier" }),
    exchange("POST", "/api/projects/1/dashboards/", board(5, "refused"), {}, 400),
    { ...exchange("GET", "/api/projects/1/dashboards/6/", board(6, "cut")), complete: false },
  ];
  test("is as it was before the tape", async () => {
    const { scenario } = await scenarioFromTape(tape);
    const dashboards = projectsOf(scenario)[0]?.dashboards?.map(({ id, name }) => `${id} ${name}`);
    expect(dashboards).toEqual(["1 one", "2 two", "4 undefined"]);
  });
});

describe("flags that no one defined", () => {
  const ask = (answer: Json) => exchange("POST", "/flags/?v=2", answer, { api_key: "phc_app" });
  test("are what was answered", async () => {
    const { scenario } = await scenarioFromTape([
      ask({
        flags: {
          on: { key: "on", enabled: true, variant: null, metadata: { payload: '{"a":1}' } },
          off: { key: "off", enabled: false, variant: null },
          color: { key: "color", enabled: true, variant: "red", metadata: { payload: '"#f00"' } },
          __proto__x: { key: "__proto__x", enabled: true },
        },
      }),
      ask({ featureFlags: { on: false, plain: true }, featureFlagPayloads: {} }),
    ]);
    expect(projectsOf(scenario)).toMatchObject([
      {
        api_key: "phc_app",
        flags: {
          on: { rollout: 100, payloads: { true: { a: 1 } } },
          off: false,
          color: { variants: { red: 100 }, payloads: { red: "#f00" } },
          plain: true,
        },
      },
    ]);
    await checked(scenario);
  });

  test("defined ones are not inferred", async () => {
    const filters = { groups: [{ properties: [], rollout_percentage: 10 }] };
    const { scenario } = await scenarioFromTape([
      ask({ featureFlags: { on: true } }),
      exchange("GET", "/flags/definitions?token=phc_app", {
        flags: [{ id: 7, team_id: 12, key: "on", filters, active: true }],
        group_type_mapping: { "0": "company" },
        cohorts: {},
      }),
    ]);
    expect(projectsOf(scenario)).toMatchObject([
      { id: 12, api_key: "phc_app", group_types: ["company"], flags: { on: { id: 7, filters } } },
    ]);
  });
});

test("flags whose rules are of an unknown version are as they were answered, or left out", async () => {
  const filters = { version: 3 };
  const typed = { version: 2, return_type: "boolean", default_value: true, rules: [] };
  const { scenario, leftOut } = await scenarioFromTape([
    exchange("POST", "/flags/?v=2", { featureFlags: { seen: true } }, { token: "phc_app" }),
    exchange("GET", "/flags/definitions?token=phc_app", {
      flags: [
        { id: 7, team_id: 12, key: "seen", filters, active: true },
        { id: 8, team_id: 12, key: "unseen", filters, active: true },
        { id: 9, team_id: 12, key: "plain", filters: { version: 1, groups: [] }, active: true },
        { id: 10, team_id: 12, key: "typed", filters: typed, active: true },
      ],
      cohorts: {},
    }),
  ]);
  const flags = projectsOf(scenario)[0]?.flags;
  expect(flags).toMatchObject({ seen: true, plain: { filters: { version: 1 } }, typed: { filters: typed } });
  expect(Object.keys(flags ?? {}).sort()).toEqual(["plain", "seen", "typed"]);
  expect(leftOut).toEqual([expect.stringContaining("/flags/unseen/filters/version: expected 1 or 2 ")]);
  await checked(scenario);
});

describe("keys", () => {
  const capture = (api_key: string, status = 200) =>
    exchange("POST", "/batch/", { status: 1 }, { api_key, batch: [] }, status);
  test("each project key is a project's; refused ones are no one's", async () => {
    const { scenario, keys } = await scenarioFromTape([
      capture("{{secret:project_key#1}}"),
      capture("{{secret:project_key#2}}"),
      capture("{{secret:project_key#3}}", 401),
    ]);
    expect(projectsOf(scenario).map(({ api_key }) => api_key)).toEqual(["phc_tape_1", "phc_tape_2"]);
    expect([...keys]).toEqual([
      ["{{secret:project_key#1}}", "phc_tape_1"],
      ["{{secret:project_key#2}}", "phc_tape_2"],
    ]);
  });
});

describe("tapes that make no sense", () => {
  const nonsense: Json[] = [
    null,
    [],
    "text",
    { results: "no list" },
    { results: [null, 1, {}, { id: null }, { id: {} }] },
    { id: -1, name: 7, filters: [], tiles: [{ insight: { id: [] } }, null], team_id: "x", created_by: { email: 3 } },
    { id: 1, name: "n".repeat(5000), tags: [1], tiles: [{ text: { body: "x".repeat(9000) } }], created_at: "T" },
    { id: 1, email: "no address", organization: { id: "x", name: "" }, team: { id: "@" } },
    { id: "a", key: "k", filters: { groups: [{ rollout_percentage: "all" }] } },
    { id: 2, key: "k2", filters: { groups: "none" }, version: 0.5 },
    { id: "../../..", name: "e", interval: "never", destination: 5, latest_runs: [{ status: "?" }] },
    { flags: [{ id: 1 }, { id: 2, key: 5, filters: {} }], cohorts: { x: {} }, group_type_mapping: { 0: 1 } },
    JSON.parse('{"__proto__": {"id": 1}, "id": 5, "constructor": {"name": "x"}}'),
  ];
  const targets = [
    "/api/users/@me/",
    "/api/organizations/",
    "/api/organizations/x/",
    "/api/projects/",
    "/api/projects/1/",
    "/api/projects/1/dashboards/",
    "/api/projects/@current/insights/",
    "/api/environments/1/feature_flags/1/",
    "/api/projects/999999999999999999999/cohorts/",
    "/api/projects/1/batch_exports/",
    "/api/projects/1/persons/",
    "/api/feature_flag/local_evaluation",
    "/flags/",
    "/decide/",
  ];
  test.each(targets)("%s", async (target) => {
    const all = nonsense.flatMap((answer) => [
      exchange("GET", target, answer, answer),
      exchange("POST", target, answer, answer, 201),
      exchange("PATCH", target, answer, answer),
    ]);
    const { scenario } = await scenarioFromTape(all);
    await checked(scenario);
  });

  test("an empty one is a world with one project", async () => {
    const { scenario, exchanges, firstAt } = await scenarioFromTape([]);
    expect({ exchanges, firstAt }).toEqual({ exchanges: 0, firstAt: undefined });
    expect(projectsOf(await checked(scenario))).toHaveLength(1);
  });
});

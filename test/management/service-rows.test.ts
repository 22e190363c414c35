import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

// Endpoints of the management API that apps use beside the contract's; each goes over HTTP.

let sim: Sim;
beforeAll(async () => {
  sim = await startSim({
    scenario: {
      version: 1,
      organizations: [{ name: "Org", projects: [{ id: 1, name: "App", api_key: "phc_rows" }] }],
      personal_api_keys: [{ key: "phx_rows", scopes: ["*"] }],
    },
  });
});
afterAll(() => sim.close());

interface Answer {
  status: number;
  json: Record<string, unknown> & { id: number; results: Record<string, unknown>[] };
  list: Record<string, unknown>[];
}

async function ask(method: string, path: string, body?: object): Promise<Answer> {
  const answer = await fetch(`${sim.url}/api/projects/1/${path}`, {
    method,
    headers: { authorization: "Bearer phx_rows", "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json: unknown = text === "" ? {} : JSON.parse(text);
  return { status: answer.status, json: json as Answer["json"], list: json as Answer["list"] };
}

const filters = (percentage: number, properties: object[] = []) => ({
  groups: [{ rollout_percentage: percentage, properties }],
});

describe("feature flags", () => {
  test("are switched, have a status, and dependents", async () => {
    const base = (await ask("POST", "feature_flags/", { key: "base", filters: filters(50) })).json;
    const onBase = [{ key: String(base.id), type: "flag", operator: "flag_evaluates_to", value: true }];
    const other = (await ask("POST", "feature_flags/", { key: "on-base", filters: filters(100, onBase) }))
      .json;
    expect((await ask("GET", `feature_flags/${base.id}/dependent_flags/`)).list).toEqual([
      { id: other.id, key: "on-base", name: "" },
    ]);
    expect((await ask("GET", `feature_flags/${base.id}/status/`)).json).toMatchObject({ status: "active" });
    expect((await ask("POST", `feature_flags/${base.id}/disable/`)).json).toMatchObject({ active: false });
    expect((await ask("GET", `feature_flags/${base.id}/status/`)).json).toMatchObject({ status: "inactive" });
    expect((await ask("POST", `feature_flags/${base.id}/enable/`)).json).toMatchObject({
      active: true,
      version: 3,
    });
    const open = (await ask("POST", "feature_flags/", { key: "open", filters: filters(100) })).json;
    expect((await ask("GET", `feature_flags/${open.id}/status/`)).json).toMatchObject({
      status: "stale",
      reason: 'This boolean flag will always evaluate to "true"',
    });
  });

  test("have values for the caller, and a trial for any id", async () => {
    const { json } = await ask("POST", "feature_flags/", {
      key: "pro",
      filters: filters(100, [{ key: "plan", type: "person", operator: "exact", value: "pro" }]),
    });
    const mine = (await ask("GET", "feature_flags/my_flags/")).list;
    expect(mine).toContainEqual(
      expect.objectContaining({ value: false, feature_flag: expect.objectContaining({ key: "pro" }) }),
    );
    const trial = (plan: string) =>
      ask("POST", `feature_flags/${json.id}/test_evaluation/`, {
        distinct_id: "anna",
        person_properties: { plan },
      });
    expect((await trial("pro")).json).toMatchObject({ value: true, reason: { code: "condition_match" } });
    expect((await trial("free")).json).toMatchObject({ value: false, conditions: [{ matched: false }] });
    expect((await ask("POST", `feature_flags/${json.id}/test_evaluation/`, {})).status).toBe(400);
  });

  test("say how they came to be", async () => {
    const { json } = await ask("POST", "feature_flags/", { key: "aged", filters: filters(10) });
    await ask("PATCH", `feature_flags/${json.id}/`, { name: "Aged" });
    expect((await ask("GET", `feature_flags/${json.id}/activity/`)).json.results).toMatchObject([
      { activity: "updated", item_id: String(json.id) },
      { activity: "created", item_id: String(json.id) },
    ]);
    expect((await ask("GET", "feature_flags/activity/")).json.results.length).toBeGreaterThan(2);
  });

  test("keep their dashboards and rollback conditions", async () => {
    const dashboard = (await ask("POST", "dashboards/", { name: "Usage" })).json.id;
    const rollback = { threshold: 5, operator: "gt", threshold_type: "insight" };
    const body = {
      key: "kept",
      filters: filters(5),
      analytics_dashboards: [dashboard],
      rollback_conditions: [rollback],
    };
    const { json } = await ask("POST", "feature_flags/", body);
    expect(json).toMatchObject({ analytics_dashboards: [dashboard], rollback_conditions: [rollback] });
    expect((await ask("GET", `feature_flags/${json.id}/`)).json).toMatchObject({
      analytics_dashboards: [dashboard],
      rollback_conditions: [rollback],
    });
    const wrong = await ask("PATCH", `feature_flags/${json.id}/`, { analytics_dashboards: [999] });
    expect(wrong).toMatchObject({ status: 400, json: { attr: "analytics_dashboards" } });
  });

  test.each(["my_flag", "999/status", "999/enable"])("%s: 404", async (path) => {
    const method = path.endsWith("enable") ? "POST" : "GET";
    expect((await ask(method, `feature_flags/${path}/`)).status).toBe(404);
  });
});

describe("insights", () => {
  const trend = (event: string, breakdown?: string) => ({
    kind: "TrendsQuery",
    series: [{ kind: "EventsNode", event }],
    ...(breakdown && { breakdownFilter: { breakdown, breakdown_type: "event" } }),
  });

  test("are listed by their last view", async () => {
    const [a, b] = [
      (await ask("POST", "insights/", { name: "A", query: trend("a") })).json,
      (await ask("POST", "insights/", { name: "B", query: trend("b", "$feature/beta") })).json,
    ];
    expect(a).toMatchObject({ refreshing: false });
    expect((await ask("GET", "insights/my_last_viewed/")).list).toEqual([]);
    for (const { id } of [a, b]) expect((await ask("POST", `insights/${id}/viewed/`)).status).toBe(201);
    expect((await ask("GET", "insights/my_last_viewed/")).list.map((it) => it.name)).toEqual(["B", "A"]);
    expect((await ask("POST", "insights/999/viewed/")).status).toBe(404);
    const listed = async (query: string) =>
      (await ask("GET", `insights/?${query}`)).json.results.map((it) => it.name);
    expect(await listed("feature_flag=beta")).toEqual(["B"]);
    expect(await listed("feature_flag=bet")).toEqual([]);
    expect(await listed("user=true")).toHaveLength(2);
  });

  test("a tile that is not deleted has null", async () => {
    const dashboard = (await ask("POST", "dashboards/", { name: "Board" })).json.id;
    const { json } = await ask("POST", "insights/", {
      name: "C",
      query: trend("c"),
      dashboards: [dashboard],
    });
    expect(json.dashboard_tiles).toMatchObject([{ dashboard_id: dashboard, deleted: null }]);
  });

  test("a template may have no filters", async () => {
    const template = {
      template_name: "Plain",
      dashboard_description: "",
      tiles: [{ type: "TEXT", body: "Hello", layouts: {} }],
    };
    const { status } = await ask("POST", "dashboards/create_from_template_json/", { template });
    expect(status).toBe(200);
  });
});

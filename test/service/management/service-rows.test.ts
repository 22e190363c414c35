import { describe, expect, test } from "vitest";
import { startSim } from "../../../src/index.ts";
import { openSim } from "../../support/sim.ts";

// Endpoints of the management API that apps use beside the contract's; each goes over HTTP.

const { sim } = await openSim({
  scenario: {
    version: 1,
    organizations: [
      {
        name: "Org",
        projects: [
          {
            id: 1,
            name: "App",
            api_key: "phc_rows",
            persons: [{ distinct_ids: ["anna"], properties: { plan: "pro", mail: "a@b.test" } }],
          },
        ],
      },
    ],
    personal_api_keys: [{ key: "phx_rows", scopes: ["*"] }],
  },
});

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
    const other = (await ask("POST", "feature_flags/", { key: "on-base", filters: filters(100, onBase) })).json;
    expect((await ask("GET", `feature_flags/${base.id}/dependent_flags/`)).list).toEqual([
      { id: other.id, key: "on-base", name: "on-base" },
    ]);
    expect((await ask("GET", `feature_flags/${base.id}/status/`)).json).toEqual({
      status: "active",
      reason: "Flag has no usage data yet",
      reason_states_rollout: false,
      rollout: {
        effectively_full_rollout: false,
        has_targeting_conditions: false,
        max_rollout_percentage: 50,
        is_multivariate: false,
      },
    });
    const open = { key: "open", filters: filters(100), created_at: "2020-01-01T00:00:00Z" };
    const { id } = (await ask("POST", "feature_flags/", open)).json;
    expect((await ask("GET", `feature_flags/${id}/status/`)).json).toMatchObject({
      status: "stale",
      reason: 'This boolean flag will always evaluate to "true"',
      reason_states_rollout: true,
    });
    const stale = (await ask("GET", "feature_flags/?active=STALE")).json.results;
    expect(stale.map((it) => [it.key, it.status])).toEqual([["open", "STALE"]]);
    // an active flag needs it
    const needed = `because other flags depend on it: on-base (ID: ${other.id})`;
    for (const act of ["disable", "archive"]) {
      const refused = await ask("POST", `feature_flags/${base.id}/${act}/`);
      expect(refused).toMatchObject({ status: 400, json: { detail: expect.stringContaining(needed) } });
    }
    expect((await ask("PATCH", `feature_flags/${base.id}/`, { active: false })).status).toBe(400);
    await ask("POST", `feature_flags/${other.id}/disable/`);
    expect((await ask("POST", `feature_flags/${base.id}/disable/`)).json).toMatchObject({ active: false });
    expect((await ask("GET", `feature_flags/${base.id}/status/`)).json).toMatchObject({
      status: "active",
      reason: "Flag is disabled (not evaluated for staleness)",
    });
    const early = await ask("POST", `feature_flags/${other.id}/enable/`);
    expect(early).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining(`depends on disabled flags: base (ID: ${base.id})`) },
    });
  });

  // products/feature_flags/backend/api/test/test_feature_flag_lifecycle_actions.py
  test.each([
    ["enable", { active: false }, { active: true, archived: false }],
    ["disable", { active: true }, { active: false, archived: false }],
    ["archive", { active: true }, { active: false, archived: true }],
    ["archive", { active: false }, { active: false, archived: true }],
    ["unarchive", { active: false, archived: true }, { active: false, archived: false }],
  ])("%s a flag with %j: only its state changes, once", async (act, before, after) => {
    const key = `state-${act}-${before.active}`;
    const made = (await ask("POST", "feature_flags/", { key, filters: filters(7), ...before })).json;
    const path = `feature_flags/${made.id}/${act}/`;
    const sent = { key: "other", filters: filters(100), version: 999, ...before };
    const first = await ask("POST", path, sent);
    expect(first).toMatchObject({ status: 200, json: { ...after, key, filters: filters(7), version: 2 } });
    expect((await ask("POST", path)).json).toMatchObject({ ...after, version: 2 });
    const { json } = await ask("GET", `feature_flags/${made.id}/activity/`);
    expect(json.total_count).toBe(2);
  });

  test("archived flags are hidden, and stay off", async () => {
    const { id } = (await ask("POST", "feature_flags/", { key: "gone", filters: filters(7) })).json;
    const direct = await ask("PATCH", `feature_flags/${id}/`, { archived: true });
    expect(direct).toMatchObject({
      status: 400,
      json: { detail: expect.stringContaining("Disable it first, or send active: false") },
    });
    await ask("PATCH", `feature_flags/${id}/`, { archived: true, active: false });
    const keys = async (query: string) =>
      (await ask("GET", `feature_flags/?search=gone${query}`)).json.results.map((it) => it.key);
    expect(await keys("")).toEqual([]);
    expect(await keys("&archived=true")).toEqual(["gone"]);
    expect(await keys("&archived=false")).toEqual([]);
    expect((await ask("POST", `feature_flags/${id}/enable/`)).json).toMatchObject({
      detail: "Cannot enable an archived feature flag. Unarchive it first.",
    });
    expect((await ask("GET", `feature_flags/${id}/`)).json).toMatchObject({ status: "ARCHIVED" });
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
    const trial = (body: object) => ask("POST", `feature_flags/${json.id}/test_evaluation/`, body);
    expect((await trial({ distinct_id: "anna" })).json).toEqual({
      flag_key: "pro",
      result: true,
      reason: "condition_match",
      reason_description: "Matched condition set 1",
      condition_index: 0,
      payload: null,
      person_properties: { plan: "pro" },
      evaluation_distinct_id: "anna",
      conditions: [expect.objectContaining({ matched: true })],
    });
    expect((await trial({ distinct_id: "nobody" })).json).toMatchObject({
      result: false,
      person_properties: {},
      conditions: [{ matched: false }],
    });
    const person = (await ask("GET", "persons/?distinct_id=anna")).json.results[0]?.uuid;
    expect((await trial({ person_id: person })).json).toMatchObject({ result: true, evaluation_distinct_id: null });
    expect(await trial({ person_id: "00000000-0000-4000-8000-000000000000" })).toMatchObject({ status: 404 });
    expect(await trial({})).toMatchObject({
      status: 400,
      json: { detail: "Either distinct_id or person_id must be provided" },
    });
    expect((await trial({ distinct_id: "anna", person_id: person })).status).toBe(400);
    const past = await trial({ distinct_id: "anna", timestamp: "2026-01-01T00:00:00Z" });
    expect(past).toMatchObject({ status: 400, json: { attr: "timestamp" } });
  });

  // posthog/models/activity_logging: activity_page.py, serializers.py; feature_flags/backend/activity.py
  test("have their whole history, by pages", async () => {
    const { json } = await ask("POST", "feature_flags/", { key: "aged", filters: filters(10) });
    const change = (body: object) => ask("PATCH", `feature_flags/${json.id}/`, body);
    await change({ name: "Aged" });
    await change({ key: "older", filters: filters(20) });
    await change({ deleted: true });
    await change({ deleted: false });
    const path = `feature_flags/${json.id}/activity/`;
    const page = (await ask("GET", path)).json;
    expect(page).toMatchObject({ total_count: 5, next: null, previous: null });
    const lines = page.results as unknown as {
      activity: string;
      detail: { name: string; changes: { field: string; action: string; before: unknown; after: unknown }[] };
    }[];
    const shown = lines.map(({ activity, detail }) => [
      activity,
      detail.name,
      detail.changes.map((it) => it.field).sort(),
    ]);
    expect(shown).toEqual([
      ["restored", "older", ["deleted", "version"]],
      ["deleted", "older", ["deleted", "version"]],
      ["updated", "older", ["filters", "key", "version"]],
      ["updated", "aged", ["name", "version"]],
      ["created", "aged", []],
    ]);
    expect(lines[2]?.detail.changes).toContainEqual({
      type: "FeatureFlag",
      action: "changed",
      field: "key",
      before: "aged",
      after: "older",
    });
    expect(page.results[0]).toMatchObject({
      id: expect.any(String),
      user: { first_name: expect.any(String), email: expect.any(String) },
      scope: "FeatureFlag",
      item_id: String(json.id),
    });
    const second = (await ask("GET", `${path}?limit=2&page=2`)).json;
    expect(second.results).toEqual(page.results.slice(2, 4));
    expect(second).toMatchObject({ total_count: 5 });
    expect(String(second.next)).toContain(`/${path}?limit=2&page=3`);
    expect(String(second.previous)).toContain("limit=2&page=1");
    expect((await ask("GET", `${path}?page=0`)).json).toMatchObject({ attr: "page" });
    const all = (await ask("GET", "feature_flags/activity/")).json;
    expect(all.results).toHaveLength(10);
    expect(all.results[0]).toEqual(page.results[0]);
    const other = await startSim();
    await other.state.import(await sim.state.export());
    const answer = await fetch(`${other.url}/api/projects/1/${path}`, {
      headers: { authorization: "Bearer phx_rows" },
    });
    expect(await answer.json()).toEqual(page);
    await other.close();
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
    const listed = async (query: string) => (await ask("GET", `insights/?${query}`)).json.results.map((it) => it.name);
    expect(await listed("feature_flag=beta")).toEqual(["B"]);
    expect(await listed("feature_flag=bet")).toEqual([]);
    expect(await listed("user=true")).toHaveLength(2);
  });

  // products/product_analytics/backend/models/insight.py, dashboard_filters
  test("legacy filters on a dashboard have its dates and properties", async () => {
    const mail = { key: "mail", type: "person", operator: "is_set", value: "is_set" };
    const plan = { key: "plan", type: "person", operator: "exact", value: "pro" };
    const board = (await ask("POST", "dashboards/", { name: "Legacy" })).json.id;
    const own = { insight: "TRENDS", events: [{ id: "a" }], date_from: "-90d", date_to: "-1d", compare: true };
    const { json } = await ask("POST", "insights/", {
      name: "Old",
      filters: { ...own, properties: [mail] },
      dashboards: [board],
    });
    const shown = async (filters: object) => {
      const answer = await ask("PATCH", `dashboards/${board}/`, { filters });
      expect(answer.status).toBe(200);
      const { tiles } = (await ask("GET", `dashboards/${board}/`)).json;
      return (tiles as { insight: { filters: object } }[])[0]?.insight.filters;
    };
    const alone = { ...own, properties: [mail] };
    expect(await shown({ date_from: "-7d" })).toEqual({ ...alone, date_from: "-7d", date_to: null });
    expect(await shown({ date_to: "-2d" })).toEqual(alone);
    expect(await shown({ date_from: "all" })).toEqual({ ...alone, date_from: "all", date_to: null, compare: null });
    expect(await shown({ properties: [plan] })).toEqual({
      ...alone,
      properties: {
        type: "AND",
        values: [
          { type: "AND", values: [mail] },
          { type: "AND", values: [plan] },
        ],
      },
    });
    expect((await ask("GET", `insights/${json.id}/`)).json.filters).toEqual(alone);
    const inPlace = await ask("GET", `insights/${json.id}/?from_dashboard=${board}`);
    expect(inPlace.json.filters).toMatchObject({ properties: { type: "AND" } });
  });

  test.each(["ActorsQuery", "PathsQuery", "TracesQuery", "WebOverviewQuery", "WebStatsTableQuery"])(
    "%s is refused by name, alone and on a dashboard",
    async (kind) => {
      const detail = expect.stringContaining(
        `Unsupported query kind: ${kind}. PostHog has it, phx-sim does not emulate it`,
      );
      for (const query of [{ kind }, { kind: "DataTableNode", source: { kind } }]) {
        expect(await ask("POST", "query/", { query })).toMatchObject({ status: 400, json: { detail } });
      }
      const board = (await ask("POST", "dashboards/", { name: kind })).json.id;
      await ask("POST", "insights/", { name: kind, query: { kind }, dashboards: [board] });
      const { tiles } = (await ask("GET", `dashboards/${board}/?refresh=blocking`)).json;
      expect(tiles).toMatchObject([
        { insight: { result: null, query_status: { error: true, error_message: detail } } },
      ]);
      const answer = await fetch(`${sim.url}/__sim/query`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: { kind } }),
      });
      expect([answer.status, await answer.json()]).toMatchObject([400, { detail }]);
    },
  );

  test("a tile that is not deleted has null", async () => {
    const dashboard = (await ask("POST", "dashboards/", { name: "Board" })).json.id;
    const { json } = await ask("POST", "insights/", { name: "C", query: trend("c"), dashboards: [dashboard] });
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

// products/actions/backend/api/test/test_action.py
test("the steps of an action have every field; `creation_mode` is none of an action's", async () => {
  const body = { name: "steps", steps: [{ text: "sign up", url: "/signup", isNew: "x" }], creation_mode: "x" };
  const { status, json } = await ask("POST", "actions/", body);
  expect(status).toBe(201);
  expect(json).toMatchObject({ creation_context: null, is_action: true, bytecode_error: null });
  expect(json).not.toHaveProperty("creation_mode");
  expect(json.steps).toEqual([
    {
      event: null,
      properties: null,
      selector: null,
      selector_regex: null,
      tag_name: null,
      text: "sign up",
      text_matching: null,
      href: null,
      href_matching: null,
      url: "/signup",
      url_matching: "contains",
    },
  ]);
});

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Sim } from "../../../src/index.ts";
import { ask, capture, startBoard } from "./board.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startBoard();
});
afterAll(() => sim.close());

const hogql = (query: string, more: object = {}) => ({ query: { kind: "HogQLQuery", query }, ...more });
const post = (body: unknown, root = "/api/projects/1") => ask(sim, "POST", `${root}/query/`, body);

describe("a request with a query of more than 128 KiB", () => {
  test.each(["/api/projects/1/query/", "/__sim/query", "/__sim/query/drop-offs"])("%s: 413", async (path) => {
    const body = (length: number) => hogql(`SELECT '${"x".repeat(length)}'`);
    expect((await ask(sim, "POST", path, body(128 * 1024))).status).toBe(413);
    expect((await ask(sim, "POST", path, body(100 * 1024))).status).not.toBe(413);
  });
});

describe("POST query", () => {
  test("HogQL", async () => {
    const { status, json } = await post(hogql("SELECT event, count() FROM events GROUP BY event ORDER BY event"));
    expect(status).toBe(200);
    expect(json).toMatchObject({
      results: [
        ["basket", 3],
        ["checkout", 2],
        ["error_shown", 1],
        ["order", 2],
      ],
      columns: ["event", "count()"],
      types: [
        ["event", "String"],
        ["count()", "UInt64"],
      ],
      is_cached: false,
      query_status: null,
      timezone: "UTC",
      last_refresh: "2026-03-04T12:00:00Z",
    });
  });

  test("a funnel, below environments, with its filters overridden", async () => {
    const funnel = {
      kind: "FunnelsQuery",
      series: ["basket", "order"].map((event) => ({ kind: "EventsNode", event })),
    };
    const counts = async (more: object) => {
      const { json } = await post({ query: funnel, ...more }, "/api/environments/@current");
      return json.results.map((it: { count: number }) => it.count);
    };
    expect(await counts({})).toEqual([3, 1]);
    const pro = { key: "plan", value: ["pro"], operator: "exact", type: "event" };
    expect(await counts({ filters_override: { properties: [pro] } })).toEqual([1, 1]);
    expect(await counts({ filters_override: { date_from: "2020-01-01", date_to: "2020-01-02" } })).toEqual([]);
  });

  test("variables are overridden by their ids", async () => {
    const query = {
      kind: "HogQLQuery",
      query: "SELECT count() FROM events WHERE event = {variables.name}",
      variables: { v1: { code_name: "name", variableId: "v1", value: "order" } },
    };
    const of = (id: string) => ({ [id]: { code_name: "name", variableId: id, value: "basket" } });
    expect((await post({ query })).json.results).toEqual([[2]]);
    expect((await post({ query, variables_override: of("v1") })).json.results).toEqual([[3]]);
    expect((await post({ query, variables_override: of("other") })).json.results).toEqual([[2]]);
  });

  test("a result is cached until an event of the project arrives", async () => {
    const body = hogql("SELECT count() FROM events WHERE event = 'cached'");
    const { json: first } = await post(body);
    expect((await post(body)).json).toEqual({ ...first, is_cached: true });
    await using other = await sim.project();
    await capture(sim, [{ event: "cached", distinct_id: "x" }], other.apiKey);
    expect((await post(body)).json).toMatchObject({ is_cached: true, results: [[0]] });
    await capture(sim, [{ event: "cached", distinct_id: "x" }]);
    expect((await post(body)).json).toMatchObject({ is_cached: false, results: [[1]] });
    expect((await post({ ...body, refresh: true })).json).toMatchObject({ is_cached: false });
  });

  test("in the background", async () => {
    const body = hogql("SELECT count() FROM events WHERE event = 'order'", { client_query_id: "mine" });
    const started = await post({ ...body, refresh: "force_async" });
    expect(started.status).toBe(202);
    expect(started.json).toMatchObject({ query_status: { id: "mine", team_id: 1, complete: false, results: null } });
    const poll = () => ask(sim, "GET", "/api/projects/1/query/mine/");
    await expect.poll(async () => (await poll()).status).toBe(200);
    expect((await poll()).json.query_status).toMatchObject({
      complete: true,
      error: false,
      results: { results: [[2]] },
    });
    const removed = await ask(sim, "DELETE", "/api/projects/1/query/mine/");
    expect(removed).toMatchObject({ status: 200, json: { message: "Cancelled query on clickhouse" } });
    expect(await poll()).toMatchObject({ status: 404, json: { detail: "Query mine not found for team 1" } });
  });

  test("a failure in the background", async () => {
    await post(hogql("SELECT nope FROM events", { client_query_id: "bad", async: true }));
    const poll = () => ask(sim, "GET", "/api/projects/1/query/bad/");
    await expect.poll(async () => (await poll()).status).toBe(400);
    expect((await poll()).json.query_status).toMatchObject({
      complete: true,
      error: true,
      error_message: expect.stringContaining("nope"),
    });
  });

  test.each<[string, unknown, string, RegExp]>([
    ["no query", {}, "parse_error", /^JSON parse error - 1 validation error for QueryRequest\nquery\n/],
    ["no body", "", "parse_error", /query\n {2}is missing/],
    ["a text", { query: "SELECT 1" }, "parse_error", /query\n {2}a query is an object/],
    [
      "an unknown field",
      { ...hogql("SELECT 1"), qurey: 1 },
      "parse_error",
      /qurey\n {2}unknown key "qurey"; did you mean query\?/,
    ],
    ["an unknown mode", { ...hogql("SELECT 1"), refresh: "now" }, "parse_error", /refresh\n/],
    [
      "an unknown kind",
      { query: { kind: "TrendQuery" } },
      "parse_error",
      /query\.kind\n.*TrendQuery.*did you mean TrendsQuery\?/,
    ],
    [
      "a kind that is not computed",
      { query: { kind: "PathsQuery" } },
      "invalid_input",
      /^Unsupported query kind: PathsQuery\. PostHog has it, phx-sim does not emulate it: it computes HogQLQuery/,
    ],
    [
      "a field of a kind",
      { query: { kind: "TrendsQuery", series: [], serie: 1 } },
      "parse_error",
      /query\.serie\n {2}unknown key "serie"/,
    ],
    ["wrong HogQL", hogql("SELECT nope FROM events"), "invalid_input", /nope.*\(line 1, column 8\)/],
    ["HogQL that does not parse", hogql("SELECT FROM"), "invalid_input", /line 1, column/],
    [
      "an unknown filter",
      { ...hogql("SELECT 1"), filters_override: { dates: 1 } },
      "parse_error",
      /unknown filter "dates"/,
    ],
  ])("refuses %s", async (_, body, code, detail) => {
    const { status, json } = await post(body);
    expect(json).toMatchObject({ code, attr: null });
    expect(json.detail).toMatch(detail);
    expect(status).toBe(400);
  });

  test("needs the scope query:read", async () => {
    const response = await sim.handle(
      new Request(`${sim.url}/api/projects/1/query/`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      }),
    );
    expect(response.status).toBe(401);
    expect((await sim.endpoints()).find((it) => it.path === "/api/projects/:project_id/query")).toMatchObject({
      scope: "query:read",
    });
  });
});

describe("insights", () => {
  const insight = async (id: number, query = "") =>
    (await ask(sim, "GET", `/api/projects/1/insights/${id}/${query}`)).json;

  test("only a cached result is shown, unless the request asks for more", async () => {
    expect(await insight(13)).toMatchObject({ result: null, is_cached: false, last_refresh: null, timezone: null });
    const computed = await insight(13, "?refresh=blocking");
    expect(computed).toMatchObject({
      result: [{ aggregated_value: 2 }],
      is_cached: false,
      last_refresh: "2026-03-04T12:00:00Z",
      cache_target_age: "2026-03-04T18:00:00Z",
      next_allowed_client_refresh: "2026-03-04T12:01:00Z",
      timezone: "UTC",
      query_status: null,
    });
    expect(await insight(13)).toMatchObject({ result: computed.result, is_cached: true });
    expect(await insight(13, "?refresh=true")).toMatchObject({ is_cached: false });
    expect(await insight(13, "?refresh=force_async&client_query_id=i13")).toMatchObject({
      result: null,
      query_status: { id: "i13", insight_id: 13, complete: false },
    });
  });

  test("HogQL has columns and types", async () => {
    expect(await insight(14, "?refresh=blocking")).toMatchObject({
      result: [
        ["pro", 1],
        ["free", 1],
      ],
      columns: ["plan", "n"],
      types: [
        ["plan", expect.any(String)],
        ["n", "UInt64"],
      ],
      hasMore: false,
      hogql: expect.stringContaining("SELECT"),
    });
  });

  test("with the filters of a dashboard, and others", async () => {
    expect(await insight(13, "?refresh=blocking&from_dashboard=21")).toMatchObject({
      result: [{ aggregated_value: 1 }],
      query: { source: { properties: [{ key: "plan" }] } },
    });
    const none = encodeURIComponent(JSON.stringify({ properties: [], date_from: "-1d" }));
    expect(await insight(13, `?refresh=blocking&from_dashboard=21&filters_override=${none}`)).toMatchObject({
      result: [{ aggregated_value: 2 }],
      query: { source: { dateRange: { date_from: "-1d", date_to: null } } },
    });
    const basket = encodeURIComponent(JSON.stringify({ v1: { code_name: "name", variableId: "v1", value: "basket" } }));
    expect((await insight(14, `?refresh=blocking&variables_override=${basket}`)).result).toEqual([
      ["pro", 1],
      [null, 2],
    ]);
  });

  test("without what the query gives", async () => {
    expect(Object.keys(await insight(13, "?basic=true"))).not.toContain("result");
    const { json } = await ask(sim, "GET", "/api/projects/1/insights/?basic=true&refresh=blocking");
    expect(json.results.every((it: object) => !("result" in it))).toBe(true);
  });

  test("what cannot be computed", async () => {
    const broken = await ask(sim, "GET", "/api/projects/1/insights/15/?refresh=blocking");
    expect(broken).toMatchObject({
      status: 400,
      json: { code: "invalid_input", detail: expect.stringContaining("nope") },
    });
    expect(await ask(sim, "GET", "/api/projects/1/insights/16/?refresh=blocking")).toMatchObject({ status: 400 });
    expect(await insight(17, "?refresh=blocking")).toMatchObject({ result: [], query_status: null });
    const { status, json } = await ask(sim, "GET", "/api/projects/1/insights/?refresh=blocking");
    expect(status).toBe(200);
    const failed = json.results.filter((it: { query_status: unknown }) => it.query_status !== null);
    expect(failed.map((it: { name: string }) => it.name).sort()).toEqual(["Broken", "Paths"]);
    expect(failed[0].query_status).toMatchObject({ error: true, error_message: expect.any(String) });
  });

  test("created and changed with a result", async () => {
    const query = { kind: "HogQLQuery", query: "SELECT count() FROM events WHERE event = 'order'" };
    const { json } = await ask(sim, "POST", "/api/projects/1/insights/?refresh=true", { name: "New", query });
    expect(json).toMatchObject({ name: "New", result: [[2]] });
    const changed = await ask(sim, "PATCH", `/api/projects/1/insights/${json.id}/`, { name: "Newer" });
    expect(changed.json).toMatchObject({ name: "Newer", result: [[2]], is_cached: true });
    await ask(sim, "PATCH", `/api/projects/1/insights/${json.id}/`, { deleted: true });
  });
});

describe("dashboards", () => {
  interface TileAnswer {
    insight: { name: string; result: unknown; query_status: unknown } | null;
    error?: { type: string; message: string };
    last_refresh: string | null;
  }
  const tilesOf = async (path: string): Promise<TileAnswer[]> => {
    const { status, json } = await ask(sim, "GET", path);
    expect(status).toBe(200);
    return (json.dashboard ?? json).tiles;
  };

  test("tiles have results under the dashboard's filters; one that fails has its error", async () => {
    const [orders, plans, broken, text] = await tilesOf("/api/projects/1/dashboards/21/?refresh=blocking");
    expect(orders).toMatchObject({
      insight: { result: [{ aggregated_value: 1 }] },
      last_refresh: "2026-03-04T12:00:00Z",
    });
    expect(plans?.insight?.result).toEqual([["pro", 1]]);
    expect(broken).toMatchObject({
      insight: { name: "Broken", result: null, query_status: { error: true } },
      error: { type: "ValidationError", message: expect.stringContaining("nope") },
    });
    expect(text).toMatchObject({ insight: null, last_refresh: null });
    expect(text).not.toHaveProperty("error");
  });

  test("filters of the request, and of a tile, replace those of the dashboard", async () => {
    const filters = encodeURIComponent(JSON.stringify({ properties: [] }));
    const path = `/api/projects/1/dashboards/21/?refresh=blocking&filters_override=${filters}`;
    const [orders] = await tilesOf(path);
    expect(orders?.insight?.result).toMatchObject([{ aggregated_value: 2 }]);
    const [tile] = (await ask(sim, "GET", "/api/projects/1/dashboards/21/")).json.tiles;
    const free = [{ key: "plan", value: ["free", "pro"], operator: "exact", type: "event" }];
    await ask(sim, "PATCH", "/api/projects/1/dashboards/21/", {
      tiles: [{ id: tile.id, filters_overrides: { properties: free } }],
    });
    const [changed] = await tilesOf("/api/projects/1/dashboards/21/?refresh=blocking");
    expect(changed?.insight?.result).toMatchObject([{ aggregated_value: 2 }]);
    await ask(sim, "PATCH", "/api/projects/1/dashboards/21/", { tiles: [{ id: tile.id, filters_overrides: {} }] });
  });

  test("a shared one is computed for its readers, by its own filters", async () => {
    const [orders, plans] = await tilesOf("/shared/sales.json?filters_override={}");
    expect(orders?.insight?.result).toMatchObject([{ aggregated_value: 1 }]);
    expect(plans?.insight?.result).toEqual([["pro", 1]]);
    expect((await ask(sim, "GET", "/shared/sales")).status).toBe(200);
  });
});

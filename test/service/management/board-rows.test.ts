import { beforeAll, expect, test } from "vitest";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const trend = (event: string) => ({
  kind: "TrendsQuery",
  series: [{ kind: "EventsNode", event, name: event }],
  trendsFilter: { display: "BoldNumber" },
});

const { sim, capture } = await openSim({
  scenario: {
    version: 1,
    users: [{ email: "ada@acme.test", first_name: "Ada" }],
    organizations: [
      {
        name: "Acme",
        members: { "ada@acme.test": "owner" },
        projects: [
          {
            id: 1,
            name: "Shop",
            api_key: "phc_shop",
            timezone: "Europe/Berlin",
            insights: [
              { name: "Orders", query: { kind: "InsightVizNode", source: trend("order") } },
              { name: "Broken", query: { kind: "TrendsQuery", series: "none" } },
            ],
            dashboards: [
              {
                id: 7,
                name: "Sales",
                filters: { date_from: "-30d" },
                tiles: [{ text: "Hello" }, { insight: "Orders" }, { insight: "Broken" }],
                sharing: { enabled: true, access_token: "sales" },
              },
            ],
          },
          { id: 2, name: "Blog", api_key: "phc_blog", dashboards: [{ id: 8, name: "Posts" }] },
        ],
      },
      { name: "Nobody", members: {}, projects: [{ id: 3, name: "Alone", api_key: "phc_alone" }] },
    ],
  },
});
beforeAll(async () => {
  await sim.clock.freeze("2026-11-22T12:00:00Z");
  const at = (day: string) => ({ event: "order", distinct_id: "ada", timestamp: `2026-11-${day}T12:00:00Z` });
  await capture([at("02"), at("20"), at("21")], { key: "phc_shop" });
});

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by hand
type Looked = any;

async function ask(method: string, path: string, body?: unknown) {
  const { status, answer } = await control<Looked>(sim, method, path, body);
  return { status, body: answer };
}

const valuesOf = (tiles: { insight: { result: { aggregated_value: number }[] | null } | null }[]) =>
  tiles.map(({ insight }) => insight?.result?.map((it) => it.aggregated_value) ?? null);

test("a dashboard with the results of its tiles, without a key; a failed one says why", async () => {
  const { body } = await ask("GET", "dashboards/7");
  expect(body).toMatchObject({
    now: Date.parse("2026-11-22T12:00:00Z"),
    timezone: "Europe/Berlin",
    shared_at: "/shared/sales",
    dashboard: { name: "Sales", filters: { date_from: "-30d" }, tiles: [{ text: { body: "Hello" } }, {}, {}] },
  });
  const { tiles } = body.dashboard;
  expect(valuesOf(tiles)).toEqual([null, [3], null]);
  expect([tiles[1].error, tiles[2].error.message]).toEqual([undefined, expect.stringContaining("expected a list")]);
});

test("a range replaces that of the dashboard, and is not stored", async () => {
  const { body } = await ask("GET", "dashboards/7?date_from=-7d");
  expect(valuesOf(body.dashboard.tiles)).toEqual([null, [2], null]);
  expect(body.dashboard.filters).toEqual({ date_from: "-7d" });
  expect(valuesOf((await ask("GET", "dashboards/7")).body.dashboard.tiles)).toEqual([null, [3], null]);
});

test("it is not journaled, and follows the events", async () => {
  await capture({ event: "order", distinct_id: "bob", timestamp: "2026-11-22T11:00:00Z" }, { key: "phc_shop" });
  const before = await sim.requests.list();
  expect(valuesOf((await ask("GET", "dashboards/7?date_from=-1d")).body.dashboard.tiles)).toEqual([null, [2], null]);
  expect(await sim.requests.list()).toEqual(before);
});

test("a new insight, on a dashboard, on a new one, on none", async () => {
  const order = { project: 1, name: "Made", query: { kind: "InsightVizNode", source: trend("order") } };
  const on = await ask("POST", "insights", { ...order, dashboard: 7 });
  expect(on.body).toEqual({ id: expect.any(Number), short_id: expect.any(String), dashboard: 7 });
  const { body } = await ask("GET", "dashboards/7");
  expect(body.dashboard.tiles.at(-1).insight).toMatchObject({
    name: "Made",
    saved: true,
    created_by: { first_name: "Ada" },
  });

  const made = (await ask("POST", "insights", { ...order, new_dashboard: "Orders of today" })).body;
  expect((await ask("GET", `dashboards/${made.dashboard}`)).body.dashboard).toMatchObject({
    name: "Orders of today",
    tiles: [{ insight: { id: made.id, short_id: made.short_id } }],
  });
  expect((await ask("POST", "insights", order)).body.dashboard).toBeNull();
});

test.each<[string, object, number, string]>([
  ["an unknown project", { project: 9 }, 404, "/project"],
  ["an unknown dashboard", { dashboard: 99 }, 404, "/dashboard"],
  ["a dashboard of another project", { dashboard: 8 }, 400, "/dashboard"],
  ["two dashboards", { dashboard: 7, new_dashboard: "x" }, 400, "/new_dashboard"],
  ["an empty name", { name: "" }, 400, "/name"],
  ["no query", { query: undefined }, 400, "/query"],
  ["a query of an unknown kind", { query: { kind: "TrendQuery" } }, 400, "/query/kind"],
  ["a query with a mistake", { query: { kind: "TrendsQuery", series: 1 } }, 400, "/query/series"],
  ["an unknown field", { colour: "red" }, 400, "/colour"],
])("%s is refused", async (_, change, status, pointer) => {
  const refused = await ask("POST", "insights", { project: 1, name: "x", query: trend("order"), ...change });
  expect([refused.status, refused.body.pointer]).toEqual([status, pointer]);
});

test("a project whose organization has no member has no author", async () => {
  const { status, body } = await ask("POST", "insights", { project: 3, name: "x", query: trend("order") });
  expect([status, body.code]).toEqual([409, "conflict"]);
});

test.each(["dashboards/99", "dashboards/x", "dashboards/0"])("%s does not exist", async (path) =>
  expect((await ask("GET", path)).status).toBe(404),
);

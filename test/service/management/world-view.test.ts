import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../../src/index.ts";
import type { DashboardSummaries, WorldSummary } from "../../../src/service/management/world-shapes.ts";

let sim: Sim;

beforeEach(async () => {
  sim = await startSim({
    scenario: {
      version: 1,
      users: [
        { email: "ada@acme.test", first_name: "Ada", last_name: "L" },
        { email: "bob@acme.test", first_name: "Bob" },
      ],
      organizations: [
        {
          name: "Acme",
          members: { "ada@acme.test": "owner", "bob@acme.test": "member" },
          projects: [
            {
              id: 3,
              name: "Shop",
              api_key: "phc_shop",
              secret_api_key: "phs_verysecretkey9876",
              flags: { alpha: true, beta: false },
              dashboards: [
                { name: "Sales", restriction_level: 37, tiles: [{ text: "How we are doing" }] },
                { name: "Traffic" },
              ],
            },
            { id: 4, name: "Blog", api_key: "phc_blog" },
          ],
        },
      ],
      personal_api_keys: [
        { key: "phx_averysecretkey1234", label: "CI", user: "ada@acme.test", scopes: ["dashboard:read"] },
      ],
    },
  });
});

afterEach(() => sim.close());

const get = async <T>(path: string): Promise<{ status: number; body: T }> => {
  const answer = await fetch(`${sim.url}/__sim/${path}`);
  return { status: answer.status, body: (await answer.json()) as T };
};

describe("GET /__sim/world", () => {
  test("reports who there is, with what, and no secret", async () => {
    const { body } = await get<WorldSummary>("world");
    const [acme] = body.organizations;
    expect(acme).toMatchObject({
      name: "Acme",
      members: [
        { name: "Ada L", email: "ada@acme.test", level: "owner" },
        { name: "Bob", email: "bob@acme.test", level: "member" },
      ],
      projects: [
        {
          id: 3,
          name: "Shop",
          api_key: "phc_shop",
          secret_api_key: "phs_…9876",
          adopted: false,
          ephemeral: false,
          counts: { dashboards: 2, feature_flags: 2, insights: 0, cohorts: 0, batch_exports: 0, surveys: 0 },
        },
        { id: 4, name: "Blog", counts: { dashboards: 0, feature_flags: 0 } },
      ],
    });
    expect(body.personal_api_keys).toMatchObject([
      { label: "CI", key: "phx_…1234", owner: "ada@acme.test", scopes: ["dashboard:read"], limited_to: [] },
    ]);
    expect(JSON.stringify(body)).not.toContain("verysecretkey");
  });

  test("reports the dialect, and every row in which the two differ", async () => {
    const { dialect } = (await get<WorldSummary>("world")).body;
    expect(dialect.current).toBe("documented");
    expect(dialect.differences.map(({ id }) => id)).toContain("alias_direction");
    for (const row of dialect.differences) expect(Object.values(row)).not.toContain("");
  });

  test("a project that was made for a test says so", async () => {
    const project = await sim.project();
    const { body } = await get<WorldSummary>("world");
    const made = body.organizations.flatMap((it) => it.projects).find(({ id }) => id === project.id);
    expect(made).toMatchObject({ ephemeral: true });
  });
});

describe("GET /__sim/world/dashboards", () => {
  test("has the tiles", async () => {
    const { body } = await get<DashboardSummaries>("world/dashboards?project=3");
    expect(body.count).toBe(2);
    expect(body.dashboards).toMatchObject([
      { name: "Sales", restricted: true, shared: false, tiles: [{ kind: "text", title: "How we are doing" }] },
      { name: "Traffic", restricted: false, tiles: [] },
    ]);
  });

  test("comes in pages", async () => {
    const { body } = await get<DashboardSummaries>("world/dashboards?limit=1&offset=1");
    expect([body.count, body.dashboards.map((it) => it.name)]).toEqual([2, ["Traffic"]]);
  });

  const wrong = ["limit=0", "limit=x", "offset=-1", "project=abc"];
  test.each(wrong)("%s is refused", async (query) => {
    const { status, body } = await get<{ pointer: string }>(`world/dashboards?${query}`);
    expect([status, body.pointer]).toEqual([400, `?${query.split("=")[0]}`]);
  });
});

describe("GET /__sim/world/keys/:id", () => {
  test("shows a personal key, and a project's secret key", async () => {
    const [key] = (await get<WorldSummary>("world")).body.personal_api_keys;
    expect((await get(`world/keys/${key?.id}`)).body).toEqual({ id: key?.id, key: "phx_averysecretkey1234" });
    expect((await get("world/keys/3")).body).toEqual({ id: "3", key: "phs_verysecretkey9876" });
  });

  test.each(["99", "nobody", "__proto__"])("there is no key %s", async (id) => {
    const { status, body } = await get<{ code: string; hint: string }>(`world/keys/${id}`);
    expect([status, body.code]).toEqual([404, "not_found"]);
    expect(body.hint).toContain("project's number");
  });
});

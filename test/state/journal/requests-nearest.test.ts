import { beforeAll, expect, test } from "vitest";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();
beforeAll(async () => {
  for (const path of ["/api/projects/1/dashbords/", "/capture/", "/__sim/evnts", "/flags/nowhere?x=/api/"])
    await sim.handle(new Request(sim.url + path));
});

interface Body {
  nearest: string[];
  outcome: string;
  requests: { n: number }[];
}

const get = async (path: string) => {
  const response = await sim.handle(new Request(sim.url + path));
  return { status: response.status, body: (await response.json()) as Body };
};

test("a request to a path that does not exist reports the rows that are most like it", async () => {
  const { body } = await get("/__sim/requests/1");
  expect(body.nearest.length).toBeGreaterThan(0);
  for (const it of body.nearest) expect(it).toMatch(/^[A-Z]+ \/api\/projects\/:/);
});

test.each([
  ["/api/projcts/1/dashboards", "GET /api/projects/:project_id/dashboards"],
  ["/api/projcts/1/dashboards/", "GET /api/projects/:project_id/dashboards"],
  ["/api/projects/1/dashboard/7", "GET /api/projects/:project_id/dashboards/:id"],
  ["/caputre/", "POST /capture"],
  ["/x", undefined],
])("a misspelt segment does not end the likeness: %s", async (path, first) => {
  await sim.handle(new Request(sim.url + path));
  const [newest] = (await get("/__sim/requests?limit=1")).body.requests;
  expect((await get(`/__sim/requests/${newest?.n}`)).body.nearest[0]).toBe(first);
});

test("others do not: their path is there", async () => {
  expect((await get("/__sim/requests/2")).body).toMatchObject({ outcome: "rejected", nearest: [] });
});

test("the query does not count, and control rows are not offered", async () => {
  const { body } = await get("/__sim/requests/3");
  expect(body.nearest.filter((it) => it.includes("/__sim") || it.includes("/api/"))).toEqual([]);
});

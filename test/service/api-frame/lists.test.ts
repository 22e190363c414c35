import { describe, expect, test } from "vitest";
import { blankFeatureFlag } from "../../../src/state/documents/blank.ts";
import { dashboardKind } from "../../../src/state/documents/schemas/dashboard.ts";
import type { World } from "../../../src/state/documents/world.ts";
import { manage } from "../management/manage.ts";
import { startedAt, twoOrganizations } from "../management/world.ts";

/** `many` flags, cohorts and dashboards in project 1, one of each in the others. */
function listWorld(many: number): World {
  const world = twoOrganizations();
  const add = (project: number, id: number) => {
    world.feature_flags.push(blankFeatureFlag({ id, project, key: `k${id}` }, startedAt));
    world.cohorts.push({ id, project, name: `c${id}`, created_at: startedAt });
    world.dashboards.push(dashboardKind.blank({ id, project, name: `d${String(id).padStart(4, "0")}` }, startedAt));
  };
  for (let id = 1; id <= many; id++) add(1, id);
  add(2, many + 1);
  add(3, many + 2);
  return world;
}

const five = manage({ world: listWorld(5) });
const many = manage({ world: listWorld(105) });
const flags = "/api/projects/1/feature_flags";

const ids = (json: { results: { id: number }[] }) => json.results.map((it) => it.id);

test.each([
  ["", [5, 4, 3, 2, 1]],
  ["limit=2", [5, 4]],
  ["limit=2&offset=2", [3, 2]],
  ["limit=2&offset=4", [1]],
  ["offset=3", [2, 1]],
  ["limit=99999", [5, 4, 3, 2, 1]],
  ["limit=+2", [5, 4]],
  ["limit=0", [5, 4, 3, 2, 1]],
  ["limit=-1", [5, 4, 3, 2, 1]],
  ["limit=", [5, 4, 3, 2, 1]],
  ["limit=two", [5, 4, 3, 2, 1]],
  ["limit=1.5", [5, 4, 3, 2, 1]],
  ["limit=1e1", [5, 4, 3, 2, 1]],
  ["offset=-1", [5, 4, 3, 2, 1]],
  ["offset=x", [5, 4, 3, 2, 1]],
  ["offset=5", []],
  ["offset=999999999999999", []],
  ["limit=2&limit=3", [5, 4]],
])("?%s is a part of five", async (query, expected) => {
  const { status, json } = await five.get(`${flags}/?${query}`);
  expect(status).toBe(200);
  expect(ids(json)).toEqual(expected);
  expect(json.count).toBe(5);
});

test.each([
  ["/", null, null],
  ["/?limit=5", null, null],
  ["/?limit=2", "/?limit=2&offset=2", null],
  ["?limit=2", "?limit=2&offset=2", null],
  ["/?limit=2&offset=2", "/?limit=2&offset=4", "/?limit=2"],
  ["/?limit=2&offset=1", "/?limit=2&offset=3", "/?limit=2"],
  ["/?limit=2&offset=3", null, "/?limit=2&offset=1"],
  ["/?limit=2&offset=4", null, "/?limit=2&offset=2"],
  ["/?limit=2&offset=9", null, "/?limit=2&offset=7"],
  ["/?offset=3", null, "/?limit=100"],
  ["/?limit=x&offset=3", null, "/?limit=100"],
  ["//?limit=2", "//?limit=2&offset=2", null],
  // Names in order, everything kept and written anew.
  ["/?search=k&limit=2&active=true", "/?active=true&limit=2&offset=2&search=k", null],
  ["/?z=%C3%A9+%2F&limit=2&a", "/?a=&limit=2&offset=2&z=%C3%A9+%2F", null],
  ["/?limit=2&tag=b&tag=a", "/?limit=2&offset=2&tag=b&tag=a", null],
])("the links of %s", async (target, next, previous) => {
  const full = (path: string | null) => path && `http://sim.test${flags}${path}`;
  const { json } = await five.get(flags + target);
  expect(json).toMatchObject({ next: full(next), previous: full(previous) });
});

test("links have the host that was asked, and the address that was asked", async () => {
  const path = "/api/environments/@current/feature_flags/";
  const { json } = await five.get(`${path}?limit=1`, { headers: { host: "127.0.0.1:8010" } });
  expect(json.next).toBe(`http://127.0.0.1:8010${path}?limit=1&offset=1`);
});

test("a key in the query stays in the links", async () => {
  const { json } = await five.get(`${flags}/?personal_api_key=phx_ada&limit=1`, { key: null });
  expect(json.next).toBe(`http://sim.test${flags}/?limit=1&offset=1&personal_api_key=phx_ada`);
});

test("the envelope has these keys in this order", async () => {
  const { text } = await five.get(`${flags}/?offset=9`);
  expect(text).toBe(`{"count":5,"next":null,"previous":"http://sim.test${flags}/?limit=100","results":[]}`);
});

describe.each([
  ["feature_flags", "newest first", (i: number) => 105 - i],
  ["cohorts", "newest first", (i: number) => 105 - i],
  ["dashboards", "by name", (i: number) => i + 1],
])("the list of %s", (name, _, idAt) => {
  test("has a hundred on a page, and all when its links are followed", async () => {
    const first = (await many.get(`/api/projects/1/${name}/`)).json;
    expect(first.results).toHaveLength(100);
    expect(first).toMatchObject({ count: 105, previous: null });
    const second = (await many.get(first.next.replace("http://sim.test", ""))).json;
    expect([...ids(first), ...ids(second)]).toEqual(Array.from({ length: 105 }, (_, i) => idAt(i)));
    expect(second.next).toBeNull();
    expect((await many.get(second.previous.replace("http://sim.test", ""))).json.results).toEqual(first.results);
  });

  test.each([
    ["2", "phx_ada", 106],
    ["3", "phx_eve", 107],
  ])("of project %s is its own", async (project, key, id) => {
    const { json } = await many.get(`/api/projects/${project}/${name}/`, { key });
    expect(ids(json)).toEqual([id]);
    expect(json.count).toBe(1);
  });
});

import { describe, expect, test } from "vitest";
import { z } from "zod";
import { InsightShape } from "../../../src/service/management/insights/insight-views.ts";
import { wireTime } from "../../../src/state/documents/time.ts";
import { boardsUrl, withBoards } from "./boards.ts";
import { manage, now } from "./manage.ts";
import { startedAt } from "./world.ts";

const boards = (options = {}) => manage({ world: withBoards(), ...options });
const url = "/api/projects/1/insights";
const strict = z.strictObject(InsightShape.shape);
const later = wireTime(now);

describe("list", () => {
  test.each([
    ["the last to be changed first", "", [304, 302, 301, 300]],
    ["search in the name", "?search=RETEN", [301]],
    ["search in the derived name", "?search=money", [302]],
    ["search in the description", "?search=new%20people", [300]],
    ["search in tags", "?search=grow", [300]],
    ["by short id", "?short_id=short301", [301]],
    ["by tag", "?tags=Growth", [300]],
    ["saved: or on a dashboard", "?saved=true", [302, 301, 300]],
    ["not saved", "?saved=false", [304, 302, 301]],
    ["favourites", "?favorited=true", [301]],
    ["by their maker", "?created_by=3", [301]],
    ["the caller's", "?user=true", [304, 302, 300]],
    ["on a dashboard", "?dashboards=[10]", [301, 300]],
    ["on two dashboards", "?dashboards=[10,11]", []],
    ["on what cannot be read", "?dashboards=10", [304, 302, 301, 300]],
    ["a page", "?limit=1&offset=2", [301]],
  ])("%s", async (_, query, ids) => {
    for (const path of [url, `${url}/`, "/api/environments/1/insights"]) {
      const { json } = await boards().get(`${path}${query}`);
      expect(json.results.map((it: { id: number }) => it.id)).toEqual(ids);
      for (const it of json.results) strict.parse(it);
    }
  });
});

describe("retrieve", () => {
  test.each(["300", "short300"])("by %s", async (id) => {
    const { status, json } = await boards().get(`${url}/${id}/`);
    expect(status).toBe(200);
    strict.parse(json);
    expect(json).toMatchObject({
      id: 300,
      short_id: "short300",
      name: "Signups",
      description: "New people",
      dashboards: [10],
      dashboard_tiles: [{ id: 101, dashboard_id: 10, deleted: null }],
      tags: ["growth"],
      saved: true,
      favorited: false,
      created_by: { id: 1 },
      last_modified_by: null,
      last_modified_at: startedAt,
      result: null,
      last_refresh: null,
      is_cached: false,
      timezone: null,
      effective_restriction_level: 21,
      effective_privilege_level: 37,
    });
  });

  test.each([
    ["phx_ada", 37, 37],
    ["phx_cleo", 37, 37],
    ["phx_dan", 37, 21],
  ])("levels are those of its dashboards, for %s", async (key, restriction, privilege) => {
    expect((await boards().get(`${url}/302`, { key })).json).toMatchObject({
      effective_restriction_level: restriction,
      effective_privilege_level: privilege,
    });
  });
});

describe("create", () => {
  test("of nothing", async () => {
    const { status, json } = await boards().post(`${url}/`, {});
    expect(status).toBe(201);
    strict.parse(json);
    expect(json).toMatchObject({
      name: null,
      description: null,
      query: null,
      filters: {},
      tags: [],
      saved: false,
      favorited: false,
      dashboards: [],
      created_at: later,
      created_by: { id: 1 },
      last_modified_by: { id: 1 },
    });
    expect(json.short_id).toMatch(/^[0-9A-Za-z]{8}$/);
  });

  test("of everything, on dashboards", async () => {
    const sim = boards();
    const body = {
      name: "New",
      derived_name: "Derived",
      description: "About it",
      query: { kind: "InsightVizNode", source: { kind: "TrendsQuery" } },
      filters: { insight: "TRENDS" },
      favorited: true,
      saved: "true",
    };
    const { status, json } = await sim.post(url, {
      ...body,
      tags: ["B", "a"],
      dashboards: [10, "12", 10],
      short_id: "mine",
      result: [1],
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ ...body, saved: true, tags: ["a", "b"], dashboards: [10, 12], result: null });
    expect(json.short_id).not.toBe("mine");
    expect((await sim.get(`${boardsUrl}/12`)).json.tiles).toMatchObject([{ insight: { id: json.id } }]);
    expect((await sim.get(url)).json.results[0].id).toBe(json.id);
    expect((await sim.get(`${url}/${json.short_id}`)).json).toEqual(json);
  });

  test("short ids differ", async () => {
    const sim = boards();
    const ids = new Set<string>();
    for (let i = 0; i < 50; i++) ids.add((await sim.post(url, {})).json.short_id);
    expect(ids.size).toBe(50);
  });
});

const longest = "Ensure this field has no more than 400 characters.";
const unknown = (id: unknown) => `Invalid pk "${id}" - object does not exist.`;

describe("validation", () => {
  test.each([
    [{ name: "x".repeat(401) }, "max_length", longest, "name"],
    [{ description: "x".repeat(401) }, "max_length", longest, "description"],
    [{ derived_name: [] }, "invalid_input", "Not a valid string.", "derived_name"],
    [{ filters: [] }, "not_a_dict", 'Expected a dictionary of items but got type "list".', "filters"],
    [{ filters: null }, "null", "This field may not be null.", "filters"],
    [{ deleted: "?" }, "invalid_input", "Must be a valid boolean.", "deleted"],
    [{ dashboards: 10 }, "not_a_list", 'Expected a list of items but got type "int".', "dashboards"],
    [{ dashboards: [10, 999] }, "does_not_exist", unknown(999), "dashboards"],
    [{ dashboards: [1.5] }, "does_not_exist", unknown(1.5), "dashboards"],
    [{ dashboards: [13] }, "does_not_exist", unknown(13), "dashboards"],
    [{ dashboards: [20] }, "does_not_exist", unknown(20), "dashboards"],
    [{ dashboards: ["30"] }, "does_not_exist", unknown(30), "dashboards"],
    [{ dashboards: ["x"] }, "incorrect_type", "Incorrect type. Expected pk value, received str.", "dashboards"],
    [{ dashboards: [true] }, "incorrect_type", "Incorrect type. Expected pk value, received bool.", "dashboards"],
    [{ tags: "x" }, "not_a_list", 'Expected a list of items but got type "str".', "tags"],
    [{ favorited: null }, "null", "This field may not be null.", "favorited"],
    [{ saved: [] }, "invalid_input", "Must be a valid boolean.", "saved"],
  ])("%j", async (body, code, detail, attr) => {
    const sim = boards();
    const before = JSON.stringify(sim.worlds.current);
    const asked = [
      () => sim.post(url, body),
      () => sim.patch(`${url}/300`, body),
      () => sim.put(`${url}/short300/`, body),
    ];
    for (const ask of asked) {
      const { status, json } = await ask();
      expect({ status, ...json }).toEqual({ status: 400, type: "validation_error", code, detail, attr });
    }
    expect(JSON.stringify(sim.worlds.current)).toBe(before);
  });
});

describe("change", () => {
  test.each([
    [{ name: "New" }, later, 3],
    [{ query: { kind: "x" } }, later, 3],
    [{ filters: { a: 1 } }, later, 3],
    [{ description: null }, later, 3],
    [{ favorited: true }, startedAt, undefined],
    [{ tags: ["z"] }, startedAt, undefined],
    [{ saved: false }, startedAt, undefined],
  ])("%j", async (body, at, by) => {
    for (const method of ["PATCH", "PUT"]) {
      const { status, json } = await boards().ask(method, `${url}/300`, { body, key: "phx_cleo" });
      expect(status).toBe(200);
      strict.parse(json);
      expect(json).toMatchObject({ ...body, last_modified_at: at });
      expect(json.last_modified_by?.id).toBe(by);
    }
  });

  test("dashboards are joined and left; a tile that was taken off comes back", async () => {
    const sim = boards();
    const moved = await sim.patch(`${url}/300`, { dashboards: [12] });
    expect(moved.json.dashboards).toEqual([12]);
    expect((await sim.get(`${boardsUrl}/10`)).json.tiles).toHaveLength(2);
    const back = await sim.patch(`${url}/300`, { dashboards: [10, 12] });
    expect(back.json.dashboard_tiles).toMatchObject([{ id: 101, dashboard_id: 10 }, { dashboard_id: 12 }]);
    const gone = await sim.patch(`${url}/300`, { dashboards: [] });
    expect(gone.json).toMatchObject({ dashboards: [], dashboard_tiles: [], deleted: false });
  });

  test("a deleted one is nowhere, until it is restored", async () => {
    const sim = boards();
    const gone = await sim.patch(`${url}/300`, { deleted: true });
    expect(gone).toMatchObject({ status: 200, json: { deleted: true, dashboards: [] } });
    expect((await sim.get(`${url}/300`)).status).toBe(404);
    expect((await sim.get(`${url}/short300`)).status).toBe(404);
    expect((await sim.patch(`${url}/300`, { deleted: true })).status).toBe(404);
    expect((await sim.get(url)).json.count).toBe(3);
    expect((await sim.get(`${boardsUrl}/10`)).json.tiles).toHaveLength(2);
    expect((await sim.patch(`${url}/300`, { deleted: false })).json).toMatchObject({ deleted: false });
    expect((await sim.get(url)).json.count).toBe(4);
  });
});

const onRestricted =
  "This insight is on a dashboard that can only be edited by its owner, team members invited to editing the dashboard, and project admins.";

describe("permissions", () => {
  test.each([
    ["PATCH", `${url}/302`, {}, "phx_dan", 403, onRestricted],
    ["PUT", `${url}/302`, { name: 7 }, "phx_dan", 403, onRestricted],
    [
      "PATCH",
      `${url}/300`,
      { dashboards: [10, 11] },
      "phx_dan",
      403,
      "You don't have permission to add insights to dashboard: 11",
    ],
    ["POST", url, { dashboards: [11] }, "phx_dan", 403, "You don't have permission to add insights to dashboard: 11"],
    ["GET", url, undefined, "phx_reader", 403, "API key missing required scope 'insight:read'"],
    ["POST", url, {}, "phx_writer", 403, "API key missing required scope 'insight:write'"],
    ["DELETE", `${url}/300`, undefined, "phx_writer", 403, "API key missing required scope 'insight:write'"],
    ["GET", url, undefined, "phx_eve", 403, "You don't have access to the project."],
    ["GET", `${url}/310`, undefined, "phx_ada", 404, "Not found."],
    ["GET", `${url}/short310`, undefined, "phx_ada", 404, "Not found."],
    ["GET", `${url}/320`, undefined, "phx_ada", 404, "Not found."],
    ["GET", `${url}/303`, undefined, "phx_ada", 404, "Not found."],
    ["PATCH", `${url}/310`, { deleted: false }, "phx_ada", 404, "Not found."],
    ["PATCH", `${url}/nothing`, {}, "phx_ada", 404, "Not found."],
  ])("%s %s %j with %s: %i", async (method, path, body, key, status, detail) => {
    const answer = await boards().ask(method, path, { body, key });
    expect(answer).toMatchObject({ status, json: { detail, attr: null } });
  });

  test("a collaborator may", async () => {
    const { status } = await boards().patch(`${url}/302`, { name: "x" }, { key: "phx_cleo" });
    expect(status).toBe(200);
  });

  test.each(["/300", "/short300/", "/999"])("DELETE %s is refused without a body", async (path) => {
    const { status, text, header } = await boards().delete(`${url}${path}`);
    expect({ status, text }).toEqual({ status: 405, text: "" });
    expect(header("content-type")).toBeUndefined();
  });
});

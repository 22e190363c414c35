import { describe, expect, test } from "vitest";
import { z } from "zod";
import { DashboardDetail, DashboardInList } from "../../../src/service/management/dashboards/dashboard-views.ts";
import { wireTime } from "../../../src/state/documents/time.ts";
import { boardsUrl as url, withBoards } from "./boards.ts";
import { manage, now } from "./manage.ts";

const boards = (options = {}) => manage({ world: withBoards(), ...options });
const production = { dialect: "production" } as const;
const strictDetail = z.strictObject(DashboardDetail.shape);

describe("list", () => {
  test.each([
    ["all: pinned first, by name, nameless last", "", [12, 16, 10, 11, 15]],
    ["search in the name", "?search=MAIN", [10]],
    ["search in the description", "?search=matters", [10]],
    ["search for nothing", "?search=", [12, 16, 10, 11, 15]],
    ["one tag", "?tags=growth", [12, 15]],
    ["tags, repeated", "?tags=web&tags=none", [12]],
    ["tags with commas, in any case", "?tags=none,%20WEB", [12]],
    ["tags as JSON", '?tags=["growth"]', [12, 15]],
    ["pinned", "?pinned=true", [12]],
    ["not pinned", "?pinned=false", [16, 10, 11, 15]],
    ["by their maker", "?created_by=2", [12]],
    ["by a maker that is no number", "?created_by=me", [12, 16, 10, 11, 15]],
    ["by way of making", "?creation_mode=default", [12, 16, 10, 11, 15]],
    ["unlisted ones when asked for", "?creation_mode=unlisted", [14]],
    ["without generated ones", "?exclude_generated=true", [12, 10, 11, 15]],
    ["exclude_generated counts only as true", "?exclude_generated=1", [12, 16, 10, 11, 15]],
    ["filters together", "?tags=growth&pinned=false", [15]],
    ["a page", "?limit=2&offset=1", [16, 10]],
  ])("%s", async (_, query, ids) => {
    const { json } = await boards().get(`${url}/${query}`);
    expect(json.results.map((it: { id: number }) => it.id)).toEqual(ids);
  });

  test("an item has exactly the list's fields", async () => {
    const { json } = await boards().get(url);
    for (const it of json.results) z.strictObject(DashboardInList.shape).parse(it);
    expect(json).toMatchObject({ count: 5, next: null, previous: null });
    expect(json.results[0]).toMatchObject({ id: 12, is_shared: true, tags: ["growth", "web"], team_id: 1 });
  });

  test.each([
    ["/api/projects/2/dashboards", "phx_ada", [20]],
    ["/api/environments/1/dashboards/", "phx_dan", [12, 16, 10, 11, 15]],
    ["/api/projects/@current/dashboards/", "phx_dan", [20]],
    ["/api/projects/3/dashboards", "phx_eve", [30]],
  ])("%s for %s", async (path, key, ids) => {
    const { json } = await boards().get(path, { key });
    expect(json.results.map((it: { id: number }) => it.id)).toEqual(ids);
  });

  test("a change is in the next list, in its place", async () => {
    const sim = boards();
    const ids = async () => (await sim.get(url)).json.results.map((it: { id: number }) => it.id) as Promise<number[]>;
    await ids();
    await sim.patch(`${url}/10`, { name: "zebra" });
    expect(await ids()).toEqual([12, 16, 11, 10, 15]);
    await sim.patch(`${url}/11`, { pinned: true });
    expect(await ids()).toEqual([11, 12, 16, 10, 15]);
    const { json } = await sim.post(url, { name: "Beta" });
    expect(await ids()).toEqual([11, 12, json.id, 16, 10, 15]);
    await sim.patch(`${url}/12`, { deleted: true });
    expect(await ids()).toEqual([11, json.id, 16, 10, 15]);
  });
});

describe("retrieve", () => {
  test("tiles come in the order of their layout", async () => {
    const { status, json } = await boards().get(`${url}/10/`);
    expect(status).toBe(200);
    strictDetail.parse(json);
    expect(json.tiles.map((it: { id: number; order: number }) => [it.id, it.order])).toEqual([
      [102, 0],
      [101, 1],
      [100, 2],
    ]);
    expect(json.tiles[0].insight).toMatchObject({ id: 301, dashboards: [10], short_id: "short301" });
    expect(json.tiles[2]).toMatchObject({
      insight: null,
      text: { id: 200, body: "## Notes", team: 1, created_by: { id: 1 }, last_modified_by: null },
    });
    expect(json).toMatchObject({
      created_by: { email: "ada@example.test" },
      filters: { date_from: "-7d" },
      persisted_filters: { date_from: "-7d" },
      persisted_variables: null,
    });
  });

  test("it is remembered as the last access", async () => {
    const sim = boards();
    expect((await sim.get(`${url}/10`)).json.last_accessed_at).toBe(wireTime(now));
    expect(sim.worlds.get("dashboards", 10)?.last_accessed_at).toBe(wireTime(now));
    expect((await sim.get(`${url}/10`, { key: "phx_reader" })).status).toBe(200);
  });

  test("filters and variables of the query lie over the kept ones, and are not kept", async () => {
    const sim = boards();
    const query = new URLSearchParams({ filters_override: '{"a":1}', variables_override: '{"b":2}' });
    expect((await sim.get(`${url}/10/?${query}`)).json).toMatchObject({
      filters: { date_from: "-7d", a: 1 },
      variables: { b: 2 },
      persisted_filters: { date_from: "-7d" },
    });
    expect((await sim.get(`${url}/10`)).json.filters).toEqual({ date_from: "-7d" });
  });

  test.each(["filters_override", "variables_override"])("%s has to be a JSON object", async (name) => {
    for (const value of ["{", "[]", "7"]) {
      const { status, json } = await boards().get(`${url}/10?${name}=${value}`);
      expect(status).toBe(400);
      expect(json).toEqual({
        type: "validation_error",
        code: "invalid_input",
        detail: `Invalid JSON passed in ${name} parameter`,
        attr: name,
      });
    }
  });

  test("write-only fields are shown in the documented dialect", async () => {
    expect((await boards().get(`${url}/10`)).json).toMatchObject({
      use_template: "",
      use_dashboard: null,
      delete_insights: false,
    });
    const { json } = await boards(production).get(`${url}/10`);
    expect(Object.keys(json)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(use_|delete_)/)]));
    strictDetail.parse(json);
  });

  test("a user without a hedgehog", async () => {
    expect((await boards().get(`${url}/10`)).json.created_by.hedgehog_config).toEqual({});
    expect((await boards(production).get(`${url}/10`)).json.created_by.hedgehog_config).toBeNull();
  });
});

describe("levels", () => {
  const open = {
    effective_restriction_level: 21,
    effective_privilege_level: 37,
    user_access_level: "editor",
    access_control_version: "v2",
  };
  const closed = { effective_restriction_level: 37, access_control_version: "v1" };
  const editor = { ...closed, effective_privilege_level: 37, user_access_level: "editor" };
  const viewer = { ...closed, effective_privilege_level: 21, user_access_level: "viewer" };

  test.each([
    ["an open one, to a member", 10, "phx_cleo", open],
    ["a restricted one, to its maker", 11, "phx_ada", editor],
    ["to an admin", 11, "phx_ben", editor],
    ["to a collaborator", 11, "phx_cleo", editor],
    ["to a member", 11, "phx_dan", viewer],
    ["to its maker, a member", 16, "phx_cleo", editor],
  ])("%s", async (_, id, key, levels) => {
    const sim = boards();
    expect((await sim.get(`${url}/${id}`, { key })).json).toMatchObject(levels);
    const { json } = await sim.get(`${url}?limit=100`, { key });
    expect(json.results.find((it: { id: number }) => it.id === id)).toMatchObject(levels);
  });

  test("without the feature the level is kept, but does not count", async () => {
    const world = withBoards();
    world.organizations = world.organizations.map((it) => ({ ...it, available_product_features: [] }));
    const sim = manage({ world });
    const { json } = await sim.patch(`${url}/11`, { name: "x" }, { key: "phx_dan" });
    expect(json).toMatchObject({
      name: "x",
      restriction_level: 37,
      effective_restriction_level: 21,
      effective_privilege_level: 37,
      user_access_level: "editor",
      access_control_version: "v1",
    });
  });
});

describe("create", () => {
  test("of nothing", async () => {
    const sim = boards();
    const { status, json } = await sim.post(`${url}/`, {});
    expect(status).toBe(201);
    strictDetail.parse(json);
    expect(json).toMatchObject({
      name: null,
      description: "",
      pinned: false,
      created_at: wireTime(now),
      created_by: { id: 1 },
      deleted: false,
      creation_mode: "default",
      tags: [],
      restriction_level: 21,
      filters: {},
      variables: {},
      breakdown_colors: [],
      data_color_theme_id: null,
      last_refresh: null,
      last_accessed_at: null,
      tiles: [],
    });
    expect(sim.worlds.get("dashboards", json.id)).toMatchObject({ project: 1, created_by: 1 });
  });

  test("of everything, also as text; read-only and unknown keys are passed over", async () => {
    const { status, json } = await boards().post(
      url,
      {
        name: " Week ",
        description: 7,
        pinned: "yes",
        tags: ["B", "a ", "b", 7],
        restriction_level: "37",
        breakdown_colors: [{ value: "x" }],
        data_color_theme_id: 3,
        filters: { a: 1 },
        variables: { v: { id: 1 } },
        id: 7,
        is_shared: true,
        creation_mode: "template",
        constructor: 1,
      },
      { key: "phx_cleo" },
    );
    expect(status).toBe(201);
    expect(json).toMatchObject({
      name: "Week",
      description: "7",
      pinned: true,
      tags: ["7", "a", "b"],
      restriction_level: 37,
      effective_privilege_level: 37,
      breakdown_colors: [{ value: "x" }],
      data_color_theme_id: 3,
      filters: { a: 1 },
      persisted_variables: { v: { id: 1 } },
      is_shared: false,
      creation_mode: "default",
    });
    expect(json.id).not.toBe(7);
  });

  test("a duplicate shows the same tiles", async () => {
    const sim = boards();
    await sim.patch(`${url}/10`, { tiles: [{ id: 101, deleted: true }] });
    const { json } = await sim.post(url, { use_dashboard: 10, variables: { v: 1 } });
    expect(json).toMatchObject({
      name: null,
      creation_mode: "duplicate",
      filters: { date_from: "-7d" },
      variables: { v: 1 },
    });
    expect(json.tiles).toMatchObject([
      { insight: { id: 301, dashboards: [10, json.id] }, layouts: { sm: { x: 0, y: 0 } } },
      { text: { id: 200, body: "## Notes" } },
    ]);
    expect(json.tiles.map((it: { id: number }) => it.id)).not.toEqual([102, 100]);
  });

  test("a text that two dashboards show changes on both", async () => {
    const sim = boards();
    const copy = (await sim.post(url, { use_dashboard: 10 })).json;
    await sim.patch(`${url}/10`, { tiles: [{ id: 100, text: { id: 200, body: "New" } }] });
    expect((await sim.get(`${url}/${copy.id}`)).json.tiles[2].text.body).toBe("New");
    const tile_id = copy.tiles[2].id;
    await sim.post(`${url}/${copy.id}/update_text_tile`, { tile_id, body: "Newer" });
    expect((await sim.get(`${url}/10`)).json.tiles[2].text.body).toBe("Newer");
  });

  test("a duplicate with tiles of its own", async () => {
    const { json } = await boards().post(url, { use_dashboard: 10, duplicate_tiles: true }, { key: "phx_cleo" });
    expect(json.tiles.map((it: { insight: { name: string } | null }) => it.insight?.name)).toEqual([
      "Retention (Copy)",
      "Signups (Copy)",
      undefined,
    ]);
    expect(json.tiles[0].insight).toMatchObject({ dashboards: [json.id], created_by: { id: 3 } });
    expect(json.tiles[1].insight).toMatchObject({ tags: ["growth"], saved: true });
    expect(json.tiles[0].insight.id).not.toBe(301);
    expect(json.tiles[2].text).toMatchObject({ body: "## Notes", created_by: { id: 3 } });
    expect(json.tiles[2].text.id).not.toBe(200);
  });

  test.each([
    [{ use_template: "", use_dashboard: null }, "default"],
    [{ use_template: "DEFAULT_APP", use_dashboard: 0 }, "template"],
  ])("%o is made as %s", async (body, mode) => {
    expect((await boards().post(url, body)).json.creation_mode).toBe(mode);
  });
});

const dictionary = "Filters must be a dictionary";
const both = "`use_dashboard` and `use_template` cannot be used together";
const longest = "Ensure this field has no more than 400 characters.";
const notText = "Not a valid string.";

describe("validation", () => {
  test.each([
    [{ name: "x".repeat(401) }, "max_length", longest, "name"],
    [{ name: true }, "invalid_input", notText, "name"],
    [{ description: null }, "null", "This field may not be null.", "description"],
    [{ description: [] }, "invalid_input", notText, "description"],
    [{ pinned: "maybe" }, "invalid_input", "Must be a valid boolean.", "pinned"],
    [{ pinned: null }, "null", "This field may not be null.", "pinned"],
    [{ deleted: 7 }, "invalid_input", "Must be a valid boolean.", "deleted"],
    [{ use_dashboard: "x" }, "invalid_input", "A valid integer is required.", "use_dashboard"],
    [{ use_template: {} }, "invalid_input", notText, "use_template"],
    [{ delete_insights: "?" }, "invalid_input", "Must be a valid boolean.", "delete_insights"],
    [{ breakdown_colors: {} }, "not_a_list", 'Expected a list of items but got type "dict".', "breakdown_colors"],
    [{ data_color_theme_id: 1.5 }, "invalid_input", "A valid integer is required.", "data_color_theme_id"],
    [{ tags: "a" }, "not_a_list", 'Expected a list of items but got type "str".', "tags"],
    [{ tags: [{}] }, "invalid_input", notText, "tags__0"],
    [{ tags: ["x".repeat(256)] }, "max_length", "Ensure this field has no more than 255 characters.", "tags__0"],
    [{ restriction_level: 22 }, "invalid_choice", '"22" is not a valid choice.', "restriction_level"],
    [{ restriction_level: null }, "null", "This field may not be null.", "restriction_level"],
    [
      { last_refresh: "yesterday" },
      "invalid_input",
      "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].",
      "last_refresh",
    ],
    [{ filters: [1] }, "invalid_input", dictionary, null],
    [{ filters: "x" }, "invalid_input", dictionary, null],
    [{ variables: 7 }, "invalid_input", dictionary, null],
    [{ use_dashboard: 10, use_template: "DEFAULT_APP" }, "invalid_input", both, null],
    // The first field in the service's order, not the body's.
    [{ pinned: "maybe", name: "x".repeat(401) }, "max_length", longest, "name"],
    [[], "invalid_input", "Invalid data. Expected a dictionary, but got list.", null],
  ])("%j", async (body, code, detail, attr) => {
    const sim = boards();
    const before = JSON.stringify(sim.worlds.current);
    const asked = [() => sim.post(url, body), () => sim.patch(`${url}/10`, body), () => sim.put(`${url}/10/`, body)];
    for (const ask of asked) {
      const { status, json } = await ask();
      expect({ status, ...json }).toEqual({ status: 400, type: "validation_error", code, detail, attr });
    }
    expect(JSON.stringify(sim.worlds.current)).toBe(before);
  });

  test.each([
    [{ use_template: "FOO" }, "Invalid template provided: FOO", "use_template"],
    [{ use_template: "Elsewhere template" }, "Invalid template provided: Elsewhere template", "use_template"],
    [{ use_template: "constructor" }, "Invalid template provided: constructor", "use_template"],
    [{ use_dashboard: 999 }, "Invalid value provided", "use_dashboard"],
    [{ use_dashboard: 13 }, "Invalid value provided", "use_dashboard"],
    [{ use_dashboard: 20 }, "Invalid value provided", "use_dashboard"],
    [{ use_dashboard: 30 }, "Invalid value provided", "use_dashboard"],
  ])("of what is created: %j", async (body, detail, attr) => {
    const sim = boards();
    const count = sim.worlds.current.dashboards.length;
    const { status, json } = await sim.post(url, body);
    expect({ status, ...json }).toEqual({ status: 400, type: "validation_error", code: "invalid_input", detail, attr });
    expect(sim.worlds.current.dashboards).toHaveLength(count);
  });

  test("a body that is not JSON", async () => {
    expect(await boards().patch(`${url}/10`, "{")).toMatchObject({
      status: 400,
      json: { type: "invalid_request", code: "parse_error" },
    });
  });
});

describe("change", () => {
  test.each([
    [{ name: null }, { name: null }],
    [{ name: "" }, { name: "" }],
    [{ pinned: true }, { pinned: true, name: "Main" }],
    [{ tags: ["Z", "a"] }, { tags: ["a", "z"] }],
    [
      { tags: null, name: "n" },
      { tags: [], name: "n" },
    ],
    [{ filters: { a: 1 } }, { filters: { a: 1 } }],
    [{ filters: {} }, { filters: { date_from: "-7d" } }],
    [{ filters: [] }, { filters: { date_from: "-7d" } }],
    [
      { filters: null, variables: 0 },
      { filters: { date_from: "-7d" }, variables: {} },
    ],
    [{ last_refresh: "2026-01-01T00:00:00+02:00" }, { last_refresh: "2025-12-31T22:00:00Z" }],
    [{ restriction_level: 37 }, { restriction_level: 37, effective_restriction_level: 37 }],
    [
      { use_template: "FOO", use_dashboard: null },
      { name: "Main", creation_mode: "default" },
    ],
    [{ deleted: false }, { deleted: false, tiles: [{ id: 102 }, { id: 101 }, { id: 100 }] }],
  ])("%j", async (body, expected) => {
    const sim = boards();
    for (const ask of [sim.patch, sim.put]) {
      const { status, json } = await ask(`${url}/10`, body);
      expect(status).toBe(200);
      expect(json).toMatchObject(expected);
      strictDetail.parse(json);
    }
    expect((await sim.get(`${url}/10`)).json).toMatchObject(expected);
  });

  test("keys of filters are only keys", async () => {
    const sim = boards();
    const text = '{"__proto__":{"polluted":1},"constructor":2}';
    await sim.patch(`${url}/10`, `{"filters":${text}}`, { headers: { "content-type": "application/json" } });
    const answer = await sim.get(`${url}/10?filters_override={"__proto__":{"polluted":3}}`);
    expect(answer.text).toContain('"filters":{"__proto__":{"polluted":3},"constructor":2}');
    expect(answer.text).toContain(`"persisted_filters":${text}`);
    expect("polluted" in {}).toBe(false);
  });

  test("tags are cleared by an empty list and left alone by null", async () => {
    const sim = boards();
    expect((await sim.patch(`${url}/12`, { tags: null })).json.tags).toEqual(["growth", "web"]);
    expect((await sim.patch(`${url}/12`, { tags: [] })).json.tags).toEqual([]);
  });
});

const noEdit = "You don't have edit permissions for this dashboard.";
const noRestrict =
  "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.";
const scopeless = (scope: string) => `API key missing required scope '${scope}'`;

describe("permissions", () => {
  test.each([
    ["a member without edit right", "phx_dan", 11, { name: "x" }, noEdit],
    ["the right is checked before the body", "phx_dan", 11, { pinned: "maybe" }, noEdit],
    ["a member restricts", "phx_cleo", 10, { restriction_level: 37 }, noRestrict],
    ["a collaborator opens", "phx_cleo", 11, { restriction_level: 21 }, noRestrict],
    ["the body is checked before that", "phx_cleo", 11, { restriction_level: 22 }, undefined],
  ])("%s", async (_, key, id, body, detail) => {
    for (const ask of [boards().patch, boards().put]) {
      const { status, json } = await ask(`${url}/${id}`, body, { key });
      expect(status).toBe(detail ? 403 : 400);
      if (detail) {
        expect(json).toEqual({ type: "authentication_error", code: "permission_denied", detail, attr: null });
      }
    }
  });

  test.each([
    ["a collaborator", "phx_cleo", 11, { name: "x" }],
    ["the maker restricts, though a member", "phx_cleo", 16, { restriction_level: 21 }],
    ["an admin restricts", "phx_ben", 11, { restriction_level: 21 }],
  ])("%s may", async (_, key, id, body) => {
    expect(await boards().patch(`${url}/${id}`, body, { key })).toMatchObject({ status: 200, json: body });
  });

  test.each([
    ["GET", url, "phx_nothing", 403, scopeless("dashboard:read")],
    ["GET", `${url}/10`, "phx_nothing", 403, scopeless("dashboard:read")],
    ["POST", url, "phx_reader", 403, scopeless("dashboard:write")],
    ["PATCH", `${url}/10`, "phx_reader", 403, scopeless("dashboard:write")],
    ["PUT", `${url}/10`, "phx_reader", 403, scopeless("dashboard:write")],
    ["DELETE", `${url}/10`, "phx_reader", 403, scopeless("dashboard:write")],
    ["POST", `${url}/create_from_template_json`, "phx_reader", 403, scopeless("dashboard:write")],
    ["GET", url, null, 401, "Authentication credentials were not provided."],
    ["DELETE", `${url}/10`, null, 401, "Authentication credentials were not provided."],
    ["GET", url, "phx_eve", 403, "You don't have access to the project."],
    ["DELETE", `${url}/10`, "phx_eve", 403, "You don't have access to the project."],
    ["GET", "/api/projects/9/dashboards", "phx_ada", 404, "Project not found."],
    ["DELETE", "/api/projects/9/dashboards/10", "phx_ada", 404, "Project not found."],
    [
      "GET",
      "/api/projects/2/dashboards",
      "phx_project_1",
      403,
      "API key does not have access to the requested project: ID 2.",
    ],
    ["PUT", url, "phx_ada", 403, "This action does not support personal API key access"],
    ["POST", `${url}/10`, "phx_ada", 403, "This action does not support personal API key access"],
    ["GET", `${url}/10/move_tile`, "phx_ada", 403, "This action does not support personal API key access"],
    ["PATCH", url, "phx_ada", 405, 'Method "PATCH" not allowed.'],
  ])("%s %s with %s: %i", async (method, path, key, status, detail) => {
    for (const target of [path, `${path}/`]) {
      expect(await boards().ask(method, target, { key })).toMatchObject({ status, json: { detail } });
    }
  });

  test("a key that may write may read", async () => {
    expect((await boards().get(url, { key: "phx_writer" })).status).toBe(200);
  });

  test.each(["GET", "PATCH", "PUT"])("%s of what does not exist, or not in the project", async (method) => {
    for (const id of ["999", "20", "30", "13", "x", "1e1", "10abc", "9".repeat(30)]) {
      const { status, json } = await boards().ask(method, `${url}/${id}`, { body: {} });
      expect({ id, status, ...json }).toEqual({
        id,
        status: 404,
        type: "invalid_request",
        code: "not_found",
        detail: "Not found.",
        attr: null,
      });
    }
  });
});

describe("DELETE", () => {
  test.each(["/10", "/10/", "/999", "/x", "/13/"])("%s is refused without a body", async (path) => {
    const sim = boards();
    for (const key of ["phx_ada", "phx_dan"]) {
      const { status, text, header } = await sim.delete(`${url}${path}`, { key });
      expect({ status, text }).toEqual({ status: 405, text: "" });
      expect(header("content-type")).toBeUndefined();
      expect(header("allow")?.split(", ")).toEqual(
        expect.arrayContaining(["GET", "PATCH", "PUT", "DELETE", "HEAD", "OPTIONS"]),
      );
    }
    expect(sim.worlds.get("dashboards", 10)?.deleted).toBe(false);
  });
});

describe("soft delete", () => {
  test("takes the tiles along, and restoring brings them back", async () => {
    const sim = boards();
    const gone = await sim.patch(`${url}/10`, { deleted: true });
    expect(gone).toMatchObject({ status: 200, json: { deleted: true, tiles: [] } });
    expect((await sim.get(`${url}/10`)).status).toBe(404);
    expect((await sim.patch(`${url}/10`, { deleted: true })).status).toBe(404);
    expect((await sim.patch(`${url}/10`, { name: "x" })).status).toBe(404);
    expect((await sim.patch(`${url}/10`, { deleted: null })).status).toBe(404);
    expect((await sim.get("/api/projects/1/insights/300")).json.dashboards).toEqual([]);
    const back = await sim.patch(`${url}/10`, { deleted: false, name: "Back" });
    expect(back.json).toMatchObject({ deleted: false, name: "Back" });
    expect(back.json.tiles).toHaveLength(3);
    expect((await sim.get("/api/projects/1/insights/300")).json.dashboards).toEqual([10]);
  });

  test.each([false, "false", 0, "no"])("deleted %j restores, by PUT, too", async (deleted) => {
    const { status, json } = await boards().put(`${url}/13`, { deleted });
    expect(status).toBe(200);
    expect(json).toMatchObject({ deleted: false, tiles: [{ id: 130, insight: { deleted: false } }] });
  });

  test("restoring needs the edit right", async () => {
    const sim = boards();
    await sim.patch(`${url}/11`, { deleted: true });
    const refused = await sim.patch(`${url}/11`, { deleted: false }, { key: "phx_dan" });
    expect(refused).toMatchObject({ status: 403, json: { detail: noEdit } });
  });

  test("delete_insights takes those that are on no other dashboard", async () => {
    const sim = boards();
    await sim.patch("/api/projects/1/insights/300", { dashboards: [10, 12] });
    await sim.patch(`${url}/10`, { deleted: true, delete_insights: true });
    expect(sim.worlds.get("insights", 300)?.deleted).toBe(false);
    expect(sim.worlds.get("insights", 301)?.deleted).toBe(true);
    const { json } = await sim.patch(`${url}/10`, { deleted: false });
    expect(json.tiles).toHaveLength(3);
    expect(sim.worlds.get("insights", 301)?.deleted).toBe(false);
  });

  test("delete_insights alone does nothing", async () => {
    const sim = boards();
    const before = structuredClone(sim.worlds.current.insights);
    const { status, json } = await sim.patch(`${url}/10`, { delete_insights: true });
    expect({ status, deleted: json.deleted, tiles: json.tiles.length }).toEqual({
      status: 200,
      deleted: false,
      tiles: 3,
    });
    expect(sim.worlds.current.insights).toEqual(before);
  });

  test("a project does not start with a deleted dashboard", async () => {
    const world = withBoards();
    world.projects = world.projects.map((it) => ({ ...it, primary_dashboard: it.id === 1 ? 10 : 12 }));
    const sim = manage({ world });
    await sim.patch(`${url}/12`, { deleted: true });
    expect(sim.worlds.projectById(1)?.primary_dashboard).toBe(10);
    await sim.patch(`${url}/10`, { deleted: true });
    expect(sim.worlds.projectById(1)?.primary_dashboard).toBeNull();
    expect(sim.worlds.projectById(2)?.primary_dashboard).toBe(12);
  });
});

test("HEAD is GET without its body", async () => {
  const { status, text } = await boards().ask("HEAD", `${url}/10/`);
  expect({ status, text }).toEqual({ status: 200, text: "" });
});

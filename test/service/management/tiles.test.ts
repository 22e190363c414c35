import { describe, expect, test } from "vitest";
import { z } from "zod";
import { TileShape } from "../../../src/service/management/dashboards/dashboard-views.ts";
import { wireTime } from "../../../src/state/documents/time.ts";
import { boardsUrl as url, withBoards } from "./boards.ts";
import { manage, now } from "./manage.ts";

const boards = (options = {}) => manage({ world: withBoards(), ...options });
type Sim = ReturnType<typeof boards>;
const later = wireTime(now);
const longText = "Text body cannot exceed 4000 characters";
const noEdit = "You don't have edit permissions for this dashboard.";

const tilesOf = async (sim: Sim, id: number) => (await sim.get(`${url}/${id}`)).json.tiles;
const idsOf = async (sim: Sim, id: number) => (await tilesOf(sim, id)).map((tile: { id: number }) => tile.id);

const answer = (
  status: number,
  code: string,
  detail: string,
  attr: string | null = null,
  type = { 400: "validation_error", 403: "authentication_error", 404: "invalid_request" }[status],
) => ({ status, json: { type, code, detail, attr } });
const notFound = answer(404, "not_found", "Not found.");
const required = (attr: string) => answer(400, "required", "This field is required.", attr);

describe("tiles in a PATCH of the dashboard", () => {
  test("a text without an id is added", async () => {
    const sim = boards();
    const tiles = [{ text: { body: "# Hello" }, layouts: { sm: { x: 0, y: 1 } }, color: "blue" }];
    const { status, json } = await sim.patch(`${url}/12`, { tiles }, { key: "phx_cleo" });
    expect(status).toBe(200);
    expect(json.tiles).toMatchObject([
      {
        insight: null,
        layouts: { sm: { x: 0, y: 1 } },
        color: "blue",
        order: 0,
        text: { body: "# Hello", created_by: { id: 3 }, last_modified_by: null, last_modified_at: later },
      },
    ]);
    z.strictObject(TileShape.shape).parse(json.tiles[0]);
    expect(json.tiles[0].id).toBeGreaterThan(210);
    expect(json.tiles[0].text.id).toBeGreaterThan(202);
  });

  test("a text is changed by its id; who sends its maker becomes its last editor", async () => {
    const sim = boards();
    const text = { id: 200, body: "New", created_by: { id: 1 } };
    const { json } = await sim.patch(
      `${url}/10`,
      { tiles: [{ id: 100, text, color: "red", order: 9, is_cached: true }] },
      { key: "phx_cleo" },
    );
    expect(json.tiles[2]).toMatchObject({
      id: 100,
      color: "red",
      layouts: { sm: { y: 5 } },
      text: { id: 200, body: "New", created_by: { id: 1 }, last_modified_by: { id: 3 } },
    });
    expect(json.tiles).toHaveLength(3);
  });

  test.each([
    ["body null empties it", { id: 200, body: null }, ""],
    ["without a body it stays", { id: 200 }, "## Notes"],
    ["an empty body is a body", { id: 200, body: "" }, ""],
    ["exactly 4000 characters", { id: 200, body: "x".repeat(4000) }, "x".repeat(4000)],
  ])("%s", async (_, text, body) => {
    const { json } = await boards().patch(`${url}/10`, { tiles: [{ id: 100, text }] });
    expect(json.tiles[2].text.body).toBe(body);
  });

  test("a text is found by its own id, too; another text takes its place on the tile", async () => {
    const sim = boards();
    await sim.patch(`${url}/10`, { tiles: [{ text: { id: 200, body: "New" } }] });
    expect((await tilesOf(sim, 10))[2]).toMatchObject({ id: 100, text: { id: 200, body: "New" } });
    await sim.patch(`${url}/10`, { tiles: [{ id: 100, text: { body: "Other" } }] });
    const tiles = await tilesOf(sim, 10);
    expect(tiles).toHaveLength(3);
    expect(tiles[2]).toMatchObject({ id: 100, text: { body: "Other" } });
    expect(tiles[2].text.id).not.toBe(200);
  });

  test("the look of any tile is changed by its id, its insight never", async () => {
    const sim = boards();
    const look = {
      layouts: { sm: { x: 0, y: 9 } },
      color: "green",
      filters_overrides: { date_from: "-1d" },
      show_description: true,
      transparent_background: false,
    };
    const { json } = await sim.patch(`${url}/10`, {
      tiles: [{ id: 102, insight: { id: 300, name: "Mine" }, ...look }, { id: 101 }],
    });
    expect(json.tiles[2]).toMatchObject({ id: 102, insight: { id: 301, name: "Retention" }, ...look });
  });

  test("a tile is taken off and comes back", async () => {
    const sim = boards();
    await sim.patch(`${url}/10`, { tiles: [{ id: 101, deleted: true }] });
    expect(await idsOf(sim, 10)).toEqual([102, 100]);
    await sim.patch(`${url}/10`, { tiles: [{ id: 101, deleted: false }] });
    expect(await idsOf(sim, 10)).toEqual([102, 101, 100]);
  });

  test.each([
    ["a tile that does not exist", { id: 999, color: "red" }],
    ["a tile of another dashboard", { id: 110, color: "red" }],
    ["a tile without an id", { color: "red" }],
    ["a tile without anything", {}],
    ["a tile with an empty text", { id: 110, text: {} }],
  ])("%s is passed over", async (_, tile) => {
    const sim = boards();
    const before = JSON.stringify(sim.worlds.current.dashboards);
    expect((await sim.patch(`${url}/10`, { tiles: [tile] })).status).toBe(200);
    expect(JSON.stringify(sim.worlds.current.dashboards)).toBe(before);
  });

  test.each([
    [{ text: { body: "x".repeat(4001) } }, answer(400, "max_length", longText, "text__body")],
    [{ id: 101, text: { body: "x" } }, answer(400, "invalid_input", "Tile is not a text tile.")],
    [{ text: { id: 201, body: "x" } }, answer(400, "invalid_input", "Text tile not found.", "text")],
    [{ text: { id: 202, body: "x" } }, answer(400, "invalid_input", "Text tile not found in this team.", "text")],
    [
      { text: { body: "x", created_by: { id: 5 } } },
      answer(400, "invalid_input", "User not found in this organization."),
    ],
    [{ text: { body: "x", created_by: {} } }, answer(400, "invalid_input", "User not found in this organization.")],
    [{ text: { body: {} } }, answer(400, "invalid_input", "Not a valid string.", "tiles__0__text__body")],
    [{ text: 7 }, answer(400, "invalid_input", "Invalid data. Expected a dictionary, but got int.", "tiles__0__text")],
    [
      { id: 101, layouts: [] },
      answer(400, "not_a_dict", 'Expected a dictionary of items but got type "list".', "tiles__0__layouts"),
    ],
    [{ id: 101, deleted: "?" }, answer(400, "invalid_input", "Must be a valid boolean.", "tiles__0__deleted")],
    [
      { id: 101, color: 7.5, show_description: 9 },
      answer(400, "invalid_input", "Must be a valid boolean.", "tiles__0__show_description"),
    ],
    [7, answer(400, "invalid_input", "Invalid data. Expected a dictionary, but got int.", "tiles__0")],
  ])("%j is refused, and nothing has happened", async (tile, expected) => {
    const sim = boards();
    const before = JSON.stringify(sim.worlds.current);
    const { status, json } = await sim.patch(`${url}/10`, { name: "New", tiles: [tile] });
    expect({ status, json }).toEqual(expected);
    expect(JSON.stringify(sim.worlds.current)).toBe(before);
  });

  test("duplicate_tiles makes deep copies on the same dashboard", async () => {
    const sim = boards();
    const layouts = { sm: { x: 0, y: 20 } };
    const { json } = await sim.patch(`${url}/10`, { duplicate_tiles: [{ id: 101, layouts }, { id: 999 }] });
    expect(json.tiles).toHaveLength(4);
    expect(json.tiles[3]).toMatchObject({ layouts, insight: { name: "Signups (Copy)", dashboards: [10] } });
  });
});

describe("move_tile", () => {
  const move = (sim: Sim, from: number, body: unknown, asked = {}) =>
    sim.patch(`${url}/${from}/move_tile`, body, asked);

  test.each([
    ["PATCH", { tile: { id: 101, text: null }, toDashboard: 12 }],
    ["POST", { tile: { id: 101 }, to_dashboard: 12 }],
    ["PATCH", { tile: { id: "101" }, to_dashboard: "12" }],
  ])("%s %j", async (method, body) => {
    const sim = boards();
    const moved = await sim.ask(method, `${url}/10/move_tile/`, { body });
    expect(moved).toMatchObject({ status: 200, text: "" });
    expect(moved.header("content-type")).toBeUndefined();
    expect(await idsOf(sim, 10)).toEqual([102, 100]);
    expect(await tilesOf(sim, 12)).toMatchObject([
      { id: 101, insight: { id: 300, dashboards: [12] }, layouts: { sm: { x: 6 } } },
    ]);
  });

  test("the service answers with the dashboard that the tile was on", async () => {
    const { status, json } = await move(boards({ dialect: "production" }), 10, { tile: { id: 101 }, toDashboard: 12 });
    expect(status).toBe(200);
    expect(json).toMatchObject({ id: 10, tiles: [{ id: 102 }, { id: 100 }] });
  });

  test("to where it is, nothing changes", async () => {
    const sim = boards();
    expect((await move(sim, 10, { tile: { id: 101 }, to_dashboard: 10 })).status).toBe(200);
    expect(await idsOf(sim, 10)).toEqual([102, 101, 100]);
  });

  test("a tile that was taken off makes room, one that is there does not", async () => {
    const sim = boards();
    await sim.patch("/api/projects/1/insights/300", { dashboards: [10, 12] });
    const twice = await move(sim, 10, { tile: { id: 101 }, to_dashboard: 12 });
    expect(twice).toMatchObject(answer(400, "invalid_input", "Invalid request data for moving tile."));
    const [tile] = await tilesOf(sim, 12);
    await sim.patch(`${url}/12`, { tiles: [{ id: tile.id, deleted: true }] });
    expect((await move(sim, 10, { tile: { id: 101 }, to_dashboard: 12 })).status).toBe(200);
    expect(sim.worlds.get("dashboards", 12)?.tiles.map(({ id }) => id)).toEqual([101]);
  });

  test.each([
    ["nothing sent", 10, {}, "phx_ada", required("to_dashboard")],
    ["no tile", 10, { toDashboard: 12 }, "phx_ada", required("tile")],
    ["a tile without id", 10, { toDashboard: 12, tile: {} }, "phx_ada", required("tile__id")],
    [
      "no number",
      10,
      { toDashboard: "x", tile: { id: 101 } },
      "phx_ada",
      answer(400, "invalid_input", "A valid integer is required.", "to_dashboard"),
    ],
    ["an unknown tile", 10, { toDashboard: 12, tile: { id: 999 } }, "phx_ada", notFound],
    ["another dashboard's tile", 10, { toDashboard: 12, tile: { id: 110 } }, "phx_ada", notFound],
    ["an unknown destination", 10, { toDashboard: 999, tile: { id: 101 } }, "phx_ada", notFound],
    ["a deleted destination", 10, { toDashboard: 13, tile: { id: 101 } }, "phx_ada", notFound],
    ["another project's", 10, { toDashboard: 20, tile: { id: 101 } }, "phx_ada", notFound],
    ["another organization's", 10, { toDashboard: 30, tile: { id: 101 } }, "phx_ada", notFound],
    ["an unknown dashboard", 999, {}, "phx_ada", notFound],
    ["a deleted dashboard", 13, {}, "phx_ada", notFound],
    ["no right on the source", 11, {}, "phx_dan", answer(403, "permission_denied", noEdit)],
    [
      "no right on the destination",
      10,
      { toDashboard: 11, tile: { id: 101 } },
      "phx_dan",
      answer(403, "permission_denied", "You don't have edit permissions for the destination dashboard."),
    ],
    [
      "a key that may only read",
      10,
      {},
      "phx_reader",
      answer(403, "permission_denied", "API key missing required scope 'dashboard:write'"),
    ],
  ])("%s", async (_, from, body, key, expected) => {
    const sim = boards();
    const before = JSON.stringify(sim.worlds.current);
    const { status, json } = await move(sim, from, body, { key });
    expect({ status, json }).toEqual(expected);
    expect(JSON.stringify(sim.worlds.current)).toBe(before);
  });
});

describe("copy_tile", () => {
  test.each([
    [{ fromDashboardId: 10, tileId: 101 }, { insight: { id: 300, dashboards: [10, 12] } }],
    [
      { from_dashboard_id: 10, tile_id: 100 },
      { insight: null, text: { id: 200, body: "## Notes" } },
    ],
  ])("%j", async (body, tile) => {
    const sim = boards();
    const { status, json } = await sim.post(`${url}/12/copy_tile`, body);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id: 12, tiles: [tile] });
    expect(await idsOf(sim, 10)).toEqual([102, 101, 100]);
  });

  test("once only", async () => {
    const sim = boards();
    for (const [tileId, what] of [
      [101, "insight"],
      [100, "text card"],
    ]) {
      const body = { fromDashboardId: 10, tileId };
      expect((await sim.post(`${url}/12/copy_tile`, body)).status).toBe(200);
      expect(await sim.post(`${url}/12/copy_tile`, body)).toMatchObject(
        answer(400, "invalid_input", `This ${what} is already on the destination dashboard.`),
      );
    }
  });

  test.each([
    [{}, "phx_ada", 12, required("from_dashboard_id")],
    [{ fromDashboardId: 10 }, "phx_ada", 12, required("tile_id")],
    [
      { fromDashboardId: 12, tileId: 1 },
      "phx_ada",
      12,
      answer(400, "invalid_input", "Destination must be a different dashboard than the source."),
    ],
    [{ fromDashboardId: 20, tileId: 210 }, "phx_ada", 12, notFound],
    [{ fromDashboardId: 10, tileId: 110 }, "phx_ada", 12, notFound],
    [{ fromDashboardId: 13, tileId: 130 }, "phx_ada", 12, notFound],
    [{}, "phx_ada", 13, notFound],
    [{}, "phx_dan", 11, answer(403, "permission_denied", noEdit)],
  ])("%j with %s", async (body, key, to, expected) => {
    const { status, json } = await boards().post(`${url}/${to}/copy_tile/`, body, { key });
    expect({ status, json }).toEqual(expected);
  });
});

describe("reorder_tiles", () => {
  const box = (x: number, y: number, w: number, h: number) => ({ sm: { x, y, w, h } });

  test.each([
    ["preserve", [box(0, 0, 6, 5), box(6, 0, 6, 5), box(0, 5, 6, 5)]],
    ["two_column", [box(0, 0, 6, 5), box(6, 0, 6, 5), box(0, 5, 6, 5)]],
    ["full_width", [box(0, 0, 12, 5), box(0, 5, 12, 5), box(0, 10, 12, 5)]],
  ])("%s", async (layout, boxes) => {
    const { status, json } = await boards().post(`${url}/10/reorder_tiles`, { tile_order: [100, 101, 102], layout });
    expect(status).toBe(200);
    expect(json.tiles).toMatchObject([
      { id: 100, layouts: { ...boxes[0], xs: { x: 0, y: 0, w: 1, h: 5 } } },
      { id: 101, layouts: { ...boxes[1], xs: { x: 0, y: 5, w: 1, h: 5 } } },
      { id: 102, layouts: { ...boxes[2], xs: { x: 0, y: 10, w: 1, h: 5 } } },
    ]);
  });

  test("sizes are kept, each tile goes where the highest free place is", async () => {
    const sim = boards();
    const sized = (id: number, w: unknown, h: unknown) => ({ id, layouts: { sm: { w, h } } });
    await sim.patch(`${url}/10`, { tiles: [sized(100, 4, 9), sized(101, 8, 2), sized(102, "x", -1)] });
    const { json } = await sim.post(`${url}/10/reorder_tiles`, { tile_order: [100, 101, 102] });
    expect(json.tiles.map((it: { id: number; layouts: { sm: object } }) => [it.id, it.layouts.sm])).toEqual([
      [100, { x: 0, y: 0, w: 4, h: 9 }],
      [101, { x: 4, y: 0, w: 8, h: 2 }],
      [102, { x: 4, y: 2, w: 6, h: 5 }],
    ]);
  });

  test.each([
    [{}, "phx_ada", 10, required("tile_order")],
    [
      { tile_order: [] },
      "phx_ada",
      10,
      answer(400, "min_length", "Ensure this field has at least 1 elements.", "tile_order"),
    ],
    [
      { tile_order: ["x"] },
      "phx_ada",
      10,
      answer(400, "invalid_input", "A valid integer is required.", "tile_order__0"),
    ],
    [
      { tile_order: [100, 100] },
      "phx_ada",
      10,
      answer(400, "invalid_input", "tile_order must contain unique tile IDs"),
    ],
    [
      { tile_order: [100, 999, 110] },
      "phx_ada",
      10,
      answer(404, "not_found", "Tile IDs not found on this dashboard: [110, 999]"),
    ],
    [
      { tile_order: [100], layout: "spiral" },
      "phx_ada",
      10,
      answer(400, "invalid_choice", '"spiral" is not a valid choice.', "layout"),
    ],
    [{ tile_order: [110] }, "phx_dan", 11, answer(403, "permission_denied", noEdit)],
  ])("%j with %s", async (body, key, id, expected) => {
    const { status, json } = await boards().post(`${url}/${id}/reorder_tiles`, body, { key });
    expect({ status, json }).toEqual(expected);
  });
});

describe("text tiles", () => {
  test("create, update, delete", async () => {
    const sim = boards();
    const created = await sim.post(`${url}/12/create_text_tile/`, { body: "One", color: null });
    expect(created).toMatchObject({
      status: 201,
      json: { insight: null, order: null, color: null, text: { body: "One", created_by: { id: 1 } } },
    });
    z.strictObject(TileShape.shape).parse(created.json);
    const tile_id = created.json.id;
    const layouts = { sm: { x: 0, y: 0, w: 12, h: 1 } };
    const updated = await sim.post(
      `${url}/12/update_text_tile`,
      { tile_id, body: "Two", layouts, color: "red" },
      { key: "phx_cleo" },
    );
    expect(updated).toMatchObject({
      status: 200,
      json: {
        id: tile_id,
        layouts,
        color: "red",
        text: { body: "Two", created_by: { id: 1 }, last_modified_by: { id: 3 } },
      },
    });
    expect((await tilesOf(sim, 12))[0]).toEqual({ ...updated.json, order: 0 });
    const deleted = await sim.post(`${url}/12/delete_tile`, { tile_id });
    expect(deleted).toMatchObject({ status: 204, text: "" });
    expect(await tilesOf(sim, 12)).toEqual([]);
  });

  test("delete_tile takes an insight off, the insight stays", async () => {
    const sim = boards();
    await sim.post(`${url}/10/delete_tile`, { tile_id: 101 });
    expect((await sim.get("/api/projects/1/insights/300")).json).toMatchObject({ deleted: false, dashboards: [] });
  });

  const blank = answer(400, "blank", "This field may not be blank.", "body");
  test.each([
    ["create_text_tile", 10, {}, "phx_ada", required("body")],
    ["create_text_tile", 10, { body: " " }, "phx_ada", blank],
    ["create_text_tile", 10, { body: "x".repeat(4001) }, "phx_ada", answer(400, "max_length", longText, "body")],
    [
      "create_text_tile",
      10,
      { body: "x", layouts: 7 },
      "phx_ada",
      answer(400, "not_a_dict", 'Expected a dictionary of items but got type "int".', "layouts"),
    ],
    ["create_text_tile", 13, { body: "x" }, "phx_ada", notFound],
    ["create_text_tile", 11, { body: "x" }, "phx_dan", answer(403, "permission_denied", noEdit)],
    ["update_text_tile", 10, {}, "phx_ada", required("tile_id")],
    ["update_text_tile", 10, { tile_id: 100, body: "" }, "phx_ada", blank],
    [
      "update_text_tile",
      10,
      { tile_id: 100, body: "x".repeat(4001) },
      "phx_ada",
      answer(400, "max_length", longText, "body"),
    ],
    ["update_text_tile", 10, { tile_id: 101 }, "phx_ada", answer(400, "invalid_input", "Tile is not a text tile.")],
    ["update_text_tile", 10, { tile_id: 111 }, "phx_ada", notFound],
    ["update_text_tile", 11, { tile_id: 111 }, "phx_dan", answer(403, "permission_denied", noEdit)],
    ["delete_tile", 10, {}, "phx_ada", required("tile_id")],
    ["delete_tile", 10, { tile_id: 111 }, "phx_ada", notFound],
    ["delete_tile", 13, { tile_id: 130 }, "phx_ada", notFound],
    ["delete_tile", 11, { tile_id: 111 }, "phx_dan", answer(403, "permission_denied", noEdit)],
    [
      "delete_tile",
      10,
      { tile_id: 101 },
      "phx_reader",
      answer(403, "permission_denied", "API key missing required scope 'dashboard:write'"),
    ],
  ])("%s on %i: %j with %s", async (name, id, body, key, expected) => {
    const { status, json } = await boards().post(`${url}/${id}/${name}`, body, { key });
    expect({ status, json }).toEqual(expected);
  });
});

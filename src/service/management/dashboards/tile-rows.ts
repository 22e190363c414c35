import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { choice, integer, list, text } from "../../../state/documents/lenient-fields.ts";
import { tileKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Dashboard, Tile } from "../../../state/documents/world.ts";
import { found } from "../../api-frame/access.ts";
import { given } from "../../api-frame/body.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, type ManagementRow, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { privilege } from "../collaborators.ts";
import { type DashboardDesk, DashboardDetail, TileShape, tilesInOrder } from "./dashboard-views.ts";
import {
  arrangements,
  checkText,
  linkTile,
  makeText,
  makeTile,
  packed,
  putText,
  showsSame,
  withTile,
} from "./tiles.ts";

/** What one can do with the tiles of a dashboard. Upstream PostHog/posthog products/dashboards/backend/api/dashboard.py. */

type Renames = Readonly<Record<string, string>>;

/** Takes the older spellings of keys, too. */
const spelled = <T extends z.ZodType>(renames: Renames, schema: T) =>
  z.preprocess((body) => {
    if (typeof body !== "object" || body === null) return body;
    const entries = Object.entries(body).map(([key, value]) => [
      Object.hasOwn(renames, key) ? renames[key] : key,
      value,
    ]);
    return Object.fromEntries(entries);
  }, schema);

const MovedTile = spelled(
  { toDashboard: "to_dashboard" },
  z.object({ to_dashboard: integer(), tile: z.object({ id: integer() }) }),
);

const CopiedTile = spelled(
  { fromDashboardId: "from_dashboard_id", tileId: "tile_id" },
  z.object({ from_dashboard_id: integer(), tile_id: integer() }),
);

const TileOrder = z.object({
  tile_order: list(integer()).refine((it) => it.length > 0, {
    params: { code: "min_length", detail: "Ensure this field has at least 1 elements." },
  }),
  layout: choice(arrangements).optional(),
});

const look = tileKind.Writable.pick({ layouts: true, color: true }).shape;
const NewTextTile = z.object({ body: text(), ...look });
const ChangedTextTile = z.object({ tile_id: integer(), body: text().optional(), ...look });
const DeletedTile = z.object({ tile_id: integer() });

/** The dashboard of the project with this id that is not deleted. @throws SimError not_found */
function dashboardWith({ worlds }: DashboardDesk, { project }: ProjectRequest<unknown>, id: number): Dashboard {
  const dashboard = found(worlds.get("dashboards", id));
  return found(dashboard.deleted || dashboard.project !== project.id ? undefined : dashboard);
}

/** The dashboard's tile with this id, unless it is deleted. @throws SimError not_found */
const tileWith = (dashboard: Dashboard, id: number): Tile =>
  found(dashboard.tiles.find((tile) => tile.id === id && !tile.deleted));

const without = (dashboard: Dashboard, gone: (tile: Tile) => boolean): Dashboard => ({
  ...dashboard,
  tiles: dashboard.tiles.filter((tile) => !gone(tile)),
});

/** @returns The dashboard that the tile was on. @throws SimError not_found, permission_denied, required, invalid_input */
function moveTile(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof MovedTile>>): Dashboard {
  const source = desk.editable(request);
  const body = request.body();
  const tile = tileWith(source, body.tile.id);
  const target = dashboardWith(desk, request, body.to_dashboard);
  if (desk.rights.effectivePrivilege(target, request) !== privilege.edit) {
    const detail = "You don't have edit permissions for the destination dashboard.";
    throw new SimError("permission_denied", detail);
  }
  if (target.id === source.id) return source;
  const others = target.tiles.filter((it) => showsSame(it, tile));
  if (others.some(({ deleted }) => !deleted)) throw invalid("Invalid request data for moving tile.");
  return desk.worlds.change((draft) => {
    draft.put(
      "dashboards",
      withTile(
        without(target, (it) => others.includes(it)),
        tile,
      ),
    );
    return draft.put(
      "dashboards",
      without(source, (it) => it === tile),
    );
  });
}

/** @throws SimError not_found, permission_denied, required, invalid_input */
function copyTileHere(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof CopiedTile>>): Dashboard {
  const target = desk.editable(request);
  const body = request.body();
  if (body.from_dashboard_id === target.id) {
    throw invalid("Destination must be a different dashboard than the source.");
  }
  const tile = tileWith(dashboardWith(desk, request, body.from_dashboard_id), body.tile_id);
  const others = target.tiles.filter((it) => showsSame(it, tile));
  if (others.some(({ deleted }) => !deleted)) {
    const what = tile.text ? "text card" : "insight";
    throw invalid(`This ${what} is already on the destination dashboard.`);
  }
  return desk.worlds.change((draft) => {
    const copy = linkTile(desk.maker(draft, request), tile);
    const bare = without(target, (it) => others.includes(it));
    return draft.put("dashboards", withTile(bare, copy));
  });
}

/** @throws SimError not_found, permission_denied, required, invalid_input, min_length */
function reorderTiles(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof TileOrder>>): Dashboard {
  const dashboard = desk.editable(request);
  const { tile_order: order, layout = "preserve" } = request.body();
  if (new Set(order).size < order.length) throw invalid("tile_order must contain unique tile IDs");
  const there = new Map(tilesInOrder(dashboard).map((tile) => [tile.id, tile]));
  const missing = order.filter((id) => !there.has(id)).sort((a, b) => a - b);
  if (missing.length > 0) {
    throw new SimError("not_found", `Tile IDs not found on this dashboard: [${missing.join(", ")}]`);
  }
  const ordered = order.flatMap((id) => there.get(id) ?? []);
  const tiles = packed(ordered, layout);
  return desk.worlds.change((draft) => draft.put("dashboards", tiles.reduce(withTile, dashboard)));
}

interface TileOf {
  dashboard: Dashboard;
  tile: Tile;
}

/** @throws SimError not_found, permission_denied, required, blank, max_length */
function createTextTile(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof NewTextTile>>): TileOf {
  const dashboard = desk.editable(request);
  const fields = request.body();
  checkText(fields.body, "body");
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const text = makeText(maker, fields.body);
    const tile = makeTile(maker, { ...given(fields, ["layouts", "color"]), text });
    return { dashboard: draft.put("dashboards", withTile(dashboard, tile)), tile };
  });
}

/** @throws SimError not_found, permission_denied, required, blank, max_length, invalid_input */
function updateTextTile(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof ChangedTextTile>>): TileOf {
  const dashboard = desk.editable(request);
  const fields = request.body();
  checkText(fields.body, "body");
  const known = tileWith(dashboard, fields.tile_id);
  if (!known.text) throw invalid("Tile is not a text tile.");
  const { body = known.text.body } = fields;
  const text = { ...known.text, body, last_modified_by: request.caller.user.id, last_modified_at: desk.now() };
  const tile = { ...known, ...given(fields, ["layouts", "color"]), text };
  return desk.worlds.change((draft) => {
    const changed = draft.put("dashboards", withTile(dashboard, tile));
    putText(desk.maker(draft, request), text, desk.worlds.current.dashboards, dashboard);
    return { dashboard: changed, tile };
  });
}

/** Takes a tile off; what it shows stays. @throws SimError not_found, permission_denied, required */
function deleteTile(desk: DashboardDesk, request: ProjectRequest<z.infer<typeof DeletedTile>>): void {
  const dashboard = desk.editable(request);
  const tile = tileWith(dashboard, request.body().tile_id);
  desk.worlds.change((draft) => {
    draft.put("dashboards", withTile(dashboard, { ...tile, deleted: true }));
  });
}

const access = inProject("dashboard:write");
const action = (name: string) => ({ method: "POST", path: `${projectRoot}/dashboards/:id/${name}`, access }) as const;

/** What one can do with single tiles. The contract has only move_tile. */
export const tileEndpoints = (desk: DashboardDesk): Endpoint[] => [
  ...moving(desk),
  ...arranging(desk),
  ...texts(desk),
  ...managementRow(desk, {
    ...action("delete_tile"),
    summary: "Removes a tile from its dashboard",
    status: 204,
    body: DeletedTile,
    handle: (request) => deleteTile(desk, request),
  }),
];

function moving(desk: DashboardDesk): Endpoint[] {
  const isShown = desk.dialect === "production";
  const row: ManagementRow<"project", z.infer<typeof MovedTile>> = {
    ...action("move_tile"),
    summary: "Moves a tile to another dashboard",
    body: MovedTile,
    ...(isShown && { reply: DashboardDetail }),
    handle(request) {
      const source = moveTile(desk, request);
      return isShown ? desk.views.inDetail(source, request) : undefined;
    },
  };
  return [...managementRow(desk, { ...row, method: "PATCH", contract: true }), ...managementRow(desk, row)];
}

const arranging = (desk: DashboardDesk): Endpoint[] => [
  ...managementRow(desk, {
    ...action("copy_tile"),
    summary: "Adds a tile of another dashboard to this one as well",
    body: CopiedTile,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(copyTileHere(desk, request), request),
  }),
  ...managementRow(desk, {
    ...action("reorder_tiles"),
    summary: "Arranges tiles in another order",
    body: TileOrder,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(reorderTiles(desk, request), request),
  }),
];

const texts = (desk: DashboardDesk): Endpoint[] => [
  ...managementRow(desk, {
    ...action("create_text_tile"),
    summary: "Adds a text tile to a dashboard",
    status: 201,
    body: NewTextTile,
    reply: TileShape,
    handle(request) {
      const { dashboard, tile } = createTextTile(desk, request);
      return desk.views.tile(dashboard, tile, request);
    },
  }),
  ...managementRow(desk, {
    ...action("update_text_tile"),
    summary: "Changes a text tile of a dashboard",
    body: ChangedTextTile,
    reply: TileShape,
    handle(request) {
      const { dashboard, tile } = updateTextTile(desk, request);
      return desk.views.tile(dashboard, tile, request);
    },
  }),
];

import { z } from "zod";
import { SimError } from "../../kernel/errors.ts";
import type { Dashboard, Tile } from "../../model/world.ts";
import { found } from "../access.ts";
import { choice, integer, list, text } from "../fields.ts";
import { given } from "../given.ts";
import { invalid } from "../invalid.ts";
import type { DashboardDesk, DashboardRequest } from "./desk.ts";
import { layouts } from "./fields.ts";
import { arrangements, packed } from "./layouts.ts";
import { checkText } from "./patch-tiles.ts";
import { privilege } from "./rights.ts";
import { tilesInOrder } from "./show-tiles.ts";
import { linkTile, makeText, makeTile, putText, showsSame, withTile } from "./tiles.ts";

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

export const MovedTile = spelled(
  { toDashboard: "to_dashboard" },
  z.object({ to_dashboard: integer(), tile: z.object({ id: integer() }) }),
);

export const CopiedTile = spelled(
  { fromDashboardId: "from_dashboard_id", tileId: "tile_id" },
  z.object({ from_dashboard_id: integer(), tile_id: integer() }),
);

export const TileOrder = z.object({
  tile_order: list(integer()).refine((it) => it.length > 0, {
    params: { code: "min_length", detail: "Ensure this field has at least 1 elements." },
  }),
  layout: choice(arrangements).optional(),
});

const look = {
  layouts: layouts().optional(),
  color: text({ max: 400, blank: true }).nullable().optional(),
};
export const NewTextTile = z.object({ body: text(), ...look });
export const ChangedTextTile = z.object({ tile_id: integer(), body: text().optional(), ...look });
export const DeletedTile = z.object({ tile_id: integer() });

/** The dashboard of the project with this id that is not deleted. @throws SimError not_found */
function dashboardWith(
  { worlds }: DashboardDesk,
  { project }: DashboardRequest<unknown>,
  id: number,
): Dashboard {
  const dashboard = found(worlds.get("dashboards", id));
  return found(dashboard.deleted || dashboard.project !== project.id ? undefined : dashboard);
}

/** The dashboard's tile with this id that is there to be seen. @throws SimError not_found */
const tileWith = (dashboard: Dashboard, id: number): Tile =>
  found(dashboard.tiles.find((tile) => tile.id === id && !tile.deleted));

const without = (dashboard: Dashboard, gone: (tile: Tile) => boolean): Dashboard => ({
  ...dashboard,
  tiles: dashboard.tiles.filter((tile) => !gone(tile)),
});

/** @returns The dashboard that the tile was on. @throws SimError not_found, permission_denied, required, invalid_input */
export function moveTile(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof MovedTile>>,
): Dashboard {
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
export function copyTileHere(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof CopiedTile>>,
): Dashboard {
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
export function reorderTiles(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof TileOrder>>,
): Dashboard {
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
export function createTextTile(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof NewTextTile>>,
): TileOf {
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
export function updateTextTile(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof ChangedTextTile>>,
): TileOf {
  const dashboard = desk.editable(request);
  const fields = request.body();
  checkText(fields.body, "body");
  const known = tileWith(dashboard, fields.tile_id);
  if (!known.text) throw invalid("Tile is not a text tile.");
  const { body = known.text.body } = fields;
  const text = {
    ...known.text,
    body,
    last_modified_by: request.caller.user.id,
    last_modified_at: desk.now(),
  };
  const tile = { ...known, ...given(fields, ["layouts", "color"]), text };
  return desk.worlds.change((draft) => {
    const changed = draft.put("dashboards", withTile(dashboard, tile));
    putText(desk.maker(draft, request), text, desk.worlds.current.dashboards, dashboard);
    return { dashboard: changed, tile };
  });
}

/** Takes a tile off; what it shows stays. @throws SimError not_found, permission_denied, required */
export function deleteTile(
  desk: DashboardDesk,
  request: DashboardRequest<z.infer<typeof DeletedTile>>,
): void {
  const dashboard = desk.editable(request);
  const tile = tileWith(dashboard, request.body().tile_id);
  desk.worlds.change((draft) => {
    draft.put("dashboards", withTile(dashboard, { ...tile, deleted: true }));
  });
}

import { isObject, type Json } from "../../kernel/json.ts";
import type { Dashboard, Insight, ReadonlyWorld, Tile } from "../../model/world.ts";
import type { ShownDashboard } from "./types.ts";

type ShownTile = ShownDashboard["tiles"][number];

/** The layout of wide pages. */
const wide = "sm";

function placeOf({ layouts }: Tile): ShownTile["place"] {
  const layout = Object.hasOwn(layouts, wide) ? layouts[wide] : undefined;
  if (!isObject(layout)) return null;
  const { x, y, w, h } = layout as Record<string, Json>;
  const isPlace = [x, y, w, h].every((it) => typeof it === "number");
  return isPlace ? { x: Number(x), y: Number(y), w: Number(w), h: Number(h) } : null;
}

/** A tile of either kind; the insight may be gone. */
function showTile(insights: ReadonlyMap<number, Insight>, tile: Tile): ShownTile {
  const insight = tile.insight === null ? undefined : insights.get(tile.insight);
  return {
    id: tile.id,
    kind: tile.text === null ? "insight" : "text",
    title: tile.text?.body ?? insight?.name ?? insight?.derived_name ?? "",
    color: tile.color,
    place: placeOf(tile),
    query: insight?.query ?? null,
  };
}

/** A dashboard as the inspector shows it. */
export function showDashboard(
  world: ReadonlyWorld,
  insights: ReadonlyMap<number, Insight>,
  it: Dashboard,
): ShownDashboard {
  const collaborators = world.dashboard_collaborators.flatMap(({ dashboard, user }) => {
    const found = dashboard === it.id ? world.users.find(({ id }) => id === user) : undefined;
    return found ? [found.email] : [];
  });
  return {
    id: it.id,
    project: it.project,
    name: it.name,
    description: it.description,
    pinned: it.pinned,
    tags: it.tags,
    restricted: it.restriction_level === 37,
    collaborators,
    shared: world.sharing_configurations.some(({ dashboard, enabled }) => dashboard === it.id && enabled),
    created_at: it.created_at,
    tiles: it.tiles.filter(({ deleted }) => !deleted).map((tile) => showTile(insights, tile)),
  };
}

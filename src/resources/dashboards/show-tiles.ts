import { z } from "zod";
import { isObject } from "../../kernel/json.ts";
import type { Dashboard, Insight, Tile } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { InsightShape, type ShownInsight } from "../insights/show.ts";
import { showUserOf, UserShape } from "../users.ts";

const TextOfTile = z.object({
  id: z.int(),
  created_by: UserShape.nullable(),
  last_modified_by: UserShape.nullable(),
  body: z.string(),
  last_modified_at: z.string(),
  team: z.int(),
});

/** A tile: exactly one of `insight` and `text` is set. */
export const TileShape = z
  .object({
    id: z.int(),
    insight: InsightShape.nullable(),
    text: TextOfTile.nullable(),
    layouts: z.record(z.string(), z.json()),
    color: z.string().nullable(),
    filters_overrides: z.json(),
    show_description: z.boolean().nullable(),
    transparent_background: z.boolean().nullable(),
    order: z.int().nullable(),
    last_refresh: z.null(),
    is_cached: z.literal(false),
  })
  .meta({ title: "Tile" });
export type ShownTile = z.infer<typeof TileShape>;

/** A coordinate of a tile in the usual layout; tiles without one come last. */
function coordinate(tile: Tile, axis: "x" | "y"): number {
  const { sm } = tile.layouts;
  const value = isObject(sm) ? sm[axis] : undefined;
  return typeof value === "number" ? value : 100;
}

/** Tiles that are there, from the top, from the left. */
export const tilesInOrder = (dashboard: Dashboard): Tile[] =>
  dashboard.tiles
    .filter((tile) => !tile.deleted)
    .sort((a, b) => coordinate(a, "y") - coordinate(b, "y") || coordinate(a, "x") - coordinate(b, "x"));

/** How an insight on a tile is shown to the reader. */
export type ShowInsight = (insight: Insight) => ShownInsight;

/** How tiles are shown. */
export function openTileViews(desk: ResourceDesk) {
  const showText = (text: NonNullable<Tile["text"]>, project: number) => ({
    id: text.id,
    created_by: showUserOf(desk, text.created_by),
    last_modified_by: showUserOf(desk, text.last_modified_by),
    body: text.body,
    last_modified_at: text.last_modified_at,
    team: project,
  });

  const insightOf = (tile: Tile): Insight | undefined =>
    tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight);

  /** @param order Its place on the dashboard; null when it is shown by itself. */
  function one(
    { project }: Dashboard,
    tile: Tile,
    order: number | null,
    showInsight: ShowInsight,
  ): ShownTile {
    const insight = insightOf(tile);
    return {
      id: tile.id,
      insight: insight ? showInsight(insight) : null,
      text: tile.text && showText(tile.text, project),
      layouts: tile.layouts,
      color: tile.color,
      filters_overrides: tile.filters_overrides,
      show_description: tile.show_description,
      transparent_background: tile.transparent_background,
      order,
      last_refresh: null,
      is_cached: false,
    };
  }

  return {
    one,
    /** All that are to be seen. A tile whose insight was deleted stays away until the insight comes back. */
    all: (dashboard: Dashboard, showInsight: ShowInsight): ShownTile[] =>
      tilesInOrder(dashboard)
        .filter((tile) => tile.insight === null || insightOf(tile)?.deleted === false)
        .map((tile, order) => one(dashboard, tile, order, showInsight)),
  };
}

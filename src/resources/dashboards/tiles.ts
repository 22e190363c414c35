import { blankTile } from "../../model/blank.ts";
import type { Dashboard, Insight, Tile } from "../../model/world.ts";
import { copyInsight, type Maker } from "../insights/make.ts";

export type TileText = NonNullable<Tile["text"]>;

/** A text that the maker wrote. */
export const makeText = ({ draft, user, now }: Maker, body: string): TileText => ({
  id: draft.nextId("texts"),
  body,
  created_by: user,
  last_modified_by: null,
  last_modified_at: now,
});

export const makeTile = ({ draft }: Maker, fields: Omit<Partial<Tile>, "id">): Tile =>
  blankTile({ ...fields, id: draft.nextId("tiles") });

/** A tile that shows the same insight or the same text. */
export const linkTile = (maker: Maker, { id: _, ...tile }: Tile): Tile => makeTile(maker, tile);

/** A tile that shows a copy of what the tile shows. */
export function copyTile(maker: Maker, tile: Tile, insight: Insight | undefined): Tile {
  const copied = insight ? copyInsight(maker, insight).id : null;
  return linkTile(maker, { ...tile, insight: copied, text: tile.text && makeText(maker, tile.text.body) });
}

/** Do both tiles show the same insight or the same text? */
export const showsSame = (a: Tile, b: Tile): boolean =>
  (a.insight !== null && a.insight === b.insight) || (a.text !== null && a.text.id === b.text?.id);

/** The dashboard with a tile in the place of the one with its id, or at the end. */
export function withTile(dashboard: Dashboard, tile: Tile): Dashboard {
  const isThere = dashboard.tiles.some(({ id }) => id === tile.id);
  const tiles = isThere
    ? dashboard.tiles.map((it) => (it.id === tile.id ? tile : it))
    : [...dashboard.tiles, tile];
  return { ...dashboard, tiles };
}

/** A text stands on several dashboards when they were duplicated: puts it in its place on the others. */
export function putText(
  { draft, project }: Maker,
  text: TileText,
  dashboards: readonly Dashboard[],
  except: Dashboard,
): void {
  for (const dashboard of dashboards) {
    if (dashboard.project !== project || dashboard.id === except.id) continue;
    if (!dashboard.tiles.some((tile) => tile.text?.id === text.id)) continue;
    const tiles = dashboard.tiles.map((tile) => (tile.text?.id === text.id ? { ...tile, text } : tile));
    draft.put("dashboards", { ...dashboard, tiles });
  }
}

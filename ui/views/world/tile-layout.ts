import type { DashboardSummary } from "../../../src/management/world-shapes.ts";

type Tile = DashboardSummary["tiles"][number];

/** Position of a tile as CSS grid lines. */
export interface Placed {
  readonly tile: Tile;
  readonly column: string;
  readonly row: string;
}

/** Columns of the service's dashboards. */
const columns = 12;
/** Size of a tile without a position. */
const usual = { w: 6, h: 5 };
/** Rows of the service's dashboards per row here. */
const perRow = 2.5;

const between = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, Math.floor(value)));

/** Positions of tiles; those without one follow below, two per row. */
export function boardOf(tiles: readonly Tile[]): Placed[] {
  const end = Math.max(0, ...tiles.map(({ place }) => (place ? place.y + place.h : 0)));
  let loose = 0;
  return tiles.map((tile) => {
    const free = { ...usual, x: (loose % 2) * usual.w, y: end + Math.floor(loose / 2) * usual.h };
    if (!tile.place) loose++;
    const { x, y, w, h } = tile.place ?? free;
    const from = between(x, 0, columns - 1);
    const wide = between(w, 1, columns - from);
    const top = between(y / perRow, 0, 500);
    const high = between(Math.round(h / perRow), 1, 8);
    return { tile, column: `${from + 1} / span ${wide}`, row: `${top + 1} / span ${high}` };
  });
}

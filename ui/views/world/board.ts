import type { ShownDashboard } from "../../../src/control/world/types.ts";

type Tile = ShownDashboard["tiles"][number];

/** Where a tile lies, as CSS grid lines. */
export interface Placed {
  readonly tile: Tile;
  readonly column: string;
  readonly row: string;
}

/** The service's boards are so many columns wide. */
const columns = 12;
/** A tile of which nobody has said where it lies: half as wide as the board. */
const usual = { w: 6, h: 5 };
/** Rows of the service's boards are low: several of them make one of ours. */
const perRow = 2.5;

const between = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, Math.floor(value)));

/** The tiles of a board with their places; those without one follow below, two in a row. */
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

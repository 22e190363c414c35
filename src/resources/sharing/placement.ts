import { isObject, type Json } from "../../kernel/json.ts";
import type { ShownDashboardDetail } from "../dashboards/show.ts";

export type ShownTile = ShownDashboardDetail["tiles"][number];

/** Where a tile stands: columns and rows from 1, as CSS counts them. */
export interface Placement {
  column: number;
  width: number;
  row: number;
  height: number;
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

const columns = 12;
const tallest = 1_000;

const whole = (value: Json | undefined, least: number, most: number, otherwise: number): number =>
  typeof value === "number" && Number.isFinite(value)
    ? Math.min(most, Math.max(least, Math.trunc(value)))
    : otherwise;

/** The layout that a tile was given; `below` is where one without a layout goes. */
function boxOf({ layouts: { sm } }: ShownTile, below: number): Box {
  const given = isObject(sm) ? sm : {};
  const w = whole(given.w, 1, columns, 6);
  return {
    x: whole(given.x, 0, columns - w, 0),
    y: whole(given.y, 0, 1_000_000, below),
    w,
    h: whole(given.h, 1, tallest, 5),
  };
}

const overlap = (a: Box, b: Box): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * Places of tiles on twelve columns; one that would cover another goes below all. Rows are as many as there are
 * edges: what a tile needs decides how tall they are, since nothing is drawn in it.
 */
export function placementsOf(tiles: readonly ShownTile[]): Placement[] {
  const boxes: Box[] = [];
  let below = 0;
  for (const tile of tiles) {
    const box = boxOf(tile, below);
    const isFree = !boxes.some((it) => overlap(it, box));
    boxes.push(isFree ? box : { ...box, y: below });
    below = Math.max(below, (boxes.at(-1)?.y ?? 0) + box.h);
  }
  const edges = [...new Set(boxes.flatMap((it) => [it.y, it.y + it.h]))].sort((a, b) => a - b);
  const rowAt = new Map(edges.map((edge, i) => [edge, i + 1]));
  const row = (edge: number): number => rowAt.get(edge) ?? 1;
  return boxes.map(({ x, y, w, h }) => ({
    column: x + 1,
    width: w,
    row: row(y),
    height: row(y + h) - row(y),
  }));
}

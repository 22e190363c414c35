import { isObject, type Json } from "../../kernel/json.ts";
import type { Tile } from "../../model/world.ts";

/** Where tiles lie: `sm` is a grid of 12 columns, `xs` of one. Sizes and places are in cells. */

const columns = 12;
const defaultSize = { w: 6, h: 5 };

interface Size {
  w: number;
  h: number;
}

const positive = (value: Json | undefined, otherwise: number): number =>
  typeof value === "number" && Number.isInteger(value) && value > 0 ? value : otherwise;

function sizeOf({ layouts: { sm } }: Tile): Size {
  const box = isObject(sm) ? sm : {};
  return {
    w: Math.min(positive(box.w, defaultSize.w), columns),
    h: positive(box.h, defaultSize.h),
  };
}

/** The highest free place for a tile, the leftmost of several. */
function freePlace(heights: readonly number[], { w }: Size): { x: number; y: number } {
  const starts = Array.from({ length: columns - w + 1 }, (_, x) => ({
    x,
    y: Math.max(...heights.slice(x, x + w)),
  }));
  return starts.reduce((best, it) => (it.y < best.y ? it : best));
}

/** How tiles are sized when they are put into another order. */
export const arrangements = ["preserve", "two_column", "full_width"] as const;
export type Arrangement = (typeof arrangements)[number];

const sizes: Record<Arrangement, (tile: Tile) => Size> = {
  preserve: sizeOf,
  two_column: () => defaultSize,
  full_width: () => ({ w: columns, h: defaultSize.h }),
};

/** The tiles packed in their order, from the top, each as far to the left as it goes. */
export function packed(tiles: readonly Tile[], arrangement: Arrangement): Tile[] {
  const heights = Array.from({ length: columns }, () => 0);
  let below = 0;
  return tiles.map((tile) => {
    const size = sizes[arrangement](tile);
    const { x, y } = freePlace(heights, size);
    heights.fill(y + size.h, x, x + size.w);
    const layouts = { sm: { x, y, ...size }, xs: { x: 0, y: below, w: 1, h: size.h } };
    below += size.h;
    return { ...tile, layouts };
  });
}

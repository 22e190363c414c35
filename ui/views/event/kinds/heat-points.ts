import { isObject, type Json, type JsonObject, own } from "../../../../src/kernel/base/json.ts";
import { numberOf } from "../../../../src/state/journal/event-texts.ts";
import { numberIn } from "./read-values.ts";

const pointTypes = ["click", "rageclick", "mousemove", "scroll", "deadclick", "other"] as const;
export type PointType = (typeof pointTypes)[number];

export interface HeatPoint {
  readonly x: number;
  readonly y: number;
  readonly type: PointType;
  /** True if it does not scroll with the page. */
  readonly isFixed: boolean;
}

export interface HeatPage {
  readonly url: string;
  readonly points: readonly HeatPoint[];
  /** Number of points that are not drawn: without a place, and too many. */
  readonly broken: number;
  readonly left: number;
  /** Size of the drawing in px of the page. */
  readonly width: number;
  readonly height: number;
  /** Where the window ended before scrolling; undefined: not sent. */
  readonly fold: number | undefined;
}

const [mostPages, mostPoints, largest] = [20, 2_000, 100_000];

const typeOf = (type: Json | undefined): PointType => pointTypes.find((it) => it === type) ?? "other";

function pointOf(item: Json): HeatPoint | undefined {
  if (!isObject(item)) return undefined;
  const [x, y] = [numberIn(item, "x"), numberIn(item, "y")];
  if (x === undefined || y === undefined || x < 0 || y < 0 || x > largest || y > largest) return undefined;
  return { x, y, type: typeOf(own(item, "type")), isFixed: own(item, "target_fixed") === true };
}

const sizeIn = (properties: JsonObject, name: string): number | undefined => {
  const size = numberOf(own(properties, name));
  return size !== undefined && size > 0 && size <= largest ? size : undefined;
};

function pageOf(url: string, items: Json, properties: JsonObject): HeatPage {
  const list = Array.isArray(items) ? items : [];
  const read = list.slice(0, mostPoints).map(pointOf);
  const points = read.filter((it) => it !== undefined);
  const fold = sizeIn(properties, "$viewport_height");
  const most = (of: "x" | "y", least: number) => points.reduce((most, it) => Math.max(most, it[of]), least);
  return {
    ...{ url, points, fold },
    broken: read.length - points.length + (Array.isArray(items) ? 0 : 1),
    left: list.length - read.length,
    width: most("x", sizeIn(properties, "$viewport_width") ?? 1),
    height: most("y", fold ?? 1),
  };
}

/** The pages of `$heatmap_data`, by address; undefined if there is none. */
export function heatPages(properties: JsonObject): { pages: HeatPage[]; left: number } | undefined {
  const data = own(properties, "$heatmap_data");
  if (!isObject(data)) return undefined;
  const entries = Object.entries(data);
  const pages = entries.slice(0, mostPages).map(([url, items]) => pageOf(url, items, properties));
  return { pages, left: entries.length - pages.length };
}

/** `98 mousemove, 12 click`. */
export const typeCounts = (points: readonly HeatPoint[]): { type: PointType; count: number }[] =>
  pointTypes
    .map((type) => ({ type, count: points.filter((it) => it.type === type).length }))
    .filter(({ count }) => count > 0);

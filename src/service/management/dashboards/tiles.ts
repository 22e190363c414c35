import { z } from "zod";
import { isObject, type Json } from "../../../kernel/base/json.ts";
import { integer, text } from "../../../state/documents/lenient-fields.ts";
import { tileKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Dashboard, Insight, Tile } from "../../../state/documents/world.ts";
import { membershipOf } from "../../api-frame/access.ts";
import { invalid } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { copyInsight, type Maker } from "../insights/insight-views.ts";
import type { DashboardDesk } from "./dashboard-views.ts";

/** A tile in a PATCH of its dashboard. A text makes or changes a text tile, the rest changes the tile with the id. */
export const TilePatch = z.object({
  id: integer().nullable().optional(),
  text: z
    .object({
      id: integer().nullable().optional(),
      body: text({ blank: true }).nullable().optional(),
      created_by: z.object({ id: integer().optional() }).nullable().optional(),
    })
    .nullable()
    .optional(),
  ...tileKind.Writable.shape,
});
type TilePatch = z.infer<typeof TilePatch>;

type TileText = NonNullable<Tile["text"]>;

export const makeText = ({ draft, user, now }: Maker, body: string): TileText => ({
  id: draft.nextId("texts"),
  body,
  created_by: user,
  last_modified_by: null,
  last_modified_at: now,
});

export const makeTile = ({ draft }: Maker, fields: Omit<Partial<Tile>, "id">): Tile =>
  tileKind.blank({ ...fields, id: draft.nextId("tiles") });

export const linkTile = (maker: Maker, { id: _, ...tile }: Tile): Tile => makeTile(maker, tile);

export function copyTile(maker: Maker, tile: Tile, insight: Insight | undefined): Tile {
  const copied = insight ? copyInsight(maker, insight).id : null;
  return linkTile(maker, { ...tile, insight: copied, text: tile.text && makeText(maker, tile.text.body) });
}

/** True if both tiles show the same insight or the same text. */
export const showsSame = (a: Tile, b: Tile): boolean =>
  (a.insight !== null && a.insight === b.insight) || (a.text !== null && a.text.id === b.text?.id);

/** The dashboard with the tile instead of the one with its id, or at the end. */
export function withTile(dashboard: Dashboard, tile: Tile): Dashboard {
  const isThere = dashboard.tiles.some(({ id }) => id === tile.id);
  const tiles = isThere ? dashboard.tiles.map((it) => (it.id === tile.id ? tile : it)) : [...dashboard.tiles, tile];
  return { ...dashboard, tiles };
}

/** Duplicated dashboards share their texts: updates a text on the other dashboards as well. */
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

/** Longest text of a tile. */
const maxText = 4000;

type TextPatch = NonNullable<TilePatch["text"]>;

/** The text of a patch; the service takes an empty object for none. */
const textIn = ({ text }: TilePatch): TextPatch | undefined =>
  text && Object.keys(text).length > 0 ? text : undefined;

/** @throws SimError max_length */
export function checkText(body: string | null | undefined, attr: string): void {
  if (body && body.length > maxText) {
    throw invalid(`Text body cannot exceed ${maxText} characters`, attr, "max_length");
  }
}

/** The author of a text: the user that the patch names, with the caller as its last editor, else the caller. */
function authorsOf(
  desk: DashboardDesk,
  { organization, caller }: ProjectRequest<unknown>,
  patch: TextPatch,
): Pick<TileText, "created_by" | "last_modified_by"> {
  if (!patch.created_by) return { created_by: caller.user.id, last_modified_by: null };
  const { id } = patch.created_by;
  if (id === undefined || !membershipOf(desk, organization.id, id)) {
    throw invalid("User not found in this organization.");
  }
  return { created_by: id, last_modified_by: caller.user.id };
}

/** The text that a patch is about. @throws SimError invalid_input when its id is not on the dashboard */
function knownText(desk: DashboardDesk, dashboard: Dashboard, id: number): TileText {
  const on = (it: Dashboard) => it.tiles.find((tile) => tile.text?.id === id)?.text;
  const text = on(dashboard);
  if (text) return text;
  const isElsewhere = desk.worlds.current.dashboards.some((it) => it.project === dashboard.project && on(it));
  throw invalid(isElsewhere ? "Text tile not found." : "Text tile not found in this team.", "text");
}

interface Patching {
  desk: DashboardDesk;
  request: ProjectRequest<unknown>;
  maker: Maker;
}

function writtenText(patching: Patching, dashboard: Dashboard, patch: TextPatch): TileText {
  const { desk, request, maker } = patching;
  const authors = authorsOf(desk, request, patch);
  checkText(patch.body, "text__body");
  const text = patch.id ? knownText(desk, dashboard, patch.id) : makeText(maker, "");
  const { body = text.body } = patch;
  return { ...text, ...authors, body: body ?? "", last_modified_at: maker.now };
}

/** The tile that a text patch is about: the one with its id, else the one with its text; a new one without either. */
const textTileOf = ({ tiles }: Dashboard, patch: TilePatch, text: TextPatch): Tile | undefined =>
  tiles.find((tile) => tile.id === patch.id) ?? tiles.find((tile) => tile.text && tile.text.id === text.id);

function patchText(patching: Patching, dashboard: Dashboard, patch: TilePatch, text: TextPatch): Dashboard {
  const { desk, maker } = patching;
  const known = textTileOf(dashboard, patch, text);
  if (known && !known.text) throw invalid("Tile is not a text tile.");
  const written = writtenText(patching, dashboard, text);
  const changes = { ...tileKind.changes(patch), text: written };
  if (text.id) putText(maker, written, desk.worlds.current.dashboards, dashboard);
  return withTile(dashboard, known ? { ...known, ...changes } : makeTile(maker, changes));
}

/** Layouts of tiles that no longer exist are ignored, as by the service. */
function patchLook(dashboard: Dashboard, patch: TilePatch): Dashboard {
  const known = dashboard.tiles.find((tile) => tile.id === patch.id);
  return known ? withTile(dashboard, { ...known, ...tileKind.changes(patch) }) : dashboard;
}

/**
 * The dashboard with its tiles as a PATCH has them. Insights are never changed here.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py, `_update_tiles`.
 * @throws SimError max_length, invalid_input
 */
export const patchTiles = (patching: Patching, dashboard: Dashboard, patches: readonly TilePatch[]): Dashboard =>
  patches.reduce((it, patch) => {
    const text = textIn(patch);
    return text ? patchText(patching, it, patch, text) : patchLook(it, patch);
  }, dashboard);

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
  return { w: Math.min(positive(box.w, defaultSize.w), columns), h: positive(box.h, defaultSize.h) };
}

/** The highest free place for a tile, the leftmost of several. */
function freePlace(heights: readonly number[], { w }: Size): { x: number; y: number } {
  const starts = Array.from({ length: columns - w + 1 }, (_, x) => ({ x, y: Math.max(...heights.slice(x, x + w)) }));
  return starts.reduce((best, it) => (it.y < best.y ? it : best));
}

/** How tiles are sized when they are put into another order. */
export const arrangements = ["preserve", "two_column", "full_width"] as const;
type Arrangement = (typeof arrangements)[number];

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

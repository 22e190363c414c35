import type { Dashboard, Tile } from "../../model/world.ts";
import { membershipOf } from "../access.ts";
import { given } from "../given.ts";
import type { Maker } from "../insights/make.ts";
import { invalid } from "../invalid.ts";
import type { DashboardDesk, DashboardRequest } from "./desk.ts";
import type { TilePatch } from "./fields.ts";
import { makeText, makeTile, putText, type TileText, withTile } from "./tiles.ts";

/** Longest text of a tile. */
const maxText = 4000;

const lookFields = [
  "layouts",
  "color",
  "deleted",
  "filters_overrides",
  "show_description",
  "transparent_background",
] as const satisfies readonly (keyof TilePatch & keyof Tile)[];

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

/** Who wrote a text: the user that the patch names, with the caller as its last editor, else the caller. */
function authorsOf(
  desk: DashboardDesk,
  { organization, caller }: DashboardRequest<unknown>,
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
  request: DashboardRequest<unknown>;
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
  const changes = { ...given(patch, lookFields), text: written };
  if (text.id) putText(maker, written, desk.worlds.current.dashboards, dashboard);
  return withTile(dashboard, known ? { ...known, ...changes } : makeTile(maker, changes));
}

/** Layouts of tiles that are not there any more are passed over, as the service does. */
function patchLook(dashboard: Dashboard, patch: TilePatch): Dashboard {
  const known = dashboard.tiles.find((tile) => tile.id === patch.id);
  return known ? withTile(dashboard, { ...known, ...given(patch, lookFields) }) : dashboard;
}

/**
 * The dashboard with its tiles as a PATCH has them. Insights are never changed here.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py, `_update_tiles`.
 * @throws SimError max_length, invalid_input
 */
export const patchTiles = (
  patching: Patching,
  dashboard: Dashboard,
  patches: readonly TilePatch[],
): Dashboard =>
  patches.reduce((it, patch) => {
    const text = textIn(patch);
    return text ? patchText(patching, it, patch, text) : patchLook(it, patch);
  }, dashboard);

import { z } from "zod";
import { isObject } from "../../../kernel/base/json.ts";
import { UserShape } from "../../../state/documents/field-kinds.ts";
import { dashboardKind, tileKind } from "../../../state/documents/schemas/dashboard.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Dashboard, Insight, Tile } from "../../../state/documents/world.ts";
import { shownAs } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { showUserOf } from "../../api-frame/users.ts";
import {
  type Asker,
  effectiveRestriction,
  liveDashboard,
  openRights,
  privilege,
  type ReaderLevels,
  type Rights,
  restriction,
  sharedLevels,
} from "../collaborators.ts";
import type { ManagementDesk } from "../desk.ts";
import {
  type ComputedInsight,
  computeInsight,
  type PlaceOverrides,
  type ResultOrder,
  resultOrder,
} from "../insights/insight-results.ts";
import {
  type InsightPlaces,
  InsightShape,
  makerFor,
  openInsightPlaces,
  openInsightViews,
  type ShownInsight,
} from "../insights/insight-views.ts";
import { openSharing, type Sharing } from "../sharing/sharing-rows.ts";

const TextOfTile = z.object({
  id: z.int(),
  created_by: UserShape.nullable(),
  last_modified_by: UserShape.nullable(),
  body: z.string(),
  last_modified_at: z.string(),
  team: z.int(),
});

/** A tile: exactly one of `insight` and `text` is set. */
export const TileShape = tileKind.Shown.extend({
  insight: InsightShape.nullable(),
  text: TextOfTile.nullable(),
  order: z.int().nullable(),
  last_refresh: z.string().nullable(),
  is_cached: z.boolean(),
  /** Why the insight has no result. */
  error: z.object({ type: z.string(), message: z.string() }).optional(),
}).meta({ title: "Tile" });
type ShownTile = z.infer<typeof TileShape>;

/** A coordinate of a tile in the usual layout; tiles without one come last. */
function coordinate(tile: Tile, axis: "x" | "y"): number {
  const { sm } = tile.layouts;
  const value = isObject(sm) ? sm[axis] : undefined;
  return typeof value === "number" ? value : 100;
}

/** Tiles that are not deleted, from top to bottom and left to right. */
export const tilesInOrder = (dashboard: Dashboard): Tile[] =>
  dashboard.tiles
    .filter((tile) => !tile.deleted)
    .sort((a, b) => coordinate(a, "y") - coordinate(b, "y") || coordinate(a, "x") - coordinate(b, "x"));

interface TileReader {
  readonly order: ResultOrder;
  show(insight: Insight, computed: ComputedInsight): ShownInsight;
}

function openTileViews(desk: ManagementDesk) {
  const showText = (text: NonNullable<Tile["text"]>, project: number) =>
    shownAs(TextOfTile, {
      ...text,
      created_by: showUserOf(desk, text.created_by),
      last_modified_by: showUserOf(desk, text.last_modified_by),
      team: project,
    });

  const insightOf = (tile: Tile): Insight | undefined =>
    tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight);

  /** @param order Its place on the dashboard; null when it is shown by itself. */
  async function one(dashboard: Dashboard, tile: Tile, order: number | null, reader: TileReader): Promise<ShownTile> {
    const insight = insightOf(tile);
    const computed = insight && (await computeInsight(desk, insight, { dashboard, tile, ...reader.order }));
    return shownAs(TileShape, {
      ...tile,
      insight: insight && computed ? reader.show(insight, computed) : null,
      text: tile.text && showText(tile.text, dashboard.project),
      order,
      last_refresh: computed?.last_refresh ?? null,
      is_cached: computed?.is_cached ?? false,
      ...(computed?.failure && { error: { type: "ValidationError", message: computed.failure.message } }),
    });
  }

  return {
    one,
    /** All that are to be seen. A tile whose insight was deleted stays away until the insight comes back. */
    async all(dashboard: Dashboard, reader: TileReader): Promise<ShownTile[]> {
      const seen = tilesInOrder(dashboard).filter(
        (tile) => tile.insight === null || insightOf(tile)?.deleted === false,
      );
      const shown: ShownTile[] = [];
      // one after the other: each query may need much memory
      for (const [order, tile] of seen.entries()) shown.push(await one(dashboard, tile, order, reader));
      return shown;
    },
  };
}

export const DashboardInList = dashboardKind.Listed.meta({ title: "DashboardInList" });

export const DashboardDetail = dashboardKind.Shown.extend({ tiles: z.array(TileShape) }).meta({ title: "Dashboard" });
export type ShownDashboardDetail = z.infer<typeof DashboardDetail>;

const orNull = <T extends object>(value: T | null): T | null =>
  value !== null && Object.keys(value).length > 0 ? value : null;

function levelsFor(rights: Rights, dashboard: Dashboard, asker: Asker): ReaderLevels {
  const effective = rights.effectivePrivilege(dashboard, asker);
  return {
    effective_restriction_level: effectiveRestriction(dashboard, asker.organization),
    effective_privilege_level: effective,
    user_access_level: effective === privilege.edit ? "editor" : "viewer",
  };
}

const writeOnly = { use_template: "", use_dashboard: null, delete_insights: false } as const;

interface DashboardParts {
  rights: Rights;
  sharing: Sharing;
  places?: InsightPlaces;
}

/**
 * Dashboards in lists, in detail for a signed-in user, and in detail for a shared link.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py.
 */
export function openDashboardViews(
  desk: ManagementDesk,
  { rights, sharing, places = openInsightPlaces(desk) }: DashboardParts,
) {
  const insights = openInsightViews(desk, { rights, places });
  const tiles = openTileViews(desk);
  const readerFor = (asker: ProjectRequest<unknown>, overrides: PlaceOverrides = {}): TileReader => ({
    order: { ...resultOrder(asker.call), ...overrides },
    show: (insight, computed) => insights.show(insight, asker, computed),
  });
  /** The service computes shared insights ahead of their readers. */
  const publicReader = (overrides: PlaceOverrides): TileReader => ({
    order: { mode: "blocking", ...overrides },
    show: insights.shared,
  });

  const common = (dashboard: Dashboard, levels: ReaderLevels) => ({
    ...dashboard,
    ...levels,
    created_by: showUserOf(desk, dashboard.created_by),
    is_shared: sharing.isShared(dashboard.id),
    access_control_version: dashboard.restriction_level > restriction.everyone ? ("v1" as const) : ("v2" as const),
    team_id: dashboard.project,
  });

  const detail = async (
    dashboard: Dashboard,
    levels: ReaderLevels,
    reader: TileReader,
    overrides: PlaceOverrides = {},
  ): Promise<ShownDashboardDetail> =>
    shownAs(DashboardDetail, {
      ...common(dashboard, levels),
      ...(desk.dialect === "documented" && writeOnly),
      ...overrides,
      persisted_filters: orNull(dashboard.filters),
      persisted_variables: orNull(dashboard.variables),
      tiles: await tiles.all(dashboard, reader),
    });

  return {
    inList: (dashboard: Dashboard, asker: Asker): z.infer<typeof DashboardInList> =>
      shownAs(DashboardInList, common(dashboard, levelsFor(rights, dashboard, asker))),
    inDetail: (
      dashboard: Dashboard,
      asker: ProjectRequest<unknown>,
      overrides?: PlaceOverrides,
    ): Promise<ShownDashboardDetail> =>
      detail(dashboard, levelsFor(rights, dashboard, asker), readerFor(asker, overrides), overrides),
    /** As behind a shared link. */
    shared: (dashboard: Dashboard, overrides: PlaceOverrides = {}): Promise<ShownDashboardDetail> =>
      detail(dashboard, sharedLevels, publicReader(overrides), overrides),
    tile: (dashboard: Dashboard, tile: Tile, asker: ProjectRequest<unknown>): Promise<ShownTile> =>
      tiles.one(dashboard, tile, null, readerFor(asker)),
  };
}

export function openDashboardDesk(desk: ManagementDesk) {
  const rights = openRights(desk);
  const places = openInsightPlaces(desk);
  const views = openDashboardViews(desk, { rights, sharing: openSharing(desk), places });
  return {
    ...desk,
    rights,
    places,
    views,
    now: () => wireTime(desk.clock.now()),
    /** The dashboard of the path, which the caller may edit. @throws SimError not_found, permission_denied */
    editable(request: ProjectRequest<unknown>): Dashboard {
      const dashboard = liveDashboard(desk, request.project.id, request.param("id"));
      rights.requireEdit(dashboard, request);
      return dashboard;
    },
    maker: makerFor(desk),
  };
}

export type DashboardDesk = ReturnType<typeof openDashboardDesk>;

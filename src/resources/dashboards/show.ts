import { z } from "zod";
import type { Dashboard, Tile } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { type InsightPlaces, openInsightPlaces } from "../insights/on-dashboards.ts";
import { openInsightViews } from "../insights/show.ts";
import type { Sharing } from "../sharing/configurations.ts";
import { showUserOf, UserShape } from "../users.ts";
import { type Asker, effectiveRestriction, privilege, type Rights, restriction } from "./rights.ts";
import { openTileViews, type ShowInsight, type ShownTile, TileShape } from "./show-tiles.ts";

const level = z.literal([21, 37]);

const beforeFilters = {
  id: z.int(),
  name: z.string().nullable(),
  description: z.string(),
  pinned: z.boolean(),
  created_at: z.string(),
  created_by: UserShape.nullable(),
  last_accessed_at: z.string().nullable(),
  is_shared: z.boolean(),
  deleted: z.boolean(),
  creation_mode: z.enum(["default", "template", "duplicate", "unlisted"]),
};
const afterFilters = {
  tags: z.array(z.string()),
  restriction_level: level,
  effective_restriction_level: level,
  effective_privilege_level: level,
  user_access_level: z.string().nullable(),
  access_control_version: z.enum(["v1", "v2"]),
  last_refresh: z.string().nullable(),
  team_id: z.int(),
};

/** A dashboard as lists show it. */
export const DashboardInList = z
  .object({ ...beforeFilters, ...afterFilters })
  .meta({ title: "DashboardInList" });
export type ShownDashboard = z.infer<typeof DashboardInList>;

/** A dashboard with everything that is on it. */
export const DashboardDetail = z
  .object({
    ...beforeFilters,
    /** Only in the documented dialect; the service never returns the three. */
    use_template: z.literal("").optional(),
    use_dashboard: z.null().optional(),
    delete_insights: z.literal(false).optional(),
    filters: z.record(z.string(), z.json()),
    variables: z.record(z.string(), z.json()).nullable(),
    breakdown_colors: z.array(z.json()),
    data_color_theme_id: z.int().nullable(),
    persisted_filters: z.record(z.string(), z.json()).nullable(),
    persisted_variables: z.record(z.string(), z.json()).nullable(),
    ...afterFilters,
    tiles: z.array(TileShape),
  })
  .meta({ title: "Dashboard" });
export type ShownDashboardDetail = z.infer<typeof DashboardDetail>;

export type { ShownTile };

/** What the levels say to one reader. */
type Levels = Pick<
  ShownDashboard,
  "effective_restriction_level" | "effective_privilege_level" | "user_access_level"
>;

/** As behind a shared link: nobody is signed in. */
const sharedLevels: Levels = {
  effective_restriction_level: restriction.collaborators,
  effective_privilege_level: privilege.view,
  user_access_level: null,
};

/** Filters and variables that a reader asked for in the place of the kept ones. */
export interface Overrides {
  filters?: Dashboard["filters"] | undefined;
  variables?: Dashboard["variables"] | undefined;
}

const orNull = <T extends object>(value: T | null): T | null =>
  value !== null && Object.keys(value).length > 0 ? value : null;

/** What the levels say to somebody who is signed in. */
function levelsFor(rights: Rights, dashboard: Dashboard, asker: Asker): Levels {
  const effective = rights.effectivePrivilege(dashboard, asker);
  return {
    effective_restriction_level: effectiveRestriction(dashboard, asker.organization),
    effective_privilege_level: effective,
    user_access_level: effective === privilege.edit ? "editor" : "viewer",
  };
}

const showAfter = (dashboard: Dashboard, levels: Levels) => ({
  tags: dashboard.tags,
  restriction_level: dashboard.restriction_level,
  ...levels,
  access_control_version:
    dashboard.restriction_level > restriction.everyone ? ("v1" as const) : ("v2" as const),
  last_refresh: dashboard.last_refresh,
  team_id: dashboard.project,
});

const writeOnly = { use_template: "", use_dashboard: null, delete_insights: false } as const;

interface DashboardParts {
  rights: Rights;
  sharing: Sharing;
  places?: InsightPlaces;
}

/**
 * How dashboards are shown: in lists, in detail to somebody, in detail behind a shared link.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py.
 */
export function openDashboardViews(
  desk: ResourceDesk,
  { rights, sharing, places = openInsightPlaces(desk) }: DashboardParts,
) {
  const insights = openInsightViews(desk, { rights, places });
  const tiles = openTileViews(desk);
  const insightsTo =
    (asker: Asker): ShowInsight =>
    (insight) =>
      insights.show(insight, asker);

  const before = (dashboard: Dashboard) => ({
    id: dashboard.id,
    name: dashboard.name,
    description: dashboard.description,
    pinned: dashboard.pinned,
    created_at: dashboard.created_at,
    created_by: showUserOf(desk, dashboard.created_by),
    last_accessed_at: dashboard.last_accessed_at,
    is_shared: sharing.isShared(dashboard.id),
    deleted: dashboard.deleted,
    creation_mode: dashboard.creation_mode,
  });

  const detail = (
    dashboard: Dashboard,
    levels: Levels,
    showInsight: ShowInsight,
    { filters = dashboard.filters, variables = dashboard.variables }: Overrides = {},
  ): ShownDashboardDetail => ({
    ...before(dashboard),
    ...(desk.dialect === "documented" && writeOnly),
    filters,
    variables,
    breakdown_colors: dashboard.breakdown_colors,
    data_color_theme_id: dashboard.data_color_theme_id,
    persisted_filters: orNull(dashboard.filters),
    persisted_variables: orNull(dashboard.variables),
    ...showAfter(dashboard, levels),
    tiles: tiles.all(dashboard, showInsight),
  });

  return {
    inList: (dashboard: Dashboard, asker: Asker): ShownDashboard => ({
      ...before(dashboard),
      ...showAfter(dashboard, levelsFor(rights, dashboard, asker)),
    }),
    inDetail: (dashboard: Dashboard, asker: Asker, overrides?: Overrides): ShownDashboardDetail =>
      detail(dashboard, levelsFor(rights, dashboard, asker), insightsTo(asker), overrides),
    /** As behind a shared link. */
    shared: (dashboard: Dashboard): ShownDashboardDetail => detail(dashboard, sharedLevels, insights.shared),
    /** A tile by itself. */
    tile: (dashboard: Dashboard, tile: Tile, asker: Asker): ShownTile =>
      tiles.one(dashboard, tile, null, insightsTo(asker)),
  };
}

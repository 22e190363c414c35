import { z } from "zod";
import type { Insight } from "../../model/world.ts";
import {
  type Asker,
  effectiveRestriction,
  privilege,
  type Rights,
  restriction,
} from "../dashboards/rights.ts";
import type { ResourceDesk } from "../desk.ts";
import { showUserOf, UserShape } from "../users.ts";
import type { InsightPlace, InsightPlaces } from "./on-dashboards.ts";

const TileOfInsight = z.object({ id: z.int(), dashboard_id: z.int(), deleted: z.boolean() });

/** An insight as it is read, alone, in lists and on dashboards. */
export const InsightShape = z
  .object({
    id: z.int(),
    short_id: z.string(),
    name: z.string().nullable(),
    derived_name: z.string().nullable(),
    description: z.string().nullable(),
    query: z.json(),
    filters: z.record(z.string(), z.json()),
    deleted: z.boolean(),
    dashboards: z.array(z.int()),
    dashboard_tiles: z.array(TileOfInsight),
    tags: z.array(z.string()),
    favorited: z.boolean(),
    saved: z.boolean(),
    created_at: z.string(),
    created_by: UserShape.nullable(),
    updated_at: z.string(),
    last_modified_at: z.string(),
    last_modified_by: UserShape.nullable(),
    effective_restriction_level: z.literal([21, 37]),
    effective_privilege_level: z.literal([21, 37]),
    user_access_level: z.string().nullable(),
    order: z.null(),
    last_refresh: z.null(),
    cache_target_age: z.null(),
    next_allowed_client_refresh: z.null(),
    result: z.null(),
    hasMore: z.null(),
    columns: z.null(),
    is_sample: z.literal(false),
    timezone: z.null(),
    is_cached: z.literal(false),
    query_status: z.null(),
    hogql: z.null(),
    types: z.null(),
  })
  .meta({ title: "Insight" });

export type ShownInsight = z.infer<typeof InsightShape>;

/** What the levels say to one reader. */
type Levels = Pick<
  ShownInsight,
  "effective_restriction_level" | "effective_privilege_level" | "user_access_level"
>;

/** As behind a shared link: nobody is signed in. */
const sharedLevels: Levels = {
  effective_restriction_level: restriction.collaborators,
  effective_privilege_level: privilege.view,
  user_access_level: null,
};

/** Nothing is computed: the fields of results are as before the first refresh. */
const uncomputed = {
  order: null,
  last_refresh: null,
  cache_target_age: null,
  next_allowed_client_refresh: null,
  result: null,
  hasMore: null,
  columns: null,
  is_sample: false,
  timezone: null,
  is_cached: false,
  query_status: null,
  hogql: null,
  types: null,
} as const;

/** How insights are shown. Upstream PostHog/posthog posthog/api/insight.py. */
export function openInsightViews(desk: ResourceDesk, { rights, places }: InsightParts) {
  const show = (insight: Insight, levels: Levels): ShownInsight => {
    const on = places(insight.id);
    return {
      id: insight.id,
      short_id: insight.short_id,
      name: insight.name,
      derived_name: insight.derived_name,
      description: insight.description,
      query: insight.query,
      filters: insight.filters,
      deleted: insight.deleted,
      dashboards: on.map(({ dashboard }) => dashboard.id),
      dashboard_tiles: on.map(({ dashboard, tile }) => ({
        id: tile.id,
        dashboard_id: dashboard.id,
        deleted: tile.deleted,
      })),
      tags: insight.tags,
      favorited: insight.favorited,
      saved: insight.saved,
      created_at: insight.created_at,
      created_by: showUserOf(desk, insight.created_by),
      updated_at: insight.last_modified_at,
      last_modified_at: insight.last_modified_at,
      last_modified_by: showUserOf(desk, insight.last_modified_by),
      ...levels,
      ...uncomputed,
    };
  };

  /** An insight is as restricted as its most restricted dashboard, and open to who may edit one of them. */
  function levelsFor(insight: Insight, asker: Asker): Levels {
    const on = places(insight.id);
    const isRestricted = on.some(
      ({ dashboard }) => effectiveRestriction(dashboard, asker.organization) === restriction.collaborators,
    );
    return {
      effective_restriction_level: isRestricted ? restriction.collaborators : restriction.everyone,
      effective_privilege_level: mayEdit(rights, on, asker) ? privilege.edit : privilege.view,
      user_access_level: "editor",
    };
  }

  return {
    show: (insight: Insight, asker: Asker): ShownInsight => show(insight, levelsFor(insight, asker)),
    /** As behind a shared link. */
    shared: (insight: Insight): ShownInsight => show(insight, sharedLevels),
  };
}

interface InsightParts {
  rights: Rights;
  places: InsightPlaces;
}

/** May the asker edit an insight that stands there? On no dashboard, it is everybody's. */
export const mayEdit = (rights: Rights, on: readonly InsightPlace[], asker: Asker): boolean =>
  on.length === 0 ||
  on.some(({ dashboard }) => rights.effectivePrivilege(dashboard, asker) === privilege.edit);

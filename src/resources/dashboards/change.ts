import { SimError } from "../../kernel/errors.ts";
import type { Dashboard, Draft } from "../../model/world.ts";
import { fieldsOf } from "../body.ts";
import type { Maker } from "../insights/make.ts";
import { isTrue } from "../list-filters.ts";
import type { DashboardDesk, DashboardRequest } from "./desk.ts";
import { type ChangedDashboard, changesIn, refuseTwoModels } from "./fields.ts";
import { patchTiles } from "./patch-tiles.ts";
import { anyDashboard, isInherent, liveDashboard } from "./rights.ts";
import { copyTile } from "./tiles.ts";

/** A body with a false `deleted` restores: only it finds deleted dashboards. */
function changeable(desk: DashboardDesk, { call, project, param }: DashboardRequest<unknown>): Dashboard {
  const { deleted } = fieldsOf(call);
  const restores = deleted !== undefined && deleted !== null && !isTrue(deleted);
  const find = restores ? anyDashboard : liveDashboard;
  return find(desk, project.id, param("id"));
}

/** @throws SimError permission_denied */
function checkRestriction(
  dashboard: Dashboard,
  { caller, level }: DashboardRequest<unknown>,
  { restriction_level }: ChangedDashboard,
): void {
  if (restriction_level === undefined || isInherent(dashboard, caller.user.id, level)) return;
  throw new SimError(
    "permission_denied",
    "Only the dashboard owner and project admins have the restriction rights required to change the dashboard's restriction level.",
  );
}

/** Insights that stand on this dashboard only. */
const ownInsights = ({ places }: DashboardDesk, { tiles }: Dashboard): number[] =>
  tiles.flatMap(({ insight, deleted }) =>
    insight !== null && !deleted && places(insight).length === 1 ? [insight] : [],
  );

const insightsOf = ({ tiles }: Dashboard): number[] =>
  tiles.flatMap(({ insight }) => (insight === null ? [] : [insight]));

function markInsights(
  { worlds }: DashboardDesk,
  draft: Draft,
  ids: readonly number[],
  deleted: boolean,
): void {
  for (const id of ids) {
    const insight = worlds.get("insights", id);
    if (insight && insight.deleted !== deleted) draft.put("insights", { ...insight, deleted });
  }
}

const withTilesMarked = (dashboard: Dashboard, deleted: boolean): Dashboard => ({
  ...dashboard,
  deleted,
  tiles: dashboard.tiles.map((tile) => ({ ...tile, deleted })),
});

/** A deleted dashboard takes its tiles with it, and is no project's first any more. */
function removed(
  desk: DashboardDesk,
  draft: Draft,
  dashboard: Dashboard,
  alone: readonly number[],
): Dashboard {
  markInsights(desk, draft, alone, true);
  const project = desk.worlds.projectById(dashboard.project);
  if (project?.primary_dashboard === dashboard.id) {
    draft.put("projects", { ...project, primary_dashboard: null });
  }
  return withTilesMarked(dashboard, true);
}

/** Tiles and their insights come back with it. */
function restored(desk: DashboardDesk, draft: Draft, dashboard: Dashboard): Dashboard {
  markInsights(desk, draft, insightsOf(dashboard), false);
  return withTilesMarked(dashboard, false);
}

/** Adds deep copies of tiles, at the layouts that are told. */
function withDuplicates(
  desk: DashboardDesk,
  maker: Maker,
  dashboard: Dashboard,
  duplicates: NonNullable<ChangedDashboard["duplicate_tiles"]>,
): Dashboard {
  const copies = duplicates.flatMap(({ id, layouts = {} }) => {
    const tile = dashboard.tiles.find((it) => it.id === id && !it.deleted);
    if (!tile) return [];
    const insight = tile.insight === null ? undefined : desk.worlds.get("insights", tile.insight);
    return [copyTile(maker, { ...tile, layouts }, insight)];
  });
  return { ...dashboard, tiles: [...dashboard.tiles, ...copies] };
}

/**
 * PATCH and PUT, which has no required field either.
 * Upstream PostHog/posthog posthog/api/dashboards/dashboard.py, `update`.
 * @throws SimError not_found, permission_denied, invalid_input, max_length
 */
export function changeDashboard(desk: DashboardDesk, request: DashboardRequest<ChangedDashboard>): Dashboard {
  const dashboard = changeable(desk, request);
  desk.rights.requireEdit(dashboard, request);
  const fields = request.body();
  refuseTwoModels(fields);
  checkRestriction(dashboard, request, fields);
  const changes = changesIn(fields);
  const alone = fields.delete_insights ? ownInsights(desk, dashboard) : [];
  return desk.worlds.change((draft) => {
    const maker = desk.maker(draft, request);
    const marked = fields.deleted
      ? removed(desk, draft, dashboard, alone)
      : dashboard.deleted
        ? restored(desk, draft, dashboard)
        : dashboard;
    const patched = patchTiles({ desk, request, maker }, { ...marked, ...changes }, fields.tiles ?? []);
    return draft.put("dashboards", withDuplicates(desk, maker, patched, fields.duplicate_tiles ?? []));
  });
}

import type { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Json } from "../../../kernel/base/json.ts";
import { insightKind, tileKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Dashboard, Draft, Insight, Tile } from "../../../state/documents/world.ts";
import { isRestoring } from "../../api-frame/body.ts";
import { invalid, typeName } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { privilege } from "../collaborators.ts";
import { type InsightDesk, makeInsight } from "./insight-views.ts";

export type InsightFields = z.infer<typeof insightKind.Writable>;

/** Changes of these count as work on the insight. */
const material = ["name", "description", "filters", "query"] as const;

/** @throws SimError does_not_exist, incorrect_type */
function dashboardNamed(desk: InsightDesk, project: number, id: Json): Dashboard {
  const number = typeof id === "string" && /^\d{1,15}$/.test(id.trim()) ? Number(id) : id;
  if (typeof number !== "number") {
    const detail = `Incorrect type. Expected pk value, received ${typeName(id)}.`;
    throw invalid(detail, "dashboards", "incorrect_type");
  }
  const dashboard = desk.worlds.get("dashboards", number);
  if (dashboard && !dashboard.deleted && dashboard.project === project) return dashboard;
  throw invalid(`Invalid pk "${number}" - object does not exist.`, "dashboards", "does_not_exist");
}

/** The dashboards of the body, each once. @throws SimError does_not_exist, incorrect_type */
function dashboardsNamed(desk: InsightDesk, { project }: ProjectRequest<unknown>, ids: readonly Json[]): Dashboard[] {
  return [...new Set(ids.map((id) => dashboardNamed(desk, project.id, id)))];
}

/** @throws SimError permission_denied */
function requireEditOf(
  { rights }: InsightDesk,
  request: ProjectRequest<unknown>,
  dashboards: readonly Dashboard[],
): void {
  const closed = dashboards.find((it) => rights.effectivePrivilege(it, request) !== privilege.edit);
  if (!closed) return;
  const detail = `You don't have permission to add insights to dashboard: ${closed.id}`;
  throw new SimError("permission_denied", detail);
}

/** The insight's tile comes back when it was taken off before. */
export function putOn(draft: Draft, insight: Insight, dashboard: Dashboard): void {
  const shows = (tile: Tile) => tile.insight === insight.id;
  const tiles = dashboard.tiles.some(shows)
    ? dashboard.tiles.map((tile) => (shows(tile) ? { ...tile, deleted: false } : tile))
    : [...dashboard.tiles, tileKind.blank({ id: draft.nextId("tiles"), insight: insight.id })];
  draft.put("dashboards", { ...dashboard, tiles });
}

function takeOff(draft: Draft, insight: Insight, dashboard: Dashboard): void {
  const tiles = dashboard.tiles.map((tile) => (tile.insight === insight.id ? { ...tile, deleted: true } : tile));
  draft.put("dashboards", { ...dashboard, tiles });
}

/** POST. Upstream PostHog/posthog posthog/api/insight.py, `create`. @throws SimError does_not_exist, incorrect_type, permission_denied */
export function createInsight(desk: InsightDesk, request: ProjectRequest<InsightFields>): Insight {
  const fields = request.body();
  const dashboards = dashboardsNamed(desk, request, fields.dashboards ?? []);
  requireEditOf(desk, request, dashboards);
  return desk.worlds.change((draft) => {
    const insight = makeInsight(desk.maker(draft, request), insightKind.changes(fields));
    for (const dashboard of dashboards) putOn(draft, insight, dashboard);
    return insight;
  });
}

interface Moves {
  on: readonly Dashboard[];
  off: readonly Dashboard[];
}

/** A deleted insight leaves them all. @throws SimError does_not_exist, incorrect_type, permission_denied */
function movesOf(
  desk: InsightDesk,
  request: ProjectRequest<unknown>,
  insight: Insight,
  { deleted, dashboards }: InsightFields,
): Moves {
  const before = desk.places(insight.id).map(({ dashboard }) => dashboard);
  const wanted = dashboards && dashboardsNamed(desk, request, dashboards);
  if (deleted) return { on: [], off: before };
  if (!wanted) return { on: [], off: [] };
  const on = wanted.filter((it) => !before.includes(it));
  requireEditOf(desk, request, on);
  return { on, off: before.filter((it) => !wanted.includes(it)) };
}

/** Only a false `deleted` finds deleted insights. */
const changeable = (desk: InsightDesk, request: ProjectRequest<unknown>): Insight =>
  isRestoring(request.call) ? desk.anyInsight(request) : desk.liveInsight(request);

/**
 * PATCH and PUT, which has no required field either. Upstream PostHog/posthog posthog/api/insight.py, `update`.
 * @throws SimError not_found, permission_denied, does_not_exist, incorrect_type
 */
export function changeInsight(desk: InsightDesk, request: ProjectRequest<InsightFields>): Insight {
  const insight = changeable(desk, request);
  desk.requireEdit(insight, request);
  const fields = request.body();
  const { on, off } = movesOf(desk, request, insight, fields);
  const isWork = material.some((name) => fields[name] !== undefined);
  return desk.worlds.change((draft) => {
    for (const dashboard of on) putOn(draft, insight, dashboard);
    for (const dashboard of off) takeOff(draft, insight, dashboard);
    return draft.put("insights", {
      ...insight,
      ...insightKind.changes(fields),
      ...(isWork && { last_modified_at: desk.now(), last_modified_by: request.caller.user.id }),
    });
  });
}

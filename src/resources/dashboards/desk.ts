import { wireTime } from "../../model/time.ts";
import type { Dashboard, Draft } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Maker } from "../insights/make.ts";
import { openInsightPlaces } from "../insights/on-dashboards.ts";
import type { ProjectRow } from "../row.ts";
import { openSharing } from "../sharing/configurations.ts";
import { liveDashboard, openRights } from "./rights.ts";
import { openDashboardViews } from "./show.ts";

/** A call about dashboards that may pass. */
export type DashboardRequest<Body> = Parameters<ProjectRow<Body>["handle"]>[0];

/** What the endpoints of dashboards share. */
export function openDashboardDesk(desk: ResourceDesk) {
  const rights = openRights(desk);
  const places = openInsightPlaces(desk);
  const views = openDashboardViews(desk, { rights, sharing: openSharing(desk), places });
  const now = () => wireTime(desk.clock.now());
  return {
    ...desk,
    rights,
    places,
    views,
    now,
    /** The dashboard of the path, which the caller may edit. @throws SimError not_found, permission_denied */
    editable(request: DashboardRequest<unknown>): Dashboard {
      const dashboard = liveDashboard(desk, request.project.id, request.param("id"));
      rights.requireEdit(dashboard, request);
      return dashboard;
    },
    maker: (draft: Draft, { project, caller }: DashboardRequest<unknown>): Maker => ({
      draft,
      ids: desk.ids,
      project: project.id,
      user: caller.user.id,
      now: now(),
    }),
  };
}

export type DashboardDesk = ReturnType<typeof openDashboardDesk>;

import { SimError } from "../../kernel/errors.ts";
import { derived } from "../../model/derived.ts";
import { wireTime } from "../../model/time.ts";
import type { Draft, Insight } from "../../model/world.ts";
import { found, numberIn } from "../access.ts";
import { type Asker, openRights } from "../dashboards/rights.ts";
import type { ResourceDesk } from "../desk.ts";
import type { ProjectRow } from "../row.ts";
import type { Maker } from "./make.ts";
import { openInsightPlaces } from "./on-dashboards.ts";
import { mayEdit, openInsightViews } from "./show.ts";

/** A call about insights that may pass. */
export type InsightRequest<Body> = Parameters<ProjectRow<Body>["handle"]>[0];

/** What the endpoints of insights share. */
export function openInsightDesk(desk: ResourceDesk) {
  const rights = openRights(desk);
  const places = openInsightPlaces(desk);
  const byShortId = derived(
    desk.worlds,
    ["insights"],
    () => new Map(desk.worlds.current.insights.map((it) => [`${it.project} ${it.short_id}`, it])),
  );
  const byId = (project: number, id: string): Insight | undefined => {
    const number = numberIn(id);
    const insight = number === undefined ? undefined : desk.worlds.get("insights", number);
    return insight?.project === project ? insight : undefined;
  };

  /** The project's insight with this id or short id, also a deleted one. @throws SimError not_found */
  const anyInsight = ({ project, param }: InsightRequest<unknown>): Insight =>
    found(byId(project.id, param("id")) ?? byShortId().get(`${project.id} ${param("id")}`));

  return {
    ...desk,
    rights,
    places,
    views: openInsightViews(desk, { rights, places }),
    now: () => wireTime(desk.clock.now()),
    anyInsight,
    /** The insight of the path; a deleted one is not there. @throws SimError not_found */
    liveInsight(request: InsightRequest<unknown>): Insight {
      const insight = anyInsight(request);
      return found(insight.deleted ? undefined : insight);
    },
    /** @throws SimError permission_denied */
    requireEdit(insight: Insight, asker: Asker): void {
      if (mayEdit(rights, places(insight.id), asker)) return;
      throw new SimError(
        "permission_denied",
        "This insight is on a dashboard that can only be edited by its owner, team members invited to editing the dashboard, and project admins.",
      );
    },
    maker: (draft: Draft, { project, caller }: InsightRequest<unknown>): Maker => ({
      draft,
      ids: desk.ids,
      project: project.id,
      user: caller.user.id,
      now: wireTime(desk.clock.now()),
    }),
  };
}

export type InsightDesk = ReturnType<typeof openInsightDesk>;

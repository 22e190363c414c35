import { z } from "zod";
import { SimError } from "../../../kernel/base/errors.ts";
import type { Ids } from "../../../kernel/base/ids.ts";
import { derived } from "../../../state/documents/derived.ts";
import { insightKind } from "../../../state/documents/schemas/dashboard.ts";
import { wireTime } from "../../../state/documents/time.ts";
import type { Dashboard, Draft, Insight, Tile } from "../../../state/documents/world.ts";
import { documentNamed, found } from "../../api-frame/access.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { shownAs } from "../../api-frame/fields.ts";
import type { ProjectRequest } from "../../api-frame/row.ts";
import { follow } from "../../api-frame/sorted.ts";
import { showUserOf } from "../../api-frame/users.ts";
import {
  type Asker,
  effectiveRestriction,
  openRights,
  privilege,
  type ReaderLevels,
  type Rights,
  restriction,
  sharedLevels,
} from "../collaborators.ts";
import { type ComputedInsight, insightResult } from "./insight-results.ts";

/** What new documents have in common: author, project and time. */
export interface Maker {
  readonly draft: Draft;
  readonly ids: Ids;
  readonly project: number;
  readonly user: number;
  /** Wire time. */
  readonly now: string;
}

export const makerFor =
  ({ ids, clock }: ResourceDesk) =>
  (draft: Draft, { project, caller }: ProjectRequest<unknown>): Maker => ({
    draft,
    ids,
    project: project.id,
    user: caller.user.id,
    now: wireTime(clock.now()),
  });

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** 8 letters and digits, as in the app's links, out of the random end of a UUID. */
export function shortId(ids: Ids): string {
  let rest = BigInt(`0x${ids.uuid().replaceAll("-", "").slice(16)}`);
  let text = "";
  for (let i = 0; i < 8; i++) {
    text += alphabet[Number(rest % 62n)] ?? "";
    rest /= 62n;
  }
  return text;
}

export const makeInsight = ({ draft, ids, project, user, now }: Maker, fields: Partial<Insight>): Insight =>
  draft.put(
    "insights",
    insightKind.blank(
      {
        created_by: user,
        last_modified_by: user,
        ...fields,
        id: draft.nextId("insights"),
        short_id: shortId(ids),
        project,
      },
      now,
    ),
  );

export const copyInsight = (maker: Maker, { name, ...insight }: Insight): Insight =>
  makeInsight(maker, {
    name: name === null || name === "" ? null : `${name} (Copy)`,
    derived_name: insight.derived_name,
    description: insight.description,
    query: insight.query,
    filters: insight.filters,
    tags: insight.tags,
    favorited: insight.favorited,
    saved: insight.saved,
  });

export interface InsightPlace {
  readonly dashboard: Dashboard;
  readonly tile: Tile;
}

const isThere = (dashboard: Dashboard, tile: Tile): boolean => !dashboard.deleted && !tile.deleted;

/** Places of all insights on dashboards and tiles that are not deleted, through an index. */
export function openInsightPlaces(desk: ResourceDesk) {
  const index = new Map<number, InsightPlace[]>();
  const placesOf = (dashboard: Dashboard) =>
    dashboard.tiles.flatMap((tile) =>
      tile.insight !== null && isThere(dashboard, tile) ? [{ insight: tile.insight, tile }] : [],
    );
  const sync = follow(desk.worlds, "dashboards", {
    add(dashboards) {
      for (const dashboard of dashboards) {
        for (const { insight, tile } of placesOf(dashboard)) {
          const others = index.get(insight);
          if (others) others.push({ dashboard, tile });
          else index.set(insight, [{ dashboard, tile }]);
        }
      }
    },
    remove(dashboards) {
      for (const dashboard of dashboards) {
        for (const { insight } of placesOf(dashboard)) {
          const others = index.get(insight)?.filter((it) => it.dashboard !== dashboard);
          index.set(insight, others ?? []);
        }
      }
    },
  });
  return (insight: number): readonly InsightPlace[] => {
    sync();
    // A changed dashboard came last; the order of tiles is that of their making.
    return (index.get(insight) ?? []).toSorted((a, b) => a.tile.id - b.tile.id);
  };
}

export type InsightPlaces = ReturnType<typeof openInsightPlaces>;

/** An insight as it is read, alone, in lists and on dashboards. */
export const InsightShape = insightKind.Shown.extend(insightResult).meta({ title: "Insight" });

/** An insight with `basic`: without what its query gives. */
export const BasicInsightShape = insightKind.Listed.extend({ last_refresh: insightResult.last_refresh }).meta({
  title: "BasicInsight",
});

/** Lists and single insights have less with `?basic=true`. */
export const ReadInsightShape = z.union([InsightShape, BasicInsightShape]);

export type ShownInsight = z.infer<typeof InsightShape>;

/** How insights are shown. Upstream PostHog/posthog posthog/api/insight.py. */
export function openInsightViews(desk: ResourceDesk, { rights, places }: InsightParts) {
  const facts = (insight: Insight, levels: ReaderLevels) => {
    const on = places(insight.id);
    return {
      ...insight,
      dashboards: on.map(({ dashboard }) => dashboard.id),
      dashboard_tiles: on.map(({ dashboard, tile }) => ({
        id: tile.id,
        dashboard_id: dashboard.id,
        deleted: tile.deleted || null,
      })),
      created_by: showUserOf(desk, insight.created_by),
      updated_at: insight.last_modified_at,
      last_modified_by: showUserOf(desk, insight.last_modified_by),
      ...levels,
    };
  };

  const show = (insight: Insight, levels: ReaderLevels, computed: ComputedInsight): ShownInsight =>
    shownAs(InsightShape, { ...facts(insight, levels), ...computed });

  /** An insight is as restricted as its most restricted dashboard; users who may edit one of them may edit it. */
  function levelsFor(insight: Insight, asker: Asker): ReaderLevels {
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
    show: (insight: Insight, asker: Asker, computed: ComputedInsight): ShownInsight =>
      show(insight, levelsFor(insight, asker), computed),
    /** Without what its query gives. */
    basic: (insight: Insight, asker: Asker) =>
      shownAs(BasicInsightShape, { ...facts(insight, levelsFor(insight, asker)), last_refresh: null }),
    /** As behind a shared link. */
    shared: (insight: Insight, computed: ComputedInsight): ShownInsight => show(insight, sharedLevels, computed),
  };
}

interface InsightParts {
  rights: Rights;
  places: InsightPlaces;
}

/** True if the caller may edit an insight at these places. One that is on no dashboard may be edited by all. */
const mayEdit = (rights: Rights, on: readonly InsightPlace[], asker: Asker): boolean =>
  on.length === 0 || on.some(({ dashboard }) => rights.effectivePrivilege(dashboard, asker) === privilege.edit);

export function openInsightDesk(desk: ResourceDesk) {
  const rights = openRights(desk);
  const places = openInsightPlaces(desk);
  const byShortId = derived(
    desk.worlds,
    ["insights"],
    () => new Map(desk.worlds.current.insights.map((it) => [`${it.project} ${it.short_id}`, it])),
  );
  /** The project's insight with this id or short id, also a deleted one. @throws SimError not_found */
  const anyInsight = ({ project, param }: ProjectRequest<unknown>): Insight =>
    found(documentNamed(desk, "insights", project.id, param("id")) ?? byShortId().get(`${project.id} ${param("id")}`));

  return {
    ...desk,
    rights,
    places,
    views: openInsightViews(desk, { rights, places }),
    now: () => wireTime(desk.clock.now()),
    anyInsight,
    /** The insight of the path, unless it is deleted. @throws SimError not_found */
    liveInsight(request: ProjectRequest<unknown>): Insight {
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
    maker: makerFor(desk),
  };
}

export type InsightDesk = ReturnType<typeof openInsightDesk>;

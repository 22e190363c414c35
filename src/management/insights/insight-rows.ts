import { z } from "zod";
import { compareText } from "../../base/text.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Insight } from "../../world/world.ts";
import type { ResourceDesk } from "../frame/desk.ts";
import { isTrue } from "../frame/fields.ts";
import {
  authorFilter,
  equalFilter,
  jsonList,
  type ListFilter,
  searchFilter,
  tagsFilter,
} from "../frame/lists.ts";
import { resourceRows } from "../frame/resource.ts";
import { inProject, projectRoot } from "../frame/row.ts";
import { sortedByProject } from "../frame/sorted.ts";
import { changeInsight, createInsight, InsightFields } from "./insight-changes.ts";
import { type InsightPlaces, InsightShape, openInsightDesk } from "./insight-views.ts";

/** The last to be changed first. */
const compare = (a: Insight, b: Insight): number =>
  compareText(b.last_modified_at, a.last_modified_at) || b.id - a.id;

/** Insights of a project that are not deleted, in the order of the list. */
const openInsightList = ({ worlds }: ResourceDesk) =>
  sortedByProject(worlds, "insights", { compare, has: ({ deleted }) => !deleted });

/** Filters of the list. Upstream PostHog/posthog posthog/api/insight.py, `_filter_request`. */
const insightFilters = (places: InsightPlaces): readonly ListFilter<Insight>[] => [
  searchFilter("Text in a name, the description or a tag, in any case", (it) => [
    it.name,
    it.derived_name,
    it.description,
    ...it.tags,
  ]),
  tagsFilter,
  authorFilter,
  equalFilter("short_id", z.string().describe("Only the insight with this short id"), (it) => it.short_id),
  {
    name: "saved",
    shape: z
      .boolean()
      .describe("True: only those that are saved or on a dashboard; else only those that are not saved"),
    test: ([value]) =>
      isTrue(value) ? ({ id, saved }) => saved || places(id).length > 0 : ({ saved }) => !saved,
  },
  {
    name: "favorited",
    shape: z.boolean().describe("Only favourites, whatever the value"),
    test:
      () =>
      ({ favorited }) =>
        favorited,
  },
  {
    name: "user",
    shape: z.boolean().describe("Only the caller's, whatever the value"),
    test:
      (_, { user }) =>
      ({ created_by }) =>
        created_by === user.id,
  },
  {
    name: "dashboards",
    shape: z.string().describe("Only those that are on all of these dashboards: a JSON array of ids"),
    test([value = ""]) {
      const wanted = jsonList(value)?.map(Number);
      if (!wanted) return undefined;
      return (insight) => {
        const on = places(insight.id).map(({ dashboard }) => dashboard.id);
        return wanted.every((id) => on.includes(id));
      };
    },
  },
];

/** Insights, as documents: their queries are kept, not run. */
export function insightEndpoints(resourceDesk: ResourceDesk): Endpoint[] {
  const desk = openInsightDesk(resourceDesk);
  const insights = openInsightList(desk);
  return resourceRows(desk, {
    path: `${projectRoot}/insights`,
    reads: inProject("insight:read", "analytics"),
    writes: inProject("insight:write", "analytics"),
    shape: InsightShape,
    show: desk.views.show,
    filters: insightFilters(desk.places),
    all: ({ project }) => insights(project.id),
    list: { summary: "Insights, the last to be changed first" },
    create: {
      summary: "Creates an insight, also on dashboards",
      body: InsightFields,
      handle: (request) => createInsight(desk, request),
    },
    read: {
      summary: "An insight, by its id or its short id; without results",
      handle: (request) => desk.views.show(desk.liveInsight(request), request),
    },
    patch: {
      summary: "Changes an insight and its dashboards; `deleted` deletes and restores",
      body: InsightFields,
      handle: (request) => changeInsight(desk, request),
    },
    put: {
      summary: "As PATCH: no field is required",
      body: InsightFields,
      handle: (request) => changeInsight(desk, request),
    },
    remove: { summary: "Refused, with an empty body: insights are deleted by PATCH with `deleted` true" },
  });
}

import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Insight } from "../../world/world.ts";
import type { ResourceDesk } from "../frame/desk.ts";
import {
  authorFilter,
  filtered,
  filterQuery,
  isTrue,
  jsonList,
  type ListFilter,
  pageOf,
  pageQuery,
  pageSchema,
  searchFilter,
  tagsFilter,
} from "../frame/lists.ts";
import { inProject, type ManagementRow, managementRow, projectRoot } from "../frame/row.ts";
import { compareText, sortedByProject } from "../frame/sorted.ts";
import { changeInsight, createInsight, InsightFields } from "./insight-changes.ts";
import { type InsightDesk, type InsightPlaces, InsightShape, openInsightDesk } from "./insight-views.ts";

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
  {
    name: "short_id",
    shape: z.string().describe("Only the insight with this short id"),
    test:
      ([value]) =>
      ({ short_id }) =>
        short_id === value,
  },
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

const list = `${projectRoot}/insights`;
const one = `${list}/:id`;
const reads = inProject("insight:read", "analytics");
const writes = inProject("insight:write", "analytics");

/** Insights, as documents: their queries are kept, not run. */
export function insightEndpoints(resourceDesk: ResourceDesk): Endpoint[] {
  const desk = openInsightDesk(resourceDesk);
  return [
    ...listing(desk),
    ...managementRow(desk, {
      method: "POST",
      path: list,
      summary: "Creates an insight, also on dashboards",
      access: writes,
      status: 201,
      body: InsightFields,
      reply: InsightShape,
      handle: (request) => desk.views.show(createInsight(desk, request), request),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: one,
      summary: "An insight, by its id or its short id; without results",
      access: reads,
      reply: InsightShape,
      handle: (request) => desk.views.show(desk.liveInsight(request), request),
    }),
    ...changing(desk),
    ...managementRow(desk, {
      method: "DELETE",
      path: one,
      summary: "Refused, with an empty body: insights are deleted by PATCH with `deleted` true",
      access: writes,
      status: 405,
      handle: () => undefined,
    }),
  ];
}

function listing(desk: InsightDesk): Endpoint[] {
  const insights = openInsightList(desk);
  const filters = insightFilters(desk.places);
  return managementRow(desk, {
    method: "GET",
    path: list,
    summary: "Insights, the last to be changed first",
    access: reads,
    query: pageQuery.extend(filterQuery(filters)),
    reply: pageSchema(InsightShape),
    handle(request) {
      const { call, caller, project } = request;
      const found = filtered(call, caller, filters, insights(project.id));
      return pageOf(call, found, (it) => desk.views.show(it, request));
    },
  });
}

function changing(desk: InsightDesk): Endpoint[] {
  const row: Omit<ManagementRow<"project", InsightFields>, "method" | "summary"> = {
    path: one,
    access: writes,
    body: InsightFields,
    reply: InsightShape,
    handle: (request) => desk.views.show(changeInsight(desk, request), request),
  };
  const summary = "Changes an insight and its dashboards; `deleted` deletes and restores";
  return [
    ...managementRow(desk, { ...row, method: "PATCH", summary }),
    ...managementRow(desk, { ...row, method: "PUT", summary: "As PATCH: no field is required" }),
  ];
}

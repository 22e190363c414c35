import { z } from "zod";
import { compareText, stringOf } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { insightKind } from "../../../state/documents/schemas/dashboard.ts";
import type { Insight } from "../../../state/documents/world.ts";
import { isTrue } from "../../api-frame/fields.ts";
import {
  authorFilter,
  equalFilter,
  jsonList,
  type ListFilter,
  parametersOf,
  searchFilter,
  tagsFilter,
} from "../../api-frame/lists.ts";
import { resourceRows } from "../../api-frame/resource.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { sortedByProject } from "../../api-frame/sorted.ts";
import { executionModes } from "../../query/runner.ts";
import { liveDashboard } from "../collaborators.ts";
import type { ManagementDesk } from "../desk.ts";
import { changeInsight, createInsight } from "./insight-changes.ts";
import { computeInsight, overridesIn, type ResultOrder, resultOrder } from "./insight-results.ts";
import {
  BasicInsightShape,
  type InsightDesk,
  type InsightPlaces,
  InsightShape,
  openInsightDesk,
  ReadInsightShape,
} from "./insight-views.ts";

/** The last to be changed first. */
const compare = (a: Insight, b: Insight): number => compareText(b.last_modified_at, a.last_modified_at) || b.id - a.id;

/** Insights of a project that are not deleted, in the order of the list. */
const openInsightList = ({ worlds }: Pick<ManagementDesk, "worlds">) =>
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
    test: ([value]) => (isTrue(value) ? ({ id, saved }) => saved || places(id).length > 0 : ({ saved }) => !saved),
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
    name: "feature_flag",
    shape: z.string().describe("Only those whose query names `$feature/KEY`, the property of this flag"),
    test([value = ""]) {
      const property = `$feature/${value}"`;
      return ({ query, filters }) => JSON.stringify([query, filters]).includes(property);
    },
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

const refresh = z.enum(executionModes).describe("When the result is computed (default: only a cached one is shown)");
const basic = z.boolean().describe("Without the fields that a query gives");

const readQuery = z.object({
  refresh,
  basic,
  from_dashboard: z.int().describe("Id of a dashboard: its filters apply, and those of its tile"),
  filters_override: z.string().describe("Filters as JSON, merged over those of the dashboard"),
  variables_override: z.string().describe("Values of variables as JSON, by their ids"),
  client_query_id: z.string().describe("Names the query for its status and its end"),
});

/** Length of the list of insights that were viewed last. Upstream posthog/api/insight.py, my_last_viewed. */
const mostViewed = 5;

function viewRows(desk: InsightDesk, insights: (project: number) => readonly Insight[]): Endpoint[] {
  /** Times of the last views, by user and insight; they are not stored. */
  const viewed = new Map<string, Map<number, number>>();
  const viewsOf = ({ project, caller }: ProjectRequest<unknown>): Map<number, number> => {
    const key = `${project.id} ${caller.user.id}`;
    const known = viewed.get(key) ?? new Map<number, number>();
    viewed.set(key, known);
    return known;
  };
  return [
    ...managementRow<"project">(desk, {
      method: "GET",
      path: `${projectRoot}/insights/my_last_viewed`,
      summary: "The insights that the caller viewed last, since the sim's start",
      access: inProject("insight:read", "analytics"),
      reply: z.array(BasicInsightShape),
      handle(request) {
        const times = viewsOf(request);
        return insights(request.project.id)
          .filter(({ id }) => times.has(id))
          .sort((a, b) => (times.get(b.id) ?? 0) - (times.get(a.id) ?? 0))
          .slice(0, mostViewed)
          .map((insight) => desk.views.basic(insight, request));
      },
    }),
    ...managementRow<"project">(desk, {
      method: "POST",
      path: `${projectRoot}/insights/:id/viewed`,
      summary: "Notes that the caller viewed an insight",
      access: inProject("insight:read", "analytics"),
      status: 201,
      handle(request) {
        viewsOf(request).set(desk.liveInsight(request).id, desk.clock.now());
      },
    }),
  ];
}

/** Insights, and the results of their queries. */
export function insightEndpoints(resourceDesk: ManagementDesk): Endpoint[] {
  const desk = openInsightDesk(resourceDesk);
  const insights = openInsightList(desk);

  async function show(insight: Insight, request: ProjectRequest<unknown>) {
    const computed = await computeInsight(resourceDesk, insight, resultOrder(request.call));
    return desk.views.show(insight, request, computed);
  }
  const isBasic = ({ call }: ProjectRequest<unknown>) => isTrue(parametersOf(call, readQuery).basic);
  const listed = (insight: Insight, request: ProjectRequest<unknown>) =>
    isBasic(request) ? desk.views.basic(insight, request) : show(insight, request);

  /** The place that shows the insight, if the request names one. @throws SimError not_found, invalid_input */
  function placeIn({ call, project }: ProjectRequest<unknown>, insight: Insight): Partial<ResultOrder> {
    const { filters, variables } = overridesIn(call);
    const { from_dashboard: id } = parametersOf(call, readQuery);
    if (!id) return { filters, variables };
    const place = desk.places(insight.id).find(({ dashboard }) => stringOf(dashboard.id) === id);
    const { dashboard, tile } = place ?? { dashboard: liveDashboard(desk, project.id, id), tile: undefined };
    return { dashboard, tile, ...overridesIn(call, dashboard) };
  }

  async function retrieve(request: ProjectRequest<unknown>) {
    const insight = desk.liveInsight(request);
    if (isBasic(request)) return desk.views.basic(insight, request);
    const order = { ...resultOrder(request.call), ...placeIn(request, insight) };
    const computed = await computeInsight(resourceDesk, insight, order);
    const { failure } = computed;
    // a query that does not fit its kind has no result in the service, either
    if (failure && failure.extra.pointer === undefined && order.mode !== "force_cache") throw failure;
    return desk.views.show(insight, request, computed);
  }

  const documents = resourceRows(desk, {
    path: `${projectRoot}/insights`,
    reads: inProject("insight:read", "analytics"),
    writes: inProject("insight:write", "analytics"),
    shape: InsightShape,
    show,
    filters: insightFilters(desk.places),
    all: ({ project }) => insights(project.id),
    query: { refresh, basic },
    list: { summary: "Insights, the last to be changed first", item: ReadInsightShape, show: listed },
    create: {
      summary: "Creates an insight, also on dashboards",
      body: insightKind.Writable,
      handle: (request) => createInsight(desk, request),
    },
    read: {
      summary: "An insight, by its id or its short id, with the result of its query",
      query: readQuery,
      reply: ReadInsightShape,
      handle: retrieve,
    },
    patch: {
      summary: "Changes an insight and its dashboards; `deleted` deletes and restores",
      body: insightKind.Writable,
      handle: (request) => changeInsight(desk, request),
    },
    put: {
      summary: "As PATCH: no field is required",
      body: insightKind.Writable,
      handle: (request) => changeInsight(desk, request),
    },
    remove: { summary: "Refused, with an empty body: insights are deleted by PATCH with `deleted` true" },
  });
  return [...viewRows(desk, insights), ...documents];
}

import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "../desk.ts";
import { filtered, filterQuery } from "../list-filters.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { type ProjectRow, projectEndpoints } from "../row.ts";
import { changeInsight, createInsight } from "./change.ts";
import { type InsightDesk, openInsightDesk } from "./desk.ts";
import { InsightFields } from "./fields.ts";
import { insightFilters, openInsightList } from "./list.ts";
import { InsightShape } from "./show.ts";

const list = "/insights";
const one = "/insights/:id";
const reads = { scope: "insight:read", pace: "analytics" } as const;
const writes = { scope: "insight:write", pace: "analytics" } as const;

/** Insights, as documents: their queries are kept, not run. */
export function insightEndpoints(resourceDesk: ResourceDesk): Endpoint[] {
  const desk = openInsightDesk(resourceDesk);
  return [
    ...listing(desk),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: list,
      summary: "Create an insight, also on dashboards",
      ...writes,
      status: 201,
      body: InsightFields,
      reply: InsightShape,
      handle: (request) => desk.views.show(createInsight(desk, request), request),
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: one,
      summary: "An insight, by its id or its short id; without results",
      ...reads,
      reply: InsightShape,
      handle: (request) => desk.views.show(desk.liveInsight(request), request),
    }),
    ...changing(desk),
    ...projectEndpoints(desk, {
      methods: ["DELETE"],
      path: one,
      summary: "Refused, with an empty body: insights are deleted by PATCH with `deleted` true",
      ...writes,
      status: 405,
      handle: () => undefined,
    }),
  ];
}

function listing(desk: InsightDesk): Endpoint[] {
  const insights = openInsightList(desk);
  const filters = insightFilters(desk.places);
  return projectEndpoints(desk, {
    methods: ["GET"],
    path: list,
    summary: "Insights, the last to be changed first",
    ...reads,
    query: [...pageQuery, ...filterQuery(filters)],
    reply: pageSchema(InsightShape),
    handle(request) {
      const { call, caller, project } = request;
      const found = filtered(call, caller, filters, insights(project.id));
      return pageOf(call, found, (it) => desk.views.show(it, request));
    },
  });
}

function changing(desk: InsightDesk): Endpoint[] {
  const row: Omit<ProjectRow<InsightFields>, "methods" | "summary"> = {
    path: one,
    ...writes,
    body: InsightFields,
    reply: InsightShape,
    handle: (request) => desk.views.show(changeInsight(desk, request), request),
  };
  const summary = "Change an insight and the dashboards it is on; `deleted` deletes and restores";
  return [
    ...projectEndpoints(desk, { ...row, methods: ["PATCH"], summary }),
    ...projectEndpoints(desk, { ...row, methods: ["PUT"], summary: "As PATCH: no field is required" }),
  ];
}

import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "../desk.ts";
import { filtered, filterQuery } from "../list-filters.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { type ProjectRow, projectEndpoints } from "../row.ts";
import { changeDashboard } from "./change.ts";
import { createDashboard } from "./create.ts";
import { type DashboardDesk, type DashboardRequest, openDashboardDesk } from "./desk.ts";
import { ChangedDashboard, NewDashboard } from "./fields.ts";
import { dashboardFilters, isListed, openDashboardList } from "./list.ts";
import { overrideQuery, overridesIn } from "./overrides.ts";
import { liveDashboard } from "./rights.ts";
import { DashboardDetail, DashboardInList } from "./show.ts";
import { createFromJson, DashboardFromJson } from "./template-json.ts";
import { tileEndpoints } from "./tile-endpoints.ts";

const root = "/api/projects/:project_id/dashboards";
const list = "/dashboards";
const one = "/dashboards/:id";

const reads = { scope: "dashboard:read" } as const;
const writes = { scope: "dashboard:write" } as const;

/** Dashboards and their tiles. */
export function dashboardEndpoints(resourceDesk: ResourceDesk): Endpoint[] {
  const desk = openDashboardDesk(resourceDesk);
  return [
    ...listing(desk),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: list,
      summary: "Create a dashboard: empty, after a template, or as a duplicate",
      contract: `POST ${root}`,
      ...writes,
      status: 201,
      body: NewDashboard,
      reply: DashboardDetail,
      handle: (request) => desk.views.inDetail(createDashboard(desk, request, request.body()), request),
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: one,
      summary: "A dashboard with its tiles",
      contract: `GET ${root}/:id`,
      ...reads,
      query: overrideQuery,
      reply: DashboardDetail,
      handle: (request) => retrieve(desk, request),
    }),
    ...changing(desk),
    ...projectEndpoints(desk, {
      methods: ["DELETE"],
      path: one,
      summary: "Refused, with an empty body: dashboards are deleted by PATCH with `deleted` true",
      contract: `DELETE ${root}/:id`,
      ...writes,
      status: 405,
      handle: () => undefined,
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: "/dashboards/create_from_template_json",
      summary: "Create a dashboard from a template in the body",
      contract: `POST ${root}/create_from_template_json`,
      ...writes,
      body: DashboardFromJson,
      ...(desk.dialect === "production" && { reply: DashboardDetail }),
      handle(request) {
        const dashboard = createFromJson(desk, request);
        return desk.dialect === "production" ? desk.views.inDetail(dashboard, request) : undefined;
      },
    }),
    ...tileEndpoints(desk),
  ];
}

function listing(desk: DashboardDesk): Endpoint[] {
  const dashboards = openDashboardList(desk);
  return projectEndpoints(desk, {
    methods: ["GET"],
    path: list,
    summary: "Dashboards, pinned ones first",
    contract: `GET ${root}`,
    ...reads,
    query: [...pageQuery, ...filterQuery(dashboardFilters)],
    reply: pageSchema(DashboardInList),
    handle(request) {
      const { call, caller, project } = request;
      const always = call.query.get("creation_mode") ? undefined : isListed;
      const found = filtered(call, caller, dashboardFilters, dashboards(project.id), always);
      return pageOf(call, found, (it) => desk.views.inList(it, request));
    },
  });
}

/** Reading a dashboard is kept, as its last access. */
function retrieve(desk: DashboardDesk, request: DashboardRequest<unknown>) {
  const dashboard = liveDashboard(desk, request.project.id, request.param("id"));
  const overrides = overridesIn(request.call, dashboard);
  const read = desk.worlds.change((draft) =>
    draft.put("dashboards", { ...dashboard, last_accessed_at: desk.now() }),
  );
  return desk.views.inDetail(read, request, overrides);
}

function changing(desk: DashboardDesk): Endpoint[] {
  const row: Omit<ProjectRow<ChangedDashboard>, "methods" | "summary"> = {
    path: one,
    ...writes,
    body: ChangedDashboard,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(changeDashboard(desk, request), request),
  };
  return [
    ...projectEndpoints(desk, {
      ...row,
      methods: ["PATCH"],
      summary: "Change a dashboard and its tiles; `deleted` deletes and restores",
      contract: `PATCH ${root}/:id`,
    }),
    ...projectEndpoints(desk, { ...row, methods: ["PUT"], summary: "As PATCH: no field is required" }),
  ];
}

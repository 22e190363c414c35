import { z } from "zod";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { Call } from "../../http/call.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Dashboard } from "../../world/world.ts";
import { liveDashboard } from "../collaborators.ts";
import type { ResourceDesk } from "../frame/desk.ts";
import { invalid } from "../frame/fields.ts";
import {
  authorFilter,
  filtered,
  filterQuery,
  isTrue,
  type ListFilter,
  pageOf,
  pageQuery,
  pageSchema,
  searchFilter,
  tagsFilter,
} from "../frame/lists.ts";
import {
  inProject,
  type ManagementRow,
  managementRow,
  type ProjectRequest,
  projectRoot,
} from "../frame/row.ts";
import { compareText, sortedByProject } from "../frame/sorted.ts";
import { changeDashboard, createDashboard, createFromJson, DashboardFromJson } from "./dashboard-changes.ts";
import { ChangedDashboard, NewDashboard } from "./dashboard-fields.ts";
import {
  type DashboardDesk,
  DashboardDetail,
  DashboardInList,
  type Overrides,
  openDashboardDesk,
} from "./dashboard-views.ts";
import { tileEndpoints } from "./tile-rows.ts";

/** Pinned ones first, then by name; those without a name last, as in the service's database. */
function compare(a: Dashboard, b: Dashboard): number {
  if (a.pinned !== b.pinned) return a.pinned ? -1 : 1;
  if (a.name === null || b.name === null) {
    return Number(a.name === null) - Number(b.name === null) || a.id - b.id;
  }
  return compareText(a.name, b.name) || a.id - b.id;
}

/** Dashboards of a project that are not deleted, in the order of the list. */
const openDashboardList = ({ worlds }: ResourceDesk) =>
  sortedByProject(worlds, "dashboards", { compare, has: ({ deleted }) => !deleted });

/** How the service names the dashboards that it makes for feature flags. */
const generatedPrefix = "Generated Dashboard";

/** Filters of the list. Upstream PostHog/posthog posthog/api/dashboards/dashboard.py; `pinned` and `created_by` are ours. */
const dashboardFilters: readonly ListFilter<Dashboard>[] = [
  searchFilter("Text in the name or the description, in any case", (it) => [it.name, it.description]),
  tagsFilter,
  authorFilter,
  {
    name: "pinned",
    shape: z.boolean().describe("Only pinned ones, or only the others"),
    test([value]) {
      const wanted = isTrue(value);
      return ({ pinned }) => pinned === wanted;
    },
  },
  {
    name: "creation_mode",
    shape: z
      .enum(["default", "template", "duplicate", "unlisted"])
      .describe("Only those that were made this way; unlisted ones are in no other list"),
    test:
      ([value]) =>
      ({ creation_mode }) =>
        creation_mode === value,
  },
  {
    name: "exclude_generated",
    shape: z.boolean().describe(`Leaves out those whose name starts with "${generatedPrefix}"`),
    test: ([value]) =>
      value === "true" ? ({ name }) => name === null || !name.startsWith(generatedPrefix) : undefined,
  },
];

const isListed = ({ creation_mode }: Dashboard): boolean => creation_mode !== "unlisted";

function objectIn(call: Call, name: string): JsonObject | undefined {
  const text = call.query.get(name);
  if (!text) return undefined;
  const refusal = () => invalid(`Invalid JSON passed in ${name} parameter`, name);
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    throw refusal();
  }
  throw refusal();
}

/**
 * Filters and variables of the query, merged over the stored ones. Upstream PostHog/posthog posthog/utils.py.
 * @throws SimError invalid_input when one is not a JSON object
 */
function overridesIn(call: Call, { filters, variables }: Dashboard): Overrides {
  const ofFilters = objectIn(call, "filters_override");
  const ofVariables = objectIn(call, "variables_override");
  return {
    ...(ofFilters && { filters: { ...filters, ...ofFilters } }),
    ...(ofVariables && { variables: { ...variables, ...ofVariables } }),
  };
}

const override = (what: string) => z.string().describe(`JSON object, merged over the ${what} of the answer`);

const overrideQuery = z.object({
  filters_override: override("filters"),
  variables_override: override("variables"),
});

const list = `${projectRoot}/dashboards`;
const one = `${list}/:id`;

const reads = inProject("dashboard:read");
const writes = inProject("dashboard:write");

/** Dashboards and their tiles. */
export function dashboardEndpoints(resourceDesk: ResourceDesk): Endpoint[] {
  const desk = openDashboardDesk(resourceDesk);
  return [
    ...listing(desk),
    ...managementRow(desk, {
      method: "POST",
      path: list,
      summary: "Creates a dashboard: empty, from a template, or as a duplicate",
      contract: true,
      access: writes,
      status: 201,
      body: NewDashboard,
      reply: DashboardDetail,
      handle: (request) => desk.views.inDetail(createDashboard(desk, request, request.body()), request),
    }),
    ...managementRow(desk, {
      method: "GET",
      path: one,
      summary: "A dashboard with its tiles",
      contract: true,
      access: reads,
      query: overrideQuery,
      reply: DashboardDetail,
      handle: (request) => retrieve(desk, request),
    }),
    ...changing(desk),
    ...managementRow(desk, {
      method: "DELETE",
      path: one,
      summary: "Refused, with an empty body: dashboards are deleted by PATCH with `deleted` true",
      contract: true,
      access: writes,
      status: 405,
      handle: () => undefined,
    }),
    ...managementRow(desk, {
      method: "POST",
      path: `${list}/create_from_template_json`,
      summary: "Creates a dashboard from a template in the body",
      contract: true,
      access: writes,
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
  return managementRow(desk, {
    method: "GET",
    path: list,
    summary: "Dashboards, pinned ones first",
    contract: true,
    access: reads,
    query: pageQuery.extend(filterQuery(dashboardFilters)),
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
function retrieve(desk: DashboardDesk, request: ProjectRequest<unknown>) {
  const dashboard = liveDashboard(desk, request.project.id, request.param("id"));
  const overrides = overridesIn(request.call, dashboard);
  const read = desk.worlds.change((draft) =>
    draft.put("dashboards", { ...dashboard, last_accessed_at: desk.now() }),
  );
  return desk.views.inDetail(read, request, overrides);
}

function changing(desk: DashboardDesk): Endpoint[] {
  const row: Omit<ManagementRow<"project", ChangedDashboard>, "method" | "summary"> = {
    path: one,
    access: writes,
    body: ChangedDashboard,
    reply: DashboardDetail,
    handle: (request) => desk.views.inDetail(changeDashboard(desk, request), request),
  };
  return [
    ...managementRow(desk, {
      ...row,
      method: "PATCH",
      summary: "Changes a dashboard and its tiles; `deleted` deletes and restores",
      contract: true,
    }),
    ...managementRow(desk, { ...row, method: "PUT", summary: "As PATCH: no field is required" }),
  ];
}

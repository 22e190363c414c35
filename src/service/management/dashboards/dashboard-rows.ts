import { z } from "zod";
import { compareText } from "../../../kernel/base/text.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import type { Dashboard } from "../../../state/documents/world.ts";
import { isTrue } from "../../api-frame/fields.ts";
import { authorFilter, equalFilter, type ListFilter, searchFilter, tagsFilter } from "../../api-frame/lists.ts";
import { resourceRows } from "../../api-frame/resource.ts";
import { inProject, managementRow, type ProjectRequest, projectRoot } from "../../api-frame/row.ts";
import { sortedByProject } from "../../api-frame/sorted.ts";
import { executionModes } from "../../query/runner.ts";
import { liveDashboard } from "../collaborators.ts";
import type { ManagementDesk } from "../desk.ts";
import { overridesIn } from "../insights/insight-results.ts";
import {
  ChangedDashboard,
  changeDashboard,
  createDashboard,
  createFromJson,
  DashboardFromJson,
  NewDashboard,
} from "./dashboard-changes.ts";
import { type DashboardDesk, DashboardDetail, DashboardInList, openDashboardDesk } from "./dashboard-views.ts";
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
const openDashboardList = ({ worlds }: ManagementDesk) =>
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
  equalFilter(
    "creation_mode",
    z
      .enum(["default", "template", "duplicate", "unlisted"])
      .describe("Only those that were made this way; unlisted ones are in no other list"),
    (it) => it.creation_mode,
  ),
  {
    name: "exclude_generated",
    shape: z.boolean().describe(`Leaves out those whose name starts with "${generatedPrefix}"`),
    test: ([value]) =>
      value === "true" ? ({ name }) => name === null || !name.startsWith(generatedPrefix) : undefined,
  },
];

const isListed = ({ creation_mode }: Dashboard): boolean => creation_mode !== "unlisted";

const override = (what: string) => z.string().describe(`JSON object, merged over the ${what} of the response`);

const overrideQuery = z.object({
  refresh: z.enum(executionModes).describe("When results are computed (default: only cached ones are shown)"),
  filters_override: override("filters"),
  variables_override: override("variables"),
});

const path = `${projectRoot}/dashboards`;

/** Dashboards and their tiles. */
export function dashboardEndpoints(resourceDesk: ManagementDesk): Endpoint[] {
  const desk = openDashboardDesk(resourceDesk);
  const dashboards = openDashboardList(desk);
  const isProduction = desk.dialect === "production";
  return [
    ...resourceRows(desk, {
      path,
      contract: true,
      reads: inProject("dashboard:read"),
      writes: inProject("dashboard:write"),
      shape: DashboardDetail,
      show: (dashboard, request) => desk.views.inDetail(dashboard, request),
      filters: dashboardFilters,
      all: ({ project, call }) =>
        call.query.get("creation_mode") ? dashboards(project.id) : dashboards(project.id).filter(isListed),
      list: { summary: "Dashboards, pinned ones first", item: DashboardInList, show: desk.views.inList },
      create: {
        summary: "Creates a dashboard: empty, from a template, or as a duplicate",
        body: NewDashboard,
        handle: (request) => createDashboard(desk, request, request.body()),
      },
      read: {
        summary: "A dashboard with its tiles, and the results of their insights",
        query: overrideQuery,
        handle: (request) => retrieve(desk, request),
      },
      patch: {
        summary: "Changes a dashboard and its tiles; `deleted` deletes and restores",
        body: ChangedDashboard,
        handle: (request) => changeDashboard(desk, request),
      },
      put: {
        summary: "As PATCH: no field is required",
        body: ChangedDashboard,
        handle: (request) => changeDashboard(desk, request),
      },
      remove: { summary: "Refused, with an empty body: dashboards are deleted by PATCH with `deleted` true" },
    }),
    ...managementRow(desk, {
      method: "POST",
      path: `${path}/create_from_template_json`,
      summary: "Creates a dashboard from a template in the body",
      contract: true,
      access: inProject("dashboard:write"),
      body: DashboardFromJson,
      ...(isProduction && { reply: DashboardDetail }),
      handle(request) {
        const dashboard = createFromJson(desk, request);
        return isProduction ? desk.views.inDetail(dashboard, request) : undefined;
      },
    }),
    ...tileEndpoints(desk),
  ];
}

/** Reading a dashboard is kept, as its last access. */
function retrieve(desk: DashboardDesk, request: ProjectRequest<unknown>) {
  const dashboard = liveDashboard(desk, request.project.id, request.param("id"));
  const overrides = overridesIn(request.call, dashboard);
  const read = desk.worlds.change((draft) => draft.put("dashboards", { ...dashboard, last_accessed_at: desk.now() }));
  return desk.views.inDetail(read, request, overrides);
}

import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { slice } from "../../kernel/http/slice.ts";
import { otherMethodOf } from "../api-frame/row.ts";
import { openMemberships } from "../api-frame/users.ts";
import { batchExportEndpoints } from "../batch-exports/management/batch-export-rows.ts";
import { featureFlagEndpoints } from "../flags/management/flag-rows.ts";
import type { Rulesets } from "../flags/rulesets.ts";
import { queryEndpoints } from "../query/management/query-rows.ts";
import { accountEndpoints, openAccountView } from "./account.ts";
import { cohortEndpoints } from "./cohorts.ts";
import { collaboratorEndpoints } from "./collaborators.ts";
import { dashboardEndpoints } from "./dashboards/dashboard-rows.ts";
import { dashboardTemplateEndpoints } from "./dashboards/dashboard-templates.ts";
import type { ManagementDesk } from "./desk.ts";
import { eventEndpoints } from "./events.ts";
import { insightEndpoints } from "./insights/insight-rows.ts";
import { personalApiKeyEndpoints } from "./keys.ts";
import { memberEndpoints } from "./members.ts";
import { openOrganizationViews, organizationEndpoints } from "./organizations.ts";
import { personEndpoints } from "./persons.ts";
import { projectResourceEndpoints } from "./project-rows.ts";
import { openProjectViews } from "./project-views.ts";
import { resourceKindEndpoints } from "./resources/resource-endpoints.ts";
import { publicSharingEndpoints } from "./sharing/shared-page-rows.ts";
import { sharingEndpoints } from "./sharing/sharing-rows.ts";

/** Organizations, their members and projects, and the account and key of the caller. */
function tenancyEndpoints(desk: ManagementDesk): Endpoint[] {
  const memberships = openMemberships(desk);
  const projectViews = openProjectViews(desk);
  const organizationViews = openOrganizationViews(desk, { memberships, projectViews });
  const view = openAccountView(desk, { memberships, projectViews, organizationViews });
  return [
    ...organizationEndpoints(desk, { memberships, views: organizationViews }),
    ...memberEndpoints(desk, memberships),
    ...projectResourceEndpoints(desk, { memberships, views: projectViews }),
    ...accountEndpoints(desk, { memberships, view }),
    ...personalApiKeyEndpoints(desk),
  ];
}

/** As the service names them in Allow. Upstream Django, View.http_method_names. */
const methodOrder = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Adds to each row the methods of its path, and the answer to other methods. */
function closed(endpoints: readonly Endpoint[], desk: ManagementDesk): Endpoint[] {
  const byPath = new Map<string, Endpoint[]>();
  for (const it of endpoints) byPath.set(it.path, [...(byPath.get(it.path) ?? []), it]);
  return endpoints.map((it) => {
    const rows = byPath.get(it.path) ?? [];
    const methods = new Set(rows.flatMap((row) => row.methods));
    const has = (method: string) =>
      methods.has(method) || method === "OPTIONS" || (method === "HEAD" && methods.has("GET"));
    const allow = methodOrder.filter(has).join(", ");
    const scope = rows.find((row) => row.scope !== undefined)?.scope;
    return { ...it, allow, otherMethod: otherMethodOf(desk, it.path, scope) };
  });
}

interface ManagementPorts {
  readonly resources: ManagementDesk;
  /** Compiled flags, which all slices share. */
  readonly rulesets: Rulesets;
}

/** The management API, and the pages that its sharing tokens open. */
export const managementSlice = slice(["resources", "rulesets"], ({ resources: desk, rulesets }: ManagementPorts) => [
  ...closed(
    [
      ...batchExportEndpoints(desk),
      ...cohortEndpoints(desk),
      ...collaboratorEndpoints(desk),
      ...dashboardEndpoints(desk),
      ...dashboardTemplateEndpoints(desk),
      ...eventEndpoints(desk),
      ...featureFlagEndpoints(desk, rulesets),
      ...insightEndpoints(desk),
      ...personEndpoints(desk),
      ...queryEndpoints(desk),
      ...resourceKindEndpoints(desk),
      ...sharingEndpoints(desk),
      ...tenancyEndpoints(desk),
    ],
    desk,
  ),
  ...publicSharingEndpoints(desk),
]);

import type { Endpoint } from "../http/endpoint.ts";
import { batchExportEndpoints } from "./batch-exports/endpoints.ts";
import { cohortEndpoints } from "./cohorts/endpoints.ts";
import { collaboratorEndpoints } from "./collaborators.ts";
import { dashboardEndpoints } from "./dashboards/endpoints.ts";
import { dashboardTemplateEndpoints } from "./dashboards/template-endpoints.ts";
import type { ResourceDesk } from "./desk.ts";
import { eventEndpoints } from "./events.ts";
import { featureFlagEndpoints } from "./feature-flags/endpoints.ts";
import { insightEndpoints } from "./insights/endpoints.ts";
import { personEndpoints } from "./persons.ts";
import { otherMethodOf } from "./row.ts";
import { sharingEndpoints } from "./sharing/endpoints.ts";
import { publicSharingEndpoints } from "./sharing/public-endpoints.ts";
import { tenancyEndpoints } from "./tenancy.ts";

/** As the service names them in Allow. Upstream Django, View.http_method_names. */
const methodOrder = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];

/** Says on each row which methods its path has, and what the others are answered. */
function closed(endpoints: readonly Endpoint[], desk: ResourceDesk): Endpoint[] {
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

/** The management API, and the pages that its sharing tokens open. */
export const resourceEndpoints = (desk: ResourceDesk): Endpoint[] => [
  ...closed(
    [
      ...batchExportEndpoints(desk),
      ...cohortEndpoints(desk),
      ...collaboratorEndpoints(desk),
      ...dashboardEndpoints(desk),
      ...dashboardTemplateEndpoints(desk),
      ...eventEndpoints(desk),
      ...featureFlagEndpoints(desk),
      ...insightEndpoints(desk),
      ...personEndpoints(desk),
      ...sharingEndpoints(desk),
      ...tenancyEndpoints(desk),
    ],
    desk,
  ),
  ...publicSharingEndpoints(desk),
];

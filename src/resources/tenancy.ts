import type { Endpoint } from "../http/endpoint.ts";
import { accountEndpoints } from "./account/endpoints.ts";
import { personalApiKeyEndpoints } from "./account/personal-api-keys.ts";
import { openAccountView } from "./account/show.ts";
import type { ResourceDesk } from "./desk.ts";
import { memberEndpoints } from "./members.ts";
import { openMemberships } from "./memberships.ts";
import { organizationEndpoints } from "./organizations/endpoints.ts";
import { openOrganizationViews } from "./organizations/show.ts";
import { projectResourceEndpoints } from "./projects/endpoints.ts";
import { openProjectViews } from "./projects/show.ts";

/** Organizations, their members and projects, and the account and key of the caller. */
export function tenancyEndpoints(desk: ResourceDesk): Endpoint[] {
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

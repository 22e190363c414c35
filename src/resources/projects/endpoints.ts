import type { Endpoint } from "../../http/endpoint.ts";
import { found, type Place, refuseProjectLimits } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Memberships } from "../memberships.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { accountEndpoint, organizationEndpoint, type Request } from "../row.ts";
import { openProjectAccess } from "./access.ts";
import { ProjectBody } from "./body.ts";
import { openProjectChanges } from "./change.ts";
import { detailRows } from "./detail-rows.ts";
import { ProjectBasics, ProjectDetail, type ProjectViews } from "./show.ts";

interface Parts {
  memberships: Memberships;
  views: ProjectViews;
}

const listing = {
  methods: ["GET"],
  scope: "project:read",
  query: pageQuery,
  reply: pageSchema(ProjectBasics),
} as const;
const creation = {
  methods: ["POST"],
  scope: "project:write",
  status: 201,
  body: ProjectBody,
  reply: ProjectDetail,
} as const;

/** The roots that lead to projects by id alone. */
const roots = ["/api/projects", "/api/environments"];
const nested = "/projects";

/**
 * Projects, also as environments and below their organization.
 * Upstream PostHog/posthog posthog/api/project.py.
 */
export function projectResourceEndpoints(desk: ResourceDesk, { memberships, views }: Parts): Endpoint[] {
  const access = openProjectAccess(desk, memberships);
  const changes = openProjectChanges(desk);
  const rows = detailRows(desk, { views, changes });

  function create({ call, caller, body }: Request<ProjectBody>, place: Place) {
    access.checkCreation(call, place);
    return views.detail(changes.create(place.organization.id, body(), caller.user), place.level);
  }

  const atRoot = (path: string): Endpoint[] => [
    accountEndpoint<ProjectBody>(desk, {
      ...listing,
      path,
      summary: "Projects that the caller may see",
      handle({ call, caller }) {
        refuseProjectLimits(caller);
        const projects = memberships.organizationsOf(caller).flatMap(({ id }) => memberships.projectsOf(id));
        return pageOf(call, projects, views.basics);
      },
    }),
    accountEndpoint<ProjectBody>(desk, {
      ...creation,
      path,
      summary: "Creates a project in the caller's organization and makes it the current one; for admins",
      handle: (request) => create(request, access.currentPlace(request.caller)),
    }),
    ...rows.map((row) =>
      accountEndpoint<ProjectBody>(desk, {
        ...row,
        path: `${path}/:id${row.path}`,
        handle: (request) => row.handle(request, access.visible(request.param("id"), request.caller)),
      }),
    ),
  ];

  const belowOrganization: Endpoint[] = [
    organizationEndpoint<ProjectBody>(desk, {
      ...listing,
      path: nested,
      summary: "Projects of an organization",
      handle: ({ call, organization }) => pageOf(call, memberships.projectsOf(organization.id), views.basics),
    }),
    organizationEndpoint<ProjectBody>(desk, {
      ...creation,
      path: nested,
      summary: "Creates a project in an organization and makes it the caller's current one; for admins",
      handle: (request) => create(request, request),
    }),
    ...rows.map((row) =>
      organizationEndpoint<ProjectBody>(desk, {
        ...row,
        path: `${nested}/:id${row.path}`,
        handle(request) {
          const at = access.visible(request.param("id"), request.caller);
          return row.handle(
            request,
            found(at.project.organization === request.organization.id ? at : undefined),
          );
        },
      }),
    ),
  ];

  return [...roots.flatMap(atRoot), ...belowOrganization];
}

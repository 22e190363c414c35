import type { z } from "zod";
import type { Call } from "../../kernel/http/call.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import type { Organization, StoredProject } from "../../state/documents/world.ts";
import {
  type Caller,
  type CallPlace,
  checkOrganizationLimit,
  denied,
  found,
  insufficientLevel,
  levels,
  type MemberLevel,
  organizationNamed,
  projectNamed,
  refuseProjectLimits,
} from "../api-frame/access.ts";
import { fieldsOf } from "../api-frame/body.ts";
import { pageOf, pageQuery, pageSchema } from "../api-frame/lists.ts";
import {
  type Handled,
  inAccount,
  inOrganization,
  managementRow,
  organizationRoot,
  type Request,
} from "../api-frame/row.ts";
import type { Memberships } from "../api-frame/users.ts";
import type { ManagementDesk } from "./desk.ts";
import { deleteProjects, openProjectChanges, type ProjectChanges } from "./project-changes.ts";
import { ProjectBasics, ProjectBody, ProjectDetail, type ProjectViews } from "./project-views.ts";

/** A project that the caller may see, and the caller's level there. */
interface Visible {
  project: StoredProject;
  level: MemberLevel;
}

const tooMany = () =>
  denied(
    "You have reached the maximum limit of allowed projects for your current plan. Upgrade your plan to be able to create and manage more projects.",
  );

/** How many projects an organization's plan allows. */
function allowance({ available_product_features }: Organization): number {
  const feature = available_product_features?.find(({ key }) => key === "organizations_projects");
  if (!feature) return 1;
  return typeof feature.limit === "number" ? feature.limit : Number.POSITIVE_INFINITY;
}

/** Which callers may see and make projects. Upstream PostHog/posthog posthog/api/project.py, posthog/permissions.py. */
function openProjectAccess(desk: ManagementDesk, memberships: Memberships) {
  return {
    /** The project with this id or `@current`, if the caller may see it. @throws SimError not_found, permission_denied */
    visible(id: string, caller: Caller): Visible {
      const project = found(projectNamed(id, desk, caller));
      const { scoped_organizations: limits, scoped_teams: teams } = caller.key;
      const isInside = limits.length === 0 || limits.includes(project.organization);
      const level = isInside ? memberships.levelOf(project.organization, caller.user.id) : null;
      if (teams.length > 0 && level !== null && !teams.includes(project.id)) {
        throw denied(`API key does not have access to the requested project: ID ${project.id}.`);
      }
      return { project, level: found(level ?? undefined) };
    },
    /** The organization that a new project goes to when the path names none. @throws SimError */
    currentPlace(caller: Caller): CallPlace {
      refuseProjectLimits(caller);
      const organization = found(organizationNamed("@current", desk, caller), "Organization");
      checkOrganizationLimit(caller, organization.id);
      const level = memberships.levelOf(organization.id, caller.user.id) ?? undefined;
      return { organization, level: found(level, "Organization") };
    },
    /** Checks that the caller may create a project there; the plan is checked first. @throws SimError permission_denied */
    checkCreation(call: Call, { organization, level }: CallPlace): void {
      const projects = memberships.projectsOf(organization.id);
      const isDemo = Boolean(fieldsOf(call).is_demo);
      if (isDemo) {
        if (projects.some((it) => it.is_demo)) throw tooMany();
        return;
      }
      if (projects.filter((it) => !it.is_demo).length >= allowance(organization)) throw tooMany();
      if (level < levels.admin) throw insufficientLevel();
    },
  };
}

type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** An endpoint of one project, at each of its addresses. */
interface DetailRow {
  method: Method | readonly Method[];
  /** Behind the project's id. */
  path: string;
  summary: string;
  scope: "project:read" | "project:write";
  status?: number;
  body?: z.ZodType<ProjectBody>;
  reply?: z.ZodType;
  handle(request: Request<ProjectBody>, at: Visible): Handled;
}

/** @throws SimError permission_denied */
function requireLevel(level: MemberLevel, minimum: MemberLevel): void {
  if (level < minimum) throw denied("You don't have sufficient permissions in the project.");
}

interface DetailParts {
  views: ProjectViews;
  changes: ProjectChanges;
}

/** Reading and changing one project; every member may, but for what is noted. */
const detailRows = (desk: ManagementDesk, { views, changes }: DetailParts): readonly DetailRow[] => [
  {
    method: "GET",
    path: "",
    summary: "A project, by id or as `@current`",
    scope: "project:read",
    reply: ProjectDetail,
    handle: (_, { project, level }) => views.detail(project, level),
  },
  {
    method: ["PATCH", "PUT"],
    path: "",
    summary: "Changes a project and its settings",
    scope: "project:write",
    body: ProjectBody,
    reply: ProjectDetail,
    handle: ({ body }, { project, level }) => views.detail(changes.change(project, body()), level),
  },
  {
    method: "DELETE",
    path: "",
    summary: "Deletes a project with all its documents; for admins",
    scope: "project:write",
    status: 204,
    handle(_, { project, level }) {
      requireLevel(level, levels.admin);
      deleteProjects(desk, [project]);
    },
  },
  {
    method: ["PATCH", "POST"],
    path: "/reset_token",
    summary: "Gives a project a new key instead of the old one; for admins",
    scope: "project:write",
    reply: ProjectDetail,
    handle(_, { project, level }) {
      requireLevel(level, levels.admin);
      return views.detail(changes.resetKey(project), level);
    },
  },
];

interface Parts {
  memberships: Memberships;
  views: ProjectViews;
}

const listing = { method: "GET", query: pageQuery, reply: pageSchema(ProjectBasics) } as const;
const creation = { method: "POST", status: 201, body: ProjectBody, reply: ProjectDetail } as const;

const roots = ["/api/projects", "/api/environments"];
const nested = `${organizationRoot}/projects`;

/** Projects, also as environments and below their organization. Upstream PostHog/posthog posthog/api/project.py. */
export function projectResourceEndpoints(desk: ManagementDesk, { memberships, views }: Parts): Endpoint[] {
  const access = openProjectAccess(desk, memberships);
  const changes = openProjectChanges(desk);
  const rows = detailRows(desk, { views, changes });

  function create({ call, caller, body }: Request<ProjectBody>, place: CallPlace) {
    access.checkCreation(call, place);
    return views.detail(changes.create(place.organization.id, body(), caller.user), place.level);
  }

  const atRoot = (path: string): Endpoint[] => [
    ...managementRow(desk, {
      ...listing,
      path,
      access: inAccount("project:read"),
      summary: "Projects that the caller may see",
      handle({ call, caller }) {
        refuseProjectLimits(caller);
        const projects = memberships.organizationsOf(caller).flatMap(({ id }) => memberships.projectsOf(id));
        return pageOf(call, projects, views.basics);
      },
    }),
    ...managementRow(desk, {
      ...creation,
      path,
      access: inAccount("project:write"),
      summary: "Creates a project in the caller's organization and makes it the current one; for admins",
      handle: (request) => create(request, access.currentPlace(request.caller)),
    }),
    ...rows.flatMap((row) =>
      managementRow<"account", ProjectBody>(desk, {
        ...row,
        path: `${path}/:id${row.path}`,
        access: inAccount(row.scope),
        handle: (request) => row.handle(request, access.visible(request.param("id"), request.caller)),
      }),
    ),
  ];

  const belowOrganization: Endpoint[] = [
    ...managementRow(desk, {
      ...listing,
      path: nested,
      access: inOrganization("project:read"),
      summary: "Projects of an organization",
      handle: ({ call, organization }) => pageOf(call, memberships.projectsOf(organization.id), views.basics),
    }),
    ...managementRow(desk, {
      ...creation,
      path: nested,
      access: inOrganization("project:write"),
      summary: "Creates a project in an organization and makes it the caller's current one; for admins",
      handle: (request) => create(request, request),
    }),
    ...rows.flatMap((row) =>
      managementRow<"organization", ProjectBody>(desk, {
        ...row,
        path: `${nested}/:id${row.path}`,
        access: inOrganization(row.scope),
        handle(request) {
          const at = access.visible(request.param("id"), request.caller);
          return row.handle(request, found(at.project.organization === request.organization.id ? at : undefined));
        },
      }),
    ),
  ];

  return [...roots.flatMap(atRoot), ...belowOrganization];
}

import { z } from "zod";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { organizationKind } from "../../state/documents/schemas/account.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Organization } from "../../state/documents/world.ts";
import {
  type Caller,
  insufficientLevel,
  levels,
  type MemberLevel,
  notFound,
  organizationNamed,
  refuseProjectLimits,
} from "../api-frame/access.ts";
import { invalid, shownAs } from "../api-frame/fields.ts";
import { pageOf, pageQuery, pageSchema } from "../api-frame/lists.ts";
import { inAccount, managementRow, type Request } from "../api-frame/row.ts";
import type { Memberships } from "../api-frame/users.ts";
import type { ManagementDesk } from "./desk.ts";
import { createOrganization, deleteProjects } from "./project-changes.ts";
import { ProjectBasics, type ProjectViews } from "./project-views.ts";

export const OrganizationShape = organizationKind.Shown.extend({ teams: z.array(ProjectBasics) }).meta({
  title: "Organization",
});
type ShownOrganization = z.infer<typeof OrganizationShape>;

export const OrganizationBasics = OrganizationShape.pick({
  id: true,
  name: true,
  slug: true,
  logo_media_id: true,
  membership_level: true,
}).meta({ title: "OrganizationBasics" });

const instance = { instance_tag: "none" };

interface ViewParts {
  memberships: Memberships;
  projectViews: ProjectViews;
}

/** How organizations are shown. Upstream PostHog/posthog posthog/api/organization.py. */
export function openOrganizationViews(desk: ManagementDesk, { memberships, projectViews }: ViewParts) {
  /** The types that the contract gives to two fields are not the service's. */
  const typed = (members: number) =>
    desk.dialect === "documented"
      ? { metadata: JSON.stringify(instance), member_count: String(members) }
      : { metadata: instance, member_count: members };

  const basics = (it: Organization, membership_level: MemberLevel | null) =>
    shownAs(OrganizationBasics, { ...it, membership_level });

  function detail(it: Organization, membership_level: MemberLevel | null): ShownOrganization {
    const projects = memberships.projectsOf(it.id);
    return shownAs(OrganizationShape, {
      ...it,
      membership_level,
      teams: projects.map(projectViews.basics),
      projects: projects.map(({ id, name }) => ({ id, organization_id: it.id, name })),
      ...typed(memberships.ofOrganization(it.id).length),
    });
  }
  return { basics, detail };
}

export type OrganizationViews = ReturnType<typeof openOrganizationViews>;

const Changes = organizationKind.Writable;
const Whole = Changes.extend({ name: Changes.shape.name.unwrap() });
type Changes = z.infer<typeof Changes>;

interface Parts {
  memberships: Memberships;
  views: OrganizationViews;
}

type Named = Pick<Request<never>, "caller" | "param">;

/** @throws SimError not_found, permission_denied */
function theirs(desk: ManagementDesk, memberships: Memberships, { caller, param }: Named) {
  refuseProjectLimits(caller);
  const organization = organizationNamed(param("id"), desk, caller);
  const level = organization && memberships.levelOf(organization.id, caller.user.id);
  const limits = caller.key.scoped_organizations;
  if (!organization || !level || (limits.length > 0 && !limits.includes(organization.id))) throw notFound();
  return { organization, level };
}

/** Uploads are not emulated: no media can exist. The contract lets any id be written. */
function checkLogo({ dialect }: ManagementDesk, { logo_media_id: id }: Changes): void {
  if (dialect === "documented" || id === undefined || id === null) return;
  throw invalid(`Invalid pk "${id}" - object does not exist.`, "logo_media_id", "does_not_exist");
}

/** Organizations of the caller. Callers who are not members get a 404. Upstream PostHog/posthog posthog/api/organization.py. */
export function organizationEndpoints(desk: ManagementDesk, { memberships, views }: Parts): Endpoint[] {
  const { worlds } = desk;

  function changeable(request: Named, minimum: MemberLevel): Organization {
    const { organization, level } = theirs(desk, memberships, request);
    if (level < minimum) throw insufficientLevel();
    return organization;
  }

  const shown = (organization: Organization, { user }: Caller) =>
    views.detail(organization, memberships.levelOf(organization.id, user.id));

  const change = (organization: Organization, body: Changes): Organization =>
    worlds.change((draft) =>
      draft.put("organizations", { ...organization, ...body, updated_at: wireTime(desk.clock.now()) }),
    );

  const changing = (method: "PATCH" | "PUT", body: z.ZodType<Changes>) =>
    managementRow(desk, {
      method,
      path: "/api/organizations/:id",
      summary: "Changes an organization; for its admins",
      contract: method === "PATCH",
      access: inAccount("organization:write"),
      body,
      reply: OrganizationShape,
      handle(request) {
        const organization = changeable(request, levels.admin);
        const wanted = request.body();
        checkLogo(desk, wanted);
        return shown(change(organization, wanted), request.caller);
      },
    });

  return [
    ...managementRow(desk, {
      method: "GET",
      path: "/api/organizations",
      summary: "The caller's organizations",
      contract: true,
      access: inAccount("organization:read"),
      query: pageQuery,
      reply: pageSchema(OrganizationShape),
      handle({ call, caller }) {
        refuseProjectLimits(caller);
        return pageOf(call, memberships.organizationsOf(caller), (it) => shown(it, caller));
      },
    }),
    ...managementRow(desk, {
      method: "POST",
      path: "/api/organizations",
      summary: "Creates an organization with its first project, and makes them the caller's current ones",
      contract: true,
      access: inAccount("organization:write"),
      status: 201,
      body: Whole,
      reply: OrganizationShape,
      handle({ caller, body }) {
        refuseProjectLimits(caller);
        const wanted = body();
        checkLogo(desk, wanted);
        return shown(createOrganization(desk, caller.user, wanted), caller);
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: "/api/organizations/:id",
      summary: "An organization, by id or as `@current`",
      contract: true,
      access: inAccount("organization:read"),
      reply: OrganizationShape,
      handle(request) {
        const { organization, level } = theirs(desk, memberships, request);
        return views.detail(organization, level);
      },
    }),
    ...changing("PATCH", Changes),
    ...changing("PUT", Whole),
    ...managementRow(desk, {
      method: "DELETE",
      path: "/api/organizations/:id",
      summary: "Deletes an organization with all its projects; for its owners",
      contract: true,
      access: inAccount("organization:write"),
      status: 204,
      handle(request) {
        const { id } = changeable(request, levels.owner);
        const members = memberships.ofOrganization(id);
        deleteProjects(desk, memberships.projectsOf(id), (draft) => {
          for (const it of members) draft.remove("memberships", it.id);
          for (const it of worlds.current.resources) {
            if (it.organization === id) draft.remove("resources", it.id);
          }
          draft.remove("organizations", id);
        });
      },
    }),
  ];
}

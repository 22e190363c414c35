import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { wireTime } from "../../model/time.ts";
import type { Organization } from "../../model/world.ts";
import {
  type Caller,
  insufficientLevel,
  type Level,
  levels,
  notFound,
  organizationNamed,
  refuseProjectLimits,
} from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { boolean, text, uuid } from "../fields.ts";
import { invalid } from "../invalid.ts";
import type { Memberships } from "../memberships.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import { deleteProjects } from "../projects/removal.ts";
import { accountEndpoint, type Request } from "../row.ts";
import { createOrganization } from "./create.ts";
import { OrganizationShape, type OrganizationViews } from "./show.ts";

const name = text({ max: 64 });
const options = {
  logo_media_id: uuid().nullable().optional(),
  is_member_join_email_enabled: boolean().optional(),
  enforce_2fa: boolean().nullable().optional(),
  allow_publicly_shared_resources: boolean().optional(),
};
const Whole = z.object({ name, ...options });
const Changes = z.object({ name: name.optional(), ...options });
type Changes = z.infer<typeof Changes>;

interface Parts {
  memberships: Memberships;
  views: OrganizationViews;
}

/**
 * Organizations of the caller. Whoever is not a member of one is told that there is none.
 * Upstream PostHog/posthog posthog/api/organization.py.
 */
export function organizationEndpoints(desk: ResourceDesk, { memberships, views }: Parts): Endpoint[] {
  const { worlds } = desk;

  /** @throws SimError not_found, permission_denied */
  function theirs({ caller, param }: Pick<Request<never>, "caller" | "param">) {
    refuseProjectLimits(caller);
    const organization = organizationNamed(param("id"), desk, caller);
    const level = organization && memberships.levelOf(organization.id, caller.user.id);
    const limits = caller.key.scoped_organizations;
    if (!organization || !level || (limits.length > 0 && !limits.includes(organization.id))) throw notFound();
    return { organization, level };
  }

  function changeable(request: Pick<Request<never>, "caller" | "param">, minimum: Level): Organization {
    const { organization, level } = theirs(request);
    if (level < minimum) throw insufficientLevel();
    return organization;
  }

  /** Uploads are not emulated: no media can exist. The contract lets any id be written. */
  function checkLogo({ logo_media_id: id }: Changes): void {
    if (desk.dialect === "documented" || id === undefined || id === null) return;
    throw invalid(`Invalid pk "${id}" - object does not exist.`, "logo_media_id", "does_not_exist");
  }

  const shown = (organization: Organization, { user }: Caller) =>
    views.detail(organization, memberships.levelOf(organization.id, user.id));

  const change = (organization: Organization, body: Changes): Organization =>
    worlds.change((draft) =>
      draft.put("organizations", {
        ...organization,
        ...body,
        updated_at: wireTime(desk.clock.now()),
      }),
    );

  const changing = (methods: readonly ("PATCH" | "PUT")[], body: z.ZodType<Changes>, contract?: string) =>
    accountEndpoint(desk, {
      methods,
      path: "/api/organizations/:id",
      summary: "Changes an organization; for its admins",
      ...(contract !== undefined && { contract }),
      scope: "organization:write",
      body,
      reply: OrganizationShape,
      handle(request) {
        const organization = changeable(request, levels.admin);
        const wanted = request.body();
        checkLogo(wanted);
        return shown(change(organization, wanted), request.caller);
      },
    });

  return [
    accountEndpoint(desk, {
      methods: ["GET"],
      path: "/api/organizations",
      summary: "The caller's organizations",
      contract: "GET /api/organizations",
      scope: "organization:read",
      query: pageQuery,
      reply: pageSchema(OrganizationShape),
      handle({ call, caller }) {
        refuseProjectLimits(caller);
        return pageOf(call, memberships.organizationsOf(caller), (it) => shown(it, caller));
      },
    }),
    accountEndpoint(desk, {
      methods: ["POST"],
      path: "/api/organizations",
      summary: "Creates an organization with its first project, and makes them the caller's current ones",
      contract: "POST /api/organizations",
      scope: "organization:write",
      status: 201,
      body: Whole,
      reply: OrganizationShape,
      handle({ caller, body }) {
        refuseProjectLimits(caller);
        const wanted = body();
        checkLogo(wanted);
        return shown(createOrganization(desk, caller.user, wanted), caller);
      },
    }),
    accountEndpoint(desk, {
      methods: ["GET"],
      path: "/api/organizations/:id",
      summary: "An organization, by id or as `@current`",
      contract: "GET /api/organizations/:id",
      scope: "organization:read",
      reply: OrganizationShape,
      handle(request) {
        const { organization, level } = theirs(request);
        return views.detail(organization, level);
      },
    }),
    changing(["PATCH"], Changes, "PATCH /api/organizations/:id"),
    changing(["PUT"], Whole),
    accountEndpoint(desk, {
      methods: ["DELETE"],
      path: "/api/organizations/:id",
      summary: "Deletes an organization with all its projects; for its owners",
      contract: "DELETE /api/organizations/:id",
      scope: "organization:write",
      status: 204,
      handle(request) {
        const { id } = changeable(request, levels.owner);
        const members = memberships.ofOrganization(id);
        deleteProjects(desk, memberships.projectsOf(id), (draft) => {
          for (const it of members) draft.remove("memberships", it.id);
          draft.remove("organizations", id);
        });
        return undefined;
      },
    }),
  ];
}

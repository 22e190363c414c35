import { z } from "zod";
import { SimError } from "../../kernel/base/errors.ts";
import { groupedBy } from "../../kernel/base/grouped-by.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { derived } from "../../state/documents/derived.ts";
import { UserShape } from "../../state/documents/field-kinds.ts";
import { numberChoice, uuid } from "../../state/documents/lenient-fields.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Dashboard, DashboardCollaborator, Organization, User } from "../../state/documents/world.ts";
import {
  type Caller,
  type CallPlace,
  documentNamed,
  found,
  hasFeature,
  levels,
  type MemberLevel,
  membershipOf,
} from "../api-frame/access.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
import { invalid, shownAs } from "../api-frame/fields.ts";
import { inProject, managementRow, type ProjectRequest } from "../api-frame/row.ts";
import { showUser } from "../api-frame/users.ts";

/** The rights of users on dashboards. Upstream PostHog/posthog posthog/user_permissions.py. */

export const restriction = { everyone: 21, collaborators: 37 } as const;
export const privilege = { view: 21, edit: 37 } as const;

export interface ReaderLevels {
  readonly effective_restriction_level: 21 | 37;
  readonly effective_privilege_level: 21 | 37;
  readonly user_access_level: string | null;
}

/** For shared links: no user is signed in. */
export const sharedLevels: ReaderLevels = {
  effective_restriction_level: restriction.collaborators,
  effective_privilege_level: privilege.view,
  user_access_level: null,
};

/** Organizations without the feature cannot restrict dashboards: the level is kept, but does not count. */
const hasRestrictions = (organization: Organization): boolean =>
  hasFeature(organization, "access_control") || hasFeature(organization, "advanced_permissions");

export const effectiveRestriction = (dashboard: Dashboard, organization: Organization): 21 | 37 =>
  hasRestrictions(organization) ? dashboard.restriction_level : restriction.everyone;

/** True for callers with all rights: its creator and admins. */
export const isInherent = (dashboard: Dashboard, user: number, level: MemberLevel): boolean =>
  dashboard.created_by === user || level >= levels.admin;

/** Collaborators of dashboards, through an index. */
export function openRights(desk: ResourceDesk) {
  const byDashboard = derived(desk.worlds, ["dashboard_collaborators"], () =>
    groupedBy(desk.worlds.current.dashboard_collaborators, (it) => it.dashboard),
  );
  const collaborators = (dashboard: Dashboard): readonly DashboardCollaborator[] =>
    byDashboard().get(dashboard.id) ?? [];

  const effectivePrivilege = (dashboard: Dashboard, { caller, organization, level }: Asker): 21 | 37 =>
    effectiveRestriction(dashboard, organization) === restriction.everyone ||
    isInherent(dashboard, caller.user.id, level) ||
    collaborators(dashboard).some((it) => it.user === caller.user.id)
      ? privilege.edit
      : privilege.view;

  return {
    collaborators,
    effectivePrivilege,
    /** @throws SimError permission_denied */
    requireEdit(dashboard: Dashboard, asker: Asker): void {
      if (effectivePrivilege(dashboard, asker) === privilege.edit) return;
      throw new SimError("permission_denied", "You don't have edit permissions for this dashboard.");
    },
  };
}

export type Rights = ReturnType<typeof openRights>;

/** The caller, with its level in the organization. */
export type Asker = CallPlace & { readonly caller: Caller };

/** The project's dashboard with this id, also a deleted one. @throws SimError not_found */
export function anyDashboard(desk: ResourceDesk, project: number, id: string, what?: string): Dashboard {
  return found(documentNamed(desk, "dashboards", project, id), what);
}

/** The project's dashboard with this id, unless it is deleted. @throws SimError not_found */
export function liveDashboard(desk: ResourceDesk, project: number, id: string, what?: string): Dashboard {
  const dashboard = anyDashboard(desk, project, id, what);
  return found(dashboard.deleted ? undefined : dashboard, what);
}

/** The path of what belongs to a dashboard. */
export const dashboardPath = "/api/projects/:project_id/dashboards/:dashboard_id";

/** The dashboard of such a path, unless it is deleted. @throws SimError not_found */
export const dashboardOf = (desk: ResourceDesk, { param, project }: ProjectRequest<unknown>): Dashboard =>
  liveDashboard(desk, project.id, param("dashboard_id"), "Dashboard");

const Collaborator = z
  .object({
    id: z.string(),
    dashboard_id: z.int(),
    user: UserShape,
    level: z.literal(37),
    added_at: z.string(),
    updated_at: z.string(),
    /** Only in the documented dialect; the service never returns it. */
    user_uuid: z.string().optional(),
  })
  .meta({ title: "DashboardCollaborator" });

const Wanted = z.object({ level: numberChoice([privilege.view, privilege.edit]), user_uuid: uuid() });
type Wanted = z.infer<typeof Wanted>;

const onLowestLevel = (change: "add" | "remove") => {
  const what = change === "add" ? "add collaborators to a" : "remove collaborators from a";
  return invalid(`Cannot ${what} dashboard on the lowest restriction level.`);
};

const activeUser = ({ worlds }: ResourceDesk, id: string): User | undefined =>
  worlds.current.users.find((it) => it.uuid === id && it.is_active);

/**
 * Users who may edit a restricted dashboard in addition to its creator and the admins.
 * Upstream PostHog/posthog ee/api/dashboard_collaborator.py.
 */
export function collaboratorEndpoints(desk: ResourceDesk): Endpoint[] {
  const rights = openRights(desk);
  const path = `${dashboardPath}/collaborators`;

  const show = (it: DashboardCollaborator, user: User): z.infer<typeof Collaborator> =>
    shownAs(Collaborator, {
      ...it,
      dashboard_id: it.dashboard,
      user: showUser(desk, user),
      ...(desk.dialect === "documented" && { user_uuid: user.uuid }),
    });

  /** Inactive users are not listed. */
  const shown = (it: DashboardCollaborator) => {
    const user = desk.worlds.get("users", it.user);
    return user?.is_active ? [show(it, user)] : [];
  };

  /** The user to be added, if all is well. @throws SimError invalid_input */
  function addable(dashboard: Dashboard, { organization }: Asker, wanted: Wanted): User {
    if (effectiveRestriction(dashboard, organization) === restriction.everyone) throw onLowestLevel("add");
    if (wanted.level !== privilege.edit) {
      throw invalid("Only edit access can be explicitly specified currently.");
    }
    const user = activeUser(desk, wanted.user_uuid);
    if (!user) throw invalid("User does not exist.");
    const membership = membershipOf(desk, organization.id, user.id);
    if (!membership) throw invalid("Cannot add collaborators that have no access to the project.");
    if (isInherent(dashboard, user.id, membership.level)) {
      throw invalid(
        "Cannot add collaborators that already have inherent access (the dashboard owner or a project admins).",
      );
    }
    const isKnown = rights.collaborators(dashboard).some((it) => it.user === user.id);
    if (isKnown) throw invalid("User already is a collaborator.");
    return user;
  }

  function add(dashboard: Dashboard, user: User): DashboardCollaborator {
    const now = wireTime(desk.clock.now());
    return desk.worlds.change((draft) =>
      draft.put("dashboard_collaborators", {
        id: desk.ids.uuid(),
        dashboard: dashboard.id,
        user: user.id,
        level: privilege.edit,
        added_at: now,
        updated_at: now,
      }),
    );
  }

  return [
    ...managementRow(desk, {
      method: "GET",
      path,
      summary: "Collaborators of a dashboard",
      contract: true,
      access: inProject("dashboard:read"),
      reply: z.array(Collaborator),
      handle: (request) => rights.collaborators(dashboardOf(desk, request)).flatMap(shown),
    }),
    ...managementRow(desk, {
      method: "POST",
      path,
      summary: "Adds a collaborator to a dashboard",
      contract: true,
      access: inProject("dashboard:write"),
      status: 201,
      body: Wanted,
      reply: Collaborator,
      handle(request) {
        const dashboard = dashboardOf(desk, request);
        rights.requireEdit(dashboard, request);
        const user = addable(dashboard, request, request.body());
        return show(add(dashboard, user), user);
      },
    }),
    ...managementRow(desk, {
      method: "DELETE",
      path: `${path}/:user__uuid`,
      summary: "Removes a collaborator from a dashboard",
      contract: true,
      access: inProject("dashboard:write"),
      status: 204,
      handle(request) {
        const dashboard = dashboardOf(desk, request);
        rights.requireEdit(dashboard, request);
        const user = activeUser(desk, request.param("user__uuid").toLowerCase());
        const { id } = found(rights.collaborators(dashboard).find((it) => it.user === user?.id));
        if (effectiveRestriction(dashboard, request.organization) === restriction.everyone) {
          throw onLowestLevel("remove");
        }
        desk.worlds.change((draft) => draft.remove("dashboard_collaborators", id));
      },
    }),
  ];
}

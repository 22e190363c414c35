import { z } from "zod";
import type { Endpoint } from "../http/endpoint.ts";
import { wireTime } from "../model/time.ts";
import type { Dashboard, DashboardCollaborator, User } from "../model/world.ts";
import { found, membershipOf } from "./access.ts";
import {
  type Asker,
  effectiveRestriction,
  isInherent,
  liveDashboard,
  openRights,
  privilege,
  restriction,
} from "./dashboards/rights.ts";
import type { ResourceDesk } from "./desk.ts";
import { numberChoice, uuid } from "./fields.ts";
import { invalid } from "./invalid.ts";
import { projectEndpoints, type Request } from "./row.ts";
import { showUser, UserShape } from "./users.ts";

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

/**
 * Who may edit a restricted dashboard besides its maker and the admins.
 * Upstream PostHog/posthog ee/api/dashboard_collaborator.py.
 */
export function collaboratorEndpoints(desk: ResourceDesk): Endpoint[] {
  const rights = openRights(desk);
  const path = "/dashboards/:dashboard_id/collaborators";
  const contract = "/api/projects/:project_id/dashboards/:dashboard_id/collaborators";

  const show = (it: DashboardCollaborator, user: User): z.infer<typeof Collaborator> => ({
    id: it.id,
    dashboard_id: it.dashboard,
    user: showUser(desk, user),
    level: it.level,
    added_at: it.added_at,
    updated_at: it.updated_at,
    ...(desk.dialect === "documented" && { user_uuid: user.uuid }),
  });

  /** People who have left the service are not listed. */
  const shown = (it: DashboardCollaborator) => {
    const user = desk.worlds.get("users", it.user);
    return user?.is_active ? [show(it, user)] : [];
  };

  const dashboardOf = (
    { param }: Pick<Request<unknown>, "param">,
    { project }: { project: { id: number } },
  ) => liveDashboard(desk, project.id, param("dashboard_id"), "Dashboard");

  const activeUser = (id: string): User | undefined =>
    desk.worlds.current.users.find((it) => it.uuid === id && it.is_active);

  const isCollaborator = (dashboard: Dashboard, user: User): boolean =>
    rights.collaborators(dashboard).some((it) => it.user === user.id);

  /** The user to be added, if all is well. @throws SimError invalid_input */
  function addable(dashboard: Dashboard, { organization }: Asker, wanted: Wanted): User {
    if (effectiveRestriction(dashboard, organization) === restriction.everyone) throw onLowestLevel("add");
    if (wanted.level !== privilege.edit) {
      throw invalid("Only edit access can be explicitly specified currently.");
    }
    const user = activeUser(wanted.user_uuid);
    if (!user) throw invalid("User does not exist.");
    const membership = membershipOf(desk, organization.id, user.id);
    if (!membership) throw invalid("Cannot add collaborators that have no access to the project.");
    if (isInherent(dashboard, user.id, membership.level)) {
      throw invalid(
        "Cannot add collaborators that already have inherent access (the dashboard owner or a project admins).",
      );
    }
    if (isCollaborator(dashboard, user)) throw invalid("User already is a collaborator.");
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
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path,
      summary: "Collaborators of a dashboard",
      contract: `GET ${contract}`,
      scope: "dashboard:read",
      reply: z.array(Collaborator),
      handle: (request) => rights.collaborators(dashboardOf(request, request)).flatMap(shown),
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path,
      summary: "Adds a collaborator to a dashboard",
      contract: `POST ${contract}`,
      scope: "dashboard:write",
      status: 201,
      body: Wanted,
      reply: Collaborator,
      handle(request) {
        const dashboard = dashboardOf(request, request);
        rights.requireEdit(dashboard, request);
        const user = addable(dashboard, request, request.body());
        return show(add(dashboard, user), user);
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["DELETE"],
      path: `${path}/:user__uuid`,
      summary: "Removes a collaborator from a dashboard",
      contract: `DELETE ${contract}/:user__uuid`,
      scope: "dashboard:write",
      status: 204,
      handle(request) {
        const dashboard = dashboardOf(request, request);
        rights.requireEdit(dashboard, request);
        const user = activeUser(request.param("user__uuid").toLowerCase());
        const { id } = found(rights.collaborators(dashboard).find((it) => it.user === user?.id));
        if (effectiveRestriction(dashboard, request.organization) === restriction.everyone) {
          throw onLowestLevel("remove");
        }
        desk.worlds.change((draft) => draft.remove("dashboard_collaborators", id));
        return undefined;
      },
    }),
  ];
}

import { SimError } from "../../kernel/errors.ts";
import { derived } from "../../model/derived.ts";
import type { Dashboard, DashboardCollaborator, Organization } from "../../model/world.ts";
import { type Caller, type Level, levels, notFound, numberIn, type Place } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";

/** Who may do what with a dashboard. Upstream PostHog/posthog posthog/user_permissions.py. */

export const restriction = { everyone: 21, collaborators: 37 } as const;
export const privilege = { view: 21, edit: 37 } as const;

/** Organizations without the feature cannot restrict dashboards: the level is kept, but does not count. */
const hasRestrictions = ({ available_product_features }: Organization): boolean =>
  available_product_features?.some(({ key }) => key === "access_control" || key === "advanced_permissions") ??
  false;

export const effectiveRestriction = (dashboard: Dashboard, organization: Organization): 21 | 37 =>
  hasRestrictions(organization) ? dashboard.restriction_level : restriction.everyone;

/** May the caller do whatever they want with it: its maker, or an admin? */
export const isInherent = (dashboard: Dashboard, user: number, level: Level): boolean =>
  dashboard.created_by === user || level >= levels.admin;

/** Reads who collaborates on what, through an index. */
export function openRights(desk: ResourceDesk) {
  const byDashboard = derived(desk.worlds, ["dashboard_collaborators"], () => {
    const index = new Map<number, DashboardCollaborator[]>();
    for (const it of desk.worlds.current.dashboard_collaborators) {
      const others = index.get(it.dashboard);
      if (others) others.push(it);
      else index.set(it.dashboard, [it]);
    }
    return index;
  });
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

/** Who asks, and as what in the organization. */
export type Asker = Place & { readonly caller: Caller };

/** The project's dashboard with this id, also a deleted one. @throws SimError not_found */
export function anyDashboard(desk: ResourceDesk, project: number, id: string, what?: string): Dashboard {
  const number = numberIn(id);
  const dashboard = number === undefined ? undefined : desk.worlds.get("dashboards", number);
  if (!dashboard || dashboard.project !== project) throw notFound(what);
  return dashboard;
}

/** The project's dashboard with this id; a deleted one is not there. @throws SimError not_found */
export function liveDashboard(desk: ResourceDesk, project: number, id: string, what?: string): Dashboard {
  const dashboard = anyDashboard(desk, project, id, what);
  if (dashboard.deleted) throw notFound(what);
  return dashboard;
}

import type { Call } from "../../http/call.ts";
import type { Organization, Project } from "../../model/world.ts";
import {
  type Caller,
  checkOrganizationLimit,
  denied,
  found,
  insufficientLevel,
  type Level,
  levels,
  organizationNamed,
  type Place,
  projectNamed,
  refuseProjectLimits,
} from "../access.ts";
import { fieldsOf } from "../body.ts";
import type { ResourceDesk } from "../desk.ts";
import type { Memberships } from "../memberships.ts";

/** A project that the caller may see, and the caller's level there. */
export interface Visible {
  project: Project;
  level: Level;
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

/** Who may see and make projects. Upstream PostHog/posthog posthog/api/project.py, posthog/permissions.py. */
export function openProjectAccess(desk: ResourceDesk, memberships: Memberships) {
  return {
    /**
     * The project with this id or `@current`; one that the caller must not know of is not there.
     * @throws SimError not_found, permission_denied
     */
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
    currentPlace(caller: Caller): Place {
      refuseProjectLimits(caller);
      const organization = found(organizationNamed("@current", desk, caller), "Organization");
      checkOrganizationLimit(caller, organization.id);
      const level = memberships.levelOf(organization.id, caller.user.id) ?? undefined;
      return { organization, level: found(level, "Organization") };
    },
    /** May the caller make a project there? The plan is asked first. @throws SimError permission_denied */
    checkCreation(call: Call, { organization, level }: Place): void {
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

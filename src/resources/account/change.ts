import type { Organization, Project, User } from "../../model/world.ts";
import { numberIn } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { invalid } from "../invalid.ts";
import type { Memberships } from "../memberships.ts";
import type { AccountChanges } from "./body.ts";

const doesNotExist = (id: string, attr: string) =>
  invalid(`Object with id=${id} does not exist.`, attr, "does_not_exist");

/** Changes a user's account. Upstream PostHog/posthog posthog/api/user.py. */
export function openAccountChange({ worlds }: ResourceDesk, memberships: Memberships) {
  const isMember = (organization: string, user: User): boolean =>
    memberships.levelOf(organization, user.id) !== null;

  function wantedOrganization(user: User, id: string | undefined): Organization | undefined {
    if (id === undefined) return undefined;
    const organization = worlds.get("organizations", id.toLowerCase());
    if (organization && isMember(organization.id, user)) return organization;
    throw doesNotExist(id, "set_current_organization");
  }

  function wantedProject(user: User, id: string | undefined): Project | undefined {
    if (id === undefined) return undefined;
    const number = numberIn(id);
    const project = number === undefined ? undefined : worlds.projectById(number);
    if (project && isMember(project.organization, user)) return project;
    throw doesNotExist(id, "set_current_team");
  }

  /** Where `@current` leads from now on. */
  function moved(
    user: User,
    organizationId: string | undefined,
    projectId: string | undefined,
  ): Partial<User> {
    const organization = wantedOrganization(user, organizationId);
    const project = wantedProject(user, projectId);
    if (!organization) {
      return project ? { current_organization: project.organization, current_project: project.id } : {};
    }
    if (project && project.organization !== organization.id) {
      const detail = "Team must belong to the same organization in set_current_organization.";
      throw invalid(detail, "set_current_team");
    }
    const next = project ?? memberships.projectsOf(organization.id)[0];
    return { current_organization: organization.id, current_project: next?.id ?? null };
  }

  function checkEmail(user: User, address: string | undefined): void {
    const wanted = address?.toLowerCase();
    const isTaken = worlds.current.users.some((it) => it.id !== user.id && it.email.toLowerCase() === wanted);
    if (isTaken) throw invalid("There is already an account with this email address.", "email", "unique");
  }

  /** @throws SimError invalid_input, unique, does_not_exist */
  return (user: User, body: AccountChanges): User => {
    const { set_current_organization, set_current_team, ...profile } = body;
    checkEmail(user, body.email);
    const place = moved(user, set_current_organization, set_current_team);
    return worlds.change((draft) => draft.put("users", { ...user, ...profile, ...place }));
  };
}

import { blankMembership, blankOrganization, blankProject } from "../../model/blank.ts";
import { freeSlug } from "../../model/slug.ts";
import { wireTime } from "../../model/time.ts";
import type { Draft, Organization, Project, User } from "../../model/world.ts";
import { levels } from "../access.ts";
import type { ResourceDesk } from "../desk.ts";
import { newProjectKey, randomLetters } from "../new-keys.ts";

/** Adds a project with new keys and makes it the user's current one. */
export function addProject(
  desk: ResourceDesk,
  draft: Draft,
  given: Pick<Project, "organization" | "name"> & Partial<Project>,
  user: User,
): Project {
  const project = blankProject(
    {
      id: draft.nextId("projects"),
      uuid: desk.ids.uuid(),
      api_key: newProjectKey("phc_"),
      secret_api_key: newProjectKey("phs_"),
      ...given,
    },
    wireTime(desk.clock.now()),
  );
  draft.put("projects", project);
  draft.put("users", {
    ...user,
    current_organization: project.organization,
    current_project: project.id,
  });
  return project;
}

/**
 * Makes an organization with its first project; the user owns it, and `@current` leads there from now on.
 * Upstream PostHog/posthog posthog/models/organization.py.
 */
export function createOrganization(
  desk: ResourceDesk,
  user: User,
  given: Pick<Organization, "name"> & Partial<Organization>,
): Organization {
  const now = wireTime(desk.clock.now());
  const taken = new Set(desk.worlds.current.organizations.map((it) => it.slug));
  const slug = freeSlug(given.name, taken, () => randomLetters(4));
  return desk.worlds.change((draft) => {
    const organization = draft.put(
      "organizations",
      blankOrganization({ id: desk.ids.uuid(), slug, ...given }, now),
    );
    const membership = { organization: organization.id, user: user.id, level: levels.owner };
    draft.put("memberships", blankMembership({ id: desk.ids.uuid(), ...membership }, now));
    addProject(desk, draft, { organization: organization.id, name: "Default project" }, user);
    return organization;
  });
}

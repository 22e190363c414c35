import { blankMembership, blankOrganization, blankProject } from "../../state/documents/blank.ts";
import { documentsOf } from "../../state/documents/project-documents.ts";
import { freeSlug } from "../../state/documents/slug.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { Draft, Organization, StoredProject, User } from "../../state/documents/world.ts";
import { levels } from "../api-frame/access.ts";
import { given } from "../api-frame/body.ts";
import { invalid } from "../api-frame/fields.ts";
import type { ManagementDesk } from "./desk.ts";
import { newProjectKey, randomLetters } from "./keys.ts";
import { changeSettings, type ProjectBody } from "./project-views.ts";

type Worlds = ManagementDesk["worlds"];

/** The target of `@current`: the previous one if it still exists, else the first. */
function settled({ current }: Worlds, user: User): User {
  const organizations = current.memberships.filter((it) => it.user === user.id).map((it) => it.organization);
  const organization = organizations.find((it) => it === user.current_organization) ?? organizations[0] ?? null;
  const projects = current.projects.filter((it) => it.organization === organization);
  const project = projects.find((it) => it.id === user.current_project) ?? projects[0];
  return { ...user, current_organization: organization, current_project: project?.id ?? null };
}

/** True if a user's `@current` refers to an organization or project that does not exist. */
const isAstray = (worlds: Worlds, { current_organization, current_project }: User): boolean =>
  (current_organization !== null && !worlds.get("organizations", current_organization)) ||
  (current_project !== null && !worlds.projectById(current_project));

/** Moves `@current` of users away from removed documents; to be called after the removals, in the same change. */
export function resettleUsers(draft: Draft, worlds: Worlds, concerned: (user: User) => boolean): void {
  for (const user of worlds.current.users.filter(concerned)) draft.put("users", settled(worlds, user));
}

/**
 * Removes projects with all their documents, and what `also` removes. Events and persons stay where they are: no key
 * leads to them any more.
 */
export function deleteProjects(
  { worlds, exports }: ManagementDesk,
  projects: readonly StoredProject[],
  also: (draft: Draft) => void = () => {},
): void {
  const gone = new Set(projects.map((it) => it.id));
  const running = worlds.current.batch_exports.filter((it) => gone.has(it.project) && !it.deleted);
  worlds.change((draft) => {
    for (const [name, documents] of documentsOf(worlds.current, gone)) {
      for (const { id } of documents) draft.remove(name, id);
    }
    for (const id of gone) draft.remove("projects", id);
    also(draft);
    resettleUsers(draft, worlds, (user) => isAstray(worlds, user));
  });
  for (const it of running) exports.scheduled({ ...it, deleted: true });
}

/** Adds a project with new keys and makes it the user's current one. */
function addProject(
  desk: ManagementDesk,
  draft: Draft,
  given: Pick<StoredProject, "organization" | "name"> & Partial<StoredProject>,
  user: User,
): StoredProject {
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
  draft.put("users", { ...user, current_organization: project.organization, current_project: project.id });
  return project;
}

/**
 * Makes an organization with its first project; the user owns it, and `@current` refers to it from now on.
 * Upstream PostHog/posthog posthog/models/organization.py.
 */
export function createOrganization(
  desk: ManagementDesk,
  user: User,
  given: Pick<Organization, "name"> & Partial<Organization>,
): Organization {
  const now = wireTime(desk.clock.now());
  const taken = new Set(desk.worlds.current.organizations.map((it) => it.slug));
  const slug = freeSlug(given.name, taken, () => randomLetters(4));
  return desk.worlds.change((draft) => {
    const organization = draft.put("organizations", blankOrganization({ id: desk.ids.uuid(), slug, ...given }, now));
    const membership = { organization: organization.id, user: user.id, level: levels.owner };
    draft.put("memberships", blankMembership({ id: desk.ids.uuid(), ...membership }, now));
    addProject(desk, draft, { organization: organization.id, name: "Default project" }, user);
    return organization;
  });
}

/** What can be done to projects. Upstream PostHog/posthog posthog/api/project.py. */
export function openProjectChanges(desk: ManagementDesk) {
  const { worlds } = desk;

  function checkDashboard(id: number | null | undefined, project: number | undefined): void {
    if (id === undefined || id === null) return;
    const dashboard = worlds.get("dashboards", id);
    if (dashboard && dashboard.project === project && !dashboard.deleted) return;
    throw invalid(`Invalid pk "${id}" - object does not exist.`, "primary_dashboard", "does_not_exist");
  }

  const put = (project: StoredProject, changes: Partial<StoredProject>): StoredProject =>
    worlds.change((draft) => draft.put("projects", { ...project, ...changes, updated_at: wireTime(desk.clock.now()) }));

  return {
    create(organization: string, { name, is_demo, timezone, ...rest }: ProjectBody, user: User): StoredProject {
      checkDashboard(rest.primary_dashboard, undefined);
      return worlds.change((draft) =>
        addProject(
          desk,
          draft,
          {
            organization,
            name: name ?? "Default project",
            is_demo: is_demo ?? false,
            timezone: timezone ?? "UTC",
            settings: changeSettings({}, rest),
          },
          user,
        ),
      );
    },
    change(project: StoredProject, body: ProjectBody): StoredProject {
      checkDashboard(body.primary_dashboard, project.id);
      return put(project, {
        ...given(body, ["name", "is_demo", "timezone", "primary_dashboard"]),
        settings: changeSettings(project.settings, body),
      });
    },
    /** The old key stops working at once. */
    resetKey: (project: StoredProject): StoredProject => put(project, { api_key: newProjectKey("phc_") }),
  };
}

export type ProjectChanges = ReturnType<typeof openProjectChanges>;

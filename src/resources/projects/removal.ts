import { documentsOf } from "../../model/project-documents.ts";
import type { Draft, Project, User } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";

type Worlds = ResourceDesk["worlds"];

/** Where `@current` leads: what it was if that is still there, else the first that is. */
function settled({ current }: Worlds, user: User): User {
  const organizations = current.memberships.filter((it) => it.user === user.id).map((it) => it.organization);
  const organization =
    organizations.find((it) => it === user.current_organization) ?? organizations[0] ?? null;
  const projects = current.projects.filter((it) => it.organization === organization);
  const project = projects.find((it) => it.id === user.current_project) ?? projects[0];
  return { ...user, current_organization: organization, current_project: project?.id ?? null };
}

/** Does `@current` lead a user to what is not there? */
const isAstray = (worlds: Worlds, { current_organization, current_project }: User): boolean =>
  (current_organization !== null && !worlds.get("organizations", current_organization)) ||
  (current_project !== null && !worlds.projectById(current_project));

/** Lets nobody's `@current` point at what is gone; to be called after the removals, in the same change. */
export function resettleUsers(draft: Draft, worlds: Worlds, concerned: (user: User) => boolean): void {
  for (const user of worlds.current.users.filter(concerned)) draft.put("users", settled(worlds, user));
}

/**
 * Removes projects with all their documents, and what `also` removes. Events and persons stay where they are:
 * no key leads to them any more. So do surveys and other public lists: they are found through the project's
 * key only.
 */
export function deleteProjects(
  { worlds, exports }: ResourceDesk,
  projects: readonly Project[],
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

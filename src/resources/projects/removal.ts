import type { CollectionName, Draft, Project, User } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";

/** Collections whose documents belong to a project. */
const owned = [
  "dashboards",
  "dashboard_templates",
  "insights",
  "feature_flags",
  "flag_overrides",
  "cohorts",
  "batch_exports",
] as const satisfies readonly CollectionName[];

/** Collections whose documents belong to one of those, and by which field. */
const ofDashboard = ["dashboard_collaborators", "sharing_configurations"] as const;
const ofBatchExport = ["batch_export_runs", "batch_export_backfills", "batch_export_logs"] as const;

type Worlds = ResourceDesk["worlds"];

function removeDocuments(draft: Draft, { current }: Worlds, gone: ReadonlySet<number>): void {
  const isGone = (it: { project: number | null }) => it.project !== null && gone.has(it.project);
  const dashboards = new Set(current.dashboards.filter(isGone).map((it) => it.id));
  const exports = new Set(current.batch_exports.filter(isGone).map((it) => it.id));
  for (const name of ofDashboard) {
    for (const it of current[name].filter((one) => dashboards.has(one.dashboard))) draft.remove(name, it.id);
  }
  for (const name of ofBatchExport) {
    for (const it of current[name].filter((one) => exports.has(one.batch_export))) draft.remove(name, it.id);
  }
  for (const name of owned) {
    for (const it of current[name].filter(isGone)) draft.remove(name, it.id);
  }
}

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
    removeDocuments(draft, worlds, gone);
    for (const id of gone) draft.remove("projects", id);
    also(draft);
    resettleUsers(draft, worlds, (user) => isAstray(worlds, user));
  });
  for (const it of running) exports.scheduled({ ...it, deleted: true });
}

import { SimError } from "../kernel/errors.ts";
import { documentsOf } from "../model/project-documents.ts";
import type { Draft, Project, User } from "../model/world.ts";
import type { ControlDesk } from "./desk.ts";

/** The keys that lead to this project and no other. */
export const keysOf = ({ worlds }: Pick<ControlDesk, "worlds">, project: number) =>
  worlds.current.personal_api_keys.filter(
    ({ scoped_teams: [first, ...others] }) => first === project && others.length === 0,
  );

/** Ends the faults that are about the project only, and forgets the answers that wait for it. */
export function clearMischief(
  { faults, answers }: Pick<ControlDesk, "faults" | "answers">,
  project: number,
): void {
  if (faults.active) {
    for (const { id, match } of faults.list()) if (match.project === project) faults.clear(id);
  }
  answers.clear({ project });
}

/** `@current` leads to another project of the organization. */
function resettle(draft: Draft, { worlds }: ControlDesk, user: User, gone: Project): void {
  const next = worlds.current.projects.find((it) => it.organization === gone.organization);
  draft.put("users", { ...user, current_project: next?.id ?? null });
}

function removeDocuments(desk: ControlDesk, project: Project): void {
  const { current } = desk.worlds;
  const { id } = project;
  desk.worlds.change((draft) => {
    for (const [name, documents] of documentsOf(current, new Set([id]))) {
      for (const it of documents) draft.remove(name, it.id);
    }
    for (const key of keysOf(desk, id)) draft.remove("personal_api_keys", key.id);
    draft.remove("projects", id);
    for (const user of current.users) if (user.current_project === id) resettle(draft, desk, user, project);
  });
}

function checkRemovable(project: Project): void {
  if (project.ephemeral || project.adopted) return;
  throw new SimError("conflict", `project ${project.id} is not one that was made for a test`, {
    hint: 'POST /__sim/reset {"project": …} brings a scenario\'s project back; DELETE /api/projects/:id removes it',
  });
}

/**
 * Removes a project that was made for a test, or adopted: documents, keys, persons, groups, faults, waiting answers.
 * What the log has of it stays, for whoever looks when the test is over; its number is not used again.
 * @throws SimError conflict for any other project; the system's error, and then the project is still there
 */
export function removeProject(desk: ControlDesk, project: Project): void {
  checkRemovable(project);
  const { id } = project;
  const running = desk.worlds.current.batch_exports.filter((it) => it.project === id && !it.deleted);
  removeDocuments(desk, project);
  desk.people.clear(id);
  desk.log.commit();
  for (const it of running) desk.exports.engine.scheduled({ ...it, deleted: true });
  desk.flagBook.forget(id);
  clearMischief(desk, id);
}

import { SimError } from "../../kernel/base/errors.ts";
import { documentsOf } from "../../state/documents/project-documents.ts";
import type { Draft, ReadonlyWorld, StoredProject, User } from "../../state/documents/world.ts";
import type { ProjectPorts, ResetPorts } from "./ports.ts";

export const keysOf = (worlds: { readonly current: ReadonlyWorld }, project: number) =>
  worlds.current.personal_api_keys.filter(
    ({ scoped_teams: [first, ...others] }) => first === project && others.length === 0,
  );

export function clearFaults({ faults, answers }: Pick<ResetPorts, "faults" | "answers">, project: number): void {
  if (faults.active) {
    for (const { id, match } of faults.list()) if (match.project === project) faults.clear(id);
  }
  answers.clear({ project });
}

/** Makes another project of the organization the user's `@current`. */
function leaveProject(draft: Draft, world: ReadonlyWorld, user: User, gone: StoredProject): void {
  const next = world.projects.find((it) => it.organization === gone.organization);
  draft.put("users", { ...user, current_project: next?.id ?? null });
}

function removeDocuments({ worlds }: ProjectPorts, project: StoredProject): void {
  const { current } = worlds;
  const { id } = project;
  worlds.change((draft) => {
    for (const [name, documents] of documentsOf(current, new Set([id]))) {
      for (const it of documents) draft.remove(name, it.id);
    }
    for (const key of keysOf(worlds, id)) draft.remove("personal_api_keys", key.id);
    draft.remove("projects", id);
    for (const user of current.users) if (user.current_project === id) leaveProject(draft, current, user, project);
  });
}

function checkRemovable(project: StoredProject): void {
  if (project.ephemeral || project.adopted) return;
  throw new SimError("conflict", `project ${project.id} was not made for a test`, {
    hint: 'POST /__sim/reset {"project": …} resets a project of the scenario; DELETE /api/projects/:id removes it',
  });
}

/**
 * Removes a project that was made for a test, or adopted: documents, keys, persons, groups, faults, scripted answers.
 * Its requests and events stay in the log, for inspection after the test; its id is not used again.
 * @throws SimError conflict for any other project; the system's error, and then the project still exists
 */
export function removeProject(ports: ProjectPorts, project: StoredProject): void {
  checkRemovable(project);
  const { id } = project;
  const running = ports.worlds.current.batch_exports.filter((it) => it.project === id && !it.deleted);
  removeDocuments(ports, project);
  ports.ended.end(project, ports.log.lastRequest);
  ports.people.clear(id);
  ports.log.commit();
  for (const it of running) ports.exports.engine.scheduled({ ...it, deleted: true });
  ports.rulesets.forget(id);
  clearFaults(ports, id);
}

import { SimError } from "../../kernel/base/errors.ts";
import { listed } from "../../kernel/base/text.ts";
import type { StoredProject } from "./world.ts";

export interface ProjectLookup {
  readonly current: { readonly projects: readonly StoredProject[] };
  projectById(id: number): StoredProject | undefined;
}

/** The project with an id (default: the first). @param pointer Where the id was given @throws SimError not_found */
export function projectOf(worlds: ProjectLookup, id: number | undefined, pointer?: string): StoredProject {
  const { projects } = worlds.current;
  const project = id === undefined ? projects[0] : worlds.projectById(id);
  if (project) return project;
  const hint = projects.length > 0 ? `known projects: ${listed(projects.map((it) => it.id))}` : undefined;
  throw new SimError("not_found", id === undefined ? "there is no project" : `there is no project ${id}`, {
    ...(hint !== undefined && { hint }),
    ...(pointer !== undefined && { pointer }),
  });
}

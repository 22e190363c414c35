import { SimError } from "../../kernel/errors.ts";
import { nearest } from "../../kernel/nearest.ts";
import type { FeatureFlag, Project } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";

const listed = (words: readonly (string | number)[]): string =>
  words.length > 10 ? `${words.slice(0, 10).join(", ")} …` : words.join(", ");

/** The project with the id, or the first. `pointer` says where the id stood. @throws SimError not_found */
export function projectOf(desk: ControlDesk, id: number | undefined, pointer?: string): Project {
  const { projects } = desk.worlds.current;
  const project = id === undefined ? projects[0] : desk.worlds.projectById(id);
  if (project) return project;
  const hint = projects.length > 0 ? `known projects: ${listed(projects.map((it) => it.id))}` : undefined;
  throw new SimError("not_found", id === undefined ? "there is no project" : `there is no project ${id}`, {
    ...(hint !== undefined && { hint }),
    ...(pointer !== undefined && { pointer }),
  });
}

/** The project's flag with the key; one that is deleted does not count. */
export const flagOf = (desk: ControlDesk, project: Project, key: string): FeatureFlag | undefined =>
  desk.worlds.current.feature_flags.find((it) => it.project === project.id && it.key === key && !it.deleted);

/** Which key was probably meant, or which there are. */
export function keyHint(desk: ControlDesk, project: Project, key: string): string {
  const keys = desk.worlds.current.feature_flags
    .filter((it) => it.project === project.id && !it.deleted)
    .map((it) => it.key);
  const near = nearest(key, keys);
  if (near !== undefined) return `did you mean "${near}"?`;
  return keys.length > 0 ? `its flags: ${listed(keys)}` : "it has no flags";
}

/** The project has neither a flag nor an override with the key. `way`: how to proceed anyway. */
export const noSuchFlag = (desk: ControlDesk, project: Project, key: string, way = ""): SimError =>
  new SimError("not_found", `project ${project.id} has no flag "${key}"`, {
    hint: `${keyHint(desk, project, key)}${way}`,
  });

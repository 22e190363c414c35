import type { Project } from "../../model/world.ts";

/** Projects by their public key, kept while projects change. */
export interface ProjectKeys {
  find(apiKey: string): Project | undefined;
  /** `before`: the document that the project had until now. */
  put(project: Project, before: Project | undefined): void;
  remove(project: Project): void;
  /**
   * To be called after the last of several changes; keys may change hands in between.
   * @throws Error when two projects have the same key.
   */
  check(isCurrent: (project: Project) => boolean): void;
  rebuild(projects: readonly Project[]): void;
}

export function createProjectKeys(projects: readonly Project[]): ProjectKeys {
  let byKey = indexed(projects);
  /** Projects whose key was given to another one. */
  let displaced: Project[] = [];

  function letGo(project: Project): void {
    if (byKey.get(project.api_key) === project) byKey.delete(project.api_key);
  }

  return {
    find: (apiKey) => byKey.get(apiKey),
    put(project, before) {
      if (before) letGo(before);
      const holder = byKey.get(project.api_key);
      if (holder) displaced.push(holder);
      byKey.set(project.api_key, project);
    },
    remove: letGo,
    check(isCurrent) {
      for (const project of displaced.splice(0).filter(isCurrent)) {
        const holder = byKey.get(project.api_key) ?? project;
        if (holder !== project) throw new Error(sameMessage(project, holder, "api_key"));
        byKey.set(project.api_key, project);
      }
    },
    rebuild(all) {
      byKey = indexed(all);
      displaced = [];
    },
  };
}

const indexed = (projects: readonly Project[]): Map<string, Project> =>
  new Map(projects.map((project) => [project.api_key, project]));

/** Says which two projects share a key or an id; undefined when none do. */
export function clashIn(projects: readonly Project[]): string | undefined {
  const owners = { api_key: new Map<string, Project>(), id: new Map<number, Project>() };
  for (const project of projects) {
    const byKey = owners.api_key.get(project.api_key);
    if (byKey) return sameMessage(byKey, project, "api_key");
    const byId = owners.id.get(project.id);
    if (byId) return sameMessage(byId, project, "id");
    owners.api_key.set(project.api_key, project);
    owners.id.set(project.id, project);
  }
  return undefined;
}

const sameMessage = (one: Project, other: Project, what: "api_key" | "id"): string =>
  `projects ${nameOf(one)} and ${nameOf(other)} have the same ${what} ${JSON.stringify(other[what])}`;

const nameOf = (project: Project): string => `${JSON.stringify(project.name)} (${project.id})`;

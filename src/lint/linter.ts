import { createFindings, type Findings } from "./findings.ts";
import { madeIn, recentMap } from "./recent-map.ts";
import { rules } from "./rules.ts";
import type { LintFinding, LintPort, LintRequest, Rule } from "./types.ts";

/** Projects whose traffic is remembered, and whose findings are; beyond that the first ones are forgotten. */
const mostWatched = 200;
const mostProjects = 5_000;

/** Warnings about what was sent, that break nothing. */
export interface Linter {
  /** Looks at a request; they must come in order. */
  look(request: LintRequest): void;
  /** Of one project or of all, in the order of their first times in each. */
  findings(project?: number): LintFinding[];
  /** Forgets a project or all: the next request is the first, but not everything was seen. */
  forget(project?: number): void;
  /** Requests were left out: rules that need all of them say no more. */
  skip(): void;
}

export function createLinter(port: LintPort): Linter {
  const watched = recentMap<number, readonly Rule[]>(mostWatched);
  const found = recentMap<number, Findings>(mostProjects);
  /** Projects of which something was forgotten. */
  const partial = recentMap<number, true>(mostProjects);
  let isAllPartial = false;

  function watch(project: number): readonly Rule[] {
    // a project that was seen before and is not watched any more
    if (found.has(project)) partial.set(project, true);
    const isWhole = () => !isAllPartial && !partial.has(project);
    return rules.map((create) => create({ project, port, isWhole }));
  }

  return {
    look(request) {
      const { project } = request;
      const ofProject = madeIn(watched, project, () => watch(project));
      const remarks = madeIn(found, project, createFindings).about(request);
      for (const rule of ofProject) rule.look(request, remarks);
    },
    findings(project) {
      const chosen = project === undefined ? [...found.values()] : [found.get(project)];
      return chosen.flatMap((it) => it?.list() ?? []);
    },
    forget(project) {
      if (project === undefined) {
        watched.clear();
        found.clear();
        isAllPartial = true;
      } else {
        watched.delete(project);
        found.delete(project);
        partial.set(project, true);
      }
    },
    skip() {
      isAllPartial = true;
    },
  };
}

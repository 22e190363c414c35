import { createFindings, type Findings } from "./findings.ts";
import { madeIn, recentMap } from "./recent-map.ts";
import { rules } from "./rules.ts";
import type { LintFinding, LintPort, LintRequest, Rule } from "./types.ts";

/** Projects that are told apart; when there are more, the first ones are forgotten. */
const mostProjects = 500;

interface ProjectLint {
  findings: Findings;
  rules: readonly Rule[];
}

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
  const projects = recentMap<number, ProjectLint>(mostProjects);
  /** Projects of which something was forgotten. */
  const partial = recentMap<number, true>(10 * mostProjects);
  let isAllPartial = false;
  const open = (project: number): ProjectLint => {
    const isWhole = () => !isAllPartial && !partial.has(project);
    const context = { project, port, isWhole };
    return { findings: createFindings(), rules: rules.map((create) => create(context)) };
  };
  return {
    look(request) {
      const own = madeIn(projects, request.project, () => open(request.project));
      const remarks = own.findings.about(request);
      for (const rule of own.rules) rule.look(request, remarks);
    },
    findings(project) {
      const chosen = project === undefined ? [...projects.values()] : [projects.get(project)];
      return chosen.flatMap((it) => it?.findings.list() ?? []);
    },
    forget(project) {
      if (project === undefined) {
        projects.clear();
        isAllPartial = true;
      } else {
        projects.delete(project);
        partial.set(project, true);
      }
    },
    skip() {
      isAllPartial = true;
    },
  };
}

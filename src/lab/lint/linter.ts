import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import { eachInSteps, type Stepwise } from "../../kernel/base/work.ts";
import { lintCodes } from "./codes.ts";
import { duplicateUuid, groupIdentify, largeBody, similarNames, times, typeFlip } from "./event-rules.ts";
import { ExposureRule } from "./exposure-rules.ts";
import { flagCalled, flagMismatch } from "./flag-rules.ts";
import { personalData, personalRecording } from "./personal-data.ts";
import type { LintRequest } from "./request.ts";
import type { LintPort, Remarks, Rule, RuleContext } from "./rule.ts";
import type { LintFinding } from "./shapes.ts";

const rules: readonly ((context: RuleContext) => Rule)[] = [
  flagMismatch,
  flagCalled,
  (context) => new ExposureRule(context),
  duplicateUuid,
  times,
  personalData,
  personalRecording,
  typeFlip,
  similarNames,
  groupIdentify,
  largeBody,
];

const mostFindings = 500;

/** The findings of one project, in the order of their first remark. */
class Findings {
  readonly #found = new Map<string, { readonly subject: string; readonly finding: LintFinding }>();

  about({ n, project }: Pick<LintRequest, "n" | "project">): Remarks {
    return {
      report: (code, { event, seq }, detail, subject = "") => {
        const key = JSON.stringify([code, event, subject]);
        const finding = this.#found.get(key)?.finding;
        if (finding) Object.assign(finding, { count: finding.count + 1, n, last_seq: seq ?? finding.last_seq });
        else if (this.#found.size < mostFindings) {
          const place = { project, event, detail, first_seq: seq, last_seq: seq, count: 1, n };
          this.#found.set(key, { subject, finding: { code, ...lintCodes[code], ...place } });
        }
      },
      withdraw: (code, subject) => {
        for (const [key, it] of this.#found)
          if (it.finding.code === code && it.subject === subject) this.#found.delete(key);
      },
    };
  }

  list = (): LintFinding[] => [...this.#found.values()].map(({ finding }) => ({ ...finding }));
}

/** Projects whose traffic, and whose findings, are remembered; the oldest ones are forgotten. */
const mostWatched = 200;
const mostProjects = 5_000;

export class Linter {
  readonly #port: LintPort;
  readonly #watched = new RecentMap<number, readonly Rule[]>(mostWatched);
  readonly #findings = new RecentMap<number, Findings>(mostProjects);
  /** Projects whose traffic is only partly remembered. */
  readonly #partial = new RecentMap<number, true>(mostProjects);
  #isAllPartial = false;

  constructor(port: LintPort) {
    this.#port = port;
  }

  #watch(project: number): readonly Rule[] {
    // the project was examined before and forgotten
    if (this.#findings.has(project)) this.#partial.set(project, true);
    const isWhole = () => !this.#isAllPartial && !this.#partial.has(project);
    return rules.map((create) => create({ project, port: this.#port, isWhole }));
  }

  /** Examines a request, in steps. Requests must arrive in order. */
  *examine(request: LintRequest): Stepwise<void> {
    const { project } = request;
    const ofProject = getOrMake(this.#watched, project, () => this.#watch(project));
    const remarks = getOrMake(this.#findings, project, () => new Findings()).about(request);
    for (const rule of ofProject) {
      const steps = rule.onRequest?.(request, remarks);
      if (steps) yield* steps;
      if (rule.onEvent || rule.onKept)
        yield* eachInSteps(request.events, (it) => {
          rule.onEvent?.(it, remarks);
          if (it.dropped === undefined) rule.onKept?.(it, remarks);
        });
      yield;
    }
  }

  /** Of one project or of all, in the order of their first remark. */
  findings(project?: number): LintFinding[] {
    const chosen = project === undefined ? [...this.#findings.values()] : [this.#findings.get(project)];
    return chosen.flatMap((it) => it?.list() ?? []);
  }

  /** Forgets a project or all. Rules that need the whole traffic stay silent from then on. */
  forget(project?: number): void {
    if (project === undefined) {
      this.#watched.clear();
      this.#findings.clear();
      this.#isAllPartial = true;
    } else {
      this.#watched.delete(project);
      this.#findings.delete(project);
      this.#partial.set(project, true);
    }
  }

  /** Notes that requests were skipped: rules that need the whole traffic stay silent. */
  skip(): void {
    this.#isAllPartial = true;
  }
}

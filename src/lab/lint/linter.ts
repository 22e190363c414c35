import { getOrMake, RecentMap } from "../../kernel/base/recent-map.ts";
import type { Stepwise } from "../../kernel/base/work.ts";
import { lintCodes } from "./codes.ts";
import { duplicateUuid, groupIdentify, largeBody, similarNames, times, typeFlip } from "./event-rules.ts";
import { exposures } from "./exposure-rules.ts";
import { flagCalled, flagMismatch } from "./flag-rules.ts";
import { personalData } from "./personal-data.ts";
import { personalRecording } from "./personal-recording.ts";
import type { LintPort, LintRequest, Remark, Remarks, Rule, RuleContext } from "./rule.ts";
import type { LintFinding } from "./shapes.ts";

const rules: readonly ((context: RuleContext) => Rule)[] = [
  flagMismatch,
  flagCalled,
  exposures,
  duplicateUuid,
  times,
  personalData,
  personalRecording,
  typeFlip,
  similarNames,
  groupIdentify,
  largeBody,
];

/** Findings kept per project; further ones are ignored. */
const mostFindings = 500;

interface Held extends LintFinding {
  subject: string;
}

const keyOf = ({ code, event, subject }: Remark): string => JSON.stringify([code, event, subject]);

function count(held: Held, { seq }: Remark, n: number): void {
  held.count++;
  held.n = n;
  held.last_seq = seq ?? held.last_seq;
}

function newFinding({ code, event, subject, detail, seq }: Remark, project: number, n: number): Held {
  const row = { ...lintCodes[code] };
  return { code, ...row, project, event, subject, detail, first_seq: seq, last_seq: seq, count: 1, n };
}

const shown = ({ subject: _, ...finding }: Held): LintFinding => finding;

/** The findings of one project, in the order of their first remark. */
class Findings {
  readonly #held = new Map<string, Held>();

  /** Collects the remarks about a request. */
  about({ n, project }: Pick<LintRequest, "n" | "project">): Remarks {
    return {
      report: (remark) => {
        const key = keyOf(remark);
        const held = this.#held.get(key);
        if (held) count(held, remark, n);
        else if (this.#held.size < mostFindings) this.#held.set(key, newFinding(remark, project, n));
      },
      withdraw: (code, subject) => {
        for (const [key, held] of this.#held)
          if (held.code === code && held.subject === subject) this.#held.delete(key);
      },
    };
  }

  list = (): LintFinding[] => [...this.#held.values()].map(shown);
}

/** Projects whose traffic, and whose findings, are remembered; the oldest ones are forgotten. */
const mostWatched = 200;
const mostProjects = 5_000;

/** Finds likely mistakes in the traffic. */
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
      const steps = rule.examine(request, remarks);
      if (steps) yield* steps;
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

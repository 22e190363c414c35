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

/** The findings of one project. */
interface Findings {
  /** Collects the remarks about a request. */
  about(request: Pick<LintRequest, "n" | "project">): Remarks;
  /** In the order of their first remark. */
  list(): LintFinding[];
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

function createFindings(): Findings {
  const found = new Map<string, Held>();
  return {
    about: ({ n, project }) => ({
      report(remark) {
        const key = keyOf(remark);
        const held = found.get(key);
        if (held) count(held, remark, n);
        else if (found.size < mostFindings) found.set(key, newFinding(remark, project, n));
      },
      withdraw(code, subject) {
        for (const [key, held] of found) {
          if (held.code === code && held.subject === subject) found.delete(key);
        }
      },
    }),
    list: () => [...found.values()].map(shown),
  };
}

/** Projects whose traffic, and whose findings, are remembered; the oldest ones are forgotten. */
const mostWatched = 200;
const mostProjects = 5_000;

/** Finds likely mistakes in the traffic. */
export interface Linter {
  /** Examines a request, in steps. Requests must arrive in order. */
  examine(request: LintRequest): Stepwise<void>;
  /** Of one project or of all, in the order of their first remark. */
  findings(project?: number): LintFinding[];
  /** Forgets a project or all. Rules that need the whole traffic stay silent from then on. */
  forget(project?: number): void;
  /** Notes that requests were skipped: rules that need the whole traffic stay silent. */
  skip(): void;
}

export function createLinter(port: LintPort): Linter {
  const watched = new RecentMap<number, readonly Rule[]>(mostWatched);
  const found = new RecentMap<number, Findings>(mostProjects);
  /** Projects whose traffic is only partly remembered. */
  const partial = new RecentMap<number, true>(mostProjects);
  let isAllPartial = false;

  function watch(project: number): readonly Rule[] {
    // the project was examined before and forgotten
    if (found.has(project)) partial.set(project, true);
    const isWhole = () => !isAllPartial && !partial.has(project);
    return rules.map((create) => create({ project, port, isWhole }));
  }

  return {
    *examine(request) {
      const { project } = request;
      const ofProject = getOrMake(watched, project, () => watch(project));
      const remarks = getOrMake(found, project, createFindings).about(request);
      for (const rule of ofProject) {
        const steps = rule.examine(request, remarks);
        if (steps) yield* steps;
        yield;
      }
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

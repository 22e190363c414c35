import type { LintFinding } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { didYouMean } from "../kernel/nearest.ts";
import { clean } from "./clean-text.ts";
import type { Blocked } from "./exec-egress.ts";
import type { PlanOutcome } from "./exec-plan.ts";
import type { Tally } from "./exec-tally.ts";
import { Failure } from "./failure.ts";
import { warningsAmong } from "./lint-lines.ts";

/** What is looked at when the command has ended. */
export interface Findings {
  readonly tally: Pick<Tally, "counts">;
  readonly blocked: readonly Blocked[];
  readonly plan: PlanOutcome | null;
  readonly lint: readonly LintFinding[];
}

interface FailRow {
  readonly count: (findings: Findings) => number;
  readonly told: (count: number) => string;
}

/** What a run can fail on though its command passed. A new reason is one row. */
const failRows = {
  dropped: {
    count: ({ tally }) => tally.counts.dropped,
    told: (count) => `${counted(count, "event")} dropped`,
  },
  rejected: {
    count: ({ tally }) => tally.counts.rejected,
    told: (count) => `${counted(count, "request")} rejected`,
  },
  unmatched: {
    count: ({ tally }) => tally.counts.unmatched,
    told: (count) => `${counted(count, "request")} to paths that are not there`,
  },
  egress: {
    count: ({ blocked }) => blocked.reduce((sum, { count }) => sum + count, 0),
    told: (count) => `${counted(count, "call")} to the real service blocked`,
  },
  plan: {
    count: ({ plan }) => plan?.violations ?? 0,
    told: (count) => `${counted(count, "violation")} of the tracking plan`,
  },
  lint: {
    count: ({ lint }) => warningsAmong(lint).length,
    told: (count) => `${counted(count, "warning")} of the linter`,
  },
} as const satisfies Record<string, FailRow>;

export type FailReason = keyof typeof failRows;
export const failReasons = Object.keys(failRows);

const isReason = (name: string): name is FailReason => Object.hasOwn(failRows, name);

/** The reasons that a list names. @param where Its source, e.g. `--fail-on`. @throws Failure usage */
export function failReasonsOf(names: readonly string[], where: string): FailReason[] {
  return names.map((name) => {
    if (isReason(name)) return name;
    const known = failReasons.join(", ");
    const hint = didYouMean(name, failReasons);
    throw new Failure("usage", `${where} must be one or more of ${known}, not "${clean(name)}"${hint}`);
  });
}

/** Why the run fails, a few words for each reason that is met. */
export function tripped(reasons: readonly FailReason[], findings: Findings): string[] {
  return [...new Set(reasons)].flatMap((name) => {
    const row: FailRow = failRows[name];
    const count = row.count(findings);
    return count > 0 ? [row.told(count)] : [];
  });
}

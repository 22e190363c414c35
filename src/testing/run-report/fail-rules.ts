import { counted } from "../../kernel/base/text.ts";
import type { RunFailure, RunVerdict } from "./shapes.ts";

type RunCounts = Pick<RunVerdict, "dropped" | "rejected" | "unmatched" | "egress" | "plan" | "lint" | "sections">;

interface FailRule {
  readonly count: (verdict: RunCounts) => number;
  readonly text: (count: number) => string;
}

const rules = {
  dropped: { count: ({ dropped }) => dropped.total, text: (count) => `${counted(count, "event")} dropped` },
  rejected: { count: ({ rejected }) => rejected.total, text: (count) => `${counted(count, "request")} rejected` },
  unmatched: {
    count: ({ unmatched }) => unmatched.total,
    text: (count) => `${counted(count, "request")} to paths that do not exist`,
  },
  egress: {
    count: ({ egress }) => egress.total,
    text: (count) => `${counted(count, "call")} to the real service blocked`,
  },
  plan: {
    count: ({ plan }) => plan?.violations ?? 0,
    text: (count) => `${counted(count, "violation")} of the tracking plan`,
  },
  lint: { count: ({ lint }) => lint.warnings, text: (count) => `${counted(count, "warning")} of the linter` },
  baseline: {
    count: ({ sections }) => sections.find(({ name }) => name === "baseline")?.total ?? 0,
    text: (count) => `${counted(count, "change")} of the analytics baseline`,
  },
} as const satisfies Record<string, FailRule>;

export type FailReason = keyof typeof rules;
export const failReasons = Object.keys(rules);

export const isFailReason = (name: string): name is FailReason => Object.hasOwn(rules, name);

export const trippedBy = (reasons: readonly FailReason[], verdict: RunCounts): RunFailure[] =>
  [...new Set(reasons)].flatMap((code) => {
    const rule: FailRule = rules[code];
    const count = rule.count(verdict);
    return count > 0 ? [{ code, text: rule.text(count), count }] : [];
  });

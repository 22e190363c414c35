import type { LintFinding } from "../index.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

const times = (count: number): string => (count === 1 ? "" : ` ×${count}`);

const whatOf = ({ event, n }: LintFinding): string =>
  event === null ? `request ${n}` : `"${clean(event, 80)}"`;

/** What the linter found, in a line. */
export function lintLine(finding: LintFinding, style: Style): string {
  const { code, severity, sentence, detail, fix, count } = finding;
  const label = severity === "hint" ? style.dim("hint") : style.bold("lint");
  const seen = `${clean(sentence)} (${clean(detail, 300)})`;
  return `${label} ${whatOf(finding)}${times(count)} ${clean(code, 60)}: ${seen} → ${clean(fix)}`;
}

/** Findings that count as a failure where one is asked for. */
export const warningsAmong = (findings: readonly LintFinding[]): LintFinding[] =>
  findings.filter(({ severity }) => severity === "warning");

import { clean } from "../../kernel/command/clean-text.ts";
import { emphasized, findingText } from "../../kernel/command/finding.ts";
import type { Style } from "../../kernel/command/style.ts";
import type { LintFinding } from "./shapes.ts";

const whatOf = ({ event, n }: LintFinding): string => (event === null ? `request ${n}` : `"${clean(event, 80)}"`);

/** Apart from the command: `start` prints such lines, and must not load the shapes of commands for it. */
export function lintLine(finding: LintFinding, style: Style): string {
  const { severity, sentence, detail } = finding;
  const label = emphasized(severity, severity === "hint" ? "hint" : "lint", style);
  const seen = `${clean(sentence)} (${clean(detail, 300)})`;
  return `${label} ${findingText({ ...finding, what: whatOf(finding), sentence: seen })}`;
}

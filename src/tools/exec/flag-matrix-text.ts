import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type JunitCase, junitReport } from "../../kernel/command/junit.ts";
import type { Style } from "../../kernel/command/style.ts";
import { type Combination, combinationText } from "../../testing/flag-matrix/combinations.ts";
import type { MatrixVerdict } from "../../testing/flag-matrix/shapes.ts";

type FlagMatrixRun = MatrixVerdict["runs"][number];

/** Alternatives that are listed. */
const mostAlternatives = 10;

/** `new-checkout=test, free-shipping=true`, safe on one line. */
export const shownCombination = (flags: Combination): string => clean(combinationText(flags), 2_000);

const outcomeOf = ({ verdict }: FlagMatrixRun): string => {
  const others = verdict.failures.filter(({ code }) => code !== "command_failed").map(({ text }) => text);
  return clean(others.join(", "), 200);
};

/** The values of a run as cells: number, exit code, dropped events, each flag, other reasons. */
function cellsOf(run: FlagMatrixRun, i: number, keys: readonly string[]): string[] {
  const { verdict, flags } = run;
  const code = String(verdict.command?.exit_code ?? verdict.exit_code);
  const values = keys.map((key) => clean(String(flags[key] ?? ""), 60));
  return [
    `${verdict.verdict === "passed" ? "✓" : "✕"} ${i + 1}`,
    code,
    String(verdict.events.dropped),
    ...values,
    outcomeOf(run),
  ];
}

function tableOf({ runs }: MatrixVerdict): string[][] {
  const keys = Object.keys(runs[0]?.flags ?? {});
  const head = ["#", "exit", "dropped", ...keys.map((it) => clean(it, 60)), "failures"];
  return [head, ...runs.map((it, i) => cellsOf(it, i, keys))];
}

/** What the failed runs have in common, in one sentence. */
function causeText({ cause, smallest_failing, strength, runs }: MatrixVerdict): string {
  const shown = smallest_failing.slice(0, mostAlternatives).map(shownCombination);
  const more = smallest_failing.length - shown.length;
  const list = [...shown, ...(more > 0 ? [`and ${more} more`] : [])];
  if (cause === "none") return "no combination failed";
  if (cause === "all") return "every combination failed: the values of these flags make no difference";
  if (cause === "several")
    return `the failures have several causes, the smallest failing combinations: ${list.join("; ")}`;
  if (list.length === 1) return `the smallest failing combination: ${list[0]}`;
  const isHighest = strength >= Object.keys(runs[0]?.flags ?? {}).length;
  const advice = isHighest ? "" : ` (--strength ${strength + 1} separates them)`;
  return `the smallest failing combination is one of ${smallest_failing.length}: ${list.join("; ")}${advice}`;
}

const countText = ({ runs, left_out, strength }: MatrixVerdict): string => {
  const failed = runs.filter(({ verdict }) => verdict.verdict === "failed").length;
  const rest = left_out > 0 ? `, ${left_out} not run` : "";
  return `${counted(runs.length, "combination")} (strength ${strength}), ${failed} failed${rest}`;
};

/** The table by combination and the cause, for a terminal. */
export function flagMatrixLines(result: MatrixVerdict, style: Style): string[] {
  const rows = tableOf(result);
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? "").length)));
  const lines = rows.map((row) => `  ${row.map((it, i) => it.padEnd(widths[i] ?? 0)).join("  ")}`.trimEnd());
  const painted = lines.map((line, i) => {
    const run = result.runs[i - 1];
    return run?.verdict.verdict === "failed" ? style.bad(line) : i === 0 ? style.dim(line) : line;
  });
  return [
    `phx-sim: ${countText(result)}`,
    ...painted,
    ...(result.cause === "none" ? [] : [`phx-sim: ${causeText(result)}`]),
  ];
}

const cell = (text: string): string => text.replace(/[\\`*_|[\]<>&]/g, (char) => `&#${char.codePointAt(0)};`);

/** The same as Markdown, as CI systems show it for a job. */
export function flagMatrixMarkdown(result: MatrixVerdict): string {
  const [head = [], ...rows] = tableOf(result).map((row) => `| ${row.map(cell).join(" | ")} |`);
  const columns = 4 + Object.keys(result.runs[0]?.flags ?? {}).length;
  return [
    "## phx-sim",
    "",
    `${result.verdict === "passed" ? "✅" : "❌"} ${countText(result)}: ${cell(causeText(result))}`,
    "",
    head,
    `|${" --- |".repeat(columns)}`,
    ...rows,
    "",
  ].join("\n");
}

/** The same as JUnit XML: a case for each combination. */
export const flagMatrixJunit = (result: MatrixVerdict): string =>
  junitReport(
    "phx-sim exec --matrix",
    result.runs.map(({ flags, verdict }): JunitCase => {
      const [first] = verdict.failures;
      const name = shownCombination(flags);
      if (!first) return { name };
      const lines = verdict.failures.map(({ code, text }) => `${code}: ${clean(text)}`);
      return { name, failure: { type: first.code, message: clean(first.text), lines } };
    }),
  );

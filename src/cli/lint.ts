import type { LintFinding, LintPage } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { callSim } from "./ask-sim.ts";
import { command, type Shell } from "./command.ts";
import { lintLine, warningsAmong } from "./lint-lines.ts";
import { queryText } from "./query-text.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";

const options = {
  project: { kind: "count", describe: "Only events of the project with this number", flagOnly: true },
  strict: { kind: "switch", describe: "Fail on hints, too", flagOnly: true },
  ...whereOptions,
  json: { kind: "switch", describe: "One JSON object per line", flagOnly: true },
} as const;

/** The command `phx-sim lint`. */
export const lint = command({
  name: "lint",
  describe: "List likely mistakes in the captured events; exit code 1 when there are warnings",
  options,
  examples: [["phx-sim lint --strict", "in CI, after the tests: hints count, too"]],
  confirms: true,
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const { project, json, strict } = settings.values;
  const running = await findRunning(settings, shell.cwd);
  const page = await callSim<LintPage>(running, "GET", `lint${queryText({ project })}`);
  const { findings } = page;
  shell.out.say(...findings.map((it) => (json ? JSON.stringify(it) : lintLine(it, shell.outStyle))));
  if (!json) shell.err.say(`phx-sim: ${summaryOf(page)}`);
  return (strict ? findings : warningsAmong(findings)).length > 0 ? 1 : "ok";
}

function summaryOf({ findings, looked, skipped }: LintPage): string {
  const left = skipped > 0 ? `, the first ${skipped} left out` : "";
  return `${toldCounts(findings)} in ${counted(looked, "event")}${left}`;
}

function toldCounts(findings: readonly LintFinding[]): string {
  const warnings = warningsAmong(findings).length;
  return `${counted(warnings, "warning")}, ${counted(findings.length - warnings, "hint")}`;
}

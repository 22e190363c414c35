import { counted } from "../../kernel/base/text.ts";
import { queryText } from "../../kernel/call/call.ts";
import { command, type Shell } from "../../kernel/command/command.ts";
import { isAtLeast } from "../../kernel/command/finding.ts";
import { whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import { ask } from "../../kernel/command/thin-command.ts";
import { lintLine } from "./lint-line.ts";
import { type LintPage, LintQuery } from "./shapes.ts";

const options = {
  ...optionsOf(LintQuery.omit({ max_ms: true })),
  strict: { kind: "switch", describe: "Fail on hints, too" },
  ...whereOptions,
  json: { kind: "switch", describe: "One JSON object per line" },
} as const;

export const lint = command({
  name: "lint",
  describe: "List likely mistakes in the captured events; exit code 1 when there are warnings",
  options,
  examples: [["phx-sim lint --strict", "in CI, after the tests; hints count, too"]],
  confirms: true,
  run,
});

async function run(settings: Settings<typeof options>, shell: Shell) {
  const { project, json, strict } = settings.values;
  const page = await ask<LintPage>(settings, shell, "GET", `lint${queryText({ project })}`);
  const { findings } = page;
  shell.out.say(...findings.map((it) => (json ? JSON.stringify(it) : lintLine(it, shell.outStyle))));
  if (!json) shell.err.say(`phx-sim: ${summaryOf(page)}`);
  return findings.some(({ severity }) => isAtLeast(severity, strict ? "hint" : "warning")) ? 1 : "ok";
}

function summaryOf({ findings, looked, skipped }: LintPage): string {
  const warnings = findings.filter(({ severity }) => severity === "warning").length;
  const counts = `${counted(warnings, "warning")}, ${counted(findings.length - warnings, "hint")}`;
  return `${counts} in ${counted(looked, "event")}${skipped > 0 ? `, the first ${skipped} skipped` : ""}`;
}

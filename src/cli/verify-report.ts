import { writeFile } from "node:fs/promises";
import { relative } from "node:path";
import { counted } from "../kernel/counted.ts";
import type { Comparison } from "../tape/differences/group.ts";
import type { Severity } from "../tape/differences/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { onFile } from "./tape-trouble.ts";
import { verifyJunit } from "./verify-junit.ts";
import { countsText, type Sides, verifyLines } from "./verify-lines.ts";

/** Which severities fail a run. */
const failing: Readonly<Record<Severity, readonly Severity[]>> = {
  break: ["break"],
  additive: ["break", "additive"],
  value: ["break", "additive", "value"],
};

/** What a comparison is called, and how it is reported. */
export interface ReportRequest {
  /** The command: `verify`. */
  command: string;
  /** What was compared, as a person calls it. */
  name: string;
  /** Ends `20 of 20 exchanges compared with …`. */
  with: string;
  sides: Sides;
  /** The least severity that fails. */
  failOn: Severity;
  json: boolean;
  junit: string | undefined;
  /** Lines before the summary. */
  notes?: readonly string[];
  /** Fields of the JSON line that name what was compared. */
  named: Readonly<Record<string, string>>;
}

/** Reports a comparison as text, JSON and JUnit; fails when there is a difference that is to fail, or nothing to compare. @throws Failure */
export async function reportComparison(
  result: Comparison,
  request: ReportRequest,
  shell: Shell,
): Promise<"ok"> {
  const { name, json, junit, sides } = request;
  const fatal = new Set(failing[request.failOn]);
  const fails = (it: { severity: Severity }) => fatal.has(it.severity);
  const failed = result.groups.filter(fails);
  const ok = failed.length === 0 && result.compared > 0;
  const title = `phx-sim ${request.command}`;
  if (junit !== undefined)
    await onFile(junit, () => writeFile(junit, verifyJunit(title, result, fails, sides)));
  warnOfDamage(result, shell);
  if (json) shell.out.say(JSON.stringify({ ok, ...request.named, ...result }));
  else shell.out.say(...verifyLines(result, request, shell.outStyle));
  if (ok) return "ok";
  const why = result.compared === 0 ? "there was nothing to compare" : countsText(failed);
  throw new Failure("failed", `${why} (${clean(name)})`);
}

function warnOfDamage({ damaged, problems: [problem] }: Comparison, shell: Shell): void {
  if (problem === undefined) return;
  const where = `line ${problem.line}: ${problem.detail}`;
  shell.err.say(clean(`phx-sim: ${counted(damaged, "line")} of the tape passed over; ${where}`, 600));
}

/** A file of the folder and below by its relative path. */
export function shownFile(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

/** Most problems of a tape that a report has. */
const mostProblems = 20;

/** Collects what is wrong with a tape: all are counted, the first few kept. */
export function problemCount<P>() {
  const found: { damaged: number; problems: P[] } = { damaged: 0, problems: [] };
  return {
    found,
    add(problem: P): void {
      found.damaged++;
      if (found.problems.length < mostProblems) found.problems.push(problem);
    },
  };
}

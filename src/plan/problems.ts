import type { Problem } from "../kernel/problem.ts";
import { problemLines } from "../kernel/problem-lines.ts";
import { printable } from "./shown.ts";

/** From 1; null for what is in no file. */
export type Position = Pick<PlanProblem, "line" | "column">;

/** Something that is wrong with a plan; `file` is null for one that a program made. */
export type PlanProblem = Problem;

/** A plan that cannot be used: a line for each thing that is wrong with it. */
export class PlanError extends Error {
  readonly problems: readonly PlanProblem[];

  constructor(problems: readonly PlanProblem[]) {
    super(planProblemLines(problems).join("\n"));
    this.name = "PlanError";
    this.problems = problems;
  }
}

/** `file:line:col pointer: message; hint` for each problem, up to fifty, safe to print. Files stand as seen from `folder`. */
export const planProblemLines = (problems: readonly PlanProblem[], folder = process.cwd()): string[] =>
  problemLines(problems, folder, "plan").map((line) => printable(line, 1000));

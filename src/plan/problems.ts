import { relative } from "node:path";
import { printable } from "./shown.ts";

/** From 1; null for what is in no file. */
export type Position = Pick<PlanProblem, "line" | "column">;

/** Something that is wrong with a plan, as other programs read it. */
export interface PlanProblem {
  /** Absolute path; null for a plan that a program made. */
  readonly file: string | null;
  /** From 1; null when the problem is the file itself, or there is none. */
  readonly line: number | null;
  /** From 1, in UTF-16 units as editors count. */
  readonly column: number | null;
  /** RFC 6901. */
  readonly pointer: string;
  /** What is wrong, and what was expected. */
  readonly message: string;
  /** What may have been meant, or null. */
  readonly hint: string | null;
}

/** A plan that cannot be used: a line for each thing that is wrong with it. */
export class PlanError extends Error {
  readonly problems: readonly PlanProblem[];

  constructor(problems: readonly PlanProblem[]) {
    super(planProblemLines(problems).join("\n"));
    this.name = "PlanError";
    this.problems = problems;
  }
}

/** More lines than this help nobody. */
const mostLines = 50;

/** `file:line:col pointer: message; hint` for each problem, up to fifty. Files stand as seen from `folder`. */
export function planProblemLines(problems: readonly PlanProblem[], folder = process.cwd()): string[] {
  const lines = problems.slice(0, mostLines).map((it) => lineOf(it, folder));
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

function lineOf({ file, line, column, pointer, message, hint }: PlanProblem, folder: string): string {
  const name = file === null ? "plan" : shownFile(file, folder);
  const place = line === null ? name : `${name}:${line}:${column}`;
  const what = `${[place, pointer].filter(Boolean).join(" ")}: ${message}`;
  return printable(hint === null ? what : `${what}; ${hint}`, 1000);
}

/** Files of the folder and below by their relative path. */
function shownFile(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

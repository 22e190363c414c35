import { relative } from "node:path";
import type { Problem } from "./problem.ts";

/** Most lines of problems. */
const mostLines = 50;

/**
 * `file:line:col pointer: message; hint` for each problem, up to fifty. Files stand as seen from `folder`.
 * @param nameless What stands for the file where there is none.
 */
export function problemLines(problems: readonly Problem[], folder: string, nameless: string): string[] {
  const lines = problems.slice(0, mostLines).map((it) => lineOf(it, folder, nameless));
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `and ${more.toLocaleString("en-US")} more`] : lines;
}

function lineOf(problem: Problem, folder: string, nameless: string): string {
  const { file, line, column, pointer, message, hint } = problem;
  const name = file === null ? nameless : shortened(file, folder);
  const place = line === null ? name : `${name}:${line}:${column}`;
  return `${[place, pointer].filter(Boolean).join(" ")}: ${message}${hint === null ? "" : `; ${hint}`}`;
}

/** Files of the folder and below by their relative path. */
function shortened(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

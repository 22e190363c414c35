import { relative } from "node:path";

/** Something that is wrong with what a user wrote, as other programs read it. */
export interface Problem {
  /** Absolute path; null for what was not read from a file. */
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
export function shortened(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

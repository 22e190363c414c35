import { relative } from "node:path";
import type { Place } from "./tree.ts";
import { positionOf } from "./tree.ts";

/** Steps from the root of a scenario to a place in it. */
export type Path = readonly (string | number)[];

/** RFC 6901; the root is the empty text. */
export const pointerTo = (path: Path): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Something that is wrong with a scenario, and where. */
export interface Problem {
  readonly at: Path;
  /** What is wrong, and what was expected. */
  readonly text: string;
  /** What may have been meant. */
  readonly hint?: string;
  /** The key is wrong, not its value. */
  readonly isAboutKey?: true;
  /** The name or number that leads nowhere. */
  readonly called?: string;
}

/** A problem with the file that it is in. */
export interface PlacedProblem extends Omit<Problem, "at"> {
  readonly pointer: string;
  readonly place: Place;
}

/** A problem as other programs read it. */
export interface ScenarioProblem {
  /** Absolute path; null for a scenario that was not read from a file. */
  readonly file: string | null;
  /** From 1; null when the problem is the file itself. */
  readonly line: number | null;
  /** From 1, in UTF-16 units as editors count. */
  readonly column: number | null;
  /** RFC 6901, in the scenario that all files make together. */
  readonly pointer: string;
  /** What is wrong, and what was expected. */
  readonly message: string;
  /** What may have been meant, or null. */
  readonly hint: string | null;
}

/** A scenario that cannot be used: a line for each thing that is wrong with it, and what to do. */
export class ScenarioError extends Error {
  readonly hint: string;
  readonly problems: readonly ScenarioProblem[];
  /** Every file that was read, or should have been: a change of any may mend it. */
  readonly files: readonly string[];

  constructor(problems: readonly ScenarioProblem[], files: readonly string[] = []) {
    super(linesOf(problems).join("\n"));
    this.name = "ScenarioError";
    this.hint = "mend the scenario and start again";
    this.problems = problems;
    this.files = files;
  }
}

/** More lines than this help nobody. */
const mostLines = 50;

/** `file:line:col pointer: message; hint` for each problem, up to fifty. Files stand as seen from `folder`. */
export function linesOf(problems: readonly ScenarioProblem[], folder = process.cwd()): string[] {
  const lines = problems.slice(0, mostLines).map((it) => lineOf(it, folder));
  const more = problems.length - lines.length;
  return more > 0 ? [...lines, `and ${more} more`] : lines;
}

function lineOf({ file, line, column, pointer, message, hint }: ScenarioProblem, folder: string): string {
  const name = file === null ? "scenario" : shortened(file, folder);
  const place = line === null ? name : `${name}:${line}:${column}`;
  return `${[place, pointer].filter(Boolean).join(" ")}: ${message}${hint === null ? "" : `; ${hint}`}`;
}

/** Files of the folder and below by their relative path. */
function shortened(file: string, folder: string): string {
  const path = relative(folder, file);
  return path === "" || path.startsWith("..") ? file : path;
}

export const shownProblem = ({ place, pointer, text, hint }: PlacedProblem): ScenarioProblem => ({
  file: place.source.file,
  ...positionOf(place),
  pointer,
  message: text,
  hint: hint ?? null,
});

/** In the order of the files, and of the places in each; what is about a file as a whole comes first. */
export function inOrder(problems: readonly PlacedProblem[], files: readonly string[]): PlacedProblem[] {
  const rank = ({ place }: PlacedProblem): number =>
    place.source.file === null ? -1 : files.indexOf(place.source.file);
  return [...problems].sort((a, b) => rank(a) - rank(b) || a.place.offset - b.place.offset);
}

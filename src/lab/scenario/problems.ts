import type { Path } from "../../kernel/base/json.ts";
import type { Problem as ShownProblem } from "../../kernel/base/problem.ts";
import { problemLines } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { positionOf, type TextPlace } from "./tree.ts";

export interface RawProblem {
  readonly at: Path;
  readonly text: string;
  readonly hint?: string;
  /** The key is wrong, not its value. */
  readonly isAboutKey?: true;
}

export interface PlacedProblem extends Omit<RawProblem, "at"> {
  readonly pointer: string;
  readonly place: TextPlace;
}

/** A problem in its public form; its pointer is of the scenario that all files make together. */
export type ScenarioProblem = ShownProblem;

/** A scenario that cannot be used: a line for each problem. */
export class ScenarioError extends Error {
  readonly hint: string;
  readonly problems: readonly ScenarioProblem[];
  /** All files that were read or are missing: a change to one may fix the scenario. */
  readonly files: readonly string[];

  constructor(problems: readonly ScenarioProblem[], files: readonly string[] = []) {
    super(linesOf(problems).join("\n"));
    this.name = "ScenarioError";
    this.hint = "fix the scenario and start again";
    this.problems = problems;
    this.files = files;
  }
}

/** `file:line:col pointer: message; hint` for each problem, up to fifty; files are relative to `folder`. */
export const linesOf = (problems: readonly ScenarioProblem[], folder = process.cwd()): string[] =>
  problemLines(problems, folder, "scenario");

/** `info` and `scenario check` list all. */
const maxShown = 5;

/** The list of problems or warnings under its title, for the terminal. */
export function problemNotice(title: string, problems: readonly ScenarioProblem[]): string {
  const more = problems.length - maxShown;
  const lines = linesOf(problems.slice(0, maxShown));
  const rest = more > 0 ? [`and ${more.toLocaleString("en-US")} more; \`phx-sim scenario check\` lists them`] : [];
  return [title, ...lines, ...rest].join("\n  ");
}

export const warningNotice = (warnings: readonly ScenarioProblem[]): string =>
  problemNotice(`the scenario has ${counted(warnings.length, "warning")}:`, warnings);

export const shownProblem = ({ place, pointer, text, hint }: PlacedProblem): ScenarioProblem => ({
  file: place.source.file,
  ...positionOf(place),
  pointer,
  message: text,
  hint: hint ?? null,
});

/** In the order of the files and of the places in each; problems of a file as a whole are first. */
export function inOrder(problems: readonly PlacedProblem[], files: readonly string[]): PlacedProblem[] {
  const ranks = new Map(files.map((file, i) => [file, i]));
  const rank = ({ place }: PlacedProblem): number => ranks.get(place.source.file ?? "") ?? -1;
  return [...problems].sort((a, b) => rank(a) - rank(b) || a.place.offset - b.place.offset);
}

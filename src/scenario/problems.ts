import { counted } from "../base/counted.ts";
import type { Path } from "../base/json-pointer.ts";
import type { Problem as ShownProblem } from "../base/problem.ts";
import { problemLines } from "../base/problem-lines.ts";
import type { Place } from "./tree.ts";
import { positionOf } from "./tree.ts";

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

/** A problem as other programs read it; its pointer is of the scenario that all files make together. */
export type ScenarioProblem = ShownProblem;

/** A scenario that cannot be used: a line for each thing that is wrong with it, and what to do. */
export class ScenarioError extends Error {
  readonly hint: string;
  readonly problems: readonly ScenarioProblem[];
  /** Every file that was read, or should have been: a change of any may mend it. */
  readonly files: readonly string[];

  constructor(problems: readonly ScenarioProblem[], files: readonly string[] = []) {
    super(linesOf(problems).join("\n"));
    this.name = "ScenarioError";
    this.hint = "fix the scenario and start again";
    this.problems = problems;
    this.files = files;
  }
}

/** `file:line:col pointer: message; hint` for each problem, up to fifty. Files stand as seen from `folder`. */
export const linesOf = (problems: readonly ScenarioProblem[], folder = process.cwd()): string[] =>
  problemLines(problems, folder, "scenario");

/** The rest is in `info`, and `scenario check` lists all. */
const mostShown = 5;

/** The list of problems or warnings under its title, for the terminal. */
export function problemNotice(title: string, problems: readonly ScenarioProblem[]): string {
  const more = problems.length - mostShown;
  const lines = linesOf(problems.slice(0, mostShown));
  const rest =
    more > 0 ? [`and ${more.toLocaleString("en-US")} more; \`phx-sim scenario check\` lists them`] : [];
  return [title, ...lines, ...rest].join("\n  ");
}

/** For a scenario that is in force. */
export const warningNotice = (warnings: readonly ScenarioProblem[]): string =>
  problemNotice(`the scenario has ${counted(warnings.length, "warning")}:`, warnings);

export const shownProblem = ({ place, pointer, text, hint }: PlacedProblem): ScenarioProblem => ({
  file: place.source.file,
  ...positionOf(place),
  pointer,
  message: text,
  hint: hint ?? null,
});

/** In the order of the files, and of the places in each; what is about a file as a whole comes first. */
export function inOrder(problems: readonly PlacedProblem[], files: readonly string[]): PlacedProblem[] {
  const ranks = new Map(files.map((file, i) => [file, i]));
  const rank = ({ place }: PlacedProblem): number => ranks.get(place.source.file ?? "") ?? -1;
  return [...problems].sort((a, b) => rank(a) - rank(b) || a.place.offset - b.place.offset);
}

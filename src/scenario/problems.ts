/** Steps from the root of a scenario to a place in it. */
export type Path = readonly (string | number)[];

/** RFC 6901; the root is the empty text. */
export const pointerTo = (path: Path): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");

/** Something that is wrong with a scenario, and where. */
export interface Problem {
  readonly at: Path;
  readonly text: string;
}

/** A scenario that cannot be used: a line for each thing that is wrong with it, and what to do. */
export class ScenarioError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.name = "ScenarioError";
    this.hint = hint;
  }
}

/** More lines than this help nobody. */
const mostLines = 20;

/** The error that tells the problems of the scenario called `name` (a path, as a rule). */
export function problemsError(name: string, problems: readonly Problem[]): ScenarioError {
  const lines = problems
    .slice(0, mostLines)
    .map(({ at, text }) => `${name}: ${pointerTo(at) || "/"}: ${text}`);
  const more = problems.length - lines.length;
  if (more > 0) lines.push(`${name}: and ${more} more`);
  return new ScenarioError(lines.join("\n"), "mend the scenario and start again");
}

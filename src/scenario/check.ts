import type { z } from "zod";
import type { Json } from "../kernel/json.ts";
import type { Path, Problem } from "./problems.ts";
import { buildWorld } from "./scenario.ts";
import { type Scenario, ScenarioSchema } from "./schema.ts";

type Issue = z.core.$ZodIssue;

/** What was read, and what is wrong with it: with problems it is of no use. */
export interface Checked {
  readonly scenario?: Scenario;
  readonly problems: readonly Problem[];
}

/** Holds a value against the schema, then looks whether what it refers to is there. */
export function checkScenario(value: Json): Checked {
  const result = ScenarioSchema.safeParse(value);
  if (!result.success) return { problems: result.error.issues.flatMap((issue) => problemsOf(issue, value)) };
  return { scenario: result.data, problems: buildWorld(result.data).problems };
}

function problemsOf(issue: Issue, value: Json | undefined): Problem[] {
  const at = issue.path.map(stepOf);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ at: [...at, key], text: "unknown key" }));
  }
  if (issue.code === "invalid_union") {
    const here = valueAt(value, at);
    const meant = meantOption(issue.errors, here);
    if (meant)
      return meant.flatMap((it) => problemsOf(it, here)).map((it) => ({ ...it, at: [...at, ...it.at] }));
  }
  return [{ at, text: issue.message }];
}

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

/** The form that the author had in mind: nothing of it is missing, and its mistakes lie deepest. */
function meantOption(options: readonly Issue[][], value: Json | undefined): Issue[] | undefined {
  return options
    .filter((issues) => !issues.some((issue) => isOtherForm(issue, value)))
    .sort((a, b) => depthOf(b) - depthOf(a))[0];
}

/** Is the value of another kind than this form, or without a key that it needs? */
const isOtherForm = (issue: Issue, value: Json | undefined): boolean =>
  issue.code === "invalid_type" &&
  (issue.path.length === 0 || valueAt(value, issue.path.map(stepOf)) === undefined);

const depthOf = (issues: readonly Issue[]): number => Math.max(...issues.map((issue) => issue.path.length));

function valueAt(value: Json | undefined, at: Path): Json | undefined {
  let here = value;
  for (const step of at) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, Json>)[step];
  }
  return here;
}

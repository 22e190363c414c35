import type { z } from "zod";
import type { Json } from "../base/json.ts";
import type { Path } from "../base/json-pointer.ts";
import { pointerTo } from "../base/json-pointer.ts";
import { hintFor, phraseOf, sentence, usualHint } from "../http/schema-messages.ts";
import { hintForKey, isKeyAt } from "./known-keys.ts";
import { type Mended, startMending } from "./mend.ts";
import { onlyProjectPointer, type Whole } from "./only-project.ts";
import type { PlacedProblem, Problem } from "./problems.ts";
import { buildWorld } from "./scenario.ts";
import { type Scenario, ScenarioSchema } from "./schema.ts";
import { placeAt, plainValue, type Tree } from "./tree.ts";
import { warningsOf } from "./warnings.ts";

type Issue = z.core.$ZodIssue;

/** What was read, and what is wrong with it: with problems it is of no use. */
export interface Checked {
  readonly scenario?: Scenario;
  readonly problems: readonly PlacedProblem[];
  /** What is allowed and cannot work. Known once the schema is obeyed. */
  readonly warnings: readonly PlacedProblem[];
}

/**
 * Holds a tree against the schema, then looks whether what it refers to is there. Where the schema is not
 * obeyed, the references of all the rest are looked at.
 */
export function checkScenario({ tree, isShort }: Whole): Checked {
  const value = plainValue(tree);
  const inFile = (problems: readonly Problem[]) => problems.map((it) => placed(tree, isShort, it));
  const result = ScenarioSchema.safeParse(value, { error: phraseOf });
  if (result.success) {
    const built = buildWorld(result.data);
    return {
      scenario: result.data,
      problems: inFile(built.problems),
      warnings: inFile(warningsOf(result.data, built)),
    };
  }
  const problems = result.error.issues.flatMap((issue) => problemsOf(issue, value));
  return { problems: inFile([...problems, ...danglingIn(tree, problems)]), warnings: [] };
}

/** Pointers are as the author wrote the scenario. */
const placed = (tree: Tree, isShort: boolean, { at, text, ...problem }: Problem): PlacedProblem => ({
  ...problem,
  text: isShort ? text.replaceAll(`${onlyProjectPointer}/`, "/") : text,
  pointer: isShort && at.length > 4 ? pointerTo(at).replace(onlyProjectPointer, "") : pointerTo(at),
  place: placeAt(tree, at, problem.isAboutKey),
});

/** The problems of an issue; `value` is the one that its path starts from, which stands at `from`. */
function problemsOf(issue: Issue, value: Json, from: Path = []): Problem[] {
  const path = issue.path.map(stepOf);
  const at = [...from, ...path];
  const here = valueAt(value, path);
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => unknownKey(key, at));
    case "invalid_key":
      return [badKey(issue, at)];
    case "invalid_union": {
      const meant = meantForm(issue.errors, here);
      if (meant && here !== undefined) return meant.flatMap((it) => problemsOf(it, here, at));
    }
  }
  const hint = usualHint(here, at) ?? hintFor(issue, here);
  return [{ at, text: sentence(issue.message, here, at), ...(hint !== undefined && { hint }) }];
}

function unknownKey(key: string, at: Path): Problem {
  const shown = JSON.stringify(key);
  const hint = hintForKey(key, at);
  // A key of another form of the same thing.
  const text = isKeyAt(key, at) ? `${shown} cannot stand beside the other keys` : `unknown key ${shown}`;
  return { at: [...at, key], isAboutKey: true, text, ...(hint !== undefined && { hint }) };
}

function badKey(issue: Extract<Issue, { code: "invalid_key" }>, at: Path): Problem {
  const phrase = `${issue.issues[0]?.message ?? "another text"} as key`;
  return { at, isAboutKey: true, text: sentence(phrase, String(at.at(-1)), []) };
}

const stepOf = (step: PropertyKey): string | number => (typeof step === "number" ? step : String(step));

/** The form that the author had in mind: nothing of it is missing, and its mistakes lie deepest. */
function meantForm(forms: readonly Issue[][], value: Json | undefined): Issue[] | undefined {
  return forms
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

/** Where things stand that others refer to: when all of them are gone, nothing can be said of references. */
const referable = new Set([
  "users",
  "organizations",
  "projects",
  "insights",
  "dashboards",
  "backfills",
  "persons",
]);

const mostRounds = 12;

/** What the sound parts refer to and is not there; what may stand in the unsound ones is left out. */
function danglingIn(tree: Tree, problems: readonly Problem[]): Problem[] {
  if (problems.some(({ at }) => referable.has(String(at.at(-1))))) return [];
  const mending = startMending(
    tree,
    problems.map(({ at }) => at),
  );
  for (let round = 0; round < mostRounds; round++) {
    const { left } = mending;
    if (!left) return [];
    const result = ScenarioSchema.safeParse(plainValue(left.tree));
    if (result.success) return referencesOf(result.data, left, mending.words());
    mending.again(result.error.issues);
  }
  return [];
}

const referencesOf = (scenario: Scenario, { original }: Mended, unsound: ReadonlySet<string>): Problem[] =>
  buildWorld(scenario)
    .problems.filter(({ called }) => called === undefined || !unsound.has(called.toLowerCase()))
    .map((it) => ({ ...it, at: original(it.at) }));

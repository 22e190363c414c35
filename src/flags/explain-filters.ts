import type { Json } from "../kernel/json.ts";
import type { CohortLeaf, PropertyLeaf, TreeNode } from "./cohort-tree.ts";
import { cohortName, isMember, passesNode, readLeaf } from "./cohorts.ts";
import type { CohortTest, FilterTest, FlagTest, PropertyTest } from "./filters.ts";
import { type FailureCode, FlagFailure } from "./reasons.ts";
import { entryFor, type Ruleset } from "./ruleset.ts";
import type { FlagValue, Run } from "./run.ts";
import { filterWords, unknownWords } from "./words-filters.ts";

/** What a filter wanted and what there was. */
export interface PropertyTrace {
  readonly type: string;
  readonly key: string;
  readonly operator: string;
  readonly expected: Json;
  /** What it asks for, in plain English: `plan is "pro"`. */
  readonly words: string;
  /** Absent where the property is. */
  readonly actual?: Json;
  readonly passed: boolean;
  /** Why it could not be computed. */
  readonly failure?: FailureCode;
  readonly group_type_index?: number | null;
  /** The filter counts the other way round (in cohorts). */
  readonly negation?: true;
  readonly cohort?: CohortTrace;
  readonly flag?: FlagTrace;
}

/** A cohort that a filter asks for. */
interface CohortTrace {
  readonly id: number;
  readonly name: string | null;
  readonly is_static: boolean;
  readonly member: boolean;
  /** The conditions of a dynamic cohort; null for a static one, one told before, and very far down. */
  readonly tree: TreeTrace | null;
}

type TreeTrace =
  | { readonly type: "AND" | "OR"; readonly passed: boolean; readonly values: readonly TreeTrace[] }
  | PropertyTrace;

/** A flag that a filter asks for. */
interface FlagTrace {
  readonly key: string | null;
  /** null where it has none: it failed, or does not exist. */
  readonly value: FlagValue | null;
}

/** What traces are made from. */
interface Scene {
  readonly run: Run;
  readonly ruleset: Ruleset;
  /** Cohorts whose trees are told already: they may be referred to any number of times. */
  readonly toldCohorts: Set<number>;
  /** How many cohorts further down the trees of cohorts are told. */
  readonly depth: number;
}

/** Deeper than anyone reads. */
const deepest = 20;

type Outcome = Pick<PropertyTrace, "actual" | "passed" | "failure">;

/** Reads and compares; a failure is told instead. */
function outcomeOf(read: () => Json | undefined, passes: () => boolean): Outcome {
  try {
    const actual = read();
    return actual === undefined ? { passed: passes() } : { actual, passed: passes() };
  } catch (error) {
    if (error instanceof FlagFailure) return { passed: false, failure: error.code };
    throw error;
  }
}

const nothing = () => undefined;

function propertyTrace(test: PropertyTest, { run, ruleset }: Scene): PropertyTrace {
  const { key, type, operator, value: expected, groupType } = test;
  const name = groupType === null ? undefined : ruleset.source.groupTypes?.[groupType];
  const words = filterWords({ ...test, groupType: name, matching: ruleset.matching });
  const about = type === "group" ? { group_type_index: groupType } : {};
  const outcome = outcomeOf(
    () => test.read(run),
    () => test.passes(run),
  );
  return { type, key, operator, expected, words, ...about, ...outcome };
}

function flagTrace(test: FlagTest, { run, ruleset }: Scene): PropertyTrace {
  const { key, operator, value: expected, reference } = test;
  const target = entryFor(ruleset, reference);
  const flag = { key: target?.compiled.flag.key ?? null, value: run.values.get(reference) ?? null };
  const words = filterWords({
    ...test,
    type: "flag",
    flagKey: target?.compiled.flag.key,
    isFlagKnown: target !== undefined,
  });
  return { type: "flag", key, operator, expected, words, passed: test.passes(run), flag };
}

const passes = (node: TreeNode, { run }: Scene): boolean => passesNode(node, run, run.members ?? new Map());

function leafTrace(leaf: PropertyLeaf, scene: Scene): PropertyTrace {
  const { key, isMetadata, operator, value: expected, negation } = leaf;
  const outcome = outcomeOf(
    () => readLeaf(leaf, scene.run),
    () => passes(leaf, scene),
  );
  const type = isMetadata ? "person_metadata" : "person";
  const words = filterWords({ ...leaf, type, matching: scene.ruleset.matching });
  return { type, key, operator, expected, words, ...(negation && { negation }), ...outcome };
}

function cohortFacts(
  operator: string,
  expected: Json,
  id: number | undefined,
  scene: Scene,
  negation = false,
) {
  const facts = { type: "cohort", key: "id", operator };
  const named = cohortName(scene.ruleset.cohorts, id);
  const words = filterWords({ ...facts, value: expected, cohortName: named, negation });
  return { ...facts, expected, words };
}

function cohortLeafTrace(leaf: CohortLeaf, scene: Scene): PropertyTrace {
  const { operator, cohort, negation } = leaf;
  return {
    ...cohortFacts(operator, cohort, cohort, scene, negation),
    ...(negation && { negation }),
    passed: passes(leaf, scene),
    ...cohortTrace(cohort, scene),
  };
}

function nodeTrace(node: TreeNode, scene: Scene): TreeTrace {
  switch (node.kind) {
    case "all":
    case "any": {
      const { passed } = outcomeOf(nothing, () => passes(node, scene));
      const values = node.nodes.map((it) => nodeTrace(it, scene));
      return { type: node.kind === "all" ? "AND" : "OR", passed, values };
    }
    case "property":
      return leafTrace(node, scene);
    case "cohort":
      return cohortLeafTrace(node, scene);
    case "unknown":
      return {
        type: node.type,
        key: "",
        operator: "",
        expected: null,
        words: unknownWords(node.type),
        passed: false,
      };
  }
}

/** Its conditions are told where it can be computed. */
function cohortTrace(id: number, scene: Scene): { cohort?: CohortTrace } {
  const compiled = scene.ruleset.cohorts.compiled.get(id);
  if (!compiled || typeof scene.ruleset.cohorts.planOf(id) === "string") return {};
  const { cohort, members, tree } = compiled;
  const isTold = members !== undefined || scene.toldCohorts.has(id) || scene.depth === 0;
  scene.toldCohorts.add(id);
  const facts = {
    id,
    name: cohort.name ?? null,
    is_static: members !== undefined,
    member: outcomeOf(nothing, () => isMember(scene.run, id)).passed,
  };
  const inside = { ...scene, depth: scene.depth - 1 };
  return { cohort: { ...facts, tree: isTold ? null : nodeTrace(tree, inside) } };
}

function cohortTestTrace(test: CohortTest, scene: Scene): PropertyTrace {
  const outcome = outcomeOf(nothing, () => test.passes(scene.run));
  const cohort = test.cohort === undefined ? {} : cohortTrace(test.cohort, scene);
  return { ...cohortFacts(test.operator, test.value, test.cohort, scene), ...outcome, ...cohort };
}

function testTrace(test: FilterTest, scene: Scene): PropertyTrace {
  switch (test.about) {
    case "property":
      return propertyTrace(test, scene);
    case "flag":
      return flagTrace(test, scene);
    case "cohort":
      return cohortTestTrace(test, scene);
  }
}

/** What filters wanted of a subject, and whether they got it: the filters' own answers. */
export function explainFilters(tests: readonly FilterTest[], run: Run, ruleset: Ruleset): PropertyTrace[] {
  const scene: Scene = { run, ruleset, toldCohorts: new Set(), depth: deepest };
  return tests.map((test) => testTrace(test, scene));
}

const isYes = (value: Json | undefined): boolean => value === true || value === "true";

/** The choice of enrolment, as a filter would tell it. */
export function explainChoice(key: string, { subject }: Run): PropertyTrace {
  const read = () => subject.property(key);
  const outcome = outcomeOf(read, () => isYes(read()));
  const facts = { type: "person", key, operator: "exact", expected: "true" };
  return { ...facts, words: `${key} is true`, ...outcome };
}

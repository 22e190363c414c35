import type { Json } from "../../../kernel/base/json.ts";
import type { CohortLeaf, PropertyLeaf, TreeNode } from "../engine/cohort-tree.ts";
import { isMember, passesNode, readLeaf } from "../engine/cohorts.ts";
import type { CohortTest, FilterTest, FlagTest, PropertyTest } from "../engine/filters.ts";
import { FlagFailure } from "../engine/reasons.ts";
import { entryFor, type Ruleset } from "../engine/ruleset.ts";
import type { EvaluationRun } from "../engine/run.ts";
import type { CohortTrace, PropertyTrace, TreeTrace } from "../shapes.ts";
import { clauseOf, leafWords, testWords } from "./rule-words.ts";

interface Scene {
  readonly run: EvaluationRun;
  readonly ruleset: Ruleset;
  /** Cohorts whose trees are listed already: they may be referred to any number of times. */
  readonly knownCohorts: Set<number>;
  /** Levels of nested cohorts whose trees are still listed. */
  readonly depth: number;
}

const deepest = 20;

type Outcome = Pick<PropertyTrace, "actual" | "passed" | "failure">;

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
  const words = testWords(test, ruleset);
  const negation = test.negation === true && { negation: true as const };
  const about = type === "group" ? { group_type_index: groupType } : {};
  const outcome = outcomeOf(
    () => test.read(run),
    () => test.passes(run),
  );
  return { type, key, operator, expected, words, ...about, ...negation, ...outcome };
}

function flagTrace(test: FlagTest, { run, ruleset }: Scene): PropertyTrace {
  const { key, operator, value: expected, reference } = test;
  const target = entryFor(ruleset, reference);
  const flag = { key: target?.compiled.flag.key ?? null, value: run.values.get(reference) ?? null };
  const words = clauseOf({ ...test, type: "flag" }, null, ruleset);
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
  const words = leafWords(leaf, scene.ruleset);
  return { type, key, operator, expected, words, ...(negation && { negation }), ...outcome };
}

function cohortLeafTrace(leaf: CohortLeaf, scene: Scene): PropertyTrace {
  const { operator, cohort, negation } = leaf;
  return {
    ...{ type: "cohort", key: "id", operator, expected: cohort },
    words: leafWords(leaf, scene.ruleset),
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
        words: leafWords(node, scene.ruleset),
        passed: false,
      };
  }
}

/** Absent for a cohort that cannot be computed. */
function cohortTrace(id: number, scene: Scene): { cohort?: CohortTrace } {
  const compiled = scene.ruleset.cohorts.compiled.get(id);
  if (!compiled || typeof scene.ruleset.cohorts.planOf(id) === "string") return {};
  const { cohort, members, tree } = compiled;
  const isShort = members !== undefined || scene.knownCohorts.has(id) || scene.depth === 0;
  scene.knownCohorts.add(id);
  const facts = {
    id,
    name: cohort.name ?? null,
    is_static: members !== undefined,
    member: outcomeOf(nothing, () => isMember(scene.run, id)).passed,
  };
  const inside = { ...scene, depth: scene.depth - 1 };
  return { cohort: { ...facts, tree: isShort ? null : nodeTrace(tree, inside) } };
}

function cohortTestTrace(test: CohortTest, scene: Scene): PropertyTrace {
  const outcome = outcomeOf(nothing, () => test.passes(scene.run));
  const cohort = test.cohort === undefined ? {} : cohortTrace(test.cohort, scene);
  const { operator, value: expected } = test;
  const words = clauseOf({ ...test, type: "cohort" }, null, scene.ruleset);
  return { type: "cohort", key: "id", operator, expected, words, ...outcome, ...cohort };
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

export function explainFilters(tests: readonly FilterTest[], run: EvaluationRun, ruleset: Ruleset): PropertyTrace[] {
  const scene: Scene = { run, ruleset, knownCohorts: new Set(), depth: deepest };
  return tests.map((test) => testTrace(test, scene));
}

const isYes = (value: Json | undefined): boolean => value === true || value === "true";

export function explainChoice(key: string, { subject }: EvaluationRun): PropertyTrace {
  const read = () => subject.property(key);
  const outcome = outcomeOf(read, () => isYes(read()));
  const facts = { type: "person", key, operator: "exact", expected: "true" };
  return { ...facts, words: `${key} is true`, ...outcome };
}

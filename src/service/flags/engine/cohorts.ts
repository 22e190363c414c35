import type { Json } from "../../../kernel/base/json.ts";
import type { Cohort } from "../../../state/documents/world.ts";
import {
  type CohortLeaf,
  type CohortPlan,
  type CompiledCohort,
  type CompiledCohorts,
  cohortsIn,
  type PropertyLeaf,
  type TreeNode,
  treeOf,
} from "./cohort-tree.ts";
import { dependenciesFirst } from "./dependency-order.ts";
import type { Matching } from "./operators.ts";
import { type FailureCode, FlagFailure } from "./reasons.ts";
import type { EvaluationRun } from "./run.ts";

export const cohortName = (
  { compiled }: Pick<CompiledCohorts, "compiled">,
  id: number | undefined,
): string | undefined => (id === undefined ? undefined : (compiled.get(id)?.cohort.name ?? undefined));

const nothing: TreeNode = { kind: "all", nodes: [] };

function compileTree(cohort: Cohort, matching: Matching): Pick<CompiledCohort, "tree" | "failure"> {
  try {
    return { tree: treeOf(cohort, matching), failure: undefined };
  } catch (error) {
    if (error instanceof FlagFailure) return { tree: nothing, failure: error.code };
    throw error;
  }
}

function compileCohort(cohort: Cohort, matching: Matching): CompiledCohort {
  if (cohort.is_static === true) {
    return { cohort, members: new Set(cohort.persons), tree: nothing, references: [], failure: undefined };
  }
  const { tree, failure } = compileTree(cohort, matching);
  return { cohort, members: undefined, tree, references: [...new Set(cohortsIn(tree))], failure };
}

/** Everything that a cohort needs, itself first; a failure of any of them is a failure of it. */
function reachable(compiled: CompiledCohorts["compiled"], id: number): CompiledCohort[] | FailureCode {
  const found = new Map<number, CompiledCohort>();
  const open = [id];
  for (const next of open) {
    if (found.has(next)) continue;
    const cohort = compiled.get(next);
    if (!cohort) return "dependency_not_found_cohort";
    if (cohort.failure) return cohort.failure;
    found.set(next, cohort);
    open.push(...cohort.references);
  }
  return [...found.values()];
}

/** Dependencies first, or a failure when they run in a circle. */
function inOrder(cohorts: readonly CompiledCohort[]): CohortPlan {
  const byId = new Map(cohorts.map((it) => [it.cohort.id, it]));
  const ordered = dependenciesFirst(cohorts, ({ references }) => references.flatMap((id) => byId.get(id) ?? []));
  return ordered.length === cohorts.length ? ordered : "dependency_cycle_cohort";
}

/**
 * Makes the cohorts of a project ready; deleted ones do not exist. Cohorts that `previous` has compiled
 * from the same documents (for the same matching) are taken from there.
 */
export function compileCohorts(
  cohorts: readonly Cohort[],
  matching: Matching,
  previous?: CompiledCohorts,
): CompiledCohorts {
  const compiled = new Map<number, CompiledCohort>();
  for (const cohort of cohorts) {
    if (cohort.deleted === true) continue;
    const known = previous?.compiled.get(cohort.id);
    compiled.set(cohort.id, known?.cohort === cohort ? known : compileCohort(cohort, matching));
  }
  const plans = new Map<number, CohortPlan>();
  return {
    compiled,
    planOf(id) {
      const known = plans.get(id);
      if (known) return known;
      const all = reachable(compiled, id);
      const plan = typeof all === "string" ? all : inOrder(all);
      plans.set(id, plan);
      return plan;
    },
  };
}

export const noCohorts: CompiledCohorts = { compiled: new Map(), planOf: () => "dependency_not_found_cohort" };

/** What a leaf compares. @throws FlagFailure when it is not known. */
export const readLeaf = ({ key, isMetadata }: PropertyLeaf, { subject }: EvaluationRun): Json | undefined =>
  isMetadata ? subject.metadata(key) : subject.property(key);

function passesCohort({ cohort, operator, negation }: CohortLeaf, members: ReadonlyMap<number, boolean>): boolean {
  const isIn = members.get(cohort) === true;
  return (operator === "in" ? isIn : operator === "not_in" && !isIn) !== negation;
}

/** True if a node of a tree is fulfilled. The memberships that it asks for are known by now. */
export function passesNode(node: TreeNode, run: EvaluationRun, members: ReadonlyMap<number, boolean>): boolean {
  switch (node.kind) {
    case "all":
      return node.nodes.every((it) => passesNode(it, run, members));
    case "any":
      return node.nodes.length === 0 || node.nodes.some((it) => passesNode(it, run, members));
    case "property":
      return node.passes(readLeaf(node, run), run.subject.now) !== node.negation;
    case "cohort":
      return passesCohort(node, members);
    case "unknown":
      return false;
  }
}

function isListed(members: ReadonlySet<string>, run: EvaluationRun): boolean {
  const person = run.subject.personId();
  return person !== undefined && members.has(person);
}

/**
 * True if the person is in a cohort. Every cohort is computed once in a run. Upstream PostHog rust/feature-flags,
 * cohort_operations.
 * @throws FlagFailure for a cohort that does not exist, refers to itself, or cannot be read.
 */
export function isMember(run: EvaluationRun, id: number): boolean {
  const known = run.members?.get(id);
  if (known !== undefined) return known;
  const plan = run.cohorts.planOf(id);
  if (typeof plan === "string") throw new FlagFailure(plan);
  run.members ??= new Map();
  for (const { cohort, members, tree } of plan) {
    if (run.members.has(cohort.id)) continue;
    run.members.set(cohort.id, members ? isListed(members, run) : passesNode(tree, run, run.members));
  }
  return run.members.get(id) === true;
}

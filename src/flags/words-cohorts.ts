import { counted } from "../kernel/counted.ts";
import type { TreeNode } from "./cohort-tree.ts";
import { type CohortBook, cohortName } from "./cohorts.ts";
import type { Matching } from "./operators.ts";
import { cohortTitle, filterWords, unknownWords } from "./words-filters.ts";

/** More than anyone reads of a flag. */
const mostCohorts = 20;

/** The cohorts of a project, and what its properties are compared by. */
interface Scene {
  readonly cohorts: CohortBook;
  readonly matching: Matching;
}

const joins = { all: ", and ", any: ", or " } as const;

function nodeWords(node: TreeNode, scene: Scene, isInner: boolean): string {
  switch (node.kind) {
    case "all":
    case "any": {
      if (node.nodes.length === 0) return "everyone";
      const isLone = node.nodes.length === 1;
      const words = node.nodes.map((it) => nodeWords(it, scene, isInner || !isLone)).join(joins[node.kind]);
      return isInner && !isLone ? `(${words})` : words;
    }
    case "property":
      return filterWords({
        ...node,
        type: node.isMetadata ? "person_metadata" : "person",
        matching: scene.matching,
      });
    case "cohort":
      return filterWords({
        key: "id",
        type: "cohort",
        operator: node.operator,
        value: node.cohort,
        cohortName: cohortName(scene.cohorts, node.cohort),
        negation: node.negation,
      });
    case "unknown":
      return unknownWords(node.type);
  }
}

function cohortWords(id: number, scene: Scene, open: number[]): string {
  const { compiled, planOf } = scene.cohorts;
  const found = compiled.get(id);
  const title = cohortTitle(id, cohortName(scene.cohorts, id));
  const start = title.charAt(0).toUpperCase() + title.slice(1);
  if (!found) return `${start} does not exist: the flag cannot be computed.`;
  if (found.members) return `${start} is a list of ${counted(found.members.size, "person")}.`;
  if (found.failure) return `${start} cannot be read: the flag cannot be computed.`;
  open.push(...found.references);
  const isCircular = planOf(id) === "dependency_cycle_cohort";
  const end = isCircular ? ". It leads into a circle of cohorts: the flag cannot be computed." : ".";
  return `${start}: ${nodeWords(found.tree, scene, false)}${end}`;
}

/** A sentence for each cohort, and for those that they refer to; each once. */
export function cohortsWords(ids: readonly number[], scene: Scene): string[] {
  const told = new Map<number, string>();
  const open = [...ids];
  for (const id of open) {
    if (told.size === mostCohorts) break;
    if (!told.has(id)) told.set(id, cohortWords(id, scene, open));
  }
  return [...told.values()];
}

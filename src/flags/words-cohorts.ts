import { counted } from "../kernel/counted.ts";
import type { Cohort } from "../model/world.ts";
import { cohortsIn, type TreeNode, treeOf } from "./cohort-tree.ts";
import { defaultMatching } from "./operators.ts";
import { FlagFailure } from "./reasons.ts";
import { cohortTitle, filterWords } from "./words-filters.ts";
import { valueWords } from "./words-operators.ts";

/** More than anyone reads of a flag. */
const mostCohorts = 20;

type ById = ReadonlyMap<number, Cohort>;

const nameOf = (id: number, cohorts: ById): string | undefined => cohorts.get(id)?.name ?? undefined;

const joins = { all: ", and ", any: ", or " } as const;

function nodeWords(node: TreeNode, cohorts: ById, isInner: boolean): string {
  switch (node.kind) {
    case "all":
    case "any": {
      if (node.nodes.length === 0) return "everyone";
      const isLone = node.nodes.length === 1;
      const words = node.nodes.map((it) => nodeWords(it, cohorts, !isLone)).join(joins[node.kind]);
      return isInner && !isLone ? `(${words})` : words;
    }
    case "property":
      return filterWords({ ...node, type: node.isMetadata ? "person_metadata" : "person" });
    case "cohort":
      return filterWords({
        key: "id",
        type: "cohort",
        operator: node.operator,
        value: node.cohort,
        cohortName: nameOf(node.cohort, cohorts),
        negation: node.negation,
      });
    case "unknown":
      return node.type === ""
        ? "nobody"
        : `something of the type ${valueWords(node.type)}, which is never fulfilled`;
  }
}

/** Undefined where it cannot be read. */
function treeIn(cohort: Cohort): TreeNode | undefined {
  try {
    return treeOf(cohort, defaultMatching);
  } catch (error) {
    if (error instanceof FlagFailure) return undefined;
    throw error;
  }
}

function cohortWords(id: number, cohorts: ById, open: number[]): string {
  const cohort = cohorts.get(id);
  const title = cohortTitle(id, nameOf(id, cohorts));
  const start = title.charAt(0).toUpperCase() + title.slice(1);
  if (!cohort) return `${start} does not exist: the flag cannot be computed.`;
  if (cohort.is_static === true)
    return `${start} is a list of ${counted(cohort.persons?.length ?? 0, "person")}.`;
  const tree = treeIn(cohort);
  if (!tree) return `${start} cannot be read: the flag cannot be computed.`;
  open.push(...cohortsIn(tree));
  return `${start}: ${nodeWords(tree, cohorts, false)}.`;
}

/** A sentence for each cohort, and for those that they refer to; each once. */
export function cohortsWords(ids: readonly number[], all: readonly Cohort[]): string[] {
  const cohorts: ById = new Map(all.filter((it) => it.deleted !== true).map((it) => [it.id, it]));
  const told = new Map<number, string>();
  const open = [...ids];
  for (const id of open) {
    if (told.size === mostCohorts) break;
    if (!told.has(id)) told.set(id, cohortWords(id, cohorts, open));
  }
  return [...told.values()];
}

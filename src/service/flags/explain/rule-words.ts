import type { Json } from "../../../kernel/base/json.ts";
import type { TreeLeaf, TreeNode } from "../engine/cohort-tree.ts";
import { cohortName } from "../engine/cohorts.ts";
import type { PropertyTest } from "../engine/filters.ts";
import { entryFor, type Ruleset } from "../engine/ruleset.ts";
import { referenceIn } from "../engine/values.ts";
import { filterWords, unknownWords } from "./filter-words.ts";

/** Words for filters and for conditions of cohorts among the other rules of their project: for flags and explanations. */

export const groupTypeName = (index: number, { source }: Ruleset): string =>
  source.groupTypes?.[index] ?? `group type ${index}`;

/** A filter of a document, or a compiled one. */
interface WrittenFilter {
  readonly key: string;
  readonly type?: unknown;
  readonly operator?: unknown;
  readonly value?: unknown;
  readonly group_type_index?: unknown;
}

function flagAsked(key: string, ruleset: Ruleset) {
  const asked = entryFor(ruleset, referenceIn(key) ?? key);
  return { flagKey: asked?.compiled.flag.key, isFlagKnown: asked !== undefined };
}

/** What a filter requires, as it is written. @param aggregation The group type that its condition set is about */
export function clauseOf(filter: WrittenFilter, aggregation: number | null, ruleset: Ruleset): string {
  const type = typeof filter.type === "string" ? filter.type : aggregation === null ? "person" : "group";
  const index = typeof filter.group_type_index === "number" ? filter.group_type_index : aggregation;
  return filterWords({
    key: filter.key,
    type,
    operator: typeof filter.operator === "string" ? filter.operator : undefined,
    // The document is JSON: zod's loose objects lose this.
    value: filter.value as Json | undefined,
    groupType: index === null ? undefined : groupTypeName(index, ruleset),
    cohortName: type === "cohort" ? cohortName(ruleset.cohorts, referenceIn(filter.value)) : undefined,
    ...(type === "flag" && flagAsked(filter.key, ruleset)),
    matching: ruleset.matching,
  });
}

export function testWords(test: PropertyTest, ruleset: Ruleset): string {
  const clause = clauseOf(test, test.groupType, ruleset);
  return test.negation === true ? `not (${clause})` : clause;
}

export function leafWords(leaf: TreeLeaf, ruleset: Ruleset): string {
  switch (leaf.kind) {
    case "property":
      return filterWords({ ...leaf, type: leaf.isMetadata ? "person_metadata" : "person", matching: ruleset.matching });
    case "cohort":
      return filterWords({
        key: "id",
        type: "cohort",
        operator: leaf.operator,
        value: leaf.cohort,
        cohortName: cohortName(ruleset.cohorts, leaf.cohort),
        negation: leaf.negation,
      });
    case "unknown":
      return unknownWords(leaf.type);
  }
}

const joins = { all: ", and ", any: ", or " } as const;

export function nodeWords(node: TreeNode, ruleset: Ruleset, isInner: boolean): string {
  switch (node.kind) {
    case "all":
    case "any": {
      if (node.nodes.length === 0) return "everyone";
      const isLone = node.nodes.length === 1;
      const words = node.nodes.map((it) => nodeWords(it, ruleset, isInner || !isLone)).join(joins[node.kind]);
      return isInner && !isLone ? `(${words})` : words;
    }
    default:
      return leafWords(node, ruleset);
  }
}

import type { Json } from "../../../kernel/base/json.ts";
import { capital } from "../../../kernel/base/text.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { TreeLeaf, TreeNode } from "../engine/cohort-tree.ts";
import { cohortName } from "../engine/cohorts.ts";
import type { PropertyTest } from "../engine/filters.ts";
import type { CompiledRule, CompiledRules } from "../engine/rules.ts";
import { entryFor, type Ruleset } from "../engine/ruleset.ts";
import { referenceIn } from "../engine/values.ts";
import { filterWords, unknownWords } from "./filter-words.ts";
import { valueWords } from "./trace-words.ts";

/** Words for filters and for conditions of cohorts among the other rules of their project: for flags and explanations. */

export const groupTypeName = (index: number, { source }: Ruleset): string =>
  source.groupTypes?.[index] ?? `group type ${index}`;

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

/** undefined for condition sets, and for rules that cannot be read. */
export const compiledRulesOf = (flag: FeatureFlag, { entries }: Ruleset): CompiledRules | undefined =>
  entries.find(({ compiled }) => compiled.flag === flag)?.compiled.rules;

export const percent = (share: number): string => `${Number(share.toFixed(4))} %`;

const givenBy = ({ matched }: CompiledRule, position: number): Json => matched[position]?.rule?.value ?? null;

function whatOf(rule: CompiledRule): string {
  const { split } = rule;
  if (!split) return valueWords(givenBy(rule, 0));
  const shares = split.keys.map((key, i) => {
    const share = ((split.ends[i] ?? 0) - (split.ends[i - 1] ?? 0)) * 100;
    return `${percent(Number(share.toFixed(2)))} ${valueWords(givenBy(rule, i))} (${key})`;
  });
  return shares.join(", ");
}

const whoOf = ({ tests }: CompiledRule, ruleset: Ruleset): string[] => tests.map((test) => testWords(test, ruleset));

export function ruleWords(rule: CompiledRule, ruleset: Ruleset): string {
  const clauses = whoOf(rule, ruleset);
  const { rollout, holdout, paused } = rule;
  const share = rollout?.percentage ?? 100;
  const all = clauses.length > 0 ? "them" : "all persons";
  const who = share >= 100 ? "everyone gets" : share <= 0 ? "no one gets" : `${percent(share)} of ${all} get`;
  const held = holdout ? [`${percent(holdout.exclusion_percentage)} are held out and get the default`] : [];
  const gets = paused ? ["the experiment is paused, everyone gets the default"] : [...held, `${who} ${whatOf(rule)}`];
  const rest = !paused && rollout?.missed && share < 100 ? ["the others get the default"] : [];
  const words = [...gets, ...rest].join("; ");
  return clauses.length === 0 ? `${capital(words)}.` : `When ${clauses.join(", and ")}: ${words}.`;
}

export const shortRules = ({ rules, unmatched }: CompiledRules, ruleset: Ruleset): string[] => [
  ...rules.map((rule) => {
    const clauses = whoOf(rule, ruleset);
    const who = clauses.length === 0 ? "everyone" : clauses.join(" and ");
    const share = rule.paused ? "paused" : percent(rule.rollout?.percentage ?? 100);
    return `${who}: ${share}, ${whatOf(rule)}`;
  }),
  `default: ${valueWords(unmatched.rule?.value ?? null)}`,
];

import type { Json } from "../../../kernel/base/json.ts";
import { capital } from "../../../kernel/base/text.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { CompiledRule, CompiledRules } from "../engine/rules.ts";
import type { Ruleset } from "../engine/ruleset.ts";
import { testWords } from "./rule-words.ts";
import { valueWords } from "./trace-words.ts";

/** Rules of version 2 in words. */

/** undefined for condition sets, and for rules that cannot be read. */
export const compiledRulesOf = (flag: FeatureFlag, { entries }: Ruleset): CompiledRules | undefined =>
  entries.find(({ compiled }) => compiled.flag === flag)?.compiled.rules;

const percent = (share: number): string => `${Number(share.toFixed(4))} %`;

const givenBy = ({ matched }: CompiledRule, position: number): Json => matched[position]?.rule?.value ?? null;

/** The values of an experiment's variants with their shares, or the rule's only value. */
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

/** A line for each rule, then the default. */
export const shortRules = ({ rules, unmatched }: CompiledRules, ruleset: Ruleset): string[] => [
  ...rules.map((rule) => {
    const clauses = whoOf(rule, ruleset);
    const who = clauses.length === 0 ? "everyone" : clauses.join(" and ");
    const share = rule.paused ? "paused" : percent(rule.rollout?.percentage ?? 100);
    return `${who}: ${share}, ${whatOf(rule)}`;
  }),
  `default: ${valueWords(unmatched.rule?.value ?? null)}`,
];

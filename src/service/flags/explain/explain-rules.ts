import { bucketInput, isWithin, seededHoldoutInput } from "../engine/bucket-hash.ts";
import type { Decision } from "../engine/decision.ts";
import { type FailureCode, FlagFailure } from "../engine/reasons.ts";
import { type CompiledRule, type RuleMiss, tryRule } from "../engine/rules.ts";
import type { Ruleset } from "../engine/ruleset.ts";
import type { EvaluationRun, HashUse } from "../engine/run.ts";
import type { ConditionTrace, HashTrace, RolloutTrace, RuleTrace, VariantTrace } from "../shapes.ts";
import { explainFilters } from "./explain-filters.ts";
import { hashWords, valueWords } from "./trace-words.ts";

/** How a rule of version 2 comes to its result, in the form of a condition set's trace. */

type Outcome =
  | { readonly decision: Decision }
  | { readonly miss: RuleMiss }
  | { readonly failure: FailureCode; readonly detail: string };

function outcomeOf(rule: CompiledRule, run: EvaluationRun): Outcome {
  try {
    const result = tryRule(rule, run);
    return typeof result === "string" ? { miss: result } : { decision: result };
  } catch (error) {
    if (error instanceof FlagFailure) return { failure: error.code, detail: error.message };
    throw error;
  }
}

function hashTrace(seed: string, use: HashUse): HashTrace {
  const { identifier, kind, bucket } = use;
  const input =
    use.use === "holdout"
      ? seededHoldoutInput(seed, identifier)
      : bucketInput(seed, identifier, use.use === "variant" ? "variant" : "");
  return { input, identifier, identifier_kind: kind, hash: bucket };
}

type HashOf = (use: HashUse["use"]) => HashUse | undefined;

function holdoutTrace({ holdout }: CompiledRule, hashOf: HashOf, isHeldOut: boolean): RuleTrace["holdout"] {
  const use = hashOf("holdout");
  if (!holdout || (!use && !isHeldOut)) return null;
  return {
    percentage: holdout.exclusion_percentage,
    hash: use ? hashTrace(holdout.seed, use) : null,
    threshold: holdout.exclusion_percentage / 100,
    held_out: isHeldOut,
  };
}

function rolloutTrace({ rollout }: CompiledRule, hashOf: HashOf, isReached: boolean): RolloutTrace | null {
  if (!rollout || !isReached) return null;
  const use = hashOf("rollout");
  const { percentage, seed } = rollout;
  return {
    percentage,
    hash: use ? hashTrace(seed, use) : null,
    threshold: percentage / 100,
    passed: use ? isWithin(use.bucket, percentage) : percentage === 100,
  };
}

function variantTrace(
  { split, rollout, matched }: CompiledRule,
  hashOf: HashOf,
  decision: Decision,
): VariantTrace | null {
  const use = hashOf("variant");
  if (!split || !rollout || !use) return null;
  const ranges = split.keys.map((variant, i) => ({
    variant,
    from: split.ends[i - 1] ?? 0,
    to: split.ends[i] ?? 0,
    hit: matched[i] === decision,
  }));
  return { forced: null, hash: hashTrace(rollout.seed, use), ranges };
}

type Miss = NonNullable<ConditionTrace["miss"]>;

const missOf: Readonly<Record<string, Miss>> = {
  rollout_miss: "out_of_rollout_bound",
  experiment_paused: "paused",
  holdout: "held_out",
};

/** What the rule gives, or why it gives nothing. */
function hintOf(trace: ConditionTrace, outcome: Outcome, unmet: string): string {
  const name = `rule ${trace.index + 1}`;
  if ("failure" in outcome) return `${name}: ${outcome.detail}`;
  const byDefault = "decision" in outcome ? `; it gives the default` : "";
  if (trace.miss === "paused") return `${name}: the experiment is paused${byDefault}`;
  const holdout = trace.rule?.holdout;
  if (trace.miss === "held_out") {
    const how = holdout?.hash ? hashWords(holdout.hash, holdout.threshold, true, "holdout") : "everyone is held out";
    return `${name}: ${how}${byDefault}`;
  }
  const { rollout } = trace;
  if (trace.miss === "out_of_rollout_bound") {
    const how = rollout?.hash
      ? hashWords(rollout.hash, rollout.threshold, false, "rollout")
      : "there is no distinct id to hash";
    return `${name}: ${how}${byDefault}`;
  }
  if ("decision" in outcome) return `${name} gives ${valueWords(outcome.decision.rule?.value ?? null)}`;
  return unmet === "" ? name : `${name}: ${unmet}`;
}

/** @param unmetWords Words for the filters that did not pass */
export function explainRule(
  rule: CompiledRule,
  run: EvaluationRun,
  ruleset: Ruleset,
  isReached: boolean,
  unmetWords: (traces: ConditionTrace["properties"]) => string,
): ConditionTrace {
  const hashes: HashUse[] = [];
  const hashOf: HashOf = (use) => hashes.find((it) => it.use === use);
  const recorder = { hashed: (use: HashUse) => hashes.push(use), tried: () => {} };
  const outcome = outcomeOf(rule, { ...run, recorder });
  const code = "decision" in outcome ? outcome.decision.rule?.code : undefined;
  const miss = "miss" in outcome ? outcome.miss : ((code && missOf[code]) ?? null);
  const isMatch = code === "targeting_match";
  const properties = explainFilters(rule.tests, run, ruleset);
  const trace: ConditionTrace = {
    index: rule.index,
    reached: isReached,
    matched: isMatch,
    miss,
    failure: "failure" in outcome ? outcome.failure : null,
    group_type_index: null,
    group_type: null,
    properties,
    rollout: rolloutTrace(rule, hashOf, isMatch || miss === "out_of_rollout_bound"),
    variant: isMatch && "decision" in outcome ? variantTrace(rule, hashOf, outcome.decision) : null,
    hint: null,
    rule: { id: rule.id, type: rule.type, holdout: holdoutTrace(rule, hashOf, miss === "held_out") },
  };
  const isOn = isMatch && "decision" in outcome && outcome.decision.enabled;
  return isOn ? trace : { ...trace, hint: hintOf(trace, outcome, unmetWords(properties)) };
}

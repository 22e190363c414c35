import { bucketInput, isWithin, seededHoldoutInput } from "../engine/bucket-hash.ts";
import type { Decision } from "../engine/decision.ts";
import { type FailureCode, FlagFailure } from "../engine/reasons.ts";
import { type CompiledRule, type RuleMiss, tryRule } from "../engine/rules.ts";
import type { Ruleset } from "../engine/ruleset.ts";
import type { EvaluationRecorder, EvaluationRun, HashUse } from "../engine/run.ts";
import type { ConditionTrace, HashTrace, RolloutTrace, VariantTrace } from "../shapes.ts";
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

/** Keeps the steps of an evaluation. @param inputOf The text whose hash is used */
export function createTape(inputOf: (use: HashUse) => string) {
  const hashes: HashUse[] = [];
  const tried = new Set<number>();
  const recorder: EvaluationRecorder = { hashed: (use) => hashes.push(use), tried: (index) => tried.add(index) };
  return {
    recorder,
    tried,
    /** null where nothing was hashed. */
    hashOf(wanted: HashUse["use"]): HashTrace | null {
      const use = hashes.find((it) => it.use === wanted);
      if (!use) return null;
      return { input: inputOf(use), identifier: use.identifier, identifier_kind: use.kind, hash: use.bucket };
    },
  };
}

/** @param isAll True if all pass where nothing was hashed */
export const rolloutTrace = (percentage: number, hash: HashTrace | null, isAll: boolean): RolloutTrace => ({
  ...{ percentage, hash, threshold: percentage / 100 },
  passed: hash ? isWithin(hash.hash, percentage) : isAll,
});

/** The ranges of variants up to these ends. @param drawn The place of the variant that was drawn */
export const rangesOf = (keys: readonly string[], ends: readonly number[], drawn: number): VariantTrace["ranges"] =>
  keys.map((variant, i) => ({ variant, from: ends[i - 1] ?? 0, to: ends[i] ?? 0, hit: i === drawn }));

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

export function explainRule(
  rule: CompiledRule,
  run: EvaluationRun,
  ruleset: Ruleset,
  isReached: boolean,
  unmetWords: (traces: ConditionTrace["properties"]) => string,
): ConditionTrace {
  const { rollout, split, holdout, matched } = rule;
  const { recorder, hashOf } = createTape(({ use, identifier }) =>
    use === "holdout"
      ? seededHoldoutInput(holdout?.seed ?? "", identifier)
      : bucketInput(rollout?.seed ?? "", identifier, use === "variant" ? use : ""),
  );
  const outcome = outcomeOf(rule, { ...run, recorder });
  const decision = "decision" in outcome ? outcome.decision : undefined;
  const code = decision?.rule?.code;
  const miss = "miss" in outcome ? outcome.miss : ((code && missOf[code]) ?? null);
  const isMatch = code === "targeting_match";
  const properties = explainFilters(rule.tests, run, ruleset);
  const [drawn, held] = [hashOf("variant"), hashOf("holdout")];
  const trace: ConditionTrace = {
    index: rule.index,
    reached: isReached,
    matched: isMatch,
    miss,
    failure: "failure" in outcome ? outcome.failure : null,
    group_type_index: null,
    group_type: null,
    properties,
    rollout:
      rollout && (isMatch || miss === "out_of_rollout_bound")
        ? rolloutTrace(rollout.percentage, hashOf("rollout"), rollout.percentage === 100)
        : null,
    variant:
      isMatch && decision && split && drawn
        ? { forced: null, hash: drawn, ranges: rangesOf(split.keys, split.ends, matched.indexOf(decision)) }
        : null,
    hint: null,
    rule: {
      ...{ id: rule.id, type: rule.type },
      holdout:
        holdout && (held || miss === "held_out")
          ? {
              percentage: holdout.exclusion_percentage,
              hash: held,
              threshold: holdout.exclusion_percentage / 100,
              held_out: miss === "held_out",
            }
          : null,
    },
  };
  const isOn = isMatch && decision?.enabled === true;
  return isOn ? trace : { ...trace, hint: hintOf(trace, outcome, unmetWords(properties)) };
}

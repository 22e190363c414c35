import { bucketInput, holdoutInput } from "../engine/bucket-hash.ts";
import type { CompiledFlag, Condition } from "../engine/compile.ts";
import { type Decision, off } from "../engine/decision.ts";
import type { FlagEntry } from "../engine/dependencies.ts";
import { type ConditionMiss, matchOf, missOf } from "../engine/evaluate.ts";
import { type FailureCode, FlagFailure, failures, isFailureCode } from "../engine/reasons.ts";
import { entryOf, type Ruleset, type Selection, tryFlag } from "../engine/ruleset.ts";
import type { EvaluationRun, HashUse, Subject } from "../engine/run.ts";
import type {
  ConditionTrace,
  EnrollmentTrace,
  FlagExplanation,
  HashTrace,
  HoldoutTrace,
  PropertyTrace,
  VariantTrace,
} from "../shapes.ts";
import { explainChoice, explainFilters } from "./explain-filters.ts";
import { createTape, explainRule, rangesOf, rolloutTrace } from "./explain-rules.ts";
import { actualWords, hashWords, missWords, valueWords } from "./trace-words.ts";

export type Explanation = Omit<FlagExplanation, "id" | "project" | "distinct_id" | "override" | "by_rules"> & {
  readonly id: number;
};

const inputsOf =
  (flagKey: string) =>
  ({ use, identifier }: HashUse): string =>
    use === "holdout" ? holdoutInput(identifier) : bucketInput(flagKey, identifier, use === "variant" ? use : "");

type Outcome =
  | { readonly miss: ConditionMiss; readonly failure: null }
  | { readonly miss: null; readonly failure: FailureCode }
  | { readonly miss: null; readonly failure: null; readonly decision: Decision };

function outcomeOf(compiled: CompiledFlag, condition: Condition, run: EvaluationRun): Outcome {
  try {
    const miss = missOf(compiled, condition, run);
    if (miss !== undefined) return { miss, failure: null };
    return { miss: null, failure: null, decision: matchOf(compiled, condition, run) };
  } catch (error) {
    if (error instanceof FlagFailure) return { miss: null, failure: error.code };
    throw error;
  }
}

function variantTrace(
  { variants, variantEnds }: CompiledFlag,
  { matched, forced }: Condition,
  decision: Decision,
  hash: HashTrace | null,
): VariantTrace | null {
  if (variants.length === 0) return null;
  const ranges = rangesOf(variants, variantEnds, matched.indexOf(decision));
  return { forced: forced?.variant ?? null, hash, ranges };
}

interface Scene {
  readonly ruleset: Ruleset;
  readonly entry: FlagEntry;
  readonly run: EvaluationRun;
  readonly reached: ReadonlySet<number>;
}

function explainCondition({ ruleset, entry, run, reached }: Scene, condition: Condition): ConditionTrace {
  const { compiled } = entry;
  const tape = createTape(inputsOf(compiled.flag.key));
  const outcome = outcomeOf(compiled, condition, { ...run, recorder: tape.recorder });
  const isMatch = "decision" in outcome;
  const type = condition.aggregation;
  const wasHashed = isMatch || outcome.miss === "out_of_rollout_bound";
  const rollout = wasHashed ? rolloutTrace(condition.rollout, tape.hashOf("rollout"), true) : null;
  const trace: ConditionTrace = {
    index: condition.index,
    reached: reached.has(condition.index),
    matched: isMatch,
    miss: outcome.miss,
    failure: outcome.failure,
    group_type_index: type,
    group_type: type === null ? null : (ruleset.source.groupTypes?.[type] ?? null),
    properties: explainFilters(condition.filters, run, ruleset),
    rollout,
    variant: isMatch ? variantTrace(compiled, condition, outcome.decision, tape.hashOf("variant")) : null,
    hint: null,
  };
  return isMatch ? trace : { ...trace, hint: conditionHint(trace) };
}

function explainEnrollment(scene: Scene, decision: Decision): EnrollmentTrace | null {
  const { run, ruleset } = scene;
  const { enrollment, superCondition } = scene.entry.compiled;
  const decided = decision.reason.code === "super_condition_value";
  if (enrollment) {
    return { form: "feature_enrollment", properties: [explainChoice(enrollment.property, run)], decided };
  }
  if (!superCondition) return null;
  const properties = explainFilters(superCondition.condition.filters, run, ruleset);
  return { form: "super_groups", properties, decided };
}

function explainHoldout({ entry }: Scene, decision: Decision, hash: HashTrace | null): HoldoutTrace | null {
  const { holdout } = entry.compiled;
  const isHeldOut = decision === holdout?.decision;
  if (!holdout || (hash === null && !isHeldOut)) return null;
  const { percentage } = holdout;
  return {
    ...{ variant: holdout.decision.variant ?? "", percentage, hash },
    ...{ threshold: percentage / 100, held_out: isHeldOut },
  };
}

/** The filters that did not pass: `requires plan is "pro", but it is "free"`. */
function unmetWords(traces: readonly PropertyTrace[]): string {
  const clauses = traces
    .filter(({ passed }) => !passed)
    .map((it) => {
      if (it.failure) return `${it.words} ${actualWords(it)}`;
      return it.type === "cohort" ? it.words : `${it.words}, but it ${actualWords(it)}`;
    });
  return clauses.length === 0 ? "" : `requires that ${clauses.join("; ")}`;
}

function conditionHint(trace: ConditionTrace): string {
  const name = `condition ${trace.index + 1}`;
  const why = missWords(trace) ?? unmetWords(trace.properties);
  if (why !== "") return `${name}: ${why}`;
  if (trace.failure) return `${name}: ${failures[trace.failure]}`;
  const { rollout } = trace;
  return rollout?.hash ? `${name}: ${hashWords(rollout.hash, rollout.threshold, false, "rollout")}` : name;
}

function decidedBefore({ enrollment, holdout, active }: Explanation): string | undefined {
  if (!active) return "the flag is inactive or deleted";
  if (holdout?.held_out) {
    const why = holdout.hash ? hashWords(holdout.hash, holdout.threshold, true, "holdout") : "all subjects are";
    return `held out as ${valueWords(holdout.variant)}: ${why}`;
  }
  return enrollment?.decided ? `enrolment decides: ${unmetWords(enrollment.properties)}` : undefined;
}

/** Why a flag is off, or a subject held out; null if the flag is on. Condition sets that were not reached are no reason. */
function flagHint(explained: Explanation): string | null {
  if (explained.enabled && explained.holdout?.held_out !== true) return null;
  const before = decidedBefore(explained);
  if (before !== undefined) return before;
  const { failed, reason, conditions, rule } = explained;
  if (failed && isFailureCode(reason.code)) return reason.description;
  if (rule && conditions.length === 0) return "the flag has no rules";
  if (reason.code === "missing_dependency") return "it depends on a flag that does not exist";
  if (conditions.length === 0) return "the flag has no condition sets";
  return conditions.flatMap(({ reached, hint }) => (reached && hint !== null ? [hint] : [])).join("\n");
}

/**
 * Why a flag has its value for a subject, as `evaluateRuleset` computes it; undefined if the project has no flag with the
 * key. An inactive or deleted flag is off because it is disabled; its condition sets are explained anyway. Flags that are
 * not selected are `false` to the flag.
 */
export function explainFlag(
  ruleset: Ruleset,
  key: string,
  subject: Subject,
  isSelected?: Selection["isSelected"],
): Explanation | undefined {
  const entry = entryOf(ruleset, key);
  if (!entry) return undefined;
  const { flag, conditions, rules } = entry.compiled;
  const tape = createTape(inputsOf(flag.key));
  const { decision = off("flag_disabled", null), run } = tryFlag(ruleset, entry, subject, isSelected, tape.recorder);
  const scene: Scene = { ruleset, entry, run, reached: tape.tried };
  const explained: Explanation = {
    key: flag.key,
    id: flag.id,
    active: flag.active && !flag.deleted,
    ...decision,
    enrollment: explainEnrollment(scene, decision),
    holdout: explainHoldout(scene, decision, tape.hashOf("holdout")),
    conditions: rules
      ? rules.rules.map((rule) => explainRule(rule, run, ruleset, tape.tried.has(rule.index), unmetWords))
      : conditions.map((condition) => explainCondition(scene, condition)),
    hint: null,
  };
  return { ...explained, hint: flagHint(explained) };
}

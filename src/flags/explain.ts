import { bucketInput, holdoutInput, type IdentifierKind, isWithin } from "./bucket.ts";
import type { CompiledFlag, Condition } from "./compile.ts";
import { type Decision, off } from "./decision.ts";
import type { Entry } from "./dependencies.ts";
import { type Miss, matchOf, missOf } from "./evaluate.ts";
import { explainChoice, explainFilters, type PropertyTrace } from "./explain-filters.ts";
import { conditionHint, flagHint } from "./hints.ts";
import { type FailureCode, FlagFailure } from "./reasons.ts";
import { entryOf, type Ruleset, type Selection, tryFlag } from "./ruleset.ts";
import type { HashUse, Recorder, Run } from "./run.ts";
import type { Subject } from "./subject.ts";

/** A hash that was compared. */
export interface HashTrace {
  /** The text whose SHA-1 it is. */
  readonly input: string;
  readonly identifier: string;
  readonly identifier_kind: IdentifierKind;
  /** In [0, 1]. */
  readonly hash: number;
}

export interface RolloutTrace {
  readonly percentage: number;
  /** null where everyone is in: nothing is hashed. */
  readonly hash: HashTrace | null;
  /** Passed when the hash is not above it. */
  readonly threshold: number;
  readonly passed: boolean;
}

/** A variant takes the hashes from `from` (inclusive) up to `to` (exclusive). */
interface VariantRange {
  readonly variant: string;
  readonly from: number;
  readonly to: number;
  readonly hit: boolean;
}

interface VariantTrace {
  /** The variant that the set forces. */
  readonly forced: string | null;
  readonly hash: HashTrace | null;
  readonly ranges: readonly VariantRange[];
}

export interface ConditionTrace {
  readonly index: number;
  /** Did the evaluation come to it? What is told of the others is what would have been. */
  readonly reached: boolean;
  readonly matched: boolean;
  /** Why it did not match. */
  readonly miss: Miss | null;
  /** Why it could not be computed. */
  readonly failure: FailureCode | null;
  /** What it is about; null is the person. */
  readonly group_type_index: number | null;
  readonly group_type: string | null;
  readonly properties: readonly PropertyTrace[];
  /** null where the properties have decided already. */
  readonly rollout: RolloutTrace | null;
  /** null where it does not match, or the flag has no variants. */
  readonly variant: VariantTrace | null;
  /** What would have had to differ for it to match. */
  readonly hint: string | null;
}

interface EnrollmentTrace {
  readonly form: "feature_enrollment" | "super_groups";
  readonly properties: readonly PropertyTrace[];
  /** Did it decide the flag? */
  readonly decided: boolean;
}

export interface HoldoutTrace {
  readonly variant: string;
  readonly percentage: number;
  readonly hash: HashTrace | null;
  readonly threshold: number;
  readonly held_out: boolean;
}

/** Why a flag is what it is, as JSON. */
export interface Explanation {
  readonly key: string;
  readonly id: number;
  readonly active: boolean;
  readonly value: boolean | string;
  readonly enabled: boolean;
  readonly variant: string | null;
  readonly payload: string | null;
  readonly failed: boolean;
  readonly reason: { readonly code: string; readonly description: string };
  readonly condition_index: number | null;
  /** null where the flag has none. */
  readonly enrollment: EnrollmentTrace | null;
  /** null where the flag has none, or enrolment has decided. */
  readonly holdout: HoldoutTrace | null;
  readonly conditions: readonly ConditionTrace[];
  /** What would have had to differ for the flag to be on. */
  readonly hint: string | null;
}

/** Keeps what an evaluation tells. */
function createTape() {
  const hashes: HashUse[] = [];
  const tried = new Set<number>();
  const recorder: Recorder = {
    hashed: (use) => hashes.push(use),
    tried: (index) => tried.add(index),
  };
  return { recorder, tried, hashOf: (use: HashUse["use"]) => hashes.find((it) => it.use === use) };
}

function hashTrace(flagKey: string, use: HashUse): HashTrace {
  const { identifier, kind, bucket } = use;
  const salt = use.use === "variant" ? "variant" : "";
  return {
    input: use.use === "holdout" ? holdoutInput(identifier) : bucketInput(flagKey, identifier, salt),
    identifier,
    identifier_kind: kind,
    hash: bucket,
  };
}

/** What a condition set comes to, asked for itself; the same function as in an evaluation. */
type Outcome =
  | { readonly miss: Miss; readonly failure: null }
  | { readonly miss: null; readonly failure: FailureCode }
  | { readonly miss: null; readonly failure: null; readonly decision: Decision };

function outcomeOf(compiled: CompiledFlag, condition: Condition, run: Run): Outcome {
  try {
    const miss = missOf(compiled, condition, run);
    if (miss !== undefined) return { miss, failure: null };
    return { miss: null, failure: null, decision: matchOf(compiled, condition, run) };
  } catch (error) {
    if (error instanceof FlagFailure) return { miss: null, failure: error.code };
    throw error;
  }
}

function rolloutTrace(flagKey: string, condition: Condition, use: HashUse | undefined): RolloutTrace {
  const percentage = condition.rollout;
  return {
    percentage,
    hash: use ? hashTrace(flagKey, use) : null,
    threshold: percentage / 100,
    passed: use === undefined || isWithin(use.bucket, percentage),
  };
}

function variantTrace(
  compiled: CompiledFlag,
  condition: Condition,
  decision: Decision,
  use: HashUse | undefined,
): VariantTrace | null {
  if (compiled.variants.length === 0) return null;
  const ranges = compiled.variants.map((variant, i) => ({
    variant,
    from: compiled.variantEnds[i - 1] ?? 0,
    to: compiled.variantEnds[i] ?? 0,
    hit: condition.matched.indexOf(decision) === i,
  }));
  return {
    forced: condition.forced?.variant ?? null,
    hash: use ? hashTrace(compiled.flag.key, use) : null,
    ranges,
  };
}

/** What the traces of one flag have in common. */
interface Scene {
  readonly ruleset: Ruleset;
  readonly entry: Entry;
  readonly run: Run;
  readonly reached: ReadonlySet<number>;
}

function explainCondition({ ruleset, entry, run, reached }: Scene, condition: Condition): ConditionTrace {
  const { compiled } = entry;
  const tape = createTape();
  const outcome = outcomeOf(compiled, condition, { ...run, recorder: tape.recorder });
  const isMatch = "decision" in outcome;
  const type = condition.aggregation;
  const wasHashed = isMatch || outcome.miss === "out_of_rollout_bound";
  const rollout = wasHashed ? rolloutTrace(compiled.flag.key, condition, tape.hashOf("rollout")) : null;
  const trace = {
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
  };
  return { ...trace, hint: isMatch ? null : conditionHint(trace) };
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

function explainHoldout({ entry }: Scene, decision: Decision, use: HashUse | undefined): HoldoutTrace | null {
  const { holdout, flag } = entry.compiled;
  const isHeldOut = decision === holdout?.decision;
  if (!holdout || (use === undefined && !isHeldOut)) return null;
  return {
    variant: holdout.decision.variant ?? "",
    percentage: holdout.percentage,
    hash: use ? hashTrace(flag.key, use) : null,
    threshold: holdout.percentage / 100,
    held_out: isHeldOut,
  };
}

/**
 * Why a flag is what it is for a subject: the evaluation of `evaluateRuleset`, told. undefined when the
 * project has no flag with the key. An inactive or deleted flag is off because it is disabled; what its
 * conditions would have come to is told, too. Flags that are not selected are `false` to the flag.
 */
export function explainFlag(
  ruleset: Ruleset,
  key: string,
  subject: Subject,
  isSelected?: Selection["isSelected"],
): Explanation | undefined {
  const entry = entryOf(ruleset, key);
  if (!entry) return undefined;
  const tape = createTape();
  const trial = tryFlag(ruleset, entry, subject, isSelected, tape.recorder);
  const { decision = off("flag_disabled", null), run } = trial;
  const scene: Scene = { ruleset, entry, run, reached: tape.tried };
  const { flag, conditions } = entry.compiled;
  const told = {
    key: flag.key,
    id: flag.id,
    active: flag.active && !flag.deleted,
    value: decision.value,
    enabled: decision.enabled,
    variant: decision.variant,
    payload: decision.payload,
    failed: decision.failed,
    reason: decision.reason,
    condition_index: decision.condition_index,
    enrollment: explainEnrollment(scene, decision),
    holdout: explainHoldout(scene, decision, tape.hashOf("holdout")),
    conditions: conditions.map((condition) => explainCondition(scene, condition)),
  };
  return { ...told, hint: flagHint(told) };
}

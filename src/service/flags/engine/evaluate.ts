import { bucketOf, holdoutBucketOf, identifierKindOf, identifierOf, isWithin } from "./bucket-hash.ts";
import { noCohorts } from "./cohorts.ts";
import type { CompiledFlag, Condition } from "./compile.ts";
import { type Decision, failed } from "./decision.ts";
import { FlagFailure, type MissCode, reasons } from "./reasons.ts";
import { decideByRules } from "./rules.ts";
import type { EvaluationRun, Subject } from "./run.ts";

/** Why a condition set does not apply. Without a device it is passed over like a missed rollout. */
export type ConditionMiss = MissCode | "no_device";

function passesAll({ tests, cohorts }: Condition, run: EvaluationRun): boolean {
  for (const test of tests) if (!test.passes(run)) return false;
  // All are computed before any is compared: one that cannot be fails the flag.
  for (const test of cohorts) test.isMember(run);
  for (const test of cohorts) if (!test.passes(run)) return false;
  return true;
}

function hashed(
  compiled: CompiledFlag,
  aggregation: number | null,
  run: EvaluationRun,
  use: "rollout" | "variant",
): number {
  const { key } = compiled.flag;
  const kind = identifierKindOf(compiled, aggregation, run.subject, false);
  const identifier = identifierOf(kind, key, aggregation, run.subject);
  const bucket = run.bucketOf(key, identifier, use === "variant" ? "variant" : "");
  run.recorder?.hashed({ use, identifier, kind, bucket });
  return bucket;
}

function missAs(compiled: CompiledFlag, condition: Condition, run: EvaluationRun): MissCode | undefined {
  if (!passesAll(condition, run)) return "no_condition_match";
  const { rollout, aggregation } = condition;
  if (rollout >= 100 || isWithin(hashed(compiled, aggregation, run, "rollout"), rollout)) return undefined;
  return "out_of_rollout_bound";
}

/** Why a condition set does not apply; undefined when it does. @throws FlagFailure */
export function missOf(compiled: CompiledFlag, condition: Condition, run: EvaluationRun): ConditionMiss | undefined {
  run.recorder?.tried(condition.index);
  const { aggregation } = condition;
  if (aggregation !== null && !run.subject.group(aggregation)) return "no_group_type";
  if (aggregation === null && compiled.byDevice && !run.subject.deviceId) return "no_device";
  return missAs(compiled, condition, run);
}

export function matchOf(compiled: CompiledFlag, condition: Condition, run: EvaluationRun): Decision {
  if (condition.forced) return condition.forced;
  const { variantEnds } = compiled;
  let position = 0;
  if (variantEnds.length > 0) {
    const bucket = hashed(compiled, condition.aggregation, run, "variant");
    while (position < variantEnds.length && bucket >= (variantEnds[position] ?? 0)) position++;
  }
  return condition.matched[position] ?? compiled.unconditioned;
}

/** The condition sets in their order; without a match the best miss, of equals the later one. */
function tryConditions(compiled: CompiledFlag, run: EvaluationRun): Decision {
  let best = compiled.unconditioned;
  let score: number = reasons.no_group_type.score;
  let last: Condition | undefined;
  let lacksGroup = false;
  for (const condition of compiled.conditions) {
    const miss = missOf(compiled, condition, run);
    if (miss === undefined) return matchOf(compiled, condition, run);
    if (miss === "out_of_rollout_bound" && compiled.earlyExit) return condition.missed[miss];
    if (miss === "no_group_type") lacksGroup = true;
    const code = miss === "no_device" ? "out_of_rollout_bound" : miss;
    if (reasons[code].score >= score) {
      best = condition.missed[code];
      score = reasons[code].score;
      last = condition;
    }
  }
  return lacksGroup && last && best === last.missed.no_condition_match ? last.missedWithoutGroups : best;
}

function enrolled({ enrollment }: CompiledFlag, { subject }: EvaluationRun): Decision | undefined {
  const choice = enrollment && subject.property(enrollment.property);
  if (enrollment === undefined || choice === undefined) return undefined;
  return choice === true || choice === "true" ? enrollment.on : enrollment.off;
}

function superDecided(compiled: CompiledFlag, run: EvaluationRun): Decision | undefined {
  const { superCondition } = compiled;
  if (!superCondition?.condition.filters.some(({ key }) => run.subject.property(key) !== undefined)) return undefined;
  const miss = missAs(compiled, superCondition.condition, run);
  return miss === undefined ? superCondition.on : superCondition.off;
}

function heldOut(compiled: CompiledFlag, run: EvaluationRun): Decision | undefined {
  const { holdout, aggregation } = compiled;
  if (!holdout) return undefined;
  if (holdout.percentage >= 100) return holdout.decision;
  const kind = identifierKindOf(compiled, aggregation, run.subject, true);
  const identifier = identifierOf(kind, compiled.flag.key, aggregation, run.subject);
  const bucket = holdoutBucketOf(identifier);
  run.recorder?.hashed({ use: "holdout", identifier, kind, bucket });
  return isWithin(bucket, holdout.percentage) ? holdout.decision : undefined;
}

/**
 * What a flag is in a run: enrolment, holdout, then the condition sets. Never throws a FlagFailure: it
 * becomes a decision with `failed`. Upstream PostHog rust/feature-flags, flag_matching.
 */
export function decide(compiled: CompiledFlag, run: EvaluationRun): Decision {
  if (compiled.failed) return compiled.failed;
  try {
    if (compiled.rules) return decideByRules(compiled.rules, run);
    return (
      enrolled(compiled, run) ?? superDecided(compiled, run) ?? heldOut(compiled, run) ?? tryConditions(compiled, run)
    );
  } catch (error) {
    if (error instanceof FlagFailure) return failed(error.code, error.message);
    throw error;
  }
}

const noValues: EvaluationRun["values"] = new Map();

/**
 * What a flag is for a subject on its own, where neither cohorts nor other flags are known: filters on
 * cohorts fail it, filters on flags match nothing. `evaluateRuleset` knows them.
 */
export const evaluateFlag = (compiled: CompiledFlag, subject: Subject): Decision =>
  decide(compiled, {
    id: {},
    subject,
    cohorts: noCohorts,
    bucketOf,
    values: noValues,
    members: undefined,
    recorder: undefined,
  });

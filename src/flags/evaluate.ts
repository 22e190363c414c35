import type { Json } from "../kernel/json.ts";
import { bucketOf, holdoutBucketOf, isWithin } from "./bucket.ts";
import type { CompiledFlag, Condition, PropertyTest } from "./compile.ts";
import { type Decision, failed } from "./decision.ts";
import { FlagFailure, type MissCode, reasons } from "./reasons.ts";
import type { Subject } from "./subject.ts";

type Lookup = (name: string) => Json | undefined;

/** Ends the evaluation, or is a miss on the way. */
type Step = { readonly decision: Decision; readonly miss: MissCode | undefined };

function passesAll(tests: readonly PropertyTest[], lookup: Lookup, now: number): boolean {
  for (const test of tests) {
    const value = lookup(test.key);
    if (value === undefined ? !test.missing : !test.passes(value, now)) return false;
  }
  return true;
}

/** What the person is hashed by; undefined when the flag wants a device and the request names none. */
function personIdentifier(compiled: CompiledFlag, subject: Subject): string | undefined {
  if (compiled.bucketing === "device_id") return subject.deviceId;
  if (compiled.bucketing === "distinct_id") return subject.distinctId;
  const key = subject.continuityKey();
  if (key === undefined) throw new FlagFailure("hash_key_override_error");
  return key;
}

function pickVariant(compiled: CompiledFlag, condition: Condition, identifier: () => string): Decision {
  const { variantEnds } = compiled;
  let position = 0;
  if (variantEnds.length > 0) {
    const bucket = bucketOf(compiled.flag.key, identifier(), "variant");
    while (position < variantEnds.length && bucket >= (variantEnds[position] ?? 0)) position++;
  }
  return condition.matched[position] ?? compiled.unconditioned;
}

/** Tries one condition set for the person or group it is about. The identifier is asked for only if hashed. */
function tryAs(
  compiled: CompiledFlag,
  condition: Condition,
  identifier: () => string,
  lookup: Lookup,
  now: number,
): Step {
  if (!passesAll(condition.tests, lookup, now)) return missed(condition, "no_condition_match");
  const inRollout =
    condition.rollout >= 100 || isWithin(bucketOf(compiled.flag.key, identifier(), ""), condition.rollout);
  if (!inRollout) return missed(condition, "out_of_rollout_bound");
  return { decision: condition.forced ?? pickVariant(compiled, condition, identifier), miss: undefined };
}

const missed = (condition: Condition, miss: MissCode): Step => ({ decision: condition.missed[miss], miss });

function tryCondition(compiled: CompiledFlag, condition: Condition, subject: Subject): Step {
  if (condition.aggregation !== null) {
    const group = subject.group(condition.aggregation);
    if (!group) return missed(condition, "no_group_type");
    return tryAs(
      compiled,
      condition,
      () => group.key,
      (name) => group.property(name),
      subject.now,
    );
  }
  if (compiled.bucketing === "device_id" && !subject.deviceId)
    return missed(condition, "out_of_rollout_bound");
  return tryAs(
    compiled,
    condition,
    () => personIdentifier(compiled, subject) ?? "",
    (name) => subject.property(name),
    subject.now,
  );
}

/** The condition sets in their order; without a match the best miss, of equals the later one. */
function tryConditions(compiled: CompiledFlag, subject: Subject): Decision {
  let best = compiled.unconditioned;
  let score: number = reasons.no_group_type.score;
  for (const condition of compiled.conditions) {
    const { decision, miss } = tryCondition(compiled, condition, subject);
    if (miss === undefined || (compiled.earlyExit && miss === "out_of_rollout_bound")) return decision;
    if (reasons[miss].score >= score) {
      best = decision;
      score = reasons[miss].score;
    }
  }
  return best;
}

function enrolled({ enrollment }: CompiledFlag, subject: Subject): Decision | undefined {
  const choice = enrollment && subject.property(enrollment.property);
  if (enrollment === undefined || choice === undefined) return undefined;
  return choice === true || choice === "true" ? enrollment.on : enrollment.off;
}

function superDecided(compiled: CompiledFlag, subject: Subject): Decision | undefined {
  const { superCondition } = compiled;
  if (!superCondition?.condition.tests.some((test) => subject.property(test.key) !== undefined))
    return undefined;
  const { miss } = tryCondition(compiled, superCondition.condition, subject);
  return miss === undefined ? superCondition.on : superCondition.off;
}

function heldOut(compiled: CompiledFlag, subject: Subject): Decision | undefined {
  const { holdout, aggregation } = compiled;
  if (!holdout) return undefined;
  const identifier =
    aggregation === null ? personIdentifier(compiled, subject) : subject.group(aggregation)?.key;
  return isWithin(holdoutBucketOf(identifier ?? ""), holdout.percentage) ? holdout.decision : undefined;
}

/**
 * What a flag is for a subject: enrolment, holdout, then the condition sets. Never throws a FlagFailure: it
 * becomes a decision with `failed`. Upstream PostHog rust/feature-flags, flag_matching.
 */
export function evaluateFlag(compiled: CompiledFlag, subject: Subject): Decision {
  if (compiled.failed) return compiled.failed;
  try {
    return (
      enrolled(compiled, subject) ??
      superDecided(compiled, subject) ??
      heldOut(compiled, subject) ??
      tryConditions(compiled, subject)
    );
  } catch (error) {
    if (error instanceof FlagFailure) return failed(error.code);
    throw error;
  }
}

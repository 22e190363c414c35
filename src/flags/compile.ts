import { isObject, type Json } from "../kernel/json.ts";
import type { FeatureFlag } from "../model/world.ts";
import { type Decision, failed, off, on, payloadText } from "./decision.ts";
import { operatorOf } from "./operators.ts";
import { type FailureCode, FlagFailure, type MissCode } from "./reasons.ts";

type Filters = FeatureFlag["filters"];
type ConditionSet = NonNullable<Filters["groups"]>[number];
type PropertyFilter = NonNullable<ConditionSet["properties"]>[number];

/** One property filter, ready to be asked. */
export interface PropertyTest {
  readonly key: string;
  /** The result for an absent property. */
  readonly missing: boolean;
  passes(value: Json, now: number): boolean;
}

export interface Condition {
  /** Index of the group type whose key is hashed and whose properties are read; null is the person. */
  readonly aggregation: number | null;
  readonly tests: readonly PropertyTest[];
  /** Percent; 100 and more needs no hash. */
  readonly rollout: number;
  /** The variant that this set forces on who matches. */
  readonly forced: Decision | undefined;
  /** What a match gives, by the variant's position; the last is the one without a variant. */
  readonly matched: readonly Decision[];
  readonly missed: Readonly<Record<MissCode, Decision>>;
}

export interface Enrollment {
  readonly on: Decision;
  readonly off: Decision;
  /** The person property that holds the choice. */
  readonly property: string;
}

/** The legacy form of enrolment: its condition decides as soon as the person has one of its properties. */
interface SuperCondition {
  readonly condition: Condition;
  readonly on: Decision;
  readonly off: Decision;
}

interface Holdout {
  readonly percentage: number;
  readonly decision: Decision;
}

/** A flag with everything worked out that does not depend on the subject. */
export interface CompiledFlag {
  readonly flag: FeatureFlag;
  /** Set when the flag cannot be computed for anybody. */
  readonly failed: Decision | undefined;
  readonly bucketing: "distinct_id" | "device_id" | "continuity";
  /** Group type whose key is hashed for holdouts; null is the person. */
  readonly aggregation: number | null;
  readonly enrollment: Enrollment | undefined;
  readonly superCondition: SuperCondition | undefined;
  readonly holdout: Holdout | undefined;
  readonly conditions: readonly Condition[];
  /** Upper ends of the variants' ranges in [0, 1], in order. */
  readonly variantEnds: readonly number[];
  /** Stop at the first set whose properties match but whose rollout does not. */
  readonly earlyExit: boolean;
  /** The value when there is no condition set at all. */
  readonly unconditioned: Decision;
}

const indexOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** A set without the key follows the flag; with null it is about the person. */
const aggregationOf = (set: ConditionSet, filters: Filters): number | null =>
  indexOf(
    Object.hasOwn(set, "aggregation_group_type_index")
      ? set.aggregation_group_type_index
      : filters.aggregation_group_type_index,
  );

/** Filter types whose evaluation has a name of its own in the failure. */
const unsupportedTypes: ReadonlyMap<unknown, FailureCode> = new Map<unknown, FailureCode>([
  ["cohort", "unsupported_cohort"],
  ["flag", "unsupported_flag_dependency"],
]);

/** A filter reads the properties of what the set is about; anything else is refused. */
function checkType(filter: PropertyFilter, aggregation: number | null): void {
  const type = filter.type ?? (aggregation === null ? "person" : "group");
  const index = filter.group_type_index ?? aggregation;
  const fits = aggregation === null ? type === "person" : type === "group" && index === aggregation;
  if (!fits) throw new FlagFailure(unsupportedTypes.get(type) ?? "unsupported_property_type");
}

function compileFilter(filter: PropertyFilter, aggregation: number | null): PropertyTest {
  checkType(filter, aggregation);
  if (filter.negation === true) throw new FlagFailure("unsupported_operator");
  const operator = operatorOf(typeof filter.operator === "string" ? filter.operator : "exact");
  // The document is JSON: zod's loose objects only forget it.
  const passes = operator.prepare((filter.value ?? null) as Json);
  return { key: filter.key, missing: operator.missing, passes };
}

const variantsOf = (filters: Filters): string[] =>
  (filters.multivariate?.variants ?? []).map((variant) => variant.key);

function compileCondition(set: ConditionSet, index: number, filters: Filters): Condition {
  const aggregation = aggregationOf(set, filters);
  const variants = variantsOf(filters);
  const decide = (variant: string | null) => on("condition_match", index, variant, filters.payloads);
  return {
    aggregation,
    tests: (set.properties ?? []).map((filter) => compileFilter(filter, aggregation)),
    rollout: set.rollout_percentage ?? 100,
    forced: set.variant && variants.includes(set.variant) ? decide(set.variant) : undefined,
    matched: [...variants, null].map(decide),
    missed: {
      out_of_rollout_bound: off("out_of_rollout_bound", index),
      no_condition_match: off("no_condition_match", index),
      no_group_type: off("no_group_type", index),
    },
  };
}

function superDecisions(filters: Filters) {
  const payload = payloadText(filters.payloads, "true");
  return {
    on: on("super_condition_value", 0, null, filters.payloads),
    off: off("super_condition_value", 0, payload),
  };
}

const compileEnrollment = (flag: FeatureFlag): Enrollment | undefined =>
  flag.filters.feature_enrollment === true
    ? { property: `$feature_enrollment/${flag.key}`, ...superDecisions(flag.filters) }
    : undefined;

const firstOf = (list: unknown): ConditionSet | undefined =>
  // Shaped like a condition set; compileCondition reads every key defensively.
  Array.isArray(list) && isObject(list[0]) ? (list[0] as ConditionSet) : undefined;

function compileSuperCondition(filters: Filters): SuperCondition | undefined {
  const set = firstOf(filters.super_groups);
  return set && { condition: compileCondition(set, 0, filters), ...superDecisions(filters) };
}

function compileHoldout(filters: Filters): Holdout | undefined {
  const { holdout } = filters;
  if (isObject(holdout)) {
    const variant = `holdout-${String(holdout.id)}`;
    return holdoutOf(holdout.exclusion_percentage, variant, filters);
  }
  const legacy = firstOf(filters.holdout_groups);
  if (!legacy) return undefined;
  return holdoutOf(legacy.rollout_percentage ?? 100, legacy.variant ?? "holdout", filters);
}

function holdoutOf(percentage: unknown, variant: string, filters: Filters): Holdout {
  if (typeof percentage !== "number") throw new FlagFailure("unsupported_filter_value");
  return { percentage, decision: on("holdout_condition_value", null, variant, filters.payloads) };
}

function variantEnds(filters: Filters): number[] {
  let end = 0;
  return (filters.multivariate?.variants ?? []).map((variant) => {
    end += variant.rollout_percentage / 100;
    return end;
  });
}

const bucketingOf = (flag: FeatureFlag): CompiledFlag["bucketing"] => {
  if (flag.bucketing_identifier === "device_id") return "device_id";
  return flag.ensure_experience_continuity ? "continuity" : "distinct_id";
};

/** Every part that depends on filters which may be refused. */
function compileRules(flag: FeatureFlag) {
  const { filters } = flag;
  try {
    return {
      failed: undefined,
      superCondition: compileSuperCondition(filters),
      holdout: compileHoldout(filters),
      conditions: (filters.groups ?? []).map((set, index) => compileCondition(set, index, filters)),
    };
  } catch (error) {
    if (!(error instanceof FlagFailure)) throw error;
    return { failed: failed(error.code), superCondition: undefined, holdout: undefined, conditions: [] };
  }
}

/**
 * Works out what does not depend on the subject. A flag with a filter that cannot be evaluated is failed
 * as a whole: even where another set would match, upstream may have decided otherwise.
 */
export const compileFlag = (flag: FeatureFlag): CompiledFlag => ({
  flag,
  ...compileRules(flag),
  bucketing: bucketingOf(flag),
  aggregation: indexOf(flag.filters.aggregation_group_type_index),
  enrollment: compileEnrollment(flag),
  variantEnds: variantEnds(flag.filters),
  earlyExit: flag.filters.early_exit === true,
  unconditioned: off("no_group_type", null),
});

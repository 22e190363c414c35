import { isObject, type JsonObject } from "../../../kernel/base/json.ts";
import { rulesVersionOf } from "../../../state/documents/flag-config.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { type Decision, failed, off, offWithoutGroups, on, payloadText } from "./decision.ts";
import {
  type CohortTest,
  type ConditionSet,
  type Filters,
  type FilterTest,
  type FlagMatching,
  filterTest,
  type PropertyFilter,
} from "./filters.ts";
import { defaultMatching } from "./operators.ts";
import { FlagFailure, type MissCode } from "./reasons.ts";
import { type CompiledRules, compileRules } from "./rules.ts";
import { referenceIn, textOf } from "./values.ts";

export interface Condition {
  readonly index: number;
  /** Index of the group type whose key is hashed; null is the person. */
  readonly aggregation: number | null;
  readonly filters: readonly FilterTest[];
  /** Those on properties and flags, in order; cohorts are asked last. */
  readonly tests: readonly FilterTest[];
  readonly cohorts: readonly CohortTest[];
  /** Percent; 100 and more needs no hash. */
  readonly rollout: number;
  readonly forced: Decision | undefined;
  /** What a match gives, by the variant's position; the last is the one without a variant. */
  readonly matched: readonly Decision[];
  readonly missed: Readonly<Record<MissCode, Decision>>;
  /** `no_condition_match` when other sets were passed over for want of a group. */
  readonly missedWithoutGroups: Decision;
}

interface Enrollment {
  readonly on: Decision;
  readonly off: Decision;
  readonly property: string;
}

/** The legacy form of enrolment: its condition decides as soon as the person has one of its properties. */
interface SuperCondition {
  readonly condition: Condition;
  readonly on: Decision;
  readonly off: Decision;
}

interface Holdout {
  /** 0–100 */
  readonly percentage: number;
  readonly decision: Decision;
}

/** A flag with everything worked out that depends neither on the subject nor on other flags or cohorts. */
export interface CompiledFlag {
  readonly flag: FeatureFlag;
  /** Set when the flag cannot be computed for any subject. */
  readonly failed: Decision | undefined;
  /** The device is hashed, if there is one. */
  readonly byDevice: boolean;
  /** What is hashed for a person is kept over its identification. */
  readonly isContinuous: boolean;
  /** Group type whose key is hashed for holdouts; null is the person. */
  readonly aggregation: number | null;
  /** Set for rules of version 2; all below is then empty. */
  readonly rules: CompiledRules | undefined;
  readonly enrollment: Enrollment | undefined;
  readonly superCondition: SuperCondition | undefined;
  readonly holdout: Holdout | undefined;
  readonly conditions: readonly Condition[];
  readonly dependencies: readonly (number | string)[];
  readonly variants: readonly string[];
  /** Upper ends of the variants' ranges in [0, 1], in order. */
  readonly variantEnds: readonly number[];
  /** Stop at the first set whose properties match but whose rollout does not. */
  readonly earlyExit: boolean;
  readonly unconditioned: Decision;
}

const indexOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

/** A set without the key follows the flag; with null it is about the person. */
export const aggregationOf = (set: ConditionSet, filters: Filters): number | null =>
  indexOf(
    Object.hasOwn(set, "aggregation_group_type_index")
      ? set.aggregation_group_type_index
      : filters.aggregation_group_type_index,
  );

const variantsOf = (filters: Filters): string[] => (filters.multivariate?.variants ?? []).map((variant) => variant.key);

/** Only the sets of `groups` are checked before they get here. */
function filtersIn({ properties }: ConditionSet): readonly PropertyFilter[] {
  if (!Array.isArray(properties)) return [];
  const isSound = properties.every((it) => isObject(it) && typeof it.key === "string");
  if (!isSound) throw new FlagFailure("unsupported_filter_value");
  return properties;
}

interface Place {
  readonly index: number;
  readonly aggregation: number | null;
  readonly hasGroups: boolean;
}

function compileCondition(set: ConditionSet, place: Place, filters: Filters, matching: FlagMatching): Condition {
  const { index, aggregation } = place;
  const variants = variantsOf(filters);
  const decide = (variant: string | null) => on("condition_match", index, variant, filters.payloads);
  const all = filtersIn(set).map((filter) => filterTest(filter, place, matching));
  return {
    index,
    aggregation,
    filters: all,
    tests: all.filter(({ about }) => about !== "cohort"),
    cohorts: all.filter((test) => test.about === "cohort"),
    rollout: set.rollout_percentage ?? 100,
    forced: set.variant && variants.includes(set.variant) ? decide(set.variant) : undefined,
    matched: [...variants, null].map(decide),
    missed: {
      out_of_rollout_bound: off("out_of_rollout_bound", index),
      no_condition_match: off("no_condition_match", index),
      no_group_type: off("no_group_type", index),
    },
    missedWithoutGroups: offWithoutGroups(index),
  };
}

function superDecisions(filters: Filters) {
  const payload = payloadText(filters.payloads, "true");
  return { on: on("super_condition_value", 0, null, filters.payloads), off: off("super_condition_value", 0, payload) };
}

const compileEnrollment = (flag: FeatureFlag): Enrollment | undefined =>
  flag.filters.feature_enrollment === true
    ? { property: `$feature_enrollment/${flag.key}`, ...superDecisions(flag.filters) }
    : undefined;

const firstOf = (list: unknown): ConditionSet | undefined =>
  // Shaped like a condition set; compileCondition reads every key defensively.
  Array.isArray(list) && isObject(list[0]) ? (list[0] as ConditionSet) : undefined;

/** Always about the person; not looked at where the newer form of enrolment is used. */
function compileSuperCondition(filters: Filters, matching: FlagMatching): SuperCondition | undefined {
  const set = filters.feature_enrollment === true ? undefined : firstOf(filters.super_groups);
  if (!set) return undefined;
  const place = { index: 0, aggregation: null, hasGroups: false };
  return { condition: compileCondition(set, place, filters, matching), ...superDecisions(filters) };
}

function compileHoldout(filters: Filters): Holdout | undefined {
  const { holdout } = filters;
  if (isObject(holdout)) {
    const variant = `holdout-${textOf(holdout.id ?? null)}`;
    return holdoutOf(holdout.exclusion_percentage, variant, filters);
  }
  const legacy = firstOf(filters.holdout_groups);
  if (!legacy) return undefined;
  return holdoutOf(legacy.rollout_percentage ?? 100, legacy.variant ?? "holdout", filters);
}

function holdoutOf(percentage: unknown, variant: string, filters: Filters): Holdout {
  if (typeof percentage !== "number") throw new FlagFailure("unsupported_filter_value");
  const decision = on("holdout_condition_value", null, variant, filters.payloads);
  return { percentage: Math.min(Math.max(percentage, 0), 100), decision };
}

function variantEnds(filters: Filters): number[] {
  let end = 0;
  return (filters.multivariate?.variants ?? []).map((variant) => {
    end += variant.rollout_percentage / 100;
    return end;
  });
}

/** Read from the document: a flag that cannot be compiled still takes part in circles. */
const referencesIn = ({ groups = [] }: Filters): (number | string)[] => [
  ...new Set(
    groups.flatMap(({ properties = [] }) =>
      properties.flatMap(({ type, key }) => (type === "flag" ? [referenceIn(key) ?? key] : [])),
    ),
  ),
];

/** Every part that depends on filters which may be refused. */
function compileSets({ filters }: FeatureFlag, matching: FlagMatching) {
  try {
    const conditions = (filters.groups ?? []).map((set, index) => {
      const place = { index, aggregation: aggregationOf(set, filters), hasGroups: true };
      return compileCondition(set, place, filters, matching);
    });
    return {
      failed: undefined,
      superCondition: compileSuperCondition(filters, matching),
      holdout: compileHoldout(filters),
      conditions,
      dependencies: referencesIn(filters),
    };
  } catch (error) {
    if (!(error instanceof FlagFailure)) throw error;
    return { failed: failed(error.code), conditions: [], dependencies: referencesIn(filters) };
  }
}

function compileOther(filters: Filters, matching: FlagMatching) {
  if (rulesVersionOf(filters) === undefined) return { failed: failed("unsupported_config_version") };
  try {
    // The document is JSON: zod's loose objects only forget it.
    return { rules: compileRules(filters as JsonObject, matching) };
  } catch (error) {
    if (!(error instanceof FlagFailure)) throw error;
    return { failed: failed(error.code, error.message) };
  }
}

/**
 * Works out what does not depend on the subject. A flag with a filter that cannot be evaluated is failed
 * as a whole: even where another set would match, upstream may have decided otherwise. So is a flag whose rules
 * are of an unknown version.
 */
export function compileFlag(flag: FeatureFlag, matching: FlagMatching = defaultMatching): CompiledFlag {
  const hasSets = rulesVersionOf(flag.filters) === 1;
  const readable = hasSets ? flag : { ...flag, filters: {} };
  const { filters } = readable;
  return {
    flag,
    rules: undefined,
    superCondition: undefined,
    holdout: undefined,
    ...compileSets(readable, matching),
    ...(!hasSets && compileOther(flag.filters, matching)),
    byDevice: hasSets && flag.bucketing_identifier === "device_id",
    isContinuous: hasSets && flag.ensure_experience_continuity,
    aggregation: indexOf(filters.aggregation_group_type_index),
    enrollment: compileEnrollment(readable),
    variants: variantsOf(filters),
    variantEnds: variantEnds(filters),
    earlyExit: filters.early_exit === true,
    unconditioned: off("no_group_type", null),
  };
}

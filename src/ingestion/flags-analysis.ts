import { type ConditionTrace, type Explanation, explainFlag } from "../flags/explain.ts";
import type { PropertyTrace } from "../flags/explain-filters.ts";
import type { Ruleset } from "../flags/ruleset.ts";
import type { Subject } from "../flags/subject.ts";
import type { Json } from "../kernel/json.ts";
import type { FeatureFlag } from "../model/world.ts";

/** A filter as `?detailed_analysis` tells it. */
interface PropertyAnalysis {
  readonly key: string;
  readonly operator: string;
  readonly value: Json;
  readonly type: string;
  readonly actual_value: Json;
  readonly matched: boolean;
  readonly explanation: string;
}

/** A condition set as `?detailed_analysis` tells it. */
export interface ConditionAnalysis {
  readonly index: number;
  readonly properties: readonly PropertyAnalysis[];
  readonly rollout_percentage: number;
  readonly variant: string | null;
  /** Did it decide the flag? */
  readonly matched: boolean;
  readonly properties_matched: boolean;
  readonly rollout_excluded: boolean;
  readonly explanation: string;
}

/** What others are or are in is not told: who may see this flag may not see those. */
const isTold = ({ type }: PropertyTrace): boolean => type !== "flag" && type !== "cohort";

function propertyAnalysis(trace: PropertyTrace): PropertyAnalysis {
  const { key, operator, expected, type, passed } = trace;
  const subject = type === "flag" ? "Flag" : "Property";
  return {
    key,
    operator,
    value: expected,
    type,
    actual_value: (isTold(trace) ? trace.actual : undefined) ?? null,
    matched: passed,
    explanation: `${subject} '${key}' ${passed ? "passes" : "does not pass"} ${operator} ${JSON.stringify(expected)}`,
  };
}

function explanationOf(trace: ConditionTrace, isWinner: boolean): string {
  const name = `Condition ${trace.index + 1}`;
  if (isWinner) return `${name} matched`;
  if (trace.matched) return `${name} would match, but the flag was decided before it`;
  return trace.hint ?? `${name} did not match`;
}

function conditionAnalysis(flag: FeatureFlag, told: Explanation, trace: ConditionTrace): ConditionAnalysis {
  const group = flag.filters.groups?.[trace.index];
  const isWinner = told.reason.code === "condition_match" && told.condition_index === trace.index;
  return {
    index: trace.index,
    properties: trace.properties.map(propertyAnalysis),
    rollout_percentage: group?.rollout_percentage ?? 100,
    variant: group?.variant ?? null,
    matched: isWinner,
    properties_matched: trace.properties.every(({ passed }) => passed),
    rollout_excluded: trace.miss === "out_of_rollout_bound",
    explanation: explanationOf(trace, isWinner),
  };
}

/** Enrolment stands before the condition sets, which are counted from 0. */
const enrollmentIndex = -1;
const holdoutIndex = -2;

/** What decides a flag before its condition sets do. */
function before(told: Explanation): ConditionAnalysis[] {
  const fixed = { rollout_percentage: 100, rollout_excluded: false };
  const enrollment = told.enrollment && {
    ...fixed,
    index: enrollmentIndex,
    properties: told.enrollment.properties.map(propertyAnalysis),
    variant: null,
    matched: told.enrollment.decided && told.enabled,
    properties_matched: told.enrollment.properties.every(({ passed }) => passed),
    explanation: told.enrollment.decided ? "Enrolment decided the flag" : "Enrolment says nothing",
  };
  const holdout = told.holdout?.held_out && {
    ...fixed,
    index: holdoutIndex,
    properties: [],
    variant: told.variant,
    matched: true,
    properties_matched: true,
    explanation: `Held out: ${told.holdout.percentage}% of all are`,
  };
  return [enrollment, holdout].filter((it) => typeof it === "object" && it !== null);
}

/**
 * What each condition set of a flag came to, in the shape of the service's evaluation tests. Upstream
 * PostHog rust/feature-flags, api/types (ConditionAnalysis); the explanations are the sim's.
 */
export function conditionsOf(ruleset: Ruleset, flag: FeatureFlag, subject: Subject): ConditionAnalysis[] {
  const told = explainFlag(ruleset, flag.key, subject);
  if (!told) return [];
  return [...before(told), ...told.conditions.map((trace) => conditionAnalysis(flag, told, trace))];
}

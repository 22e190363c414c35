import type { Json } from "../../../kernel/base/json.ts";
import { rulesVersionOf } from "../../../state/documents/flag-config.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import type { Decision } from "../engine/decision.ts";
import type { FlagResult as Decided, Ruleset } from "../engine/ruleset.ts";
import type { Subject } from "../engine/run.ts";
import { type Explanation, explainFlag } from "../explain/explain.ts";
import type { ConditionTrace, PropertyTrace } from "../shapes.ts";
import type { ConditionAnalysis, FlagDetails, PropertyAnalysis, TypedFlagDetails } from "./public-shapes.ts";

/** Values of other flags and cohorts are left out: clients of this flag may not have access to them. */
const isShown = ({ type }: PropertyTrace): boolean => type !== "flag" && type !== "cohort";

function propertyAnalysis(trace: PropertyTrace): PropertyAnalysis {
  const { key, operator, expected, type, passed } = trace;
  const subject = type === "flag" ? "Flag" : "Property";
  return {
    key,
    operator,
    value: expected,
    type,
    actual_value: (isShown(trace) ? trace.actual : undefined) ?? null,
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

function conditionAnalysis(flag: FeatureFlag, explained: Explanation, trace: ConditionTrace): ConditionAnalysis {
  const group = flag.filters.groups?.[trace.index];
  const isWinner = explained.reason.code === "condition_match" && explained.condition_index === trace.index;
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

/** Enrolment comes before the condition sets, which count from 0. */
const enrollmentIndex = -1;
const holdoutIndex = -2;

function before(explained: Explanation): ConditionAnalysis[] {
  const fixed = { rollout_percentage: 100, rollout_excluded: false };
  const enrollment = explained.enrollment && {
    ...fixed,
    index: enrollmentIndex,
    properties: explained.enrollment.properties.map(propertyAnalysis),
    variant: null,
    matched: explained.enrollment.decided && explained.enabled,
    properties_matched: explained.enrollment.properties.every(({ passed }) => passed),
    explanation: explained.enrollment.decided ? "Enrolment decided the flag" : "Enrolment does not decide the flag",
  };
  const holdout = explained.holdout?.held_out && {
    ...fixed,
    index: holdoutIndex,
    properties: [],
    variant: explained.variant,
    matched: true,
    properties_matched: true,
    explanation: `Held out: ${explained.holdout.percentage} % of all subjects are`,
  };
  return [enrollment, holdout].filter((it) => typeof it === "object" && it !== null);
}

/**
 * The result of each condition set of a flag, in the shape of the service's evaluation tests. Upstream
 * PostHog rust/feature-flags, api/types (ConditionAnalysis); the explanations are the sim's.
 */
export function conditionsOf(ruleset: Ruleset, flag: FeatureFlag, subject: Subject): ConditionAnalysis[] {
  const explained = explainFlag(ruleset, flag.key, subject);
  // Upstream analyses condition sets only.
  if (!explained || rulesVersionOf(flag.filters) !== 1) return [];
  return [...before(explained), ...explained.conditions.map((trace) => conditionAnalysis(flag, explained, trace))];
}

export interface ServedFlag extends Decided {
  readonly hasExperiment?: boolean;
  readonly conditions?: ConditionAnalysis[] | undefined;
}

/** Writes results as members of a JSON object, without its braces. */
export type FlagsWriter = (results: readonly ServedFlag[]) => string;

/** Encrypted payloads are only for the remote config endpoint. */
export const redacted = '"********* (encrypted)"';

const keyOf = ({ compiled }: ServedFlag): string => JSON.stringify(compiled.flag.key);
const isOn = ({ decision }: ServedFlag): boolean => decision.enabled;
/**
 * In the shapes without `failed`, a flag that failed is false, as upstream has it; one that only the sim
 * cannot compute is left out: clients keep their earlier value.
 */
const isKnown = ({ decision }: ServedFlag): boolean =>
  !decision.failed || !decision.reason.code.startsWith("unsupported_");

/** JSON text; what rules of version 2 give is JSON itself. Upstream as `typedText`: the corpus of rules_v2_evaluation. */
export function payloadOf({ compiled, decision }: ServedFlag): Json {
  if (decision.payload === null) return null;
  if (compiled.flag.has_encrypted_payloads) return redacted;
  return decision.rule ? decision.rule.value : decision.payload;
}

const members = (results: readonly ServedFlag[], value: (result: ServedFlag) => string): string =>
  `{${results.map((result) => `${keyOf(result)}:${value(result)}`).join()}}`;

const valueText = ({ decision }: ServedFlag): string => JSON.stringify(decision.value);

const list: FlagsWriter = (results) => `"featureFlags":[${results.filter(isOn).map(keyOf).join()}]`;

const switchedOn: FlagsWriter = (results) => `"featureFlags":${members(results.filter(isOn), valueText)}`;

function errors(results: readonly ServedFlag[]): string {
  return `"errorsWhileComputingFlags":${results.some((result) => result.decision.failed)}`;
}

const values: FlagsWriter = (results) => {
  const paid = results.filter((result) => payloadOf(result) !== null);
  const payloads = members(paid, (result) => JSON.stringify(payloadOf(result)));
  const flags = members(results.filter(isKnown), valueText);
  return `"featureFlags":${flags},"featureFlagPayloads":${payloads},${errors(results)}`;
};

/** All keys are present, whatever their values: some SDKs rely on it. */
function detailText(result: ServedFlag): string {
  const { compiled, decision } = result;
  const { flag } = compiled;
  const details: FlagDetails = {
    key: flag.key,
    enabled: decision.enabled,
    variant: decision.variant,
    ...(decision.failed && { failed: true }),
    reason: {
      code: decision.reason.code,
      condition_index: decision.condition_index,
      description: decision.reason.description,
    },
    metadata: {
      id: flag.id,
      version: flag.version,
      description: null,
      payload: payloadOf(result),
      has_experiment: result.hasExperiment === true,
    },
    ...(result.conditions && { conditions: result.conditions }),
  };
  return JSON.stringify(details);
}

/**
 * One typed value instead of `enabled` and `variant`; null for a flag that failed. Upstream PostHog rust/feature-flags,
 * api/types (FlagDetailsV3).
 */
function typedText(result: ServedFlag): string {
  const { compiled, decision } = result;
  const { flag } = compiled;
  const { rule, failed } = decision;
  const isOfRules = rulesVersionOf(flag.filters) === 2;
  const isByVariants = !isOfRules && decision.variant !== null;
  const details: TypedFlagDetails = {
    key: flag.key,
    value: failed ? null : (rule?.value ?? (rule ? null : decision.value)),
    ...(failed && { failed: true }),
    reason: {
      code: failed && isOfRules ? "error" : (rule?.code ?? decision.reason.code),
      condition_index: decision.condition_index,
      description: rule?.description ?? decision.reason.description,
    },
    metadata: {
      id: flag.id,
      version: flag.version,
      config_version: isOfRules ? 2 : 1,
      description: null,
      payload: isOfRules ? null : payloadOf(result),
      has_experiment: result.hasExperiment === true,
      ...(rule?.type && { rule_type: rule.type }),
      ...(rule?.id && { rule_id: rule.id }),
      ...(isByVariants && decision.variant !== null && { variant_key: decision.variant }),
    },
    ...(result.conditions && { conditions: result.conditions }),
  };
  return JSON.stringify(details);
}

/** A flag has few decisions, and they are the same objects, so each is written once. */
function detailsShape(detailText: (result: ServedFlag) => string): FlagsWriter {
  const [plain, ofExperiments] = [new WeakMap<Decision, string>(), new WeakMap<Decision, string>()];
  const entry = (result: ServedFlag): string => {
    const written = result.hasExperiment ? ofExperiments : plain;
    const known = result.conditions ? undefined : written.get(result.decision);
    if (known !== undefined) return known;
    const text = `${keyOf(result)}:${detailText(result)}`;
    if (!result.conditions) written.set(result.decision, text);
    return text;
  };
  return (results) => `"flags":{${results.map(entry).join()}},${errors(results)}`;
}

export type Shapes = Readonly<Record<"list" | "switchedOn" | "values" | "details" | "typed", FlagsWriter>>;

export const createShapes = (): Shapes => ({
  list,
  switchedOn,
  values,
  details: detailsShape(detailText),
  typed: detailsShape(typedText),
});

/**
 * The shape of an endpoint's version; undefined: the version is missing, or not a number.
 * Upstream PostHog rust/feature-flags, api/endpoint.
 */
export function shapeOf(isDecide: boolean, version: number | undefined): keyof Shapes {
  if (!isDecide) {
    if (version === undefined || version < 2) return "values";
    return version === 2 ? "details" : "typed";
  }
  if (version === undefined || version < 2) return "list";
  return version === 2 ? "switchedOn" : version === 3 ? "values" : "details";
}

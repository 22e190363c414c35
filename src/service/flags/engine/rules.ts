import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { isWithin, seededHoldoutBucketOf } from "./bucket-hash.ts";
import type { Decision, RuleCode, RuleOutcome } from "./decision.ts";
import { type FilterTest, type FlagMatching, filterTest, type PropertyTest } from "./filters.ts";
import { isPattern } from "./pattern.ts";
import { FlagFailure, type ReasonCode, reasons } from "./reasons.ts";
import {
  type ConfigProblem,
  placeOf,
  type ReturnType,
  type RuleDocument,
  type RuleHoldout,
  type RuleProperty,
  type RulesDocument,
  type RuleType,
  rulesIn,
} from "./rule-config.ts";
import type { EvaluationRun } from "./run.ts";
import { numberOf } from "./values.ts";

/**
 * Rules of version 2: the first that decides gives a typed value. In a rule: targeting, pause, holdout, rollout, variant.
 * Upstream PostHog rust/feature-flags, flags/evaluate_v2.
 */

interface RuleTest extends PropertyTest {
  readonly negation: boolean;
}

interface RuleSplit {
  readonly keys: readonly string[];
  /** Upper ends of their ranges in [0, 1]. */
  readonly ends: readonly number[];
}

export interface CompiledRule {
  readonly index: number;
  readonly id: string;
  readonly type: RuleType;
  readonly tests: readonly RuleTest[];
  /** Set for an experiment that is paused. */
  readonly paused: Decision | undefined;
  readonly holdout: (RuleHoldout & { readonly decision: Decision }) | undefined;
  readonly rollout:
    | {
        readonly seed: string;
        readonly percentage: number;
        /** undefined: the next rule is tried. */
        readonly missed: Decision | undefined;
      }
    | undefined;
  readonly split: RuleSplit | undefined;
  /** What a match gives, by the variant's position. */
  readonly matched: readonly Decision[];
}

export interface CompiledRules {
  readonly returnType: ReturnType;
  readonly rules: readonly CompiledRule[];
  readonly unmatched: Decision;
}

/** The reasons of rules in the words of older clients. Upstream rust/feature-flags, flag_matching (get_match_v2). */
const legacyCodes: Readonly<Record<RuleCode, ReasonCode>> = {
  targeting_match: "condition_match",
  rollout_miss: "out_of_rollout_bound",
  holdout: "holdout_condition_value",
  experiment_paused: "no_condition_match",
  no_rule_match: "no_condition_match",
};

const descriptions: Readonly<Record<RuleCode, (number: number) => string>> = {
  targeting_match: (number) => `Matched rule ${number}`,
  rollout_miss: (number) => `Rule ${number} rollout miss`,
  holdout: (number) => `Rule ${number} holdout`,
  experiment_paused: (number) => `Rule ${number} is paused`,
  no_rule_match: () => "No rule matched",
};

/** A typed value for clients that know booleans, variants and payloads only. Upstream as `legacyCodes`. */
function projected(value: Json): Pick<Decision, "value" | "enabled" | "variant" | "payload"> {
  const off = { value: false, enabled: false, variant: null, payload: null };
  if (value === null || value === false) return off;
  const on = { ...off, value: true, enabled: true };
  if (value === true) return on;
  if (typeof value === "string") return { ...on, value, variant: value };
  return { ...on, payload: JSON.stringify(value) };
}

function decisionOf(code: RuleCode, value: Json, rule?: Pick<CompiledRule, "index" | "id" | "type">): Decision {
  const legacy = legacyCodes[code];
  const index = rule?.index ?? null;
  const { description } = reasons[legacy];
  const outcome: RuleOutcome = {
    value,
    code,
    description: descriptions[code]((index ?? 0) + 1),
    type: rule?.type ?? null,
    id: rule?.id ?? null,
  };
  return {
    ...projected(value),
    reason: {
      code: legacy,
      description: code === "targeting_match" ? `${description} ${(index ?? 0) + 1}` : description,
    },
    condition_index: index,
    failed: false,
    rule: outcome,
  };
}

const patterns: ReadonlySet<string> = new Set(["regex", "not_regex"]);
const comparisons: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte"]);

const evaluationError = (detail: string): FlagFailure => new FlagFailure("flag_evaluation_error", detail);

/** What fails a flag whose rule reaches the filter; in condition sets such a filter does not match. */
function faultOf({ key, operator, value }: FilterTest, matching: FlagMatching) {
  const name = JSON.stringify(key);
  if (patterns.has(operator)) {
    const isValid = matching.isPattern ?? isPattern;
    const isSound = typeof value === "string" && isValid(value);
    return () => (isSound ? undefined : `The regular expression for ${name} is invalid`);
  }
  if (!comparisons.has(operator)) return undefined;
  const isNumber = numberOf(value) !== undefined;
  return (property: Json | undefined) => {
    if (property === undefined) return undefined;
    if (numberOf(property) === undefined) return `The property ${name} is not a number`;
    return isNumber ? undefined : `The value for ${name} is not a number`;
  };
}

function ruleTest(property: RuleProperty, matching: FlagMatching): RuleTest {
  const { key, value = null, negation } = property;
  const operator = property.operator ?? "exact";
  const filter = { key, type: "person", operator, value };
  const base = filterTest(filter, { aggregation: null, hasGroups: false }, matching);
  if (base.about !== "property") throw new FlagFailure("unsupported_property_type");
  const fault = faultOf(base, matching);
  const isNegated = negation === true;
  return {
    ...base,
    negation: isNegated,
    passes(run) {
      const detail = fault?.(base.read(run));
      if (detail !== undefined) throw evaluationError(detail);
      return base.passes(run) !== isNegated;
    },
  };
}

function splitOf(rule: RuleDocument): RuleSplit | undefined {
  if (rule.rule_type !== "experiment") return undefined;
  let end = 0;
  const ends = rule.variants.map(({ weight }) => {
    end += weight / 100;
    return end;
  });
  return { keys: rule.variants.map(({ key }) => key), ends };
}

function compileRule(
  rule: RuleDocument,
  index: number,
  { default_value: byDefault }: RulesDocument,
  matching: FlagMatching,
): CompiledRule {
  const facts = { index, id: rule.id, type: rule.rule_type };
  const isExperiment = rule.rule_type === "experiment";
  const values = isExperiment ? rule.variants.map(({ value }) => value) : [rule.value];
  const common = {
    ...facts,
    tests: rule.targeting.properties.map((it) => ruleTest(it, matching)),
    matched: values.map((value) => decisionOf("targeting_match", value, facts)),
    split: splitOf(rule),
    paused: isExperiment && rule.paused ? decisionOf("experiment_paused", byDefault, facts) : undefined,
    holdout:
      isExperiment && rule.holdout ? { ...rule.holdout, decision: decisionOf("holdout", byDefault, facts) } : undefined,
  };
  if (rule.rule_type === "targeted_release") return { ...common, rollout: undefined };
  const { seed, rollout_percentage: percentage, on_rollout_miss: onMiss } = rule;
  const missed = onMiss === "return_default" ? decisionOf("rollout_miss", byDefault, facts) : undefined;
  return { ...common, rollout: { seed, percentage, missed } };
}

const isProblem = (read: RulesDocument | ConfigProblem): read is ConfigProblem => "detail" in read;

/** @throws FlagFailure flag_data_parsing_error for a document that is not correct, or that the service does not evaluate */
export function compileRules(filters: JsonObject, matching: FlagMatching): CompiledRules {
  const read = rulesIn(filters);
  if (isProblem(read)) {
    throw new FlagFailure("flag_data_parsing_error", `${placeOf(read)}: ${read.detail}`);
  }
  return {
    returnType: read.return_type,
    rules: read.rules.map((rule, index) => compileRule(rule, index, read, matching)),
    unmatched: decisionOf("no_rule_match", read.default_value),
  };
}

/** An empty subject is in no rollout and in no holdout; at 100 % nothing is hashed. */
const isIncluded = (subject: string, percentage: number, bucket: () => number): boolean =>
  subject !== "" && (percentage === 100 || isWithin(bucket(), percentage));

function isHeldOut({ seed, exclusion_percentage }: RuleHoldout, run: EvaluationRun): boolean {
  const { distinctId } = run.subject;
  return isIncluded(distinctId, exclusion_percentage, () => {
    const bucket = seededHoldoutBucketOf(seed, distinctId);
    run.recorder?.hashed({ use: "holdout", identifier: distinctId, kind: "distinct_id", bucket });
    return bucket;
  });
}

function draw(seed: string, use: "rollout" | "variant", run: EvaluationRun): number {
  const { distinctId } = run.subject;
  const bucket = run.bucketOf(seed, distinctId, use === "variant" ? "variant" : "");
  run.recorder?.hashed({ use, identifier: distinctId, kind: "distinct_id", bucket });
  return bucket;
}

/** The decision of the variant that the hash picks; past the last range, the last one. */
function matchOf({ split, rollout, matched }: CompiledRule, run: EvaluationRun): Decision | undefined {
  if (!split || !rollout) return matched[0];
  const bucket = draw(rollout.seed, "variant", run);
  const position = split.ends.findIndex((end) => bucket < end);
  return matched.at(position);
}

export type RuleMiss = "no_condition_match" | "out_of_rollout_bound";

/** What a rule decides, or why it leaves that to the next one. @throws FlagFailure */
export function tryRule(rule: CompiledRule, run: EvaluationRun): Decision | RuleMiss {
  run.recorder?.tried(rule.index);
  for (const test of rule.tests) if (!test.passes(run)) return "no_condition_match";
  if (rule.paused) return rule.paused;
  if (rule.holdout && isHeldOut(rule.holdout, run)) return rule.holdout.decision;
  const { rollout } = rule;
  const isIn =
    !rollout || isIncluded(run.subject.distinctId, rollout.percentage, () => draw(rollout.seed, "rollout", run));
  return (isIn ? matchOf(rule, run) : rollout?.missed) ?? "out_of_rollout_bound";
}

/** The decision of the first rule that makes one, else the default. @throws FlagFailure */
export function decideByRules({ rules, unmatched }: CompiledRules, run: EvaluationRun): Decision {
  for (const rule of rules) {
    const result = tryRule(rule, run);
    if (typeof result !== "string") return result;
  }
  return unmatched;
}

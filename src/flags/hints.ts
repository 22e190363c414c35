import type { ConditionTrace, Explanation, HashTrace, HoldoutTrace, RolloutTrace } from "./explain.ts";
import type { PropertyTrace } from "./explain-filters.ts";
import { failures, isFailureCode } from "./reasons.ts";

const percent = (fraction: number): string => `${Number((fraction * 100).toFixed(4))} %`;
const hashText = ({ hash }: HashTrace): string => hash.toFixed(4);

function flagWish({ key, expected, flag }: PropertyTrace): string {
  const name = JSON.stringify(flag?.key ?? key);
  const is = flag?.value === null || flag === undefined ? "has no value" : `is ${JSON.stringify(flag.value)}`;
  return `flag ${name} ${is}, wanted is ${JSON.stringify(expected)}`;
}

function cohortWish({ expected, operator, cohort }: PropertyTrace): string {
  const name = cohort?.name ? ` (${cohort.name})` : "";
  const wanted = operator === "not_in" ? "the person is in" : "the person is not in";
  return `${wanted} cohort ${JSON.stringify(expected)}${name}`;
}

function propertyWish(trace: PropertyTrace): string {
  const { key, type, operator, expected, actual } = trace;
  const what = type === "group" ? `group property ${key}` : `property ${key}`;
  const is = actual === undefined ? "is missing" : `is ${JSON.stringify(actual)}`;
  const needsValue = operator !== "is_set" && operator !== "is_not_set";
  return `${what} ${is}, wanted is ${operator}${needsValue ? ` ${JSON.stringify(expected)}` : ""}`;
}

/** What would have had to be different for a filter to pass. */
function wish(trace: PropertyTrace): string {
  if (trace.failure) return `${trace.key}: ${failures[trace.failure].toLowerCase()}`;
  if (trace.type === "flag") return flagWish(trace);
  return trace.type === "cohort" ? cohortWish(trace) : propertyWish(trace);
}

const rolloutWish = ({ hash, percentage }: RolloutTrace): string =>
  hash ? `hash ${hashText(hash)} is above the rollout of ${percentage} %` : "";

/** What would have had to differ for a condition set to match. */
export function conditionHint(trace: Omit<ConditionTrace, "hint">): string {
  const name = `condition ${trace.index + 1}`;
  if (trace.miss === "no_group_type") {
    const type = trace.group_type === null ? `type ${trace.group_type_index}` : `"${trace.group_type}"`;
    return `${name}: no group of ${type} is given`;
  }
  if (trace.miss === "no_device") return `${name}: no device id is given`;
  const wishes = trace.properties.filter(({ passed }) => !passed).map(wish);
  if (wishes.length > 0) return `${name}: ${wishes.join("; ")}`;
  if (trace.failure) return `${name}: ${failures[trace.failure]}`;
  return trace.rollout ? `${name}: ${rolloutWish(trace.rollout)}` : name;
}

function holdoutHint({ hash, percentage, variant }: HoldoutTrace): string {
  const because = hash ? `hash ${hashText(hash)} is within ${percent(percentage / 100)}` : "everyone is";
  return `held out as ${variant}: ${because}`;
}

/** What decided before the condition sets were asked. */
function decidedBefore({ enrollment, holdout, active }: Omit<Explanation, "hint">): string | undefined {
  if (!active) return "the flag is inactive or deleted";
  if (holdout?.held_out) return holdoutHint(holdout);
  if (!enrollment?.decided) return undefined;
  return `enrolment decides: ${enrollment.properties.map(propertyWish).join("; ")}`;
}

/**
 * What would have had to differ for a flag to be on, or for someone who is held out to take part; null when
 * it is on. Of an evaluation that ended early, the sets that it did not come to are no way out.
 */
export function flagHint(told: Omit<Explanation, "hint">): string | null {
  const isHeldOut = told.holdout?.held_out === true;
  if (told.enabled && !isHeldOut) return null;
  const before = decidedBefore(told);
  if (before !== undefined) return before;
  if (told.failed && isFailureCode(told.reason.code)) return failures[told.reason.code];
  if (told.reason.code === "missing_dependency") return "it depends on a flag that does not exist";
  if (told.conditions.length === 0) return "the flag has no condition sets";
  return told.conditions.flatMap(({ reached, hint }) => (reached && hint !== null ? [hint] : [])).join("\n");
}

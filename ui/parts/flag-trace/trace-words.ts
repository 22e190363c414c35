import type { DecidedFlag, FlagDecision as Decision } from "../../../src/service/flags/decision-shapes.ts";
import { hashText, shortNumber } from "../../../src/service/flags/explain/trace-words.ts";
import type {
  ConditionTrace,
  FlagExplanation as Explanation,
  HashTrace as Hash,
  VariantRange,
} from "../../../src/service/flags/shapes.ts";
import { plain } from "../text.ts";

export type FlagValue = boolean | string;

/** A flag's value: true, false, or a variant in quotes. */
export const valueText = (value: FlagValue | null): string =>
  value === null ? "no value" : typeof value === "string" ? `"${plain(value, 60)}"` : String(value);

export const valueTone = (value: FlagValue | null): "accent" | "good" | "plain" =>
  typeof value === "string" ? "accent" : value === true ? "good" : "plain";

/** `hash 0.7312 draws "b", 0.5 to 1`. */
export function drawnWords({ hash }: Hash, ranges: readonly VariantRange[]): string {
  const drawn = ranges.find(({ hit }) => hit);
  const variant = drawn
    ? `${valueText(drawn.variant)}, ${shortNumber(drawn.from)} to ${shortNumber(drawn.to)}`
    : "no variant";
  return `hash ${hashText(hash, drawn?.to ?? 1)} draws ${variant}`;
}

export type SetState = "matched" | "missed" | "failed" | "not reached";

/** Result of a condition set. */
export function stateOf({ reached, matched, failure }: ConditionTrace): SetState {
  if (!reached) return "not reached";
  return failure !== null ? "failed" : matched ? "matched" : "missed";
}

/** Number of the condition set as displayed, from 1. */
const setNumber = ({ condition_index }: Pick<DecidedFlag, "condition_index">): string =>
  condition_index === null ? "" : ` ${condition_index + 1}`;

const reasonTexts: Readonly<Record<string, (flag: DecidedFlag) => string>> = {
  override: () => "overridden here",
  condition_match: (flag) => `matched set${setNumber(flag)}`,
  out_of_rollout_bound: (flag) => `outside the rollout of set${setNumber(flag)}`,
  no_condition_match: () => "no set matches",
  no_group_type: () => "no group of its type was given",
  holdout_condition_value: () => "held out",
  super_condition_value: () => "early access decides",
  flag_disabled: () => "it is inactive",
  targeting_match: (flag) => `rule${setNumber(flag)} decides`,
  rollout_miss: (flag) => `outside the rollout of rule${setNumber(flag)}`,
  experiment_paused: (flag) => `the experiment of rule${setNumber(flag)} is paused`,
  holdout: (flag) => `held out by rule${setNumber(flag)}`,
  no_rule_match: () => "no rule matches",
  missing_dependency: () => "it depends on a flag that does not exist",
};

/** The reason in the response, in short. */
export function reasonWords(flag: DecidedFlag): string {
  if (flag.reason === null) return "no reason given";
  const { code, description } = flag.reason;
  const known = Object.hasOwn(reasonTexts, code) ? reasonTexts[code]?.(flag) : undefined;
  return known ?? plain(description === "" ? code : description);
}

/** True if an override decided. */
export const isOverridden = ({ reason }: DecidedFlag): boolean => reason?.code === "override";

/** Client from the User-Agent: `posthog-node/5.2.0`; of a browser, its name. */
export function clientWords(client: string | null): string {
  if (client === null || client === "") return "unknown client";
  if (!client.startsWith("Mozilla/")) return plain(client, 40);
  return /(Edg|Firefox|Chrome|Safari)\//.exec(client)?.[1]?.replace("Edg", "Edge") ?? "browser";
}

/** Body of an explanation for the subject of a decision; only values that the request contained. */
export function subjectOf({ distinct_id, project, asked }: Decision): Record<string, unknown> | undefined {
  if (distinct_id === null || distinct_id === "" || project === null) return undefined;
  if (asked === null) return { distinct_id, project };
  const { person_properties, groups, group_properties, device_id, anon_distinct_id, ip } = asked;
  const keys = Object.entries(groups).filter(([, it]) => typeof it === "string" || typeof it === "number");
  const known = Object.entries(group_properties).filter(
    ([, it]) => typeof it === "object" && it !== null && !Array.isArray(it),
  );
  return {
    distinct_id,
    project,
    person: person_properties,
    groups: Object.fromEntries(keys),
    group_properties: Object.fromEntries(known),
    device_id,
    anon_distinct_id,
    ip,
  };
}

/** How a later explanation differs from the decision; undefined if it does not. */
export function sinceWords(then: DecidedFlag, now: Explanation): string | undefined {
  if (then.value === now.value) return undefined;
  return `It was ${valueText(then.value)} then and would be ${valueText(now.value)} now: its rules, an override or stored properties have changed since.`;
}

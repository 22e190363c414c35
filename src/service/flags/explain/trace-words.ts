import type { Json } from "../../../kernel/base/json.ts";
import { failures } from "../engine/reasons.ts";
import type { ConditionTrace, HashTrace, PropertyTrace } from "../shapes.ts";

/** Words for explanations, on the terminal and on the page. Safe in a browser. */

const longestValue = 80;

export function valueWords(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > longestValue ? `${text.slice(0, longestValue)}…` : text;
}

export function actualWords(trace: PropertyTrace): string {
  if (trace.failure !== undefined) return `cannot be computed: ${failures[trace.failure]}`;
  if (trace.flag) return trace.flag.value === null ? "has no value" : `is ${valueWords(trace.flag.value)}`;
  if (trace.type === "cohort") return trace.cohort?.member ? "is a member" : "is not a member";
  if (trace.operator === "") return "never matches";
  return trace.actual === undefined ? "is not set" : `is ${valueWords(trace.actual)}`;
}

/** Why a condition set was skipped before its filters were evaluated; undefined if it was not. */
export function missWords({ miss, group_type, group_type_index }: ConditionTrace): string | undefined {
  if (miss === "no_group_type") return `no group of the type ${group_type ?? group_type_index} was given`;
  if (miss === "paused") return "the experiment is paused: it gives the default";
  return miss === "no_device" ? "no device id was given" : undefined;
}

/** Four digits; more where hash and threshold would look the same. */
export function hashText(hash: number, threshold: number): string {
  for (const digits of [4, 6, 9]) if (hash.toFixed(digits) !== threshold.toFixed(digits)) return hash.toFixed(digits);
  return String(hash);
}

export const shortNumber = (value: number): string => String(Number(value.toFixed(6)));

/** `hash 0.7312 > rollout 0.5`. */
export const hashWords = ({ hash }: HashTrace, threshold: number, isWithin: boolean, what: string): string =>
  `hash ${hashText(hash, threshold)} ${isWithin ? "≤" : ">"} ${what} ${shortNumber(threshold)}`;

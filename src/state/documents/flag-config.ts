import type { JsonObject } from "../../kernel/base/json.ts";

/** The forms of a flag's rules: 1 has condition sets, 2 has rules with a type each. */
export type RulesVersion = 1 | 2;

type Versioned = { readonly [key: string]: unknown };

/**
 * The version of the rules in a flag's `filters`; undefined for one that is not evaluated. Each has other keys with other
 * meanings. Upstream PostHog rust/feature-flags, config_format.
 */
export const rulesVersionOf = ({ version }: Versioned): RulesVersion | undefined =>
  version === undefined || version === 1 ? 1 : version === 2 ? 2 : undefined;

export const hasConditionSets = (filters: Versioned): boolean => rulesVersionOf(filters) === 1;

/**
 * The value in an entry of `flags` in an answer: of `/flags?v=2`, or a typed one of `?v=3`. Numbers and objects are true
 * and null is false, as older clients get them.
 */
export function servedValueOf(entry: JsonObject): boolean | string {
  const { value, variant, enabled } = entry;
  if (value === undefined) return typeof variant === "string" ? variant : enabled === true;
  return typeof value === "string" ? value : value !== false && value !== null;
}

import type { JsonObject } from "../../kernel/base/json.ts";

/** The forms of a flag's rules: 1 has condition sets, 2 has rules with a type each. */
export type RulesVersion = 1 | 2;

type Versioned = { readonly [key: string]: unknown };

/** The version of a flag's rules; undefined for one that is not evaluated. Upstream PostHog rust/feature-flags, config_format. */
export const rulesVersionOf = ({ version }: Versioned): RulesVersion | undefined =>
  version === undefined || version === 1 ? 1 : version === 2 ? 2 : undefined;

export const hasConditionSets = (filters: Versioned): boolean => rulesVersionOf(filters) === 1;

/** An entry's value, of `/flags?v=2` or typed of `?v=3`: numbers and objects are true, null is false, as older clients get them. */
export function servedValueOf(entry: JsonObject): boolean | string {
  const { value, variant, enabled } = entry;
  if (value === undefined) return typeof variant === "string" ? variant : enabled === true;
  return typeof value === "string" ? value : value !== false && value !== null;
}

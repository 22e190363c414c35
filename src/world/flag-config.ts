/** The forms of a flag's rules: 1 has condition sets, 2 has rules with a type each. */
export type RulesVersion = 1 | 2;

type Versioned = { readonly [key: string]: unknown };

/**
 * The version of the rules in a flag's `filters`; undefined for one that is not evaluated. Each has other keys with other
 * meanings. Upstream PostHog rust/feature-flags, config_format.
 */
export const rulesVersionOf = ({ version }: Versioned): RulesVersion | undefined =>
  version === undefined || version === 1 ? 1 : version === 2 ? 2 : undefined;

/** True for rules with condition sets. */
export const hasConditionSets = (filters: Versioned): boolean => rulesVersionOf(filters) === 1;

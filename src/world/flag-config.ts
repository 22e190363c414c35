/**
 * True for the rules that the sim evaluates: `version` is missing or 1. Rules of another version have other keys with
 * other meanings. Upstream PostHog/posthog, the formats of `filters`.
 */
export const hasKnownRules = ({ version }: { readonly [key: string]: unknown }): boolean =>
  version === undefined || version === 1;

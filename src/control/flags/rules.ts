import { hasKnownRules } from "../../model/flag-config.ts";
import type { FeatureFlag } from "../../model/world.ts";

type Condition = NonNullable<FeatureFlag["filters"]["groups"]>[number];
type Filter = NonNullable<Condition["properties"]>[number];

const text = (value: unknown): string => JSON.stringify(value) ?? "";

const valueless = ["is_set", "is_not_set"];

function filterText(filter: Filter): string {
  const isCohort = filter.type === "cohort";
  const operator = typeof filter.operator === "string" ? filter.operator : isCohort ? "in" : "exact";
  if (isCohort) return `${operator} cohort ${text(filter.value)}`;
  const what = typeof filter.type === "string" && filter.type !== "person" ? `${filter.type} ` : "";
  const value = valueless.includes(operator) ? "" : ` ${text(filter.value)}`;
  return `${what}${filter.key} ${operator}${value}`;
}

function conditionText({ properties = [], rollout_percentage, variant }: Condition): string {
  const who = properties.length > 0 ? properties.map(filterText).join(" and ") : "everyone";
  return `${who}: ${rollout_percentage ?? 100} %${variant ? `, variant ${variant}` : ""}`;
}

/** The keys of a flag's variants. */
export const variantsOf = ({ filters }: FeatureFlag): string[] =>
  (filters.multivariate?.variants ?? []).map(({ key }) => key);

/** A flag's variants with their shares, in percent. */
export const sharesOf = ({ filters }: FeatureFlag): { variant: string; percentage: number }[] =>
  (filters.multivariate?.variants ?? []).map((it) => ({
    variant: it.key,
    percentage: it.rollout_percentage,
  }));

/** A flag's rules in a few words, a line for each condition set, then the variants. */
export function rulesOf({ filters }: FeatureFlag): string[] {
  if (!hasKnownRules(filters)) return [`rules of version ${text(filters.version)}, which are not evaluated`];
  const variants = filters.multivariate?.variants ?? [];
  const shares = variants.map((it) => `${it.key} ${it.rollout_percentage} %`).join(", ");
  return [...(filters.groups ?? []).map(conditionText), ...(shares === "" ? [] : [`variants: ${shares}`])];
}

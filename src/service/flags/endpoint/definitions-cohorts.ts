import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import type { Cohort, FeatureFlag } from "../../../state/documents/world.ts";
import type { CompiledCohorts } from "../engine/cohort-tree.ts";
import { reachedFrom } from "../engine/dependency-order.ts";
import { type ConditionSet, cohortsAsked, type Filters, type PropertyFilter } from "../engine/filters.ts";
import type { Ruleset } from "../engine/ruleset.ts";

/** The cohorts that a flag asks for, directly and through others; those that do not exist are left out. */
const cohortsOf = ({ compiled }: CompiledCohorts, filters: Filters): number[] =>
  [...reachedFrom(cohortsAsked(filters), (id) => compiled.get(id)?.references ?? [])].filter((id) => compiled.has(id));

const groupOf = (type: "AND" | "OR", values: Json[]): JsonObject => ({ type, values });

/** The condition tree of a dynamic cohort; the oldest cohorts have groups of filters instead, any of which will do. */
function treeOf({ filters, groups = [], is_static }: Cohort): JsonObject | undefined {
  if (is_static === true) return undefined;
  if (isObject(filters)) return isObject(filters.properties) ? filters.properties : undefined;
  const legacy = groups.flatMap((group) => {
    const properties = isObject(group) ? group.properties : undefined;
    return Array.isArray(properties) ? [groupOf("AND", properties)] : [];
  });
  return legacy.length > 0 ? groupOf("OR", legacy) : undefined;
}

export function cohortTrees({ cohorts }: Ruleset, flags: readonly FeatureFlag[]): Record<string, JsonObject> {
  const ids = new Set(flags.flatMap(({ filters }) => cohortsOf(cohorts, filters)));
  const rows = [...ids].flatMap((id) => {
    const cohort = cohorts.compiled.get(id)?.cohort;
    const tree = cohort && treeOf(cohort);
    return tree ? [[String(id), tree] as const] : [];
  });
  return Object.fromEntries(rows);
}

const valuesOf = (node: Json): Json[] | undefined =>
  isObject(node) && Array.isArray(node.values) ? node.values : undefined;

/** Takes away groups around a single node; `isKept` keeps this one as a group, so that its siblings are alike. */
function simplified(node: Json, isKept = false): Json {
  const values = valuesOf(node);
  if (!values || !isObject(node)) return node;
  const [only] = values;
  if (values.length === 1 && only !== undefined && !isKept) return simplified(only);
  return { ...node, values: values.map((it) => simplified(it, values.length > 1)) };
}

const leavesOf = (node: Json): Json[] => valuesOf(node)?.flatMap(leavesOf) ?? [node];

/** True if a condition set of a flag can have the filter. Negation and what is not about a person stay with the cohort. */
const isInlinable = (leaf: Json): leaf is JsonObject & { key: string } =>
  isObject(leaf) && typeof leaf.key === "string" && leaf.type === "person" && leaf.negation !== true;

function asProperties(leaves: readonly Json[]): PropertyFilter[] | undefined {
  const properties = leaves.filter(isInlinable).map(({ negation: _, ...filter }) => ({ ...filter }));
  return properties.length === leaves.length ? properties : undefined;
}

/** A tree as a list of alternatives; undefined when that takes more than leaving groups out. */
function alternativesOf(tree: Json): PropertyFilter[][] | undefined {
  const leaves = leavesOf(tree);
  if (leaves.length === 0 || !leaves.every(isInlinable)) return undefined;
  const node = simplified(tree);
  const values = valuesOf(node);
  if (!values || !isObject(node)) return whole([asProperties([node])]);
  const isAny = node.type === "OR";
  if (values[0] !== undefined && valuesOf(values[0]) === undefined) {
    return whole(isAny ? values.map((it) => asProperties([it])) : [asProperties(values)]);
  }
  return isAny ? whole(values.map(asAlternative)) : undefined;
}

/** A group below an OR: only one whose filters all have to hold is an alternative. */
function asAlternative(node: Json): PropertyFilter[] | undefined {
  const values = valuesOf(node) ?? [];
  const isAny = isObject(node) && node.type === "OR" && values.length > 1;
  return isAny || values.length === 0 ? undefined : asProperties(values);
}

const whole = <T>(list: (T | undefined)[]): T[] | undefined => {
  const found = list.filter((it) => it !== undefined);
  return found.length === list.length ? found : undefined;
};

/** The sets that have no cohort, if the others are nothing but one cohort each. */
function setsWithout(groups: readonly ConditionSet[]): ConditionSet[] | undefined {
  const plain: ConditionSet[] = [];
  for (const group of groups) {
    const { variant, properties = [] } = group;
    const hasCohort = properties.some((filter) => filter.type === "cohort");
    if (variant || (hasCohort && properties.length > 1)) return undefined;
    if (!hasCohort) plain.push(group);
  }
  return plain;
}

/**
 * For SDKs that know no cohorts: a flag that asks for one simple cohort asks for its properties instead.
 * They come behind the other sets and get the rollout of the last set, whichever it was; both is upstream's
 * way (`transform_cohort_filters_for_easy_evaluation` in `posthog/models/feature_flag/feature_flag.py`).
 */
export function withoutCohorts({ cohorts }: Ruleset, filters: Filters): Filters {
  const { groups = [] } = filters;
  const [id, ...others] = cohortsOf(cohorts, filters);
  const cohort = id === undefined || others.length > 0 ? undefined : cohorts.compiled.get(id)?.cohort;
  const tree = cohort && treeOf(cohort);
  const alternatives = tree && alternativesOf(tree);
  const plain = setsWithout(groups);
  if (!alternatives || !plain) return filters;
  const rollout_percentage = groups.at(-1)?.rollout_percentage ?? null;
  return { ...filters, groups: [...plain, ...alternatives.map((properties) => ({ properties, rollout_percentage }))] };
}

import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import type { Cohort, FeatureFlag, Worlds } from "../../model/world.ts";

/** What cohorts consist of and refer to. Upstream PostHog/posthog posthog/models/cohort. */

/** An old group's properties as filters: a list of them, or an object of values. */
function filtersOfGroup(group: Json): Json[] {
  const properties = isObject(group) ? group.properties : undefined;
  if (Array.isArray(properties)) return properties;
  return isObject(properties)
    ? Object.entries(properties).map(([key, value]) => ({ key, value, operator: "exact", type: "person" }))
    : [];
}

/** A cohort's condition tree; empty when it has no conditions. */
export function treeOf({ filters, groups = [] }: Pick<Cohort, "filters" | "groups">): JsonObject {
  const tree = isObject(filters) ? filters.properties : undefined;
  if (isObject(tree)) return tree;
  const values = groups.map((group) => ({ type: "AND", values: filtersOfGroup(group) }));
  return values.length === 0 ? {} : { type: "OR", values };
}

/** The property filters of a condition tree, wherever they stand in it. */
export function filtersIn(tree: Json): JsonObject[] {
  if (!isObject(tree)) return [];
  if (Array.isArray(tree.values)) return tree.values.flatMap(filtersIn);
  return Object.hasOwn(tree, "type") ? [tree] : [];
}

/** A reference to a cohort or a flag: a number, also as text. */
export function referenceIn(value: unknown): number | undefined {
  if (typeof value === "number" && Number.isSafeInteger(value)) return value;
  return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Does it ask for what persons did? Static cohorts keep such conditions, but do not use them. */
export const isBehavioral = (cohort: Cohort): boolean =>
  cohort.is_static !== true && filtersIn(treeOf(cohort)).some(({ type }) => type === "behavioral");

function cohortsIn(cohort: Cohort): number[] {
  if (cohort.is_static === true) return [];
  return filtersIn(treeOf(cohort)).flatMap(({ type, value }) => {
    const id = type === "cohort" ? referenceIn(value) : undefined;
    return id === undefined ? [] : [id];
  });
}

/** The cohort of the project with this id, also a deleted one. */
export function cohortOf(worlds: Worlds, project: number, id: number | undefined): Cohort | undefined {
  const cohort = id === undefined ? undefined : worlds.get("cohorts", id);
  return cohort?.project === project ? cohort : undefined;
}

/** The cohorts that `cohort` refers to, directly or through others; itself only where it does so in a loop. */
export function dependenciesOf(worlds: Worlds, cohort: Cohort): Cohort[] {
  const found = new Map<number, Cohort>();
  const open = cohortsIn(cohort);
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    const next = id === cohort.id ? cohort : cohortOf(worlds, cohort.project, id);
    if (!next || found.has(id)) continue;
    found.set(id, next);
    open.push(...cohortsIn(next));
  }
  return [...found.values()];
}

/** The cohorts that a flag's condition sets ask for, directly or through others. */
function cohortsOfFlag(worlds: Worlds, flag: FeatureFlag): Set<number> {
  const direct = (flag.filters.groups ?? [])
    .flatMap((set) => set.properties ?? [])
    .flatMap(({ type, value }) => {
      const id = type === "cohort" ? referenceIn(value) : undefined;
      return cohortOf(worlds, flag.project, id) ?? [];
    });
  return new Set(direct.flatMap((it) => [it, ...dependenciesOf(worlds, it)]).map(({ id }) => id));
}

/** The flags that use the cohort and are evaluated. */
export const flagsUsing = (worlds: Worlds, cohort: Cohort): FeatureFlag[] =>
  worlds.current.feature_flags.filter(
    (flag) =>
      flag.project === cohort.project &&
      flag.active &&
      !flag.deleted &&
      cohortsOfFlag(worlds, flag).has(cohort.id),
  );

import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import type { Cohort, FeatureFlag, Worlds } from "../../../state/documents/world.ts";
import { invalid } from "../../api-frame/fields.ts";
import { cohortsAsked } from "../engine/filters.ts";
import { referenceIn } from "../engine/values.ts";

/** What cohorts consist of and refer to. Upstream PostHog/posthog posthog/models/cohort. */

function filtersOfGroup(group: Json): Json[] {
  const properties = isObject(group) ? group.properties : undefined;
  if (Array.isArray(properties)) return properties;
  return isObject(properties)
    ? Object.entries(properties).map(([key, value]) => ({ key, value, operator: "exact", type: "person" }))
    : [];
}

export function treeOf({ filters, groups = [] }: Pick<Cohort, "filters" | "groups">): JsonObject {
  const tree = isObject(filters) ? filters.properties : undefined;
  if (isObject(tree)) return tree;
  const values = groups.map((group) => ({ type: "AND", values: filtersOfGroup(group) }));
  return values.length === 0 ? {} : { type: "OR", values };
}

function filtersIn(tree: Json): JsonObject[] {
  if (!isObject(tree)) return [];
  if (Array.isArray(tree.values)) return tree.values.flatMap(filtersIn);
  return Object.hasOwn(tree, "type") ? [tree] : [];
}

/** True if it has conditions on events. Static cohorts keep such conditions, but do not use them. */
export const isBehavioral = (cohort: Cohort): boolean =>
  cohort.is_static !== true && filtersIn(treeOf(cohort)).some(({ type }) => type === "behavioral");

function cohortsIn(cohort: Cohort): number[] {
  if (cohort.is_static === true) return [];
  return filtersIn(treeOf(cohort)).flatMap(({ type, value }) => {
    const id = type === "cohort" ? referenceIn(value) : undefined;
    return id === undefined ? [] : [id];
  });
}

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

function cohortsOfFlag(worlds: Worlds, flag: FeatureFlag): Set<number> {
  const direct = cohortsAsked(flag.filters).flatMap((id) => cohortOf(worlds, flag.project, id) ?? []);
  return new Set(direct.flatMap((it) => [it, ...dependenciesOf(worlds, it)]).map(({ id }) => id));
}

const flagsUsing = (worlds: Worlds, cohort: Cohort): FeatureFlag[] =>
  worlds.current.feature_flags.filter(
    (flag) =>
      flag.project === cohort.project && flag.active && !flag.deleted && cohortsOfFlag(worlds, flag).has(cohort.id),
  );

/** The rules for cohorts. Upstream PostHog/posthog posthog/api/cohort.py. */

const isMissing = (node: JsonObject, key: string): boolean => (node[key] ?? null) === null;

const needs =
  (...keys: string[]) =>
  (node: JsonObject): string[] =>
    keys.filter((key) => isMissing(node, key));

const missingKeys: Readonly<Record<string, (node: JsonObject) => string[]>> = {
  behavioral: needs("key", "value", "event_type"),
  cohort: needs("key", "value"),
  person(node) {
    const isPresence = node.operator === "is_set" || node.operator === "is_not_set";
    return [...needs("key")(node), ...(isPresence ? [] : needs("value")(node)), ...needs("operator")(node)];
  },
};

function problemIn(node: Json | undefined): string | undefined {
  const type = isObject(node) ? node.type : undefined;
  if (!isObject(node) || typeof type !== "string") return "each condition is an object with a type";
  if (type === "AND" || type === "OR") {
    if (!Array.isArray(node.values)) return `the values of ${type} are a list`;
    for (const it of node.values) {
      const problem = problemIn(it);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }
  const missing = Object.hasOwn(missingKeys, type) ? missingKeys[type]?.(node) : undefined;
  if (!missing) return `the type is one of AND, OR, behavioral, cohort, person, not ${type}`;
  return missing.length > 0 ? `Missing required keys for ${type} filter: ${missing.join(", ")}` : undefined;
}

/** @throws SimError when they are no condition tree; static cohorts may have anything */
export function checkTree(filters: Json): void {
  const tree = isObject(filters) ? filters.properties : undefined;
  if (tree === undefined) {
    throw invalid("Must contain a 'properties' key with type and values", "filters__detail");
  }
  const problem =
    isObject(tree) && tree.type !== "AND" && tree.type !== "OR" ? "the type is AND or OR" : problemIn(tree);
  if (problem === undefined) return;
  throw invalid(problem.startsWith("Missing") ? problem : `Filters are not valid (${problem})`, "filters");
}

/** @throws SimError when active flags use the cohort and it would now ask for events */
export function checkFlagUse(worlds: Worlds, cohort: Cohort, filters: Json): void {
  if (flagsUsing(worlds, cohort).length === 0) return;
  const tree = isObject(filters) ? (filters.properties ?? null) : null;
  for (const { type, value } of filtersIn(tree)) {
    if (type === "behavioral") {
      const detail = "Behavioral filters cannot be added to cohorts used in feature flags.";
      throw invalid(detail, "filters", "behavioral_cohort_found");
    }
    const other = type === "cohort" ? cohortOf(worlds, cohort.project, referenceIn(value)) : undefined;
    const behavioral = other && [other, ...dependenciesOf(worlds, other)].find(isBehavioral);
    if (behavioral) {
      const detail = `A cohort dependency (${behavioral.name}) has filters based on events. These cohorts can't be used in feature flags.`;
      throw invalid(detail, "filters", "behavioral_cohort_found");
    }
  }
}

const queryKinds: readonly (Json | undefined)[] = ["ActorsQuery", "HogQLQuery"];

/** @throws SimError when it is none of the queries that cohorts are made of */
export function checkQuery(query: Json): void {
  if (query === null || query === "" || query === false) return;
  if (!isObject(query)) throw invalid("Query must be a dictionary.", "query");
  if (queryKinds.includes(query.kind)) return;
  const kind = typeof query.kind === "string" ? query.kind : "None";
  throw invalid(`Query must be an ActorsQuery or HogQLQuery. Got: ${kind}`, "query");
}

/** @throws SimError when active flags use the cohort */
export function checkUnused(worlds: Worlds, cohort: Cohort): void {
  const flags = flagsUsing(worlds, cohort);
  if (flags.length === 0) return;
  const names = flags.map(({ name, key }) => name || key).join(", ");
  throw invalid(
    `This cohort is used in ${flags.length} active feature flag(s): ${names}. Please remove the cohort from these feature flags before deleting it.`,
  );
}

/** @throws SimError when the cohort, as it would be, refers to itself */
export function checkLoop(worlds: Worlds, next: Cohort): void {
  if (dependenciesOf(worlds, next).some(({ id }) => id === next.id)) {
    throw invalid("Cohorts cannot reference other cohorts in a loop.");
  }
}

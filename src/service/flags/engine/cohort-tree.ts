import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import type { Cohort } from "../../../state/documents/world.ts";
import { checkOperator, type Matching, prepareTest } from "./operators.ts";
import { type FailureCode, FlagFailure } from "./reasons.ts";
import { referenceIn } from "./values.ts";

export interface PropertyLeaf {
  readonly kind: "property";
  readonly key: string;
  readonly isMetadata: boolean;
  readonly operator: string;
  readonly value: Json;
  readonly negation: boolean;
  /** Without the negation. undefined is an absent property. */
  passes(value: Json | undefined, now: number): boolean;
}

export interface CohortLeaf {
  readonly kind: "cohort";
  readonly cohort: number;
  readonly operator: string;
  readonly negation: boolean;
}

/** What only past events could tell (and what is not understood): never fulfilled. */
interface UnknownLeaf {
  readonly kind: "unknown";
  readonly type: string;
}

/** All or any of some nodes; without any it is fulfilled. */
interface TreeGroup {
  readonly kind: "all" | "any";
  readonly nodes: readonly TreeNode[];
}

export type TreeLeaf = PropertyLeaf | CohortLeaf | UnknownLeaf;
export type TreeNode = TreeGroup | TreeLeaf;

/** Upstream refuses trees that are nested deeper. */
const deepest = 64;

const broken = () => new FlagFailure("cohort_filters_parsing_error");

/** Compared with the person's properties, whatever the type; only the field of a person is read elsewhere. */
const propertyTypes: ReadonlySet<unknown> = new Set([undefined, "person", "person_metadata", "group", "flag"]);

function propertyLeaf(filter: JsonObject, key: string, matching: Matching): PropertyLeaf {
  const operator = typeof filter.operator === "string" ? filter.operator : "exact";
  const value = filter.value ?? null;
  const { missing, passes } = prepareTest(operator, value, matching);
  return {
    kind: "property",
    key,
    isMetadata: filter.type === "person_metadata",
    operator,
    value,
    negation: filter.negation === true,
    passes: (actual, now) => (actual === undefined ? missing : passes(actual, now)),
  };
}

function cohortLeaf(filter: JsonObject): CohortLeaf {
  const operator = typeof filter.operator === "string" ? filter.operator : "in";
  checkOperator(operator);
  const cohort = referenceIn(filter.value);
  if (cohort === undefined) throw broken();
  return { kind: "cohort", cohort, operator, negation: filter.negation === true };
}

function leafOf(filter: JsonObject, matching: Matching): TreeNode {
  const { type, key } = filter;
  if (type === "cohort") return cohortLeaf(filter);
  if (typeof key !== "string" || !propertyTypes.has(type)) {
    return { kind: "unknown", type: typeof type === "string" ? type : "" };
  }
  return propertyLeaf(filter, key, matching);
}

/** How the nodes of a group are joined; `property` is an old name for AND. */
const joins: ReadonlyMap<unknown, TreeGroup["kind"]> = new Map<unknown, TreeGroup["kind"]>([
  ["AND", "all"],
  ["property", "all"],
  ["OR", "any"],
]);

function nodeOf(item: Json, matching: Matching, depth: number): TreeNode {
  if (depth > deepest || !isObject(item)) throw broken();
  return Array.isArray(item.values) ? groupOf(item, item.values, matching, depth) : leafOf(item, matching);
}

function groupOf(group: JsonObject, values: readonly Json[], matching: Matching, depth: number): TreeGroup {
  const kind = joins.get(group.type);
  if (kind === undefined) throw broken();
  return { kind, nodes: values.map((item) => nodeOf(item, matching, depth + 1)) };
}

const everyone: TreeGroup = { kind: "all", nodes: [] };
const noOne: TreeNode = { kind: "unknown", type: "" };

/** A list of filters, an object of values, or a tree. Upstream as `treeOf`, legacy_groups. */
function nodeOfLegacyGroup(group: Json, matching: Matching): TreeNode {
  const properties = isObject(group) ? group.properties : undefined;
  if (Array.isArray(properties) && properties.length > 0) {
    const values = properties.map((it) => (isObject(it) && it.type === "event" ? { ...it, type: "person" } : it));
    return groupOf({ type: "AND" }, values, matching, 1);
  }
  if (!isObject(properties)) return noOne;
  const isTree = [Object.hasOwn(properties, "type"), Object.hasOwn(properties, "values")];
  if (isTree.every(Boolean)) return nodeOf(properties, matching, 1);
  const entries = isTree.some(Boolean) ? [] : Object.entries(properties);
  if (entries.length === 0) return noOne;
  return { kind: "all", nodes: entries.map(([key, value]) => propertyLeaf({ value }, key, matching)) };
}

function legacyTree(groups: readonly Json[], matching: Matching): TreeNode {
  if (groups.length === 0) return noOne;
  return { kind: "any", nodes: groups.map((group) => nodeOfLegacyGroup(group, matching)) };
}

/**
 * The condition tree of a dynamic cohort; an empty one is fulfilled by everyone, a cohort without any by
 * no one. Upstream PostHog rust/feature-flags, cohort_models and cohort_operations.
 * @throws FlagFailure cohort_filters_parsing_error, or what a filter's operator or value throws.
 */
export function treeOf({ filters, groups = [] }: Cohort, matching: Matching): TreeNode {
  if (filters === undefined || filters === null) return legacyTree(groups, matching);
  if (!isObject(filters)) throw broken();
  if (Object.keys(filters).length === 0) return everyone;
  const tree = filters.properties;
  if (!isObject(tree)) throw broken();
  return Object.keys(tree).length === 0 ? everyone : nodeOf(tree, matching, 0);
}

export function cohortsIn(node: TreeNode): number[] {
  if (node.kind === "cohort") return [node.cohort];
  return node.kind === "all" || node.kind === "any" ? node.nodes.flatMap(cohortsIn) : [];
}

/** A cohort, as far as it depends neither on the person nor on other cohorts. */
export interface CompiledCohort {
  readonly cohort: Cohort;
  /** Uuids of the persons of a static cohort; undefined for a dynamic one. */
  readonly members: ReadonlySet<string> | undefined;
  readonly tree: TreeNode;
  readonly references: readonly number[];
  readonly failure: FailureCode | undefined;
}

/** What to compute for a cohort, in this order, or why it cannot be computed. */
export type CohortPlan = readonly CompiledCohort[] | FailureCode;

export interface CompiledCohorts {
  readonly compiled: ReadonlyMap<number, CompiledCohort>;
  /** The plan for a cohort, which comes last. Kept after the first call. */
  planOf(id: number): CohortPlan;
}

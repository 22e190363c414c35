import { isObject, type JsonObject } from "../../../../src/kernel/base/json.ts";
import type { Scenario } from "../../../../src/lab/scenario/schema.ts";
import type { CohortDraft, TreeDraft } from "./cohort-drafts.ts";
import type { ConditionDraft, FilterDraft, FlagDraft } from "./flag-drafts.ts";
import type { WorldDraft } from "./world.ts";

/**
 * A single filter on a property, and the flag that consists of it alone: what it is for a subject on
 * either side is what that flag is.
 */
export interface Probe {
  readonly flagKey: string;
  readonly filter: JsonObject;
  /** Of its condition set; null is the person. */
  readonly aggregation: number | null;
  readonly isInCohort: boolean;
}

/** A condition set with its references resolved. */
interface ConditionFacts {
  readonly document: JsonObject;
  /** What it is about: null is the person. */
  readonly aggregation: number | null;
  /** Ids; that of a missing one among them. */
  readonly cohorts: readonly number[];
}

export interface FlagFacts {
  readonly key: string;
  readonly document: JsonObject & { readonly filters: JsonObject };
  readonly conditions: readonly ConditionFacts[];
  /** Of its condition sets and of all cohorts that they need. */
  readonly probes: readonly Probe[];
  /** Keys of the flags that it asks for directly; undefined for one that is missing. */
  readonly dependencies: readonly (string | undefined)[];
  /** All cohorts that it needs, by id; undefined for one that is missing or deleted. */
  readonly cohorts: ReadonlyMap<number, CohortFacts | undefined>;
}

export interface CohortFacts {
  readonly id: number;
  readonly document: JsonObject;
  readonly references: readonly number[];
}

/** A world as documents, and what is in them. */
export interface Documents {
  readonly scenario: Scenario;
  /** The flags of the draft; those that only probe are left out. */
  readonly flags: readonly FlagFacts[];
}

export const projectKey = "phc_differential";
export const personalKey = "phx_differential";

const flagId = (i: number) => 100 + i;
const cohortId = (i: number) => 200 + i;
const flagKey = (i: number) => `flag-${i}`;
const missing = 9999;

/** One of those before it, seldom any (so that there are circles) or a missing one; "none" when there is none. */
function resolve(which: number, position: number, count: number): number | "missing" | "none" {
  if (which % 50 === 49) return "missing";
  const among = which % 50 >= 45 ? count : position;
  return among === 0 ? "none" : which % among;
}

/** A filter that refers to another document; none when there is nothing to refer to. */
function reference(target: number | "missing" | "none", idOf: (i: number) => number): number[] {
  if (target === "none") return [];
  return [target === "missing" ? missing : idOf(target)];
}

/** One of the first `position` cohorts: posthog-node overflows the stack on circles, so there are none. */
const cohortReference = (which: number, position: number): number[] =>
  reference(resolve(which, position, position), cohortId);

function nodesOf(draft: TreeDraft, position: number): JsonObject[] {
  if ("values" in draft) return [{ type: draft.type, values: draft.values.flatMap((it) => nodesOf(it, position)) }];
  if (!("which" in draft)) return [draft.leaf];
  return cohortReference(draft.which, position).map((value) => ({ ...draft.leaf, key: "id", type: "cohort", value }));
}

/** The nodes of a tree that have no nodes themselves. */
export function leavesOf(node: JsonObject): JsonObject[] {
  return Array.isArray(node.values) ? node.values.filter(isObject).flatMap(leavesOf) : [node];
}

const idIn = (leaf: JsonObject): number[] =>
  leaf.type === "cohort" && typeof leaf.value === "number" ? [leaf.value] : [];

function cohortOf({ document, tree }: CohortDraft, position: number): CohortFacts {
  const [properties] = tree ? nodesOf(tree, position) : [];
  const id = cohortId(position);
  return {
    id,
    document: { ...document, id, name: `cohort ${id}`, filters: { properties: properties ?? {} } },
    references: properties ? leavesOf(properties).flatMap(idIn) : [],
  };
}

/** Everything that some cohorts need; deleted ones do not exist. */
function reachable(cohorts: readonly CohortFacts[], ids: readonly number[]): FlagFacts["cohorts"] {
  const found = new Map<number, CohortFacts | undefined>();
  const open = [...ids];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (found.has(id)) continue;
    const cohort = cohorts.find((it) => it.id === id && it.document.deleted !== true);
    found.set(id, cohort);
    if (cohort && cohort.document.is_static !== true) open.push(...cohort.references);
  }
  return found;
}

/** The tree of a dynamic cohort. */
export function treeIn({ document }: CohortFacts): JsonObject {
  const filters = isObject(document.filters) ? document.filters : {};
  return document.is_static !== true && isObject(filters.properties) ? filters.properties : {};
}

/** Hands out a flag for each filter; the same one to filters that are alike. */
function createProbes() {
  const known = new Map<string, Probe>();
  return {
    known,
    probe(filter: JsonObject, aggregation: number | null, isInCohort: boolean): Probe {
      const name = JSON.stringify([filter, aggregation, isInCohort]);
      const found = known.get(name) ?? { flagKey: `probe-${known.size}`, filter, aggregation, isInCohort };
      known.set(name, found);
      return found;
    },
  };
}
type Probes = ReturnType<typeof createProbes>;

function probeDocument({ filter, aggregation }: Probe): JsonObject {
  const groups = [{ properties: [filter], rollout_percentage: 100 }];
  return { filters: { groups, ...(aggregation !== null && { aggregation_group_type_index: aggregation }) } };
}

interface Surroundings {
  readonly position: number;
  readonly draft: WorldDraft;
  readonly cohorts: readonly CohortFacts[];
  readonly probes: Probes;
}

type PropertyDraft = Extract<FilterDraft, { about: "property" }>;

const indexOf = (value: unknown): number | null => (typeof value === "number" ? value : null);

function typed({ type, filter }: PropertyDraft, aggregation: number | null): JsonObject {
  if (type === "none") return filter;
  if (type !== "own") return { ...filter, type };
  return aggregation === null
    ? { ...filter, type: "person" }
    : { ...filter, type: "group", group_type_index: aggregation };
}

/** The filter of a draft; none when it refers to something and there is nothing. */
function filtersOf(it: FilterDraft, aggregation: number | null, { position, draft }: Surroundings): JsonObject[] {
  switch (it.about) {
    case "property":
      return [typed(it, aggregation)];
    case "cohort":
      return cohortReference(it.which, draft.cohorts.length).map((value) => ({
        ...it.filter,
        key: "id",
        type: "cohort",
        value,
      }));
    case "flag":
      return reference(resolve(it.which, position, draft.flags.length), flagId).map((id) => ({
        ...it.filter,
        key: String(id),
        type: "flag",
        operator: "flag_evaluates_to",
      }));
  }
}

function conditionOf(condition: ConditionDraft, filters: JsonObject, around: Surroundings): ConditionFacts {
  const own = Object.hasOwn(condition.rest, "aggregation_group_type_index") ? condition.rest : filters;
  const aggregation = indexOf(own.aggregation_group_type_index);
  const properties = condition.filters.flatMap((it) => filtersOf(it, aggregation, around));
  return { document: { ...condition.rest, properties }, aggregation, cohorts: properties.flatMap(idIn) };
}

const propertiesOf = ({ document }: ConditionFacts): JsonObject[] =>
  Array.isArray(document.properties) ? document.properties.filter(isObject) : [];

function probesOf(
  conditions: readonly ConditionFacts[],
  cohorts: FlagFacts["cohorts"],
  { probes }: Surroundings,
): Probe[] {
  const own = conditions.flatMap((condition) =>
    propertiesOf(condition)
      .filter(({ type }) => type !== "cohort" && type !== "flag")
      .map((filter) => probes.probe(filter, condition.aggregation, false)),
  );
  const leaves = [...cohorts.values()].flatMap((cohort) => (cohort ? leavesOf(treeIn(cohort)) : []));
  const inCohorts = leaves
    .filter(({ type }) => type === "person")
    .map(({ negation: _, ...filter }) => probes.probe(filter, null, true));
  return [...own, ...inCohorts];
}

function flagOf(flag: FlagDraft, around: Surroundings): FlagFacts {
  const conditions = flag.conditions.map((it) => conditionOf(it, flag.filters, around));
  const needed = conditions.flatMap(({ cohorts }) => cohorts);
  const cohorts = reachable(around.cohorts, needed);
  const filters = { ...flag.filters, groups: conditions.map(({ document }) => document) };
  const asked = conditions.flatMap(propertiesOf).filter(({ type }) => type === "flag");
  return {
    key: flagKey(around.position),
    document: { ...flag.document, id: flagId(around.position), filters },
    conditions,
    probes: probesOf(conditions, cohorts, around),
    dependencies: asked.map(({ key }) => (Number(key) === missing ? undefined : flagKey(Number(key) - flagId(0)))),
    cohorts,
  };
}

function scenarioOf(draft: WorldDraft, flags: readonly FlagFacts[], probes: Probes, cohorts: JsonObject[]) {
  const own = flags.map(({ key, document }) => [key, document] as const);
  const probing = [...probes.known.values()].map((it) => [it.flagKey, probeDocument(it)] as const);
  return {
    version: 1,
    organizations: [
      {
        name: "Differential",
        projects: [
          {
            name: "World",
            api_key: projectKey,
            timezone: draft.timezone,
            settings: { property_matching_version: draft.matchingVersion },
            flags: Object.fromEntries([...own, ...probing]),
            cohorts,
          },
        ],
      },
    ],
    personal_api_keys: [{ key: personalKey, scopes: ["*"] }],
    // Checked against the schema when the sim takes it in.
  } as unknown as Scenario;
}

/** The documents of a generated world. */
export function documentsOf(draft: WorldDraft): Documents {
  const cohorts = draft.cohorts.map(cohortOf);
  const probes = createProbes();
  const flags = draft.flags.map((it, position) => flagOf(it, { position, draft, cohorts, probes }));
  const scenario = scenarioOf(
    draft,
    flags,
    probes,
    cohorts.map(({ document }) => document),
  );
  return { scenario, flags };
}

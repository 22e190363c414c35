import { isObject, type Json, type JsonObject } from "../base/json.ts";
import type { Path } from "../base/json-pointer.ts";
import { createGuesses, type Guesses, meantOf } from "../base/nearest.ts";
import { createCohortBook } from "../flags/engine/cohorts.ts";
import { compileFlag } from "../flags/engine/compile.ts";
import { defaultMatching, operatorNames } from "../flags/engine/operators.ts";
import { failures } from "../flags/engine/reasons.ts";
import { referenceIn } from "../flags/engine/values.ts";
import type { Cohort, FeatureFlag, World } from "../world/world.ts";
import type { Problem } from "./problems.ts";
import type { AuthoredFlag, AuthoredProject } from "./project-schema.ts";
import type { Scenario } from "./schema.ts";
import type { ScenarioPeople } from "./world-builder.ts";

/**
 * Mistakes that the schema allows: unknown references, circles, percentages that do not add up. The service would
 * reject them, or they have no effect. A sim starts with them, as it does with such documents from an imported state.
 */

interface Placed<T> {
  readonly it: T;
  readonly at: Path;
}

/** A reference from one flag or cohort to another, and its place. */
interface Reference {
  readonly from: number;
  readonly to: number;
  readonly at: Path;
}

/** The documents of one project, by the values that refer to them. */
interface Surroundings {
  readonly flags: ReadonlyMap<number | string, FeatureFlag>;
  readonly cohorts: ReadonlyMap<number, Cohort>;
  readonly cohortIds: ReadonlyMap<string, number>;
  /** The first ones, for hints. */
  readonly cohortList: string;
  readonly groupTypes: readonly string[];
  readonly guesses: Guesses;
  readonly problems: Problem[];
  readonly flagReferences: Reference[];
  readonly cohortReferences: Reference[];
}

interface Built {
  readonly world: World;
  readonly people: ScenarioPeople;
}

/** All warnings, by project. */
export function warningsOf(scenario: Scenario, built: Built): Problem[] {
  const flags = groupedBy(built.world.feature_flags, (it) => it.project);
  const cohorts = groupedBy(built.world.cohorts, (it) => it.project);
  const groupTypes = groupedBy(built.people.groupTypes, (it) => it.project);
  const authored = scenario.organizations.flatMap(({ projects }, i) =>
    projects.map((it, j) => ({ it, at: ["organizations", i, "projects", j] })),
  );
  return authored.flatMap((project, i) => {
    const { id = 0 } = built.world.projects[i] ?? {};
    const types = (groupTypes.get(id) ?? []).map(({ name }) => name);
    return inProject(project, flags.get(id) ?? [], cohorts.get(id) ?? [], types);
  });
}

function inProject(
  { it: authored, at }: Placed<AuthoredProject>,
  flags: readonly FeatureFlag[],
  cohorts: readonly Cohort[],
  groupTypes: readonly string[],
): Problem[] {
  const here: Surroundings = {
    flags: new Map<number | string, FeatureFlag>([
      ...flags.map((it) => [it.id, it] as const),
      ...flags.map((it) => [it.key, it] as const),
    ]),
    cohorts: new Map(cohorts.filter(({ deleted }) => deleted !== true).map((it) => [it.id, it])),
    cohortIds: new Map(cohorts.map((it) => [it.name ?? "", it.id])),
    cohortList: listed(cohorts.map((it) => `${it.id} (${it.name})`)) || "none",
    groupTypes,
    guesses: createGuesses(),
    problems: [],
    flagReferences: [],
    cohortReferences: [],
  };
  for (const flag of flags) {
    const own = authored.flags?.[flag.key];
    if (own !== undefined && !flag.deleted)
      checkFlag(here, flag, { it: own, at: [...at, "flags", flag.key] });
  }
  for (const [i, cohort] of cohorts.entries()) {
    if (cohort.deleted !== true) checkCohort(here, { it: cohort, at: [...at, "cohorts", i] });
  }
  checkCircles(here);
  checkDocuments(here, authored, at);
  return here.problems;
}

function groupedBy<T>(list: readonly T[], keyOf: (it: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const it of list) {
    const key = keyOf(it);
    const group = groups.get(key);
    if (group) group.push(it);
    else groups.set(key, [it]);
  }
  return groups;
}

const warn = ({ problems }: Surroundings, at: Path, text: string, hint?: string): void => {
  problems.push({ at, text, ...(hint !== undefined && { hint }) });
};

const quoted = (value: unknown): string => JSON.stringify(value) ?? "nothing";

/** Names in a hint. */
const maxNamed = 8;

const listed = (names: readonly string[]): string =>
  [...names.slice(0, maxNamed), ...(names.length > maxNamed ? ["…"] : [])].join(", ");

/** A flag as authored, and in the world. */
function checkFlag(here: Surroundings, flag: FeatureFlag, { it: authored, at }: Placed<AuthoredFlag>): void {
  if (typeof authored === "boolean") return;
  const before = here.problems.length;
  if (authored.filters === undefined) {
    const { variants, payloads } = authored;
    checkVariants(here, Object.entries(variants ?? {}), [...at, "variants"]);
    checkPayloads(here, payloads, variants && Object.keys(variants), [...at, "payloads"]);
    return;
  }
  checkFilters(here, flag, [...at, "filters"]);
  const { failed } = compileFlag(flag);
  if (failed && here.problems.length === before) {
    warn(here, [...at, "filters"], `the flag cannot be evaluated: ${failed.reason.description}`);
  }
}

/** The rounding error of percentages. */
const tolerance = 1e-6;

function checkVariants(here: Surroundings, variants: readonly (readonly [string, number])[], at: Path): void {
  const sum = variants.reduce((total, [, share]) => total + share, 0);
  if (variants.length === 0 || Math.abs(sum - 100) < tolerance) return;
  const shown = Number(sum.toFixed(4));
  const rest = sum < 100 ? "the rest gets no variant" : "the part over 100 is never used";
  warn(here, at, `the variants add up to ${shown}, not 100: ${rest}`, "change the percentages");
}

function checkPayloads(
  here: Surroundings,
  payloads: object | undefined,
  variants: readonly string[] | undefined,
  at: Path,
): void {
  for (const name of Object.keys(payloads ?? {})) {
    if (variants?.includes(name) ?? name === "true") continue;
    const text = variants
      ? `a payload for ${quoted(name)}, which is no variant of the flag`
      : `a payload for ${quoted(name)}, but the flag has no variants`;
    const meant = variants ? meantOf(name, variants) : 'name it "true", or add the variants';
    warn(here, [...at, name], text, meant ?? `variants are ${listed(variants ?? [])}`);
  }
}

function checkShare(here: Surroundings, share: unknown, at: Path): void {
  if (typeof share !== "number" || (share >= 0 && share <= 100)) return;
  warn(here, at, `expected a percentage from 0 to 100, got ${share}`);
}

function checkFilters(here: Surroundings, flag: FeatureFlag, at: Path): void {
  const { filters } = flag;
  const variants = filters.multivariate?.variants ?? [];
  const names = variants.map(({ key }) => key);
  const inVariants = [...at, "multivariate", "variants"];
  const seen = new Set<string>();
  for (const [i, { key, rollout_percentage: share }] of variants.entries()) {
    checkShare(here, share, [...inVariants, i, "rollout_percentage"]);
    if (seen.has(key)) warn(here, [...inVariants, i, "key"], `two variants are called ${quoted(key)}`);
    seen.add(key);
  }
  checkVariants(
    here,
    variants.map((it) => [it.key, it.rollout_percentage]),
    inVariants,
  );
  checkPayloads(here, filters.payloads, filters.multivariate ? names : undefined, [...at, "payloads"]);
  checkGroupType(here, filters.aggregation_group_type_index, [...at, "aggregation_group_type_index"]);
  for (const [i, set] of (filters.groups ?? []).entries()) {
    const inSet = [...at, "groups", i];
    checkShare(here, set.rollout_percentage, [...inSet, "rollout_percentage"]);
    checkGroupType(here, set.aggregation_group_type_index, [...inSet, "aggregation_group_type_index"]);
    if (typeof set.variant === "string" && set.variant !== "" && !seen.has(set.variant)) {
      const text = `${quoted(set.variant)} is no variant of the flag`;
      warn(here, [...inSet, "variant"], text, meantOf(set.variant, names) ?? `variants are ${listed(names)}`);
    }
    for (const [j, filter] of (set.properties ?? []).entries()) {
      checkProperty(here, flag, { it: filter, at: [...inSet, "properties", j] });
    }
  }
}

function checkGroupType(here: Surroundings, index: unknown, at: Path): void {
  if (typeof index !== "number" || here.groupTypes[index] !== undefined) return;
  const types = here.groupTypes.map((name, i) => `${i} ${quoted(name)}`);
  const hint =
    types.length > 0 ? `group types are ${types.join(", ")}` : "name the types in `group_types`, in order";
  warn(here, at, `there is no group type with the index ${index}`, hint);
}

const filterTypes = ["person", "person_metadata", "group", "cohort", "flag"];

/** Untyped in the service's JSON. */
type PropertyFilter = { readonly key: string; readonly [key: string]: unknown };

function checkProperty(here: Surroundings, flag: FeatureFlag, { it, at }: Placed<PropertyFilter>): void {
  const { type, operator } = it;
  if (typeof type === "string" && !filterTypes.includes(type)) {
    const text = `a filter of the type ${quoted(type)} is not evaluated`;
    warn(here, [...at, "type"], text, meantOf(type, filterTypes) ?? `types are ${listed(filterTypes)}`);
    return;
  }
  checkGroupType(here, it.group_type_index, [...at, "group_type_index"]);
  checkOperator(here, operator, type, [...at, "operator"]);
  if (type === "cohort") checkCohortReference(here, it.value, [...at, "value"]);
  if (type === "flag") checkFlagReference(here, flag, { it, at });
}

/** The operators of filters that are not on a property; others match nothing. */
const operatorsOf: Readonly<Record<string, readonly string[]>> = {
  cohort: ["in", "not_in"],
  flag: ["flag_evaluates_to"],
};

function checkOperator(here: Surroundings, operator: unknown, type: unknown, at: Path): void {
  if (typeof operator !== "string") return;
  const known = operatorsOf[String(type)] ?? operatorNames;
  if (known.includes(operator)) return;
  const text = operatorNames.includes(operator)
    ? `the operator ${quoted(operator)} matches nothing in a filter of the type ${quoted(type)}`
    : `unknown operator ${quoted(operator)}`;
  const few = known.length <= maxNamed ? listed(known) : undefined;
  const hint = few === undefined ? meantOf(operator, known) : `use ${few}`;
  warn(here, at, text, hint ?? synonyms[operator.toLowerCase()] ?? `operators are ${known.join(", ")}`);
}

/** Names of operators elsewhere. */
const synonyms: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ["exact", "=", "==", "===", "eq", "equals", "equal", "is", "in"],
    ["is_not", "!=", "!==", "neq", "ne", "not_equals", "not"],
    ["icontains", "contains", "includes", "like"],
    ["gt", ">", "greater_than"],
    ["gte", ">="],
    ["lt", "<", "less_than"],
    ["lte", "<="],
    ["regex", "matches", "match"],
    ["is_set", "exists", "set"],
  ].flatMap(([name = "", ...others]) => others.map((it) => [it, `did you mean ${quoted(name)}?`])),
);

function checkFlagReference(here: Surroundings, flag: FeatureFlag, { it, at }: Placed<PropertyFilter>): void {
  const reference = referenceIn(it.key) ?? it.key;
  const target = here.flags.get(reference);
  if (!target || target.deleted) {
    const text = target ? `the flag ${quoted(it.key)} is deleted` : `there is no flag ${quoted(it.key)}`;
    warn(here, [...at, "key"], text, target ? undefined : meantFlag(here, it.key));
    return;
  }
  here.flagReferences.push({ from: flag.id, to: target.id, at: [...at, "key"] });
  const variants = (target.filters.multivariate?.variants ?? []).map(({ key }) => key);
  if (typeof it.value === "string" && !variants.includes(it.value)) {
    const text = `the flag ${quoted(target.key)} is never ${quoted(it.value)}`;
    warn(
      here,
      [...at, "value"],
      text,
      meantOf(it.value, variants) ?? `it is ${listed([...variants, "true", "false"])}`,
    );
  }
}

const meantFlag = ({ guesses, flags }: Surroundings, key: string): string | undefined =>
  guesses.meant(key, () => [...flags.values()].map((it) => it.key), flags.size);

function checkCohortReference(here: Surroundings, value: unknown, at: Path): number | undefined {
  const id = referenceIn(value);
  if (id !== undefined && here.cohorts.has(id)) return id;
  const named = typeof value === "string" ? here.cohortIds.get(value) : undefined;
  const text =
    id === undefined
      ? `expected the id of a cohort, got ${quoted(value)}`
      : `there is no cohort with the id ${id}`;
  const hint =
    named === undefined
      ? `cohorts of the project: ${here.cohortList}`
      : `give that cohort an \`id\`, and use it here (now ${named})`;
  warn(here, at, text, hint);
  return undefined;
}

function checkCohort(here: Surroundings, { it: cohort, at }: Placed<Cohort>): void {
  if (cohort.is_static === true) return;
  if (cohort.persons !== undefined) {
    warn(here, [...at, "persons"], "only a static cohort has these members", "add `is_static: true`");
  }
  const before = here.problems.length;
  if (isObject(cohort.filters) && cohort.filters.properties !== undefined) {
    checkNode(here, cohort.id, { it: cohort.filters.properties, at: [...at, "filters", "properties"] });
  }
  const { failure } = createCohortBook([cohort], defaultMatching).compiled.get(cohort.id) ?? {};
  if (failure && here.problems.length === before) {
    warn(here, [...at, "filters"], `the cohort cannot be evaluated: ${failures[failure]}`);
  }
}

/** The depth of a cohort's conditions; the engine rejects deeper ones. */
const deepest = 64;

function checkNode(here: Surroundings, cohort: number, { it, at }: Placed<Json>, depth = 0): void {
  if (!isObject(it) || depth > deepest) return;
  if (Array.isArray(it.values)) {
    for (const [i, node] of it.values.entries()) {
      checkNode(here, cohort, { it: node, at: [...at, "values", i] }, depth + 1);
    }
  } else checkLeaf(here, cohort, it, at);
}

function checkLeaf(here: Surroundings, cohort: number, leaf: JsonObject, at: Path): void {
  const { type, operator, value } = leaf;
  if (type === "behavioral") {
    warn(here, at, "conditions on past events are not evaluated: no person meets this one");
    return;
  }
  checkOperator(here, operator, type === "cohort" ? type : "person", [...at, "operator"]);
  if (type !== "cohort") return;
  const to = checkCohortReference(here, value, [...at, "value"]);
  if (to !== undefined) here.cohortReferences.push({ from: cohort, to, at: [...at, "value"] });
}

/** One warning for each circle, at one of its references. */
function checkCircles(here: Surroundings): void {
  for (const circle of circlesIn(here.flagReferences)) {
    const way = circle.map(({ from }) => here.flags.get(from)?.key ?? "");
    reportCircle(here, circle, way, "flags depend on each other");
  }
  for (const circle of circlesIn(here.cohortReferences)) {
    const way = circle.map(({ from }) => quoted(here.cohorts.get(from)?.name ?? from));
    reportCircle(here, circle, way, "cohorts contain each other");
  }
}

function reportCircle(here: Surroundings, circle: readonly Reference[], way: string[], what: string): void {
  const [first] = circle;
  if (!first) return;
  const shown = way.length > maxNamed ? [...way.slice(0, maxNamed), "…"] : way;
  const text = `${what}: ${[...shown, way[0]].join(" → ")}; none of them can be evaluated`;
  warn(here, first.at, text, "remove one of these conditions");
}

/** Circles of references; each document is in one of them at most. */
function circlesIn(references: readonly Reference[]): Reference[][] {
  const from = groupedBy(references, (it) => it.from);
  const done = new Set<number>();
  const circles: Reference[][] = [];
  for (const start of from.keys()) {
    if (done.has(start)) continue;
    // depth-first without recursion: a chain may have thousands of members
    const way: { readonly id: number; next: number; by?: Reference }[] = [{ id: start, next: 0 }];
    const position = new Map([[start, 0]]);
    for (let top = way.at(-1); top !== undefined; top = way.at(-1)) {
      const reference = from.get(top.id)?.[top.next++];
      if (!reference) {
        done.add(top.id);
        position.delete(top.id);
        way.pop();
        continue;
      }
      const back = position.get(reference.to);
      if (back !== undefined) {
        const members = way.slice(back);
        if (members.some(({ id }) => done.has(id))) continue;
        circles.push([...members.slice(1).flatMap(({ by }) => by ?? []), reference]);
        for (const { id } of members) done.add(id);
      } else if (!done.has(reference.to)) {
        position.set(reference.to, way.length);
        way.push({ id: reference.to, next: 0, by: reference });
      }
    }
  }
  return circles;
}

/** Keys of documents that contain the key of a flag. */
const flagNames = [
  ["surveys", "linked_flag_key"],
  ["surveys", "targeting_flag_key"],
  ["surveys", "internal_targeting_flag_key"],
  ["early_access_features", "flagKey"],
  ["web_experiments", "feature_flag_key"],
] as const;

function checkDocuments(here: Surroundings, authored: AuthoredProject, at: Path): void {
  for (const [list, name] of flagNames) {
    for (const [i, document] of (authored[list] ?? []).entries()) {
      const key = document[name];
      if (typeof key !== "string" || key === "" || here.flags.has(key)) continue;
      warn(here, [...at, list, i, name], `there is no flag ${quoted(key)}`, meantFlag(here, key));
    }
  }
}

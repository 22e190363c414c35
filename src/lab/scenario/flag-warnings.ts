import { groupedBy } from "../../kernel/base/grouped-by.ts";
import type { Path } from "../../kernel/base/json.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { createGuesses, meantOf } from "../../kernel/base/nearest.ts";
import { compileCohorts } from "../../service/flags/engine/cohorts.ts";
import { compileFlag } from "../../service/flags/engine/compile.ts";
import { variantKeys } from "../../service/flags/engine/filters.ts";
import { defaultMatching, operatorNames } from "../../service/flags/engine/operators.ts";
import { failures } from "../../service/flags/engine/reasons.ts";
import { textValuesOf } from "../../service/flags/engine/rule-config.ts";
import { referenceIn } from "../../service/flags/engine/values.ts";
import type { Cohort, FeatureFlag, World } from "../../state/documents/world.ts";
import type { RawProblem } from "./problems.ts";
import type { AuthoredFlag, AuthoredProject } from "./project-schema.ts";
import { circlesIn, type Reference } from "./reference-circles.ts";
import type { Scenario } from "./schema.ts";
import type { ScenarioPersons } from "./world-builder.ts";

/**
 * Mistakes that the schema allows: unknown references, circles, percentages that do not add up. The service would
 * reject them, or they have no effect. A sim starts with them, as it does with such documents from an imported state.
 */
export function warningsOf(
  scenario: Scenario,
  { world, people }: { readonly world: World; readonly people: ScenarioPersons },
): RawProblem[] {
  const flags = groupedBy(world.feature_flags, (it) => it.project);
  const cohorts = groupedBy(world.cohorts, (it) => it.project);
  const groupTypes = groupedBy(people.groupTypes, (it) => it.project);
  const authored = scenario.organizations.flatMap(({ projects }, i) =>
    projects.map((it, j) => ({ it, at: ["organizations", i, "projects", j] })),
  );
  return authored.flatMap(({ it, at }, i) => {
    const { id = 0 } = world.projects[i] ?? {};
    const types = (groupTypes.get(id) ?? []).map(({ name }) => name);
    return new ProjectCheck(flags.get(id) ?? [], cohorts.get(id) ?? [], types).warnings(it, at);
  });
}

const quoted = (value: unknown): string => JSON.stringify(value) ?? "nothing";

const maxNamed = 8;

const listed = (names: readonly string[]): string =>
  [...names.slice(0, maxNamed), ...(names.length > maxNamed ? ["…"] : [])].join(", ");

const tolerance = 1e-6;

const filterTypes = ["person", "person_metadata", "group", "cohort", "flag"];

/** The operators of filters that are not on a property; others match nothing. */
const operatorsOf: Readonly<Record<string, readonly string[]>> = {
  cohort: ["in", "not_in"],
  flag: ["flag_evaluates_to"],
};

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

/** Untyped in the service's JSON. */
type PropertyFilter = { readonly key: string; readonly [key: string]: unknown };

/** The depth of a cohort's conditions; the engine rejects deeper ones. */
const maxDepth = 64;

/** Keys of documents that contain the key of a flag. */
const flagNames = [
  ["surveys", "linked_flag_key"],
  ["surveys", "targeting_flag_key"],
  ["surveys", "internal_targeting_flag_key"],
  ["early_access_features", "flagKey"],
  ["experiments", "feature_flag_key"],
  ["web_experiments", "feature_flag_key"],
] as const;

class ProjectCheck {
  readonly #flags: readonly FeatureFlag[];
  readonly #cohorts: readonly Cohort[];
  readonly #groupTypes: readonly string[];
  /** By id and by key. */
  readonly #flagsByName: ReadonlyMap<number | string, FeatureFlag>;
  readonly #cohortsById: ReadonlyMap<number, Cohort>;
  readonly #guesses = createGuesses();
  readonly #problems: RawProblem[] = [];
  readonly #flagReferences: Reference[] = [];
  readonly #cohortReferences: Reference[] = [];

  constructor(flags: readonly FeatureFlag[], cohorts: readonly Cohort[], groupTypes: readonly string[]) {
    this.#flags = flags;
    this.#cohorts = cohorts;
    this.#groupTypes = groupTypes;
    this.#flagsByName = new Map<number | string, FeatureFlag>([
      ...flags.map((it) => [it.id, it] as const),
      ...flags.map((it) => [it.key, it] as const),
    ]);
    this.#cohortsById = new Map(cohorts.filter(({ deleted }) => !deleted).map((it) => [it.id, it]));
  }

  warnings(authored: AuthoredProject, at: Path): RawProblem[] {
    for (const flag of this.#flags) {
      const own = authored.flags?.[flag.key];
      if (own !== undefined && !flag.deleted) this.#checkFlag(flag, own, [...at, "flags", flag.key]);
    }
    for (const [i, cohort] of this.#cohorts.entries()) {
      if (!cohort.deleted) this.#checkCohort(cohort, [...at, "cohorts", i]);
    }
    this.#checkCircles();
    for (const [list, name] of flagNames) {
      for (const [i, { [name]: key }] of (authored[list] ?? []).entries()) {
        if (typeof key !== "string" || key === "" || this.#flagsByName.has(key)) continue;
        this.#warn([...at, list, i, name], `there is no flag ${quoted(key)}`, this.#meantFlag(key));
      }
    }
    return this.#problems;
  }

  #warn(at: Path, text: string, hint?: string): void {
    this.#problems.push({ at, text, ...(hint !== undefined && { hint }) });
  }

  #meantFlag(key: string): string | undefined {
    const known = () => [...this.#flagsByName.values()].map((it) => it.key);
    return this.#guesses.meant(key, known, this.#flagsByName.size);
  }

  /** @param authored The flag in the scenario; `flag` is the same in the world */
  #checkFlag(flag: FeatureFlag, authored: AuthoredFlag, at: Path): void {
    if (typeof authored === "boolean") return;
    if (authored.filters === undefined) {
      const { variants, payloads, person } = authored;
      for (const [name, value] of Object.entries(person ?? {}))
        if (isObject(value))
          this.#warn(
            [...at, "person", name],
            "matches only persons who have exactly this object",
            "conditions with operators are in the service's form: `filters`",
          );
      this.#checkVariants(Object.entries(variants ?? {}), [...at, "variants"]);
      this.#checkPayloads(payloads, variants && Object.keys(variants), [...at, "payloads"]);
      return;
    }
    const before = this.#problems.length;
    this.#checkFilters(flag, [...at, "filters"]);
    const { failed } = compileFlag(flag);
    if (failed && this.#problems.length === before) {
      this.#warn([...at, "filters"], `the flag cannot be evaluated: ${failed.reason.description}`);
    }
  }

  #checkVariants(variants: readonly (readonly [string, number])[], at: Path): void {
    const sum = variants.reduce((total, [, share]) => total + share, 0);
    if (variants.length === 0 || Math.abs(sum - 100) < tolerance) return;
    const rest = sum < 100 ? "the rest gets no variant" : "the part over 100 is never used";
    const text = `the variants add up to ${Number(sum.toFixed(4))}, not 100: ${rest}`;
    this.#warn(at, text, "change the percentages");
  }

  #checkPayloads(payloads: object | undefined, variants: readonly string[] | undefined, at: Path): void {
    for (const name of Object.keys(payloads ?? {})) {
      if (variants?.includes(name) ?? name === "true") continue;
      const text = variants
        ? `a payload for ${quoted(name)}, which is no variant of the flag`
        : `a payload for ${quoted(name)}, but the flag has no variants`;
      const meant = variants ? meantOf(name, variants) : 'name it "true", or add the variants';
      this.#warn([...at, name], text, meant ?? `variants are ${listed(variants ?? [])}`);
    }
  }

  #checkShare(share: unknown, at: Path): void {
    if (typeof share !== "number" || (share >= 0 && share <= 100)) return;
    this.#warn(at, `expected a percentage from 0 to 100, got ${share}`);
  }

  #checkFilters(flag: FeatureFlag, at: Path): void {
    const { filters } = flag;
    const variants = filters.multivariate?.variants ?? [];
    const names = variants.map(({ key }) => key);
    const inVariants = [...at, "multivariate", "variants"];
    for (const [i, { key, rollout_percentage: share }] of variants.entries()) {
      this.#checkShare(share, [...inVariants, i, "rollout_percentage"]);
      if (names.indexOf(key) < i) this.#warn([...inVariants, i, "key"], `two variants are called ${quoted(key)}`);
    }
    this.#checkVariants(
      variants.map((it) => [it.key, it.rollout_percentage]),
      inVariants,
    );
    this.#checkPayloads(filters.payloads, filters.multivariate ? names : undefined, [...at, "payloads"]);
    this.#checkGroupType(filters.aggregation_group_type_index, [...at, "aggregation_group_type_index"]);
    for (const [i, set] of (filters.groups ?? []).entries()) {
      const inSet = [...at, "groups", i];
      this.#checkShare(set.rollout_percentage, [...inSet, "rollout_percentage"]);
      this.#checkGroupType(set.aggregation_group_type_index, [...inSet, "aggregation_group_type_index"]);
      const { variant } = set;
      if (variant && !names.includes(variant)) {
        const hint = meantOf(variant, names) ?? `variants are ${listed(names)}`;
        this.#warn([...inSet, "variant"], `${quoted(variant)} is no variant of the flag`, hint);
      }
      for (const [j, filter] of (set.properties ?? []).entries()) {
        this.#checkProperty(flag, filter, [...inSet, "properties", j]);
      }
    }
  }

  #checkGroupType(index: unknown, at: Path): void {
    if (typeof index !== "number" || this.#groupTypes[index] !== undefined) return;
    const types = this.#groupTypes.map((name, i) => `${i} ${quoted(name)}`);
    const hint = types.length > 0 ? `group types are ${types.join(", ")}` : "name the types in `group_types`, in order";
    this.#warn(at, `there is no group type with the index ${index}`, hint);
  }

  #checkProperty(flag: FeatureFlag, filter: PropertyFilter, at: Path): void {
    const { type, operator } = filter;
    if (typeof type === "string" && !filterTypes.includes(type)) {
      const text = `a filter of the type ${quoted(type)} is not evaluated`;
      this.#warn([...at, "type"], text, meantOf(type, filterTypes) ?? `types are ${listed(filterTypes)}`);
      return;
    }
    this.#checkGroupType(filter.group_type_index, [...at, "group_type_index"]);
    this.#checkOperator(operator, type, [...at, "operator"]);
    if (type === "cohort") this.#cohortAt(filter.value, [...at, "value"]);
    if (type === "flag") this.#checkFlagReference(flag, filter, at);
  }

  #checkOperator(operator: unknown, type: unknown, at: Path): void {
    if (typeof operator !== "string") return;
    const known = operatorsOf[String(type)] ?? operatorNames;
    if (known.includes(operator)) return;
    const text = operatorNames.includes(operator)
      ? `the operator ${quoted(operator)} matches nothing in a filter of the type ${quoted(type)}`
      : `unknown operator ${quoted(operator)}`;
    const hint = known.length <= maxNamed ? `use ${listed(known)}` : meantOf(operator, known);
    this.#warn(at, text, hint ?? synonyms[operator.toLowerCase()] ?? `operators are ${known.join(", ")}`);
  }

  #checkFlagReference(flag: FeatureFlag, { key, value }: PropertyFilter, at: Path): void {
    const target = this.#flagsByName.get(referenceIn(key) ?? key);
    if (!target || target.deleted) {
      const text = target ? `the flag ${quoted(key)} is deleted` : `there is no flag ${quoted(key)}`;
      this.#warn([...at, "key"], text, target ? undefined : this.#meantFlag(key));
      return;
    }
    this.#flagReferences.push({ from: flag.id, to: target.id, at: [...at, "key"] });
    const variants = [...variantKeys(target.filters), ...textValuesOf(target.filters)];
    if (typeof value === "string" && !variants.includes(value)) {
      const hint = meantOf(value, variants) ?? `it is ${listed([...variants, "true", "false"])}`;
      this.#warn([...at, "value"], `the flag ${quoted(target.key)} is never ${quoted(value)}`, hint);
    }
  }

  /** Id of the cohort that the value refers to; a wrong reference is a problem. */
  #cohortAt(value: unknown, at: Path): number | undefined {
    const id = referenceIn(value);
    if (id !== undefined && this.#cohortsById.has(id)) return id;
    const text =
      id === undefined ? `expected the id of a cohort, got ${quoted(value)}` : `there is no cohort with the id ${id}`;
    const named = typeof value === "string" ? this.#cohorts.findLast(({ name }) => name === value) : undefined;
    const known = listed(this.#cohorts.slice(0, maxNamed + 1).map((it) => `${it.id} (${it.name})`)) || "none";
    const hint = named
      ? `give that cohort an \`id\`, and use it here (now ${named.id})`
      : `cohorts of the project: ${known}`;
    this.#warn(at, text, hint);
    return undefined;
  }

  #checkCohort(cohort: Cohort, at: Path): void {
    if (cohort.is_static === true) return;
    if (cohort.persons !== undefined) {
      const text = "only a static cohort has these members";
      this.#warn([...at, "persons"], text, "add `is_static: true`");
    }
    const before = this.#problems.length;
    if (isObject(cohort.filters) && cohort.filters.properties !== undefined) {
      this.#checkNode(cohort.id, cohort.filters.properties, [...at, "filters", "properties"]);
    }
    const { failure } = compileCohorts([cohort], defaultMatching).compiled.get(cohort.id) ?? {};
    if (failure && this.#problems.length === before) {
      this.#warn([...at, "filters"], `the cohort cannot be evaluated: ${failures[failure]}`);
    }
  }

  #checkNode(cohort: number, node: Json, at: Path, depth = 0): void {
    if (!isObject(node) || depth > maxDepth) return;
    if (!Array.isArray(node.values)) {
      this.#checkLeaf(cohort, node, at);
      return;
    }
    for (const [i, it] of node.values.entries()) this.#checkNode(cohort, it, [...at, "values", i], depth + 1);
  }

  #checkLeaf(from: number, { type, operator, value }: JsonObject, at: Path): void {
    if (type === "behavioral") {
      this.#warn(at, "conditions on past events are not evaluated: no person meets this one");
      return;
    }
    this.#checkOperator(operator, type === "cohort" ? type : "person", [...at, "operator"]);
    if (type !== "cohort") return;
    const to = this.#cohortAt(value, [...at, "value"]);
    if (to !== undefined) this.#cohortReferences.push({ from, to, at: [...at, "value"] });
  }

  /** One warning for each circle, at one of its references. */
  #checkCircles(): void {
    const report = (circle: readonly Reference[], nameOf: (id: number) => string, what: string) => {
      const way = circle.map(({ from }) => nameOf(from));
      const shown = way.length > maxNamed ? [...way.slice(0, maxNamed), "…"] : way;
      const text = `${what}: ${[...shown, way[0]].join(" → ")}; none of them can be evaluated`;
      this.#warn(circle[0]?.at ?? [], text, "remove one of these conditions");
    };
    for (const circle of circlesIn(this.#flagReferences)) {
      report(circle, (id) => this.#flagsByName.get(id)?.key ?? "", "flags depend on each other");
    }
    for (const circle of circlesIn(this.#cohortReferences)) {
      report(circle, (id) => quoted(this.#cohortsById.get(id)?.name ?? id), "cohorts contain each other");
    }
  }
}

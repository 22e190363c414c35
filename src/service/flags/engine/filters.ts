import type { Json } from "../../../kernel/base/json.ts";
import type { FeatureFlag } from "../../../state/documents/world.ts";
import { isMember } from "./cohorts.ts";
import { type Matching, type PreparedTest, prepareTest } from "./operators.ts";
import { FlagFailure } from "./reasons.ts";
import type { EvaluationRun } from "./run.ts";
import { referenceIn } from "./values.ts";

export type Filters = FeatureFlag["filters"];
export type ConditionSet = NonNullable<Filters["groups"]>[number];
export type PropertyFilter = NonNullable<ConditionSet["properties"]>[number];

/** The keys of a flag's variants; none for rules of version 2. */
export const variantKeys = ({ multivariate, version }: Filters): string[] =>
  version === 2 ? [] : (multivariate?.variants ?? []).map(({ key }) => key);

export const cohortsAsked = ({ groups = [] }: Filters): number[] =>
  groups.flatMap(({ properties = [] }) =>
    properties.flatMap(({ type, value }) => (type === "cohort" ? (referenceIn(value) ?? []) : [])),
  );

interface Written {
  readonly key: string;
  readonly operator: string;
  readonly value: Json;
}

/** A filter on a property of the person (group type null) or of one of its groups. */
export interface PropertyTest extends Written {
  readonly about: "property";
  readonly type: "person" | "person_metadata" | "group";
  readonly groupType: number | null;
  /** True for a filter of a rule of version 2 that is inverted. */
  readonly negation?: boolean;
  /** undefined when it is absent. @throws FlagFailure when it is not known. */
  read(run: EvaluationRun): Json | undefined;
  passes(run: EvaluationRun): boolean;
}

export interface FlagTest extends Written {
  readonly about: "flag";
  readonly reference: number | string;
  passes(run: EvaluationRun): boolean;
}

export interface CohortTest extends Written {
  readonly about: "cohort";
  /** undefined when the filter names none that could exist. */
  readonly cohort: number | undefined;
  /** True if the person is in it. @throws FlagFailure for a cohort that cannot be computed. */
  isMember(run: EvaluationRun): boolean;
  passes(run: EvaluationRun): boolean;
}

export interface FlagMatching extends Matching {
  /** Filters on properties by what they say: flags with equal filters share one test. */
  readonly shared?: Map<string, PropertyTest>;
}

/** Beyond this number, tests of filters that no flag has any more make room. */
const mostShared = 10_000;

export type FilterTest = PropertyTest | FlagTest | CohortTest;

/** What a condition set is about: filters without a type read that. */
interface Target {
  /** Index of the group type; null is the person. */
  readonly aggregation: number | null;
  /** false where upstream never looks at groups. */
  readonly hasGroups: boolean;
}

const written = (filter: PropertyFilter, operator: string): Written => ({
  key: filter.key,
  operator,
  // The document is JSON: zod's loose objects only forget it.
  value: (filter.value ?? null) as Json,
});

type Read = (run: EvaluationRun) => Json | undefined;

const readers: Record<PropertyTest["type"], (key: string, groupType: number | null) => Read> = {
  person: (key) => (run) => run.subject.property(key),
  person_metadata: (key) => (run) => run.subject.metadata(key),
  group: (key, groupType) =>
    groupType === null ? () => undefined : (run) => run.subject.group(groupType)?.property(key),
};

/** A test remembers its last result: in a run it is asked once for each flag that has the filter. */
function propertyTest(
  filter: PropertyFilter,
  type: PropertyTest["type"],
  target: Target,
  matching: FlagMatching,
): PropertyTest {
  const facts = written(filter, typeof filter.operator === "string" ? filter.operator : "exact");
  const own = typeof filter.group_type_index === "number" ? filter.group_type_index : target.aggregation;
  const groupType = type === "group" && target.hasGroups ? own : null;
  const { shared = new Map<string, PropertyTest>() } = matching;
  const text = JSON.stringify([type, groupType, facts]);
  const known = shared.get(text);
  if (known) return known;
  const { missing, passes }: PreparedTest = prepareTest(facts.operator, facts.value, matching);
  const read = readers[type](facts.key, groupType);
  let run: object | undefined;
  let result = false;
  const made: PropertyTest = {
    about: "property",
    ...facts,
    type,
    groupType,
    read,
    passes(current) {
      if (run === current.id) return result;
      const value = read(current);
      result = value === undefined ? missing : passes(value, current.subject.now);
      run = current.id;
      return result;
    },
  };
  if (shared.size >= mostShared) shared.clear();
  shared.set(text, made);
  return made;
}

/** Upstream PostHog rust/feature-flags, flag_matching_utils: other operators and values match nothing. */
function flagTest(filter: PropertyFilter): FlagTest {
  const facts = written(filter, typeof filter.operator === "string" ? filter.operator : "");
  const reference = referenceIn(facts.key) ?? facts.key;
  const wanted = facts.operator === "flag_evaluates_to" ? facts.value : null;
  return {
    about: "flag",
    ...facts,
    reference,
    passes({ values }) {
      const value = values.get(reference);
      if (value === undefined) return false;
      return typeof wanted === "boolean" ? (value !== false) === wanted : value === wanted;
    },
  };
}

/** Upstream PostHog rust/feature-flags, cohort_operations: other operators match nothing. */
function cohortTest(filter: PropertyFilter): CohortTest {
  const facts = written(filter, typeof filter.operator === "string" ? filter.operator : "in");
  const cohort = referenceIn(facts.value);
  const test = (run: EvaluationRun): boolean => {
    if (cohort === undefined) throw new FlagFailure("cohort_filters_parsing_error");
    return isMember(run, cohort);
  };
  return {
    about: "cohort",
    ...facts,
    cohort,
    isMember: test,
    passes: (run) => (facts.operator === "in" ? test(run) : facts.operator === "not_in" && !test(run)),
  };
}

const isPropertyType = (type: unknown): type is PropertyTest["type"] =>
  typeof type === "string" && Object.hasOwn(readers, type);

/**
 * Makes a filter ready to be asked. A filter without a type is about what its condition set is about.
 * `negation` is for cohorts only; condition sets have operators for it. Upstream PostHog
 * rust/feature-flags, flag_matching.
 * @throws FlagFailure for a type, an operator or a value that cannot be evaluated.
 */
export function filterTest(filter: PropertyFilter, target: Target, matching: FlagMatching): FilterTest {
  const type = filter.type ?? (target.aggregation === null ? "person" : "group");
  if (type === "flag") return flagTest(filter);
  if (type === "cohort") return cohortTest(filter);
  if (!isPropertyType(type)) throw new FlagFailure("unsupported_property_type");
  return propertyTest(filter, type, target, matching);
}

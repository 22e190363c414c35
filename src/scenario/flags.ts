import { isUuid } from "../base/ids.ts";
import type { Path } from "../base/json-pointer.ts";
import type { Person } from "../people/person.ts";
import { blankFeatureFlag } from "../world/blank.ts";
import { tidyTags } from "../world/tags.ts";
import type { Cohort, FeatureFlag, Project } from "../world/world.ts";
import type { Building } from "./building.ts";
import type { Names } from "./names.ts";
import type { AuthoredCohort, AuthoredFlag, ServiceFlag, ShortFlag } from "./schemas/feature-flag.ts";
import { beginning, timeOr } from "./times.ts";

export function addFlag(
  building: Building,
  project: Project,
  key: string,
  authored: AuthoredFlag,
  at: Path,
): void {
  const given = givenBy(authored);
  const author = building.author(undefined, at);
  const flag = blankFeatureFlag(
    {
      ...given,
      id: building.number("feature_flags", given.id, at),
      project: project.id,
      key,
      created_by: author,
      last_modified_by: author,
    },
    beginning,
  );
  building.world.feature_flags.push(flag);
}

/** What an author says of a flag, in whichever form. */
function givenBy(authored: AuthoredFlag): Partial<FeatureFlag> {
  // Off means decided as false: an inactive flag would be missing from the answer instead.
  if (typeof authored === "boolean") return { filters: filtersOf({ rollout: authored ? 100 : 0 }) };
  return isServiceFlag(authored) ? knownOf(authored) : { filters: filtersOf(authored) };
}

const isServiceFlag = (flag: ShortFlag | ServiceFlag): flag is ServiceFlag => flag.filters !== undefined;

/** What of the service's document is kept. */
const known = [
  "id",
  "name",
  "active",
  "deleted",
  "version",
  "ensure_experience_continuity",
  "has_encrypted_payloads",
  "is_remote_configuration",
  "evaluation_runtime",
  "bucketing_identifier",
  "filters",
] as const satisfies readonly (keyof FeatureFlag & keyof ServiceFlag)[];

function knownOf(flag: ServiceFlag): Partial<FeatureFlag> {
  return {
    ...pick(flag, known),
    tags: tidyTags(flag.tags ?? []),
    ...contextsOf(flag),
    created_at: timeOr(flag.created_at, beginning),
    updated_at: timeOr(flag.updated_at, null),
  };
}

function contextsOf(flag: ServiceFlag): Pick<FeatureFlag, "evaluation_contexts"> {
  const contexts = flag.evaluation_contexts ?? flag.evaluation_tags ?? [];
  return contexts.length === 0 ? {} : { evaluation_contexts: tidyTags(contexts) };
}

/** The keys that have a value: null means the default. */
function pick<T, K extends keyof T>(from: T, keys: readonly K[]): { [P in K]?: NonNullable<T[P]> } {
  const picked: { [P in K]?: NonNullable<T[P]> } = {};
  for (const key of keys) {
    const value = from[key];
    if (value !== undefined && value !== null) picked[key] = value;
  }
  return picked;
}

/** The short form in the service's own words. */
function filtersOf({ rollout = 100, variants, payloads, person = {} }: ShortFlag): FeatureFlag["filters"] {
  const properties = Object.entries(person).map(([key, value]) => ({
    key,
    value,
    operator: "exact",
    type: "person",
  }));
  return {
    groups: [{ properties, rollout_percentage: rollout }],
    ...(variants && {
      multivariate: {
        variants: Object.entries(variants).map(([key, share]) => ({ key, rollout_percentage: share })),
      },
    }),
    ...(payloads && {
      payloads: Object.fromEntries(Object.entries(payloads).map(([key, it]) => [key, JSON.stringify(it)])),
    }),
  };
}

/** Members may be called by their distinct ids. */
export function addCohort(
  building: Building,
  project: Project,
  persons: Names<Person>,
  { persons: members, ...authored }: AuthoredCohort,
  at: Path,
): void {
  const uuidOf = (called: string, i: number): string =>
    isUuid(called) ? called.toLowerCase() : (persons.find(called, [...at, "persons", i])?.uuid ?? called);
  const cohort: Cohort = {
    description: "",
    is_static: false,
    deleted: false,
    ...authored,
    ...(members && { persons: members.map(uuidOf) }),
    id: building.number("cohorts", authored.id, at),
    project: project.id,
    created_at: timeOr(authored.created_at, beginning),
    created_by: building.author(authored.created_by, [...at, "created_by"]),
  };
  building.world.cohorts.push(cohort);
}

import type { Json } from "../../kernel/base/json.ts";
import {
  conditionReferences,
  isFlagField,
  type References,
  type Renumbered,
  renumbered,
  rewrite,
} from "../../service/flags/references.ts";
import { resourceOf } from "../../state/documents/resources.ts";
import type { Cohort, FeatureFlag, ReadonlyWorld, StoredProject, StoredResource } from "../../state/documents/world.ts";

interface Copied {
  timezone: string;
  settings: StoredProject["settings"];
  remote_config: StoredProject["remote_config"];
  feature_flags: FeatureFlag[];
  cohorts: Cohort[];
  resources: StoredResource[];
}

const numbersFor = (documents: readonly { id: number }[], nextId: () => number): Renumbered =>
  new Map(documents.map(({ id }) => [id, nextId()]));

interface Numbers {
  cohort(): number;
  flag(): number;
}

/** Kinds of resources that are copied; the others refer to insights and dashboards, or have no effect. */
const copiedKinds: ReadonlySet<string> = new Set([
  "actions",
  "early_access_features",
  "event_definitions",
  "event_schemas",
  "experiments",
  "property_definitions",
  "schema_property_groups",
  "surveys",
]);

function copiedResource(
  { kind, key, fields }: StoredResource,
  project: number,
  { flags, inCohorts }: { flags: Renumbered; inCohorts: References },
): StoredResource {
  const entries = Object.entries(rewrite(fields, inCohorts)).map(([name, value]): [string, Json] => [
    name,
    isFlagField(name) ? (renumbered(value, flags) ?? null) : value,
  ]);
  return resourceOf(kind, project, key, Object.fromEntries(entries));
}

/**
 * Copies settings, remote config, surveys and other resources, cohorts and flags (also deleted ones: others may depend on them) of a project to
 * another one. Conditions that refer to a cohort or a flag by id refer to its copy.
 */
export function copyOf(world: ReadonlyWorld, template: StoredProject, project: number, next: Numbers): Copied {
  const isTheirs = (it: { project: number }) => it.project === template.id;
  const cohorts = world.cohorts.filter(isTheirs);
  const flags = world.feature_flags.filter(isTheirs);
  const cohortNumbers = numbersFor(cohorts, next.cohort);
  const flagNumbers = numbersFor(flags, next.flag);
  const inCohorts = conditionReferences(cohortNumbers, new Map());
  const inFlags = conditionReferences(cohortNumbers, flagNumbers);
  return {
    timezone: template.timezone,
    settings: rewrite(template.settings, inCohorts),
    remote_config: template.remote_config,
    cohorts: cohorts.map((it) => ({ ...rewrite(it, inCohorts), id: cohortNumbers.get(it.id) ?? it.id, project })),
    resources: world.resources
      .filter((it) => it.project === template.id && copiedKinds.has(it.kind))
      .map((it) => copiedResource(it, project, { flags: flagNumbers, inCohorts })),
    feature_flags: flags.map((it) => ({
      ...it,
      id: flagNumbers.get(it.id) ?? it.id,
      project,
      filters: rewrite(it.filters, inFlags),
    })),
  };
}

export const nothingCopied: Copied = {
  timezone: "UTC",
  settings: {},
  remote_config: {},
  feature_flags: [],
  cohorts: [],
  resources: [],
};

import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { referenceIn } from "../flags/engine/values.ts";
import { resourceOf } from "../world/resources.ts";
import type { Cohort, FeatureFlag, ReadonlyWorld, StoredProject, StoredResource } from "../world/world.ts";

/** What a new project copies from another one, with new ids. */
interface Copied {
  timezone: string;
  settings: StoredProject["settings"];
  remote_config: StoredProject["remote_config"];
  feature_flags: FeatureFlag[];
  cohorts: Cohort[];
  resources: StoredResource[];
}

/** Old id → new id. */
type Renumbered = ReadonlyMap<number, number>;

/** Where a condition refers to another document, by its type. A flag's key, instead of its id, stays. */
type References = ReadonlyMap<unknown, { readonly field: string; readonly numbers: Renumbered }>;

/** A reference with the new id, as a number or a string like the old one. */
function renumbered(value: Json | undefined, numbers: Renumbered): Json | undefined {
  const old = referenceIn(value);
  const next = old === undefined ? undefined : numbers.get(old);
  if (next === undefined) return value;
  return typeof value === "string" ? String(next) : next;
}

function withReferences(value: JsonObject, references: References): JsonObject {
  const reference = references.get(value.type);
  if (!reference || !Object.hasOwn(value, reference.field)) return value;
  const next = renumbered(value[reference.field], reference.numbers);
  return next === undefined || next === value[reference.field]
    ? value
    : { ...value, [reference.field]: next };
}

/** The value with its conditions rewritten; parts without conditions are shared with the original. */
function rewritten(value: Json, references: References): Json {
  if (Array.isArray(value)) {
    const items = value.map((it) => rewritten(it, references));
    return items.some((it, i) => it !== value[i]) ? items : value;
  }
  if (!isObject(value)) return value;
  const own = withReferences(value, references);
  const entries = Object.entries(own).map(([key, it]): [string, Json] => [key, rewritten(it, references)]);
  return entries.some(([key, it]) => it !== own[key]) ? Object.fromEntries(entries) : own;
}

const numbersFor = (documents: readonly { id: number }[], nextId: () => number): Renumbered =>
  new Map(documents.map(({ id }) => [id, nextId()]));

/** Source of new ids. */
interface Numbers {
  cohort(): number;
  flag(): number;
}

/** Conditions are JSON, whatever the schema's type is; an irregular document is copied unchanged. */
const rewrite = <T>(value: T, references: References): T =>
  rewritten(value as unknown as Json, references) as unknown as T;

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

/** True for fields of resources with the id of a flag. */
const isFlagField = (name: string): boolean => /(?:^|_)flag_id$/.test(name);

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
export function copyOf(
  world: ReadonlyWorld,
  template: StoredProject,
  project: number,
  next: Numbers,
): Copied {
  const isTheirs = (it: { project: number }) => it.project === template.id;
  const cohorts = world.cohorts.filter(isTheirs);
  const flags = world.feature_flags.filter(isTheirs);
  const ofCohorts = { field: "value", numbers: numbersFor(cohorts, next.cohort) };
  const ofFlags = { field: "key", numbers: numbersFor(flags, next.flag) };
  const inCohorts: References = new Map([["cohort", ofCohorts]]);
  const inFlags: References = new Map([...inCohorts, ["flag", ofFlags]]);
  return {
    timezone: template.timezone,
    settings: rewrite(template.settings, inCohorts),
    remote_config: template.remote_config,
    cohorts: cohorts.map((it) => ({
      ...rewrite(it, inCohorts),
      id: ofCohorts.numbers.get(it.id) ?? it.id,
      project,
    })),
    resources: world.resources
      .filter((it) => it.project === template.id && copiedKinds.has(it.kind))
      .map((it) => copiedResource(it, project, { flags: ofFlags.numbers, inCohorts })),
    feature_flags: flags.map((it) => ({
      ...it,
      id: ofFlags.numbers.get(it.id) ?? it.id,
      project,
      filters: rewrite(it.filters, inFlags),
    })),
  };
}

/** The content of a project without a template. */
export const nothingCopied: Copied = {
  timezone: "UTC",
  settings: {},
  remote_config: {},
  feature_flags: [],
  cohorts: [],
  resources: [],
};

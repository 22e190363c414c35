import { type Json, type JsonObject, type Path, textsIn } from "../../kernel/base/json.ts";
import { flagKeyFields, numberedKinds, referenceFields, resourceOf } from "../../state/documents/resources.ts";
import { tidyTags } from "../../state/documents/tags.ts";
import type { Dashboard, FeatureFlag, Insight, StoredProject } from "../../state/documents/world.ts";
import type { AuthoredProject } from "./project-schema.ts";
import { beginning, type Names, timeOr, type WorldBuilder } from "./world-builder.ts";

export interface Named {
  readonly insights: Names<Insight>;
  readonly dashboards: Names<Dashboard>;
  readonly flags: Names<FeatureFlag>;
}

const isReference = (name: string): name is keyof typeof referenceFields => Object.hasOwn(referenceFields, name);

function listsIn(authored: AuthoredProject): [string, readonly JsonObject[]][] {
  const {
    id: _id,
    uuid: _uuid,
    name: _name,
    api_key: _key,
    secret_api_key: _secret,
    timezone: _timezone,
    is_demo: _demo,
    created_at: _created,
    settings: _settings,
    primary_dashboard: _primary,
    dashboards: _dashboards,
    dashboard_templates: _templates,
    insights: _insights,
    flags: _flags,
    cohorts: _cohorts,
    persons: _persons,
    group_types: _types,
    groups: _groups,
    batch_exports: _exports,
    remote_config: _config,
    product_tours: _tours,
    prompts: _prompts,
    traffic: _traffic,
    plan: _plan,
    ...resources
  } = authored;
  // the schema has lists of objects under all other keys
  return Object.entries(resources as Record<string, readonly JsonObject[]>);
}

export function addResources(
  builder: WorldBuilder,
  project: StoredProject,
  authored: AuthoredProject,
  named: Named,
  at: Path,
): void {
  for (const [list, resources] of listsIn(authored)) {
    for (const [i, it] of resources.entries()) addResource(builder, project, list, it, named, [...at, list, i]);
  }
}

function addResource(
  builder: WorldBuilder,
  project: StoredProject,
  list: string,
  authored: JsonObject,
  named: Named,
  at: Path,
): void {
  const { id, created_at, created_by, ...given } = authored;
  const kind = list === "web_experiments" ? "experiments" : list;
  const name = String(given.name ?? given.title ?? given.content ?? at.at(-1));
  const isNumbered = numberedKinds.has(kind) && typeof id !== "string";
  const key = isNumbered
    ? builder.number(`resources/${kind}`, typeof id === "number" ? id : undefined, at)
    : typeof id === "string" || typeof id === "number"
      ? id
      : builder.uuid(`${kind}:${project.api_key}/${name}`, undefined, [...at, "id"]);
  if (!isNumbered) builder.claim(`id in ${list} of project ${project.id}`, key, [...at, "id"]);
  const entries = Object.entries(given).map(([field, value]): [string, Json] => [
    field,
    stored(builder, field, value, named, [...at, field]),
  ]);
  builder.world.resources.push(
    resourceOf(kind, project.id, key, {
      ...withFlagId(kind, Object.fromEntries(entries), named),
      ...(list === "web_experiments" && { type: "web" }),
      created_at: timeOr(typeof created_at === "string" ? created_at : undefined, beginning),
      created_by: builder.author(typeof created_by === "string" || created_by === null ? created_by : undefined, [
        ...at,
        "created_by",
      ]),
    }),
  );
}

/** The fields with the id of the flag that they name by its key; a key without a flag stays, with a warning. */
function withFlagId(kind: string, fields: JsonObject, { flags }: Named): JsonObject {
  const { [flagKeyFields[kind] ?? ""]: key, ...others } = fields;
  const flag = typeof key === "string" ? flags.get(key) : undefined;
  return flag ? { ...others, feature_flag_id: flag.id } : fields;
}

const isTime = (field: string): boolean => /(?:_at|_date|_until|^date_marker)$/.test(field);

/** The value as the world has it: ids for names, wire times. */
function stored(builder: WorldBuilder, field: string, value: Json, named: Named, at: Path): Json {
  if (isReference(field)) {
    const collection = referenceFields[field];
    const names = collection === "users" ? builder.users : named[collection];
    const idOf = (it: Json, here: Path): Json => (typeof it === "string" ? (names.find(it, here)?.id ?? null) : it);
    return Array.isArray(value) ? value.map((it, i) => idOf(it, [...at, i])) : idOf(value, at);
  }
  if (field === "tags") return tidyTags(textsIn(value));
  return isTime(field) && typeof value === "string" && !Number.isNaN(Date.parse(value)) ? timeOr(value, value) : value;
}

import { type Json, type JsonObject, type Path, textsIn } from "../../kernel/base/json.ts";
import {
  flagKeyFields,
  numberedKinds,
  referenceFields,
  resourceLists,
  resourceOf,
} from "../../state/documents/resources.ts";
import { tidyTags } from "../../state/documents/tags.ts";
import type { Dashboard, FeatureFlag, Insight, StoredProject } from "../../state/documents/world.ts";
import type { AuthoredProject } from "./project-schema.ts";
import { beginning, each, type Names, timeOr, type WorldBuilder } from "./world-builder.ts";

export interface Named {
  readonly insights: Names<Insight>;
  readonly dashboards: Names<Dashboard>;
  readonly flags: Names<FeatureFlag>;
}

const isReference = (name: string): name is keyof typeof referenceFields => Object.hasOwn(referenceFields, name);

const lists: ReadonlySet<string> = new Set([...resourceLists, "surveys", "web_experiments"]);

export function addResources(
  builder: WorldBuilder,
  project: StoredProject,
  authored: AuthoredProject,
  named: Named,
  at: Path,
): void {
  // lists of objects, by the schema; they stay in the order of the scenario
  const all = Object.entries(authored as Record<string, unknown>).filter(([list]) => lists.has(list));
  for (const [list, resources] of all as [string, readonly JsonObject[]][])
    each(resources, [...at, list], (it, here) => addResource(builder, project, list, it, named, here));
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

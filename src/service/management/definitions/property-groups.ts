import { z } from "zod";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import { type JsonObject, objectsIn } from "../../../kernel/base/json.ts";
import { compareText } from "../../../kernel/base/text.ts";
import { liveResource, liveResources } from "../../../state/documents/resources.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { boolean, choice, dictionary, invalid, list, text } from "../../api-frame/fields.ts";
import type { ResourceKind, Writing } from "../resources/kind.ts";
import { siblingsOf, textIn } from "../resources/resource-fields.ts";
import { compareNames } from "./definition-fields.ts";
import { checkRules } from "./property-rules.ts";

const mostLetters = 200;

const Property = z.object({
  name: text({ max: 400 }).refine((it) => it.length <= mostLetters, {
    params: { detail: `Property name must be ${mostLetters} characters or less` },
  }),
  property_type: choice(["DateTime", "String", "Numeric", "Boolean", "Object"]),
  is_required: boolean().optional(),
  is_optional_in_types: boolean().optional(),
  validation_rules: dictionary().nullable().optional(),
  description: text({ blank: true }).optional(),
});

const initialProperty = { is_required: false, is_optional_in_types: false, validation_rules: null, description: "" };

const namespace = "0d9c2f6e-41f4-5c0b-8a57-2f6f5d0f3b92";

/** What the property of a scenario has beyond what the author gave. */
const ofScenario = (group: StoredResource["key"], { created_at: time = null }: JsonObject, name: string) => ({
  id: uuidV5(namespace, `${group}/${name}`),
  ...initialProperty,
  created_at: time,
  updated_at: time,
});

/** The service keeps each name once in a group, and says so in another way for a new group. */
function twice(name: string, isNew: boolean) {
  return isNew
    ? invalid("Could not create property group due to a database error.")
    : invalid(`A property named '${name}' already exists in this group`, "properties");
}

/** @throws SimError with the service's text for what is wrong */
function prepare(fields: JsonObject, writing: Writing): JsonObject {
  const { body, before, desk, now } = writing;
  const name = textIn(fields, "name");
  if (siblingsOf(writing, "schema_property_groups").some((it) => textIn(it.fields, "name") === name)) {
    const where = before ? "" : " for this team";
    throw invalid(`A property group with this name already exists${where}`, "name");
  }
  if (body.properties === undefined) return fields;
  const names = new Set<string>();
  // ids of a body do not count: what it has replaces all
  const properties = objectsIn(body.properties).map((it) => {
    const property = textIn(it, "name");
    checkRules(textIn(it, "property_type"), it.validation_rules);
    if (names.has(property)) throw twice(property, !before);
    names.add(property);
    return { id: desk.ids.uuid(), ...initialProperty, ...it, created_at: now, updated_at: now };
  });
  return { ...fields, properties };
}

/** The project's event schemas with a field of this value. */
export const schemasWith = (
  { worlds }: Pick<ResourceDesk, "worlds">,
  project: number,
  field: "event_definition" | "property_group_id",
  key: StoredResource["key"],
): StoredResource[] => liveResources(worlds.current, "event_schemas", project).filter((it) => it.fields[field] === key);

/** Id and name of the definitions that have the group in their schema. */
function eventsOf(desk: ResourceDesk, { key, project }: StoredResource): JsonObject[] {
  const of = project ?? 0;
  return schemasWith(desk, of, "property_group_id", key)
    .map(({ fields }) => liveResource(desk.worlds, "event_definitions", of, textIn(fields, "event_definition")))
    .flatMap((it) => (it ? [{ id: it.key, name: textIn(it.fields, "name") }] : []))
    .toSorted((a, b) => compareText(a.name.toLowerCase(), b.name.toLowerCase()));
}

/** Properties that events should have. Upstream PostHog/posthog posthog/api/schema_property_group.py. */
export const propertyGroups: ResourceKind = {
  kind: "schema_property_groups",
  noun: "schema property group",
  isOnlyStored: true,
  of: "project",
  scope: "event_definition",
  deletion: "hard",
  fields: {
    name: text({ max: 400 }),
    description: text({ blank: true }).optional(),
    properties: list(Property).optional(),
  },
  initial: { description: "", properties: [] },
  stamps: ["created_at", "updated_at", "created_by"],
  shown: {
    properties: z.array(Property.extend({ id: z.string(), created_at: z.string(), updated_at: z.string() })),
    events: z.array(z.object({ id: z.string(), name: z.string() })),
  },
  compare: compareNames,
  prepare,
  show: ({ properties, ...fields }, document, desk) => ({
    properties: objectsIn(properties)
      .map((it) => ({ ...ofScenario(document.key, fields, textIn(it, "name")), ...it }))
      .toSorted((a, b) => compareText(textIn(a, "name"), textIn(b, "name"))),
    events: eventsOf(desk, document),
  }),
  beforeRemoval({ key, project }, { desk, draft }) {
    for (const { id } of schemasWith(desk, project ?? 0, "property_group_id", key)) {
      draft.remove("resources", id);
    }
  },
};

import { z } from "zod";
import type { Json, JsonObject } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { isSdkProperty } from "../../../state/journal/sdk-properties.ts";
import { numberIn } from "../../api-frame/access.ts";
import type { ResourceRequest } from "../../api-frame/changing.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { choice, invalid, isTrue } from "../../api-frame/fields.ts";
import type { ResourceKind, Resources } from "../resources/kind.ts";
import { textIn } from "../resources/resource-fields.ts";
import {
  compareNames,
  definitionFields,
  initialDefinition,
  joined,
  listIn,
  shownDefinition,
  showVerified,
  termsFilter,
  tidied,
} from "./definition-fields.ts";

const types = ["event", "person", "group", "session"] as const;
const propertyTypes = ["DateTime", "String", "Numeric", "Boolean", "Duration"] as const;

/** What a definition is known by: its name, and what has the property. */
const identityOf = ({ name = null, type = "event", group_type_index = null }: JsonObject): JsonObject => ({
  name,
  type,
  group_type_index,
});

/** Properties of events that lists leave out: the service keeps them for itself. */
const neverListed = new Set([
  "distinct_id",
  "$set",
  "$set_once",
  "$initial_referrer",
  "$initial_referring_domain",
  "$groups",
  "$group_type",
  "$group_key",
  "$group_set",
]);

const isListed = (name: string): boolean =>
  !neverListed.has(name) && !/^\$group_\d$/.test(name) && !name.startsWith("$session_entry_");

/** Definitions with their facts from captured events: whether they are on the events of `?event_names=`. */
async function load(
  { project, call }: ResourceRequest,
  { people }: ResourceDesk,
  resources: Resources,
): Promise<StoredResource[]> {
  const id = project?.id ?? 0;
  const { events, properties } = await resources.captured(id);
  const asked = listIn(call.query, "event_names");
  const names = [...(asked ?? [])];
  const groupTypes = people.groupTypes(id);
  const isSeen = (name: Json | undefined): boolean =>
    names.some((event) => events.get(event)?.properties.has(stringOf(name)));
  const all = joined({
    kind: "property_definitions",
    project: id,
    stored: resources.stored("property_definitions", id),
    captured: properties,
    identify: ({ name, type, group }) =>
      identityOf({ name, type, group_type_index: group === null ? null : groupTypes.indexOf(group) }),
    identityOf,
    facts: ({ property_type = null }) => ({ detected_type: property_type }),
  });
  return all.map((it) => ({
    ...it,
    fields: { ...it.fields, is_seen_on_filtered_events: names.length > 0 ? isSeen(it.fields.name) : null },
  }));
}

const typeOf = ({ property_type, detected_type = null }: JsonObject): Json => property_type ?? detected_type;

/** @throws SimError invalid_choice, invalid_input */
function ownerIn(query: URLSearchParams): { type: string; group_type_index: number | null } {
  const type = query.get("type") ?? "event";
  if (!types.some((it) => it === type)) {
    throw invalid(`"${type}" is not a valid choice.`, "type", "invalid_choice");
  }
  const text = query.get("group_type_index");
  if (type === "group" && text === null) {
    throw invalid("`group_type_index` must be set for `group` type");
  }
  if (type !== "group" && text !== null) throw invalid("`group_type_index` can only set for `group` type");
  const index = text === null ? null : numberIn(text);
  if (index === undefined) throw invalid("A valid integer is required.", "group_type_index");
  if (index !== null && index > 4) throw invalid("Invalid value for `group_type_index`");
  if (type !== "event" && query.get("event_names")) {
    throw invalid("`event_names` can only be set for `event` type");
  }
  return { type, group_type_index: index };
}

function narrow(documents: readonly StoredResource[], { call: { query } }: ResourceRequest): readonly StoredResource[] {
  const owner = ownerIn(query);
  const is = (name: string): boolean => isTrue(query.get(name) ?? "false");
  const chosen = query.get("properties")?.split(",");
  const excluded = listIn(query, "excluded_properties");
  const isOfFlags = query.get("is_feature_flag") === null ? undefined : is("is_feature_flag");
  const [isNumerical, withoutHidden] = [is("is_numerical"), is("exclude_hidden")];
  const onlySeen = is("filter_by_event_names") && Boolean(query.get("event_names"));
  const isKept = is("exclude_core_properties") ? (it: string) => !isSdkProperty(it) : isListed;
  return documents.filter(({ fields }) => {
    const name = textIn(fields, "name");
    const { type, group_type_index } = identityOf(fields);
    return (
      type === owner.type &&
      group_type_index === owner.group_type_index &&
      (chosen?.includes(name) ?? true) &&
      !(isNumerical && (typeOf(fields) !== "Numeric" || name === "distinct_id" || name === "timestamp")) &&
      (isOfFlags === undefined || isOfFlags === name.startsWith("$feature/")) &&
      !excluded?.has(name) &&
      !(withoutHidden && fields.hidden === true) &&
      !(onlySeen && fields.is_seen_on_filtered_events !== true) &&
      (type !== "event" || isKept(name))
    );
  });
}

const rank = ({ fields }: StoredResource): number =>
  (fields.is_seen_on_filtered_events === true ? 2 : 0) + (fields.verified === true ? 1 : 0);

/**
 * Properties by name: those that were captured, and those that a scenario defines.
 * Upstream PostHog/posthog posthog/api/property_definition.py, ee/api/ee_property_definition.py.
 */
export const propertyDefinitions: ResourceKind = {
  kind: "property_definitions",
  noun: "property definition",
  isOnlyStored: false,
  of: "project",
  scope: "property_definition",
  methods: ["list", "read", "change", "remove"],
  deletion: "hard",
  fields: { ...definitionFields, property_type: choice(propertyTypes).nullable().optional() },
  authored: {
    name: z.string().min(1),
    type: z.enum(types).optional(),
    group_type_index: z.int().min(0).max(4).optional(),
  },
  initial: { ...initialDefinition, property_type: null },
  stamps: ["updated_at", "updated_by"],
  shown: {
    name: z.string(),
    is_numerical: z.boolean(),
    is_seen_on_filtered_events: z.boolean().nullable(),
    ...shownDefinition,
  },
  unshown: ["seq", "type", "group_type_index", "detected_type"],
  filters: [termsFilter],
  query: {
    type: choice(types).describe("What has the properties (default: event)"),
    group_type_index: z.int().describe("Index of the group type, with type=group"),
    properties: z.string().describe("Only these, with commas between them"),
    is_numerical: z.boolean().describe("True: only numbers"),
    is_feature_flag: z.boolean().describe("Only $feature/… properties, or only the others"),
    event_names: z.string().describe("JSON list of events: is_seen_on_filtered_events is about them"),
    filter_by_event_names: z.boolean().describe("True: only properties of these events"),
    excluded_properties: z.string().describe("JSON list of names that are left out"),
    exclude_core_properties: z.boolean().describe("True: those that SDKs add are left out"),
    exclude_hidden: z.boolean().describe("True: hidden ones are left out"),
  },
  compare: (a, b) => rank(b) - rank(a) || compareNames(a, b),
  load,
  narrow,
  prepare(given, writing) {
    const { seq: _seq, detected_type: _type, is_seen_on_filtered_events: _seen, ...fields } = given;
    return tidied(fields, writing, "A property");
  },
  remains: ({ fields }) => (fields.seq === undefined ? undefined : { ...identityOf(fields), seq: fields.seq }),
  show: (fields, _, desk) => ({
    ...showVerified(fields, desk),
    property_type: typeOf(fields),
    is_numerical: typeOf(fields) === "Numeric",
  }),
};

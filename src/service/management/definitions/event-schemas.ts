import { z } from "zod";
import { isUuid } from "../../../kernel/base/ids.ts";
import type { JsonObject } from "../../../kernel/base/json.ts";
import { stringOf } from "../../../kernel/base/text.ts";
import { liveResource } from "../../../state/documents/resources.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import { invalid, text } from "../../api-frame/fields.ts";
import type { ResourceKind, Writing } from "../resources/kind.ts";
import { showResource } from "../resources/kind-rows.ts";
import { fieldFilter, siblingsOf, textIn } from "../resources/resource-fields.ts";
import { eventDefinitions } from "./event-definitions.ts";
import { propertyGroups } from "./property-groups.ts";

/** The document that a field names by its id. @throws SimError invalid_input, does_not_exist */
function named(fields: JsonObject, field: string, find: (key: string) => StoredResource | undefined): StoredResource {
  const id = textIn(fields, field);
  if (!isUuid(id)) throw invalid(`“${id}” is not a valid UUID.`, field);
  const document = find(id.toLowerCase());
  if (!document) throw invalid(`Invalid pk "${id}" - object does not exist.`, field, "does_not_exist");
  return document;
}

/** @throws SimError with the service's text for what is wrong */
function prepare(fields: JsonObject, writing: Writing): JsonObject {
  const { desk, draft, request, others } = writing;
  const project = request.project?.id ?? 0;
  const definition = named(fields, "event_definition", (key) => others.find((it) => it.key === key));
  const group = named(fields, "property_group_id", (key) =>
    liveResource(desk.worlds, propertyGroups.kind, project, key),
  );
  const own = { event_definition: definition.key, property_group_id: group.key };
  const isTaken = siblingsOf(writing, "event_schemas").some(
    (it) =>
      it.fields.event_definition === own.event_definition && it.fields.property_group_id === own.property_group_id,
  );
  if (isTaken) {
    const name = textIn(group.fields, "name");
    throw invalid(`Property group '${name}' is already added to this event schema`);
  }
  // from now on the definition exists without the events that showed it
  if (!liveResource(desk.worlds, "event_definitions", project, definition.key)) {
    draft.put("resources", { ...definition, fields: { name: definition.fields.name ?? null } });
  }
  return { ...fields, ...own };
}

/**
 * Which groups of properties an event should have; a single one is not read. Upstream PostHog/posthog
 * posthog/api/event_schema.py.
 */
export const eventSchemas: ResourceKind = {
  kind: "event_schemas",
  noun: "event schema",
  isOnlyStored: true,
  of: "project",
  scope: "event_definition",
  methods: ["list", "create", "change", "remove"],
  deletion: "hard",
  fields: { event_definition: text(), property_group_id: text() },
  initial: {},
  stamps: ["created_at", "updated_at"],
  unshown: ["property_group_id"],
  shown: { property_group: z.looseObject({ id: z.string(), name: z.string() }).nullable() },
  filters: [fieldFilter("event_definition", z.string().describe("Only those of the event with this id"))],
  others: async (request, desk, resources) => (await eventDefinitions.load?.(request, desk, resources)) ?? [],
  prepare,
  show({ property_group_id }, { project }, desk) {
    const group = liveResource(desk.worlds, propertyGroups.kind, project ?? 0, stringOf(property_group_id));
    return { property_group: group ? showResource(desk, propertyGroups, group) : null };
  },
};

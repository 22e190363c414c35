import { z } from "zod";
import { uuidV5 } from "../../../kernel/base/ids.ts";
import { type Json, type JsonObject, textIn, textsIn } from "../../../kernel/base/json.ts";
import { compareText, stringOf } from "../../../kernel/base/text.ts";
import { UserShape } from "../../../state/documents/field-kinds.ts";
import { boolean, choice, integer, list, text } from "../../../state/documents/lenient-fields.ts";
import { resourceOf } from "../../../state/documents/resources.ts";
import { tidyTags } from "../../../state/documents/tags.ts";
import type { StoredResource } from "../../../state/documents/world.ts";
import type { ResourceDesk } from "../../api-frame/desk.ts";
import { invalid, isTrue } from "../../api-frame/fields.ts";
import type { ListFilter } from "../../api-frame/lists.ts";
import { showUserOf } from "../../api-frame/users.ts";
import { resourceKind, type Writing } from "../resources/kind.ts";
import { tagsIn } from "../resources/resource-fields.ts";

/**
 * Events and properties by name: those that were captured, and those that clients or a scenario define. Upstream
 * PostHog/posthog posthog/api/event_definition.py, property_definition.py and their like in ee/api.
 */

const fields = {
  description: { write: text({ blank: true }).nullable(), blank: null },
  tags: { write: list(text()), blank: [] },
  verified: { write: boolean(), blank: false },
  hidden: { write: boolean().nullable(), blank: null },
};

const stamped = {
  updated_at: { blank: null, show: z.string().nullable() },
  updated_by: { blank: null, show: UserShape.nullable() },
  verified_at: { show: z.string().nullable() },
  verified_by: { show: UserShape.nullable() },
  seq: { show: false },
} as const;

const userIn = (desk: ResourceDesk, id: Json | undefined) => showUserOf(desk, typeof id === "number" ? id : null);

/** Of hidden and verified the last one that was set counts. @throws SimError invalid_input */
function tidied(given: JsonObject, { body, before, now, request }: Writing, noun: string): JsonObject {
  if (body.hidden === true && body.verified === true) {
    throw invalid(`${noun} cannot be both hidden and verified`);
  }
  const own: JsonObject = { ...given, tags: tidyTags(textsIn(given.tags)) };
  if (body.hidden === true || own.verified !== true) {
    return { ...own, verified: false, verified_at: null, verified_by: null };
  }
  return {
    ...own,
    ...(body.verified === true && { hidden: false }),
    ...(before?.fields.verified !== true && { verified_at: now, verified_by: request.caller.user.id }),
  };
}

const namespace = "5b1c1f0e-6d0d-5f3c-9d0a-3f1d8a4c7e21";

/** A captured name: what it is known by, and the fields that follow from its events. */
interface Fact {
  readonly seq: number;
  readonly identity: JsonObject;
  readonly fields: JsonObject;
}

/** Definitions of everything that is stored or captured. A deleted one exists again once it is captured again. */
function joined(
  kind: string,
  project: number,
  stored: readonly StoredResource[],
  captured: Iterable<Fact>,
  identityOf: (fields: JsonObject) => JsonObject,
): StoredResource[] {
  const live = new Map<string, StoredResource>();
  const deletedAt = new Map<string, number>();
  for (const it of stored) {
    const id = JSON.stringify(identityOf(it.fields));
    if (it.fields.deleted === true) deletedAt.set(id, Number(it.fields.seq));
    else live.set(id, it);
  }
  for (const { seq, identity, fields: facts } of captured) {
    const id = JSON.stringify(identity);
    if (!live.has(id) && seq <= (deletedAt.get(id) ?? 0)) continue;
    const key = uuidV5(namespace, `${project}/${kind}/${id}`);
    const document = live.get(id) ?? resourceOf(kind, project, key, identity);
    live.set(id, { ...document, fields: { ...document.fields, ...facts, seq } });
  }
  return [...live.values()];
}

/** Every word of the parameter has to be in the name, in any case. */
const termsFilter: ListFilter<StoredResource> = {
  name: "search",
  shape: z.string().describe("Words that the name contains, in any case"),
  test([value = ""]) {
    const terms = value.toLowerCase().split(/\s+/).filter(Boolean);
    return (it) => terms.every((term) => nameOf(it).toLowerCase().includes(term));
  },
};

const hiddenFilter: ListFilter<StoredResource> = {
  name: "exclude_hidden",
  shape: z.boolean().describe("True: hidden ones are left out"),
  test: ([value = ""]) => (isTrue(value) ? (it) => it.fields.hidden !== true : undefined),
};

const nameOf = (it: StoredResource): string => textIn(it.fields, "name");
const compareNames = (a: StoredResource, b: StoredResource): number => compareText(nameOf(a), nameOf(b));
const daySeen = (it: StoredResource): string => textIn(it.fields, "last_seen_at").slice(0, "2026-01-01".length);

export const eventDefinitions = resourceKind({
  kind: "event_definitions",
  noun: "event definition",
  isOnlyStored: false,
  of: "project",
  scope: "event_definition",
  deletion: "hard",
  fields: {
    name: { write: text({ max: 400 }), required: true },
    owner: { write: integer().nullable(), blank: null, show: UserShape.nullable() },
    ...fields,
    enforcement_mode: { write: choice(["allow", "reject"]), blank: "allow" },
    primary_property: { write: text({ max: 400 }).nullable(), blank: null },
    post_to_slack: { write: boolean() },
    default_columns: { write: list(text()), blank: [] },
    ...stamped,
    created_at: { show: z.string().nullable().describe("When it was captured first") },
    last_seen_at: { blank: null, show: z.string().nullable() },
    is_action: { show: z.literal(false) },
    media_preview_urls: { show: z.array(z.string()) },
    first_seen_at: { show: false },
  },
  stamps: ["updated_at", "updated_by"],
  filters: [termsFilter, tagsIn, hiddenFilter],
  compare: (a, b) => compareText(daySeen(b), daySeen(a)) || compareNames(a, b),
  async load({ project }, _, resources) {
    const id = project?.id ?? 0;
    const captured = [...(await resources.captured(id)).events.values()].map(({ seq, name, first, last }) => ({
      seq,
      identity: { name },
      fields: { first_seen_at: first, last_seen_at: last },
    }));
    const stored = resources.stored("event_definitions", id);
    return joined("event_definitions", id, stored, captured, ({ name = null }) => ({ name }));
  },
  prepare(given, writing) {
    const { before, body, desk, loaded } = writing;
    const { owner, enforcement_mode: mode } = body;
    const name = textIn(before?.fields ?? given, "name");
    if (!before && loaded.some((it) => nameOf(it) === name && it.fields.deleted !== true)) {
      throw invalid(`Event definition with name '${name}' already exists`, "name");
    }
    if (typeof owner === "number" && !desk.worlds.get("users", owner)) {
      throw invalid(`Invalid pk "${owner}" - object does not exist.`, "owner", "does_not_exist");
    }
    if (mode === "reject") {
      throw invalid('Setting schema enforcement mode to "reject" requires the schema-enforcement-reject feature flag');
    }
    const { seq: _seq, last_seen_at: _last, first_seen_at: _first, ...own } = given;
    return tidied({ ...own, name }, writing, "An event");
  },
  remains: ({ fields: { name = null, seq } }) => (seq === undefined ? undefined : { name, seq }),
  show: (own, _, desk) => ({
    verified_at: own.verified_at ?? null,
    verified_by: userIn(desk, own.verified_by),
    owner: userIn(desk, own.owner),
    created_at: own.first_seen_at ?? own.created_at ?? null,
    is_action: false,
    post_to_slack: false,
    media_preview_urls: [],
  }),
});

const types = ["event", "person", "group", "session"] as const;
const propertyTypes = ["DateTime", "String", "Numeric", "Boolean", "Duration"] as const;

const identityOf = ({ name = null, type = "event", group_type_index = null }: JsonObject): JsonObject => ({
  name,
  type,
  group_type_index,
});

/** Properties of events that lists leave out: the service keeps them for itself. */
const isUnlisted = (name: string): boolean =>
  /^(?:distinct_id|\$set|\$set_once|\$initial_referr(?:er|ing_domain)|\$groups|\$group_(?:type|key|set|\d)|\$session_entry_.*)$/.test(
    name,
  );

const typeOf = ({ property_type, detected_type = null }: JsonObject): Json => property_type ?? detected_type;

export const propertyDefinitions = resourceKind({
  kind: "property_definitions",
  noun: "property definition",
  isOnlyStored: false,
  of: "project",
  scope: "property_definition",
  methods: ["list", "read", "change", "remove"],
  deletion: "hard",
  fields: {
    ...fields,
    property_type: { write: choice(propertyTypes).nullable(), blank: null },
    name: { show: z.string(), author: z.string().min(1) },
    is_numerical: { show: z.boolean() },
    is_seen_on_filtered_events: { show: z.null() },
    ...stamped,
    type: { show: false, author: z.enum(types).optional() },
    group_type_index: { show: false, author: z.int().min(0).max(4).optional() },
    detected_type: { show: false },
  },
  stamps: ["updated_at", "updated_by"],
  filters: [termsFilter, hiddenFilter],
  query: {
    type: choice(types).describe("What has the properties (default: event)"),
    group_type_index: z.int().describe("Index of the group type, with type=group"),
  },
  compare: (a, b) => Number(b.fields.verified === true) - Number(a.fields.verified === true) || compareNames(a, b),
  async load({ project }, { people }, resources) {
    const id = project?.id ?? 0;
    const groupTypes = people.groupTypes(id);
    const captured = [...(await resources.captured(id)).properties].map(
      ({ seq, name, type, group, property_type }) => ({
        seq,
        identity: identityOf({ name, type, group_type_index: group === null ? null : groupTypes.indexOf(group) }),
        fields: { detected_type: property_type ?? null },
      }),
    );
    return joined("property_definitions", id, resources.stored("property_definitions", id), captured, identityOf);
  },
  narrow(documents, { call: { query } }) {
    const type = query.get("type") ?? "event";
    if (!types.some((it) => it === type)) throw invalid(`"${type}" is not a valid choice.`, "type", "invalid_choice");
    const index = query.get("group_type_index") ?? "";
    if (type === "group" && index === "") throw invalid("`group_type_index` must be set for `group` type");
    return documents.filter((it) => {
      const own = identityOf(it.fields);
      if (own.type !== type || (type === "event" && isUnlisted(nameOf(it)))) return false;
      return type !== "group" || stringOf(own.group_type_index ?? "") === index;
    });
  },
  prepare({ seq: _seq, detected_type: _type, ...own }, writing) {
    return tidied(own, writing, "A property");
  },
  remains: ({ fields: own }) => (own.seq === undefined ? undefined : { ...identityOf(own), seq: own.seq }),
  show: (own, _, desk) => ({
    verified_at: own.verified_at ?? null,
    verified_by: userIn(desk, own.verified_by),
    property_type: typeOf(own),
    is_numerical: typeOf(own) === "Numeric",
    is_seen_on_filtered_events: null,
  }),
});

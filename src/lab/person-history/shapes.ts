import { z } from "zod";
import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { Warning } from "../../state/journal/drop-reasons.ts";

const project = z.int().min(0).optional();
const offset = z.int().min(0).default(0).describe("Index of the first result");
const limit = z.int().min(1).max(10_000).default(100).describe("Maximum number of results");
const eventLimit = z.int().min(1).max(500).default(50).describe("Maximum number of events");

export const PersonQuery = z.strictObject({ project: project.describe("Only the person of this project") });

export const PersonListQuery = z.strictObject({
  project: project.describe("Only persons of this project"),
  distinct_id: z.string().optional().describe("Only the person with this distinct id"),
  search: z.string().optional().describe("Only persons with this text in an id, e-mail address or name"),
  limit,
  offset,
});
export type PersonListQuery = z.input<typeof PersonListQuery>;

export const TimelineQuery = PersonQuery.extend({
  before: z.int().min(1).optional().describe("Only events before this seq"),
  limit: eventLimit,
});

export const GroupListQuery = z.strictObject({
  project: project.describe("Only groups of this project"),
  search: z.string().optional().describe("Only groups with this text in type, key or name"),
  limit,
  offset,
});
export type GroupListQuery = z.input<typeof GroupListQuery>;

export const GroupQuery = z.strictObject({
  project: project.describe("Only the group of this project"),
  limit: eventLimit,
});

const Properties = z.custom<JsonObject>().meta({ type: "object" });
const Value = z.custom<Json>();
const Time = z.iso.datetime();

export const StoredPerson = z
  .strictObject({
    uuid: z.uuid(),
    project: z.int(),
    distinct_ids: z.array(z.string()),
    is_identified: z.boolean(),
    created_at: Time,
    version: z.int(),
    properties: Properties,
  })
  .meta({ title: "StoredPerson" });
export type StoredPerson = z.infer<typeof StoredPerson>;

export const StoredPersonPage = z
  .strictObject({ persons: z.array(StoredPerson), more: z.boolean() })
  .meta({ title: "StoredPersonPage" });
export type StoredPersonPage = z.infer<typeof StoredPersonPage>;

const PersonChange = z
  .strictObject({ seq: z.int(), event: z.string(), distinct_id: z.string(), timestamp: Time, change: Properties })
  .meta({ title: "PersonChange" });
export type PersonChange = z.infer<typeof PersonChange>;

export const StoredPersonWithHistory = StoredPerson.extend({
  history: z.array(PersonChange).describe("The events that changed it, newest first"),
}).meta({ title: "StoredPersonWithHistory" });
export type StoredPersonWithHistory = z.infer<typeof StoredPersonWithHistory>;

export const StoredGroup = z
  .strictObject({
    project: z.int(),
    type: z.string().nullable(),
    type_index: z.int(),
    key: z.string(),
    created_at: Time,
    properties: Properties,
  })
  .meta({ title: "StoredGroup" });
export type StoredGroup = z.infer<typeof StoredGroup>;

export const StoredGroupPage = z
  .strictObject({ groups: z.array(StoredGroup), more: z.boolean() })
  .meta({ title: "StoredGroupPage" });
export type StoredGroupPage = z.infer<typeof StoredGroupPage>;

/** An event without its properties. */
export const ShortEvent = z
  .strictObject({
    seq: z.int(),
    outcome: z.enum(["kept", "dropped"]),
    reason: z.string().nullable().describe("Why it was dropped"),
    detail: z.string().nullable(),
    warnings: z.array(z.string()),
    event: z.string(),
    distinct_id: z.string(),
    timestamp: Time,
    received_at: Time,
    person_id: z.uuid().nullable(),
    person_mode: z.enum(["full", "propertyless", "none"]),
    request: z.int().describe("Number of the request that carried it"),
  })
  .meta({ title: "ShortEvent" });
export type ShortEvent = z.infer<typeof ShortEvent>;

const ChangeSource = z.enum(["$set", "$set_once", "$unset", "$group_set", "merge"]);
export type ChangeSource = z.infer<typeof ChangeSource>;

const PropertyChange = z
  .strictObject({
    property: z.string(),
    by: ChangeSource,
    from: Value.optional().describe("Absent: the property did not exist"),
    to: Value.optional().describe("Absent: the property was removed"),
  })
  .meta({ title: "PropertyChange" });
export type PropertyChange = z.infer<typeof PropertyChange>;

const PropertyHistory = z
  .strictObject({
    property: z.string(),
    values: z
      .array(
        z.strictObject({
          seq: z.int(),
          timestamp: Time,
          by: ChangeSource,
          value: Value.optional(),
          gone: z.literal(true).optional().describe("The property was removed"),
        }),
      )
      .describe("Newest first"),
    left_out: z.int().describe("Number of older values that are left out"),
  })
  .meta({ title: "PropertyHistory" });
export type PropertyHistory = z.infer<typeof PropertyHistory>;

const Join = z.strictObject({
  by: z.string().describe("`$identify`, `$create_alias` or `$merge_dangerously`"),
  other: z.string().describe("The id that is merged into the other"),
  into: z.string(),
  outcome: z
    .enum(["created", "attached", "merged", "same", "refused"])
    .describe(
      "`created`: one new person with both ids; `attached`: one id had a person, which got the other id; `merged`: two persons became one; `same`: both ids had the same person; `refused`: both stayed unchanged",
    ),
  reason: z.custom<Warning>().meta({ type: "string" }).nullable().describe("Code of the warning, if it was refused"),
});
/** Two ids that an event merged, and the outcome. */
export type Join = z.infer<typeof Join>;

const DatedJoin = Join.extend({ seq: z.int(), timestamp: Time });
export type DatedJoin = z.infer<typeof DatedJoin>;

const PersonStep = z
  .strictObject({
    created: z.boolean().describe("True if the event made the person"),
    identified: z.boolean().describe("True if the person is identified from this event on"),
    join: Join.nullable(),
    changes: z.array(PropertyChange),
  })
  .meta({ title: "PersonStep" });
export type PersonStep = z.infer<typeof PersonStep>;

const PersonState = z.strictObject({ is_identified: z.boolean(), properties: Properties });

const TimelineEntry = ShortEvent.extend({
  step: PersonStep.nullable().describe("Its effect on the person; null: none"),
  after: PersonState.nullable().describe("The person after it"),
  is_known: z.boolean().describe("False if the event is too old, and its effect was not computed"),
}).meta({ title: "TimelineEntry" });
export type TimelineEntry = z.infer<typeof TimelineEntry>;

const Origin = z
  .enum(["event", "scenario", "unknown"])
  .describe(
    "The start of the history, if the known events explain the stored state; else `unknown`: `from` and `after` may then lack what is missing in the gaps",
  );
export type Origin = z.infer<typeof Origin>;

const Gap = z.strictObject({ reason: z.string(), sentence: z.string() });
export type Gap = z.infer<typeof Gap>;

export const PersonTimeline = z
  .strictObject({
    person: StoredPerson,
    origin: Origin,
    gaps: z.array(Gap).describe("Why the history may be incomplete"),
    elsewhere: Properties.describe("Stored properties that no known event explains"),
    joins: z.array(DatedJoin).describe("Merges of ids, also refused ones, oldest first"),
    properties: z.array(PropertyHistory).describe("The values of each property over time"),
    events: z.array(TimelineEntry),
    before: z.int().nullable().describe("For the next page"),
  })
  .meta({ title: "PersonTimeline" });
export type PersonTimeline = z.infer<typeof PersonTimeline>;

const GroupStep = z.strictObject({
  event: ShortEvent,
  created: z.boolean().describe("True if the event made the group"),
  changes: z.array(PropertyChange),
  after: Properties,
});
export type GroupStep = z.infer<typeof GroupStep>;

export const GroupDetails = StoredGroup.extend({
  origin: Origin,
  gaps: z.array(Gap).describe("Why the history may be incomplete"),
  history: z.array(GroupStep).describe("Its `$groupidentify` events, newest first"),
  values: z.array(PropertyHistory).describe("The values of each property over time"),
  events: z.array(ShortEvent).describe("Recent events that were sent for the group, newest first"),
  searched: z.int().describe("Number of the project's newest events that were searched for them"),
}).meta({ title: "GroupDetails" });
export type GroupDetails = z.infer<typeof GroupDetails>;

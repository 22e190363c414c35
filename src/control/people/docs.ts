import type { EndpointDocs } from "../../http/endpoint.ts";
import {
  always,
  anything,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  nullable,
  oneOf,
  text,
  time,
  titled,
  uuid,
} from "../../http/json-schema.ts";
import { docsOf, parameter, whole } from "../docs-row.ts";
import { ofProject } from "../har-docs.ts";

const page = parameter("limit", "Most results, 100 unless told", whole(1, 10_000));
const shortPage = parameter("limit", "Most events, 50 unless told", whole(1, 500));
const offset = parameter("offset", "Index of the first result", whole(0));
const ofPerson = parameter("distinct_id", "Only this distinct id's");

const personFields = {
  uuid,
  project: integer,
  distinct_ids: listOf(text),
  is_identified: boolean,
  created_at: time,
  version: integer,
  properties: dictionary,
};

const person = titled("StoredPerson", exact(personFields));

const personChange = titled(
  "PersonChange",
  exact({ seq: integer, event: text, distinct_id: text, timestamp: time, change: dictionary }),
);

const personWithHistory = titled(
  "StoredPersonWithHistory",
  exact({
    ...personFields,
    history: described(listOf(personChange), "The events that changed it, newest first"),
  }),
);

const groupFields = {
  project: integer,
  type: nullable(text),
  type_index: integer,
  key: text,
  created_at: time,
  properties: dictionary,
};

const group = titled("StoredGroup", exact(groupFields));

const shortFields = {
  seq: integer,
  outcome: oneOf("kept", "dropped"),
  reason: described(nullable(text), "Why it was dropped"),
  detail: nullable(text),
  warnings: listOf(text),
  event: text,
  distinct_id: text,
  timestamp: time,
  received_at: time,
  person_id: nullable(uuid),
  person_mode: oneOf("full", "propertyless", "none"),
  request: described(integer, "Number of the request that carried it"),
};

const shortEvent = titled("ShortEvent", exact(shortFields));

const by = oneOf("$set", "$set_once", "$unset", "$group_set", "merge");

const change = titled(
  "PropertyChange",
  exact(
    { property: text, by },
    {
      from: described(anything, "Absent: it was not there before"),
      to: described(anything, "Absent: it was taken away"),
    },
  ),
);

const joinFields = {
  by: described(text, "`$identify`, `$create_alias` or `$merge_dangerously`"),
  other: described(text, "The id that was to go into the other"),
  into: text,
  outcome: described(
    oneOf("created", "attached", "merged", "same", "refused"),
    "`created`: one person was made of both; `attached`: one was known, the other was added to it; `merged`: two persons became one; `same`: they were one already; `refused`: both stayed as they were",
  ),
  reason: described(nullable(text), "The warning's code, where it was refused"),
};

const histories = described(
  listOf(
    titled(
      "PropertyHistory",
      exact({
        property: text,
        values: described(
          listOf(
            exact(
              { seq: integer, timestamp: time, by },
              { value: anything, gone: described(always(true), "It was taken away") },
            ),
          ),
          "Newest first",
        ),
        left_out: described(integer, "How many older values are left out"),
      }),
    ),
  ),
  "What each property was over time",
);

const knowledge = {
  origin: described(
    oneOf("event", "scenario", "unknown"),
    "What it began with, where the events that are there account for what is stored; else `unknown`: then `from` and `after` may lack what the gaps took",
  ),
  gaps: described(listOf(exact({ reason: text, sentence: text })), "Why not everything can be told"),
};

const timelineEntry = titled(
  "TimelineEntry",
  exact({
    ...shortFields,
    step: described(
      nullable(
        titled(
          "PersonStep",
          exact({
            created: boolean,
            identified: boolean,
            join: nullable(exact(joinFields)),
            changes: listOf(change),
          }),
        ),
      ),
      "What it did to the person; null: it only happened",
    ),
    after: described(
      nullable(exact({ is_identified: boolean, properties: dictionary })),
      "The person after it",
    ),
    is_known: described(boolean, "False: too old, what it did was not looked at"),
  }),
);

const timeline = titled(
  "PersonTimeline",
  exact({
    person,
    ...knowledge,
    elsewhere: described(dictionary, "Stored properties that no event here accounts for"),
    joins: described(
      listOf(exact({ ...joinFields, seq: integer, timestamp: time })),
      "Which ids were joined, or not, oldest first",
    ),
    properties: histories,
    events: listOf(timelineEntry),
    before: described(nullable(integer), "For the next page"),
  }),
);

const groupDetails = titled(
  "GroupDetails",
  exact({
    ...groupFields,
    ...knowledge,
    history: described(
      listOf(exact({ event: shortEvent, created: boolean, changes: listOf(change), after: dictionary })),
      "Its `$groupidentify` events, newest first",
    ),
    values: histories,
    events: described(listOf(shortEvent), "Recent events that were sent for the group, newest first"),
    searched: described(integer, "How many of the project's newest events were searched for them"),
  }),
);

/** The rows of persons and groups, by method and path. */
export const peopleDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/persons": docsOf(
    "Persons, newest first",
    titled("StoredPersonPage", exact({ persons: listOf(person), more: boolean })),
    {
      errors: [400],
      query: [ofProject, ofPerson, parameter("search", "Part of an id or e-mail"), page, offset],
    },
  ),
  "GET /__sim/persons/:id": docsOf("The person", personWithHistory, {
    errors: [400, 404],
    query: [ofProject],
  }),
  "GET /__sim/persons/:id/timeline": docsOf("What happened to it", timeline, {
    errors: [400, 404],
    query: [ofProject, parameter("before", "Only events before this seq", whole(1)), shortPage],
  }),
  "GET /__sim/groups": docsOf(
    "Groups, newest first",
    titled("StoredGroupPage", exact({ groups: listOf(group), more: boolean })),
    {
      errors: [400],
      query: [ofProject, parameter("search", "Part of a key, type or name"), page, offset],
    },
  ),
  "GET /__sim/groups/:type/:key": docsOf("The group", groupDetails, {
    errors: [400, 404],
    query: [ofProject, shortPage],
  }),
};

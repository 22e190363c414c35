import { bodyErrors, bodyOf, docsOf, parameter, whole } from "../http/control-docs.ts";
import type { EndpointDocs } from "../http/endpoint.ts";
import {
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
} from "../http/json-schema.ts";
import { byFilter, ofProject } from "../tapes/har/docs.ts";

const eventShape = titled(
  "StoredEvent",
  exact({
    seq: described(integer, "Order of arrival over all projects, from 1"),
    outcome: oneOf("kept", "dropped"),
    reason: described(nullable(text), "Why it was dropped"),
    detail: nullable(text),
    warnings: listOf(text),
    project: nullable(integer),
    uuid: nullable(uuid),
    event: text,
    distinct_id: text,
    timestamp: time,
    received_at: time,
    person_id: nullable(uuid),
    person_mode: oneOf("full", "propertyless", "none"),
    properties: dictionary,
    request: described(integer, "Number of the request that carried it"),
  }),
);

export const eventsShape = listOf(eventShape);
export const cursorShape = described(integer, "For `since` of the next call");

const events = eventsShape;
const cursor = cursorShape;
const page = titled("EventPage", exact({ events, cursor, more: boolean }));
const mostListed = whole(1, 10_000);
const outcome = oneOf("kept", "dropped");
const order = oneOf("asc", "desc");

/** What an event must be like, as it stands in a body. */
export const patternShape = described(
  dictionary,
  "What the whole event must be like: a literal is equal, an object is a recursive subset, an array fits item by item, keys that start with @ are operators (@gte, @regex, @any …). A text is the event's name",
);

/** The rows of the captured events, by method and path. */
export const eventDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/events": docsOf("Events", page, {
    errors: [400],
    query: [
      ofProject,
      parameter("event", "Only events of this name"),
      parameter("distinct_id", "Only this distinct id's"),
      parameter("outcome", "Only those that were kept, or dropped", outcome),
      parameter("since", "Only events after this cursor", whole(0)),
      parameter("until", "Only events up to this cursor", whole(0)),
      parameter("where", "What the whole event must be like, as JSON"),
      byFilter,
      parameter("order", "Order of arrival", order),
      parameter("limit", "Most results, 100 unless told", mostListed),
      parameter(
        "wait_ms",
        "Where there is nothing to list: how long to wait until there is, 0 unless told",
        whole(0, 60_000),
      ),
    ],
  }),
  "POST /__sim/events/search": docsOf("Events", page, {
    errors: bodyErrors,
    body: bodyOf({
      match: patternShape,
      project: whole(0),
      outcome,
      since: described(whole(0), "Only events after this cursor"),
      until: described(whole(0), "Only events up to this cursor"),
      order,
      limit: mostListed,
    }),
  }),
  "DELETE /__sim/events": docsOf("How many were cleared", exact({ cleared: integer, cursor }), {
    errors: [400, 409],
    query: [
      ofProject,
      parameter(
        "compact",
        "true deletes the requests of all projects, too, and frees their space",
        oneOf("true", "false"),
      ),
    ],
  }),
  "GET /__sim/events/:seq": docsOf("The event", eventShape, { errors: [404] }),
};

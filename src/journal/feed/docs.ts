import { docsOf, guarded, parameter, whole } from "../../http/control-docs.ts";
import type { EndpointDocs } from "../../http/endpoint.ts";
import { controlErrorSchema, errorReplies } from "../../http/error-schemas.ts";
import {
  boolean,
  described,
  exact,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  titled,
  uuid,
} from "../../http/json-schema.ts";
import { ofProject } from "../../tapes/har/docs.ts";

const eventRow = titled(
  "EventRow",
  exact({
    seq: described(integer, "Order of arrival over all projects, from 1"),
    n: described(integer, "Number of the request that carried it"),
    i: described(integer, "Its place among that request's events, from 0"),
    at: described(integer, "Arrival, ms since the epoch"),
    time: described(integer, "Its own time, ms since the epoch"),
    project: nullable(integer),
    event: text,
    distinct_id: text,
    person: nullable(uuid),
    outcome: oneOf("kept", "dropped"),
    reason: described(nullable(text), "Why it was dropped"),
    warnings: listOf(text),
  }),
);

const requestRow = titled(
  "RequestRow",
  exact({
    n: integer,
    at: described(integer, "Arrival, ms since the epoch"),
    method: text,
    target: text,
    status: described(integer, "0: a fault kept the answer from arriving"),
    ms: number,
    project: nullable(integer),
    outcome: oneOf("answered", "rejected"),
    reason: described(nullable(text), "Why it was rejected"),
    detail: nullable(text),
    unmatched: described(boolean, "It was rejected because its path is not there"),
    fault: described(nullable(text), "Names of the faults that touched it"),
    source: described(text, "Who answered, as `x-phx-source` says it"),
    partition: described(nullable(text), "What its X-Test-Id header says"),
    events: integer,
    dropped: integer,
  }),
);

const historyOf = (title: string, row: ReturnType<typeof titled>) =>
  titled(
    title,
    exact({
      epoch: text,
      cursor: described(integer, "Subscribe with it, and with the epoch, to get what came since"),
      rows: listOf(row),
      more: described(boolean, "May there be more before the last row?"),
      before: described(
        nullable(integer),
        "For `before` of the next call; also where nothing was found in the part that was searched",
      ),
    }),
  );

const filter = parameter("filter", "In the grammar of filters; nothing: everything");

const historyQuery = (number: string) => [
  filter,
  ofProject,
  parameter("before", `Only rows before this ${number}`, whole(1)),
  parameter("limit", "Most rows, 100 unless told", whole(1, 10_000)),
];

const streamReply = {
  description:
    "Events: `id` is the seq, `data` the event as JSON; `gap` says which were let go. Where the token is needed it " +
    "comes in the header, which a browser's EventSource cannot send: fetch can",
  type: "text/event-stream",
};

/** The rows of the live feed. */
export const feedDocs: Readonly<Record<string, EndpointDocs>> = {
  "GET /__sim/feed/events": docsOf("Rows of events", historyOf("EventHistory", eventRow), {
    errors: [400],
    query: historyQuery("seq"),
  }),
  "GET /__sim/feed/requests": docsOf("Rows of requests", historyOf("RequestHistory", requestRow), {
    errors: [400],
    query: historyQuery("number"),
  }),
  "GET /__sim/events/stream": {
    query: [
      filter,
      ofProject,
      parameter("since", "Only events after this seq; nothing: from now on", whole(0)),
    ],
    replies: { 200: streamReply, ...guarded, ...errorReplies({ schema: controlErrorSchema }, 400) },
  },
  "GET /__sim/ws": {
    replies: {
      ...guarded,
      ...errorReplies({ schema: controlErrorSchema }, 426),
    },
  },
};

import type { Endpoint, EndpointDocs, JsonSchema } from "../http/endpoint.ts";
import {
  always,
  anything,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  mapOf,
  nullable,
  number,
  oneOf,
  open,
  text,
  time,
  titled,
  uuid,
} from "../http/json-schema.ts";
import { answerDocs } from "./answers/docs.ts";
import { clockDocs, clockShape } from "./clock-docs.ts";
import { bodyErrors, bodyOf, docsOf, guarded, parameter, whole } from "./docs-row.ts";
import { exportDocs } from "./exports/docs.ts";
import { faultDocs } from "./faults/docs.ts";
import { flagDocs } from "./flags/docs.ts";
import { stateDocs } from "./state-docs.ts";

const page = parameter("limit", "Most results, 100 unless told", whole(1, 10_000));
const offset = parameter("offset", "Index of the first result", whole(0));
const ofProject = parameter("project", "Only this project's", whole(0));
const ofPerson = parameter("distinct_id", "Only this distinct id's");

const event = titled(
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

const events = listOf(event);
const cursor = described(integer, "For `since` of the next call");

const requestFields = {
  n: integer,
  at: time,
  method: text,
  target: text,
  status: described(integer, "0: a fault kept the answer from arriving"),
  ms: number,
  project: nullable(integer),
  outcome: oneOf("answered", "rejected"),
  rejected: nullable(exact({ reason: text, detail: text })),
  fault: described(nullable(text), "Names of the faults that touched it"),
  scripted: described(boolean, "Answered by a script"),
  partition: described(nullable(text), "What its X-Test-Id header says"),
  events: integer,
  dropped: integer,
};

const requestSummary = titled("RequestSummary", exact(requestFields));

const request = titled(
  "Request",
  exact({
    ...requestFields,
    peer: text,
    headers: described(listOf(listOf(text)), "Pairs of name and value"),
    decode_steps: listOf(text),
    raw: described(nullable(dictionary), "The bytes as received, where they are not the body's exact text"),
    body: anything,
    reply: anything,
    carried: events,
  }),
);

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

const personWithHistory = titled(
  "StoredPersonWithHistory",
  exact({
    ...personFields,
    history: described(
      listOf(
        titled(
          "PersonChange",
          exact({ seq: integer, event: text, distinct_id: text, timestamp: time, change: dictionary }),
        ),
      ),
      "The events that changed it, newest first",
    ),
  }),
);

const group = titled(
  "StoredGroup",
  exact({
    project: integer,
    type: nullable(text),
    type_index: integer,
    key: text,
    created_at: time,
    properties: dictionary,
  }),
);

const info = titled(
  "Info",
  exact({
    name: text,
    version: text,
    pid: integer,
    url: text,
    inspector_url: text,
    project_api_key: nullable(text),
    secret_api_key: nullable(text),
    personal_api_key: nullable(text),
    project_id: nullable(integer),
    projects: listOf(exact({ id: integer, name: text, api_key: text, adopted: boolean })),
    scenario: text,
    data: nullable(text),
    dialect: oneOf("documented", "production"),
    rate_limits: boolean,
    strict: boolean,
    adopt_tokens: boolean,
    clock: clockShape,
    counts: mapOf(integer),
    scenario_problems: described(
      listOf(
        exact({
          file: nullable(text),
          line: nullable(integer),
          column: nullable(integer),
          pointer: text,
          message: text,
          hint: nullable(text),
        }),
      ),
      "What is wrong with the scenario's files as they are now; the last good one is in force",
    ),
    faults: described(listOf(text), "Names of the faults in force"),
    cursor,
    in_flight: integer,
  }),
);

const waitReport = titled(
  "WaitReport",
  open({
    waited_ms: integer,
    cursor,
    report: exact({
      text,
      seen: described(mapOf(integer), "How often which event came"),
      dropped: listOf(exact({ seq: integer, event: text, reason: text, sentence: text, fix: text })),
      got: integer,
      in_flight: integer,
    }),
  }),
);

const wait: EndpointDocs = docsOf("The events", titled("Waited", exact({ events, cursor })), {
  errors: bodyErrors,
  body: bodyOf({
    match: described(dictionary, "Recursive subset of the event"),
    count: whole(1, 100_000),
    since: described(whole(0), "Only events after this cursor"),
    project: whole(0),
    outcome: oneOf("kept", "dropped"),
    timeout_ms: whole(0, 60_000),
  }),
});

const settle: EndpointDocs = docsOf("It is quiet", exact({ quiet: always(true), cursor }), {
  errors: [...bodyErrors, 409],
  body: bodyOf({ idle_ms: whole(0, 60_000), timeout_ms: whole(0, 60_000) }),
});

/** Open to everyone: no guard stands before them. */
const health = (schema: JsonSchema): EndpointDocs => ({
  replies: { 200: { description: "It is up", schema } },
});

/** The control rows, by method and path. */
const table = new Map<string, EndpointDocs>(
  Object.entries({
    "GET /__sim/health": health(exact({ status: always("ok") })),
    "GET /__sim/ready": health(exact({ status: always("ready"), projects: integer })),
    "GET /__sim/info": docsOf("The facts", info),
    "GET /__sim/events": docsOf("Events", titled("EventPage", exact({ events, cursor, more: boolean })), {
      errors: [400],
      query: [
        ofProject,
        parameter("event", "Only events of this name"),
        ofPerson,
        parameter("outcome", "Only those that were kept, or dropped", oneOf("kept", "dropped")),
        parameter("since", "Only events after this cursor", whole(0)),
        parameter("until", "Only events up to this cursor", whole(0)),
        parameter("where", "A JSON object that the events contain"),
        parameter("order", "Order of arrival", oneOf("asc", "desc")),
        page,
      ],
    }),
    "DELETE /__sim/events": docsOf("How many were cleared", exact({ cleared: integer, cursor }), {
      errors: [400],
      query: [ofProject],
    }),
    "GET /__sim/events/:seq": docsOf("The event", event, { errors: [404] }),
    "POST /__sim/events/wait": {
      ...wait,
      replies: { ...wait.replies, 409: { description: "They did not come in time", schema: waitReport } },
    },
    "POST /__sim/settle": settle,
    "GET /__sim/requests": docsOf(
      "Requests, newest first",
      titled(
        "RequestPage",
        exact({
          requests: listOf(requestSummary),
          before: described(nullable(integer), "For the next page"),
        }),
      ),
      {
        errors: [400],
        query: [
          ofProject,
          parameter("outcome", "Only those that were answered, or rejected", oneOf("answered", "rejected")),
          parameter("partition", "Only those whose X-Test-Id header says so"),
          parameter("before", "Only requests before this number", whole(1)),
          page,
        ],
      },
    ),
    "GET /__sim/requests/:n": docsOf("The request", request, { errors: [404] }),
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
    "GET /__sim/groups": docsOf(
      "Groups, newest first",
      titled("StoredGroupPage", exact({ groups: listOf(group), more: boolean })),
      { errors: [400], query: [ofProject, page, offset] },
    ),
    ...stateDocs,
    ...clockDocs,
    ...flagDocs,
    ...faultDocs,
    ...answerDocs,
    ...exportDocs,
    "GET /__sim/openapi.json": docsOf(
      "This document",
      open({ openapi: text, info: dictionary, paths: dictionary }),
    ),
    "GET /__sim": { replies: { 200: { description: "The page", type: "text/html" }, ...guarded } },
  }),
);

/** The rows with what the OpenAPI document says of them. */
export const withControlDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = table.get(`${endpoint.methods[0]} ${endpoint.path}`);
    return docs ? { ...endpoint, docs: () => docs } : endpoint;
  });

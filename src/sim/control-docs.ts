import { docsOf, parameter, whole } from "../http/control-docs.ts";
import type { Endpoint, EndpointDocs } from "../http/endpoint.ts";
import {
  anything,
  boolean,
  described,
  dictionary,
  exact,
  integer,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
  titled,
} from "../http/json-schema.ts";
import { eventDocs, eventsShape as events } from "../journal/events-docs.ts";
import { feedDocs } from "../journal/feed/docs.ts";
import { totalsDocs } from "../journal/totals-docs.ts";
import { afterRequest, byFilter, harDocs, ofPartition, ofProject } from "../tapes/har/docs.ts";

const page = parameter("limit", "Maximum number of results (default: 100)", whole(1, 10_000));

const requestFields = {
  n: integer,
  at: time,
  method: text,
  target: text,
  status: described(integer, "0: a fault kept the answer from arriving"),
  ms: number,
  project: nullable(integer),
  outcome: oneOf("answered", "rejected"),
  rejected: nullable(
    exact(
      { reason: text, detail: text },
      {
        hint: described(
          text,
          "What to do about it: of an unknown path, why it is not served and what is near",
        ),
      },
    ),
  ),
  fault: described(nullable(text), "Names of the faults that touched it"),
  scripted: described(boolean, "Answered by a script"),
  source: described(
    nullable(text),
    "A tape's exchange, or `upstream`, where that answered: `tape:checkout#12`",
  ),
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
    project_header: described(
      nullable(text),
      "What its X-Phx-Project header says; with captures and flag requests it decides whose they are, whatever key they carry",
    ),
    headers: described(listOf(listOf(text)), "Pairs of name and value"),
    decode_steps: listOf(text),
    raw: described(nullable(dictionary), "The bytes as received, where they are not the body's exact text"),
    body: anything,
    reply_headers: described(listOf(listOf(text)), "Of the answer; those of the connection are not kept"),
    reply: anything,
    carried: events,
    nearest: described(listOf(text), "For an unknown path: the nearest endpoints"),
  }),
);

/** The control rows, by method and path. */
const table = new Map<string, EndpointDocs>(
  Object.entries({
    ...eventDocs,
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
          parameter(
            "outcome",
            "Only those that were answered, or rejected; `unmatched`: rejected because their path does not exist. With `project` the latter include those without a project's key that arrived since the project was made",
            oneOf("answered", "rejected", "unmatched"),
          ),
          ofPartition,
          byFilter,
          parameter("before", "Only requests before this number", whole(1)),
          afterRequest,
          page,
        ],
      },
    ),
    "GET /__sim/requests.har": harDocs,
    "GET /__sim/requests/:n": docsOf("The request", request, { errors: [404] }),
    ...totalsDocs,
    ...feedDocs,
  }),
);

/** The rows with what the OpenAPI document says of them. */
export const withControlDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = table.get(`${endpoint.methods[0]} ${endpoint.path}`);
    return docs ? { ...endpoint, docs: () => docs } : endpoint;
  });

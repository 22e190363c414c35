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
} from "../http/json-schema.ts";
import { answerDocs } from "./answers/docs.ts";
import { assertDocs } from "./assert/docs.ts";
import { clockDocs, clockShape } from "./clock-docs.ts";
import { docsOf, parameter, whole } from "./docs-row.ts";
import { cursorShape as cursor, eventDocs, eventsShape as events } from "./events-docs.ts";
import { exportDocs } from "./exports/docs.ts";
import { faultDocs } from "./faults/docs.ts";
import { feedDocs } from "./feed/docs.ts";
import { flagDocs } from "./flags/docs.ts";
import { afterRequest, byFilter, harDocs, ofPartition, ofProject } from "./har-docs.ts";
import { lintDocs } from "./lint/docs.ts";
import { pageDocs } from "./page-docs.ts";
import { peopleDocs } from "./people/docs.ts";
import { projectDocs } from "./projects-docs.ts";
import { recordingDocs } from "./recording-docs.ts";
import { stateDocs } from "./state-docs.ts";
import { tapeDocs } from "./tapes-docs.ts";
import { totalsDocs } from "./totals-docs.ts";
import { worldDocs } from "./world/docs.ts";

const page = parameter("limit", "Most results, 100 unless told", whole(1, 10_000));

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
    nearest: described(listOf(text), "Of a path that is not there: the rows that are most like it"),
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
    damage: described(
      listOf(exact({ file: text, line: nullable(integer), detail: text })),
      "What of the data folder cannot be read, and what is lost by it; at most 100 entries",
    ),
    damage_count: described(integer, "How many entries of the data folder cannot be read"),
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
    recording: described(
      nullable(
        exact({
          state: oneOf("recording", "stopped"),
          mode: nullable(text),
          upstream: nullable(text),
          tape: nullable(text),
          trouble: nullable(text),
        }),
      ),
      "What is recorded, or was; GET /__sim/recording has more",
    ),
    tape: described(
      nullable(exact({ name: text, mode: text, on_miss: text })),
      "The tape that answers, if any",
    ),
    faults: described(listOf(text), "Names of the faults in force"),
    cursor,
    in_flight: integer,
  }),
);

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
    ...eventDocs,
    ...assertDocs,
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
    ...peopleDocs,
    ...projectDocs,
    ...stateDocs,
    ...clockDocs,
    ...flagDocs,
    ...faultDocs,
    ...answerDocs,
    ...tapeDocs,
    ...worldDocs,
    ...exportDocs,
    ...lintDocs,
    ...feedDocs,
    ...recordingDocs,
    ...pageDocs,
    "GET /__sim/openapi.json": docsOf(
      "This document",
      open({ openapi: text, info: dictionary, paths: dictionary }),
    ),
  }),
);

/** The rows with what the OpenAPI document says of them. */
export const withControlDocs = (endpoints: readonly Endpoint[]): Endpoint[] =>
  endpoints.map((endpoint) => {
    const docs = table.get(`${endpoint.methods[0]} ${endpoint.path}`);
    return docs ? { ...endpoint, docs: () => docs } : endpoint;
  });

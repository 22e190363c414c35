import type { EndpointDocs, JsonSchema, QueryParameter, ReplyDocs } from "../../http/endpoint.ts";
import { captureErrorSchema, errorReplies, errorSchema, textShape } from "../../http/error-schemas.ts";
import {
  always,
  anyOf,
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
} from "../../http/json-schema.ts";
import { answers, jsonBody, parameter } from "./docs-shapes.ts";

const projectKey = described(text, "The project key, `phc_…`; `token` is read as well");

const personChanges = {
  $set: described(dictionary, "Person properties to set"),
  $set_once: described(dictionary, "Person properties to set where there are none"),
};

/** The fields of an event apart from the key. The contract requires the distinct id; it may be in the properties. */
const eventFields = {
  distinct_id: described(anything, "Whose event it is; text, or what is read as its JSON text"),
  properties: dictionary,
  timestamp: described(text, "ISO 8601"),
  uuid,
  ...personChanges,
};

const event = titled("Event", open({ api_key: projectKey, event: text }, eventFields));

const batch = titled(
  "EventBatch",
  open(
    { api_key: projectKey, batch: listOf(titled("BatchItem", open({ event: text }, eventFields))) },
    {
      historical_migration: described(boolean, "true: the events are old, and are taken in order"),
      sent_at: described(text, "The sender's clock, ISO 8601"),
    },
  ),
);

const snapshots = titled(
  "Recording",
  open({
    api_key: projectKey,
    distinct_id: text,
    event: always("$snapshot"),
    properties: open({
      $session_id: described({ type: "string", minLength: 1, maxLength: 70 }, "Letters, digits and `-`"),
      $snapshot_data: described(anyOf(dictionary, listOf(dictionary)), "What rrweb recorded"),
    }),
  }),
);

const anyShape = anyOf(event, batch, listOf(event));
const nameless = anyOf(titled("Engagement", open({ api_key: projectKey }, eventFields)), anyShape);

const query: readonly QueryParameter[] = [
  parameter(
    "compression",
    "How the body is packed, where its bytes do not tell",
    oneOf("gzip-js", "lz64", "base64"),
  ),
  parameter("data", "The events, instead of a body"),
  parameter("sent_at", "The sender's clock, ms since the epoch; `_` is read as well", integer),
  parameter("beacon", "`1`: the answer has no body", oneOf("1")),
];

const accepted = titled("Accepted", exact({ status: always("Ok") }));

const taken: Record<number, ReplyDocs> = {
  ...answers("The request was taken; single events may have been dropped", accepted),
  204: { description: "The same, asked for with `?beacon=1`" },
};

const refused: Record<number, ReplyDocs> = {
  ...errorReplies(textShape, 400, 408, 413),
  // A key that no project has is reported as JSON, a missing or malformed one as text.
  ...errorReplies({ ...textShape, schema: errorSchema }, 401),
};

const legacy = (schema: JsonSchema): EndpointDocs => ({
  query,
  body: jsonBody(schema),
  replies: { ...taken, ...refused },
});

const v1Item = titled(
  "V1Event",
  open(
    { event: text, uuid, distinct_id: text, timestamp: time },
    {
      properties: dictionary,
      session_id: nullable(text),
      window_id: nullable(text),
      options: nullable(dictionary),
    },
  ),
);

const v1Batch = titled(
  "V1EventBatch",
  open(
    { created_at: time, batch: { ...listOf(v1Item), minItems: 1 } },
    { historical_migration: boolean, capture_internal: nullable(boolean) },
  ),
);

const v1Results = titled(
  "V1Results",
  exact({ results: mapOf(exact({ result: oneOf("ok", "drop") }, { details: text })) }),
);

const v1: EndpointDocs = {
  headers: [
    parameter("PostHog-Sdk-Info", "`name/version` of the SDK; required"),
    parameter("PostHog-Attempt", "1 for the first attempt; required", { type: "integer", minimum: 1 }),
    parameter("PostHog-Request-Id", "Comes back with the answer; required", uuid),
    parameter("PostHog-Request-Timestamp", "The sender's clock; required", time),
  ],
  bearer: "project",
  body: jsonBody(v1Batch),
  replies: {
    ...answers("A result for each event, by its uuid", v1Results),
    ...errorReplies({ schema: captureErrorSchema }, 400, 401, 408, 413, 415),
  },
};

const aiUpload: EndpointDocs = {
  bearer: "project",
  body: {
    type: "multipart/form-data",
    schema: open(
      { event: described(dictionary, "The event, with a name that starts with `$ai_`; the first part") },
      { "event.properties": described(dictionary, "Its properties, where they are not in the event") },
    ),
  },
  replies: {
    ...answers(
      "What was taken",
      exact({
        accepted_parts: listOf(
          titled(
            "AcceptedPart",
            exact({
              name: text,
              length: number,
              "content-type": nullable(text),
              "content-encoding": nullable(text),
            }),
          ),
        ),
      }),
    ),
    ...refused,
  },
};

const plain: EndpointDocs = { replies: { 200: { description: "It is there", type: "text/plain" } } };

/** The capture rows, by the first method and the path. */
export const captureDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /capture": legacy(event),
  "POST /batch": legacy(batch),
  "POST /e": legacy(anyShape),
  "POST /i/v0/e": legacy(anyShape),
  "POST /track": legacy(anyShape),
  "POST /engage": legacy(nameless),
  "POST /i/v0/ai/batch": legacy(batch),
  "POST /i/v0/ai": aiUpload,
  "POST /s": legacy(anyOf(snapshots, { ...listOf(snapshots), minItems: 1 })),
  "POST /test/black_hole": {
    body: jsonBody(anything, true),
    replies: { ...taken, ...errorReplies(textShape, 413) },
  },
  "GET /": plain,
  "GET /_readiness": plain,
  "GET /_liveness": plain,
  "POST /i/v1/analytics/events": v1,
  "POST /i/v1/ai/events": v1,
};

import { z } from "zod";
import type { EndpointDocs, ReplyDocs } from "../../../kernel/http/endpoint.ts";
import { captureErrorSchema, errorReplies, errorSchema, textShape } from "../../../kernel/http/error-schemas.ts";
import { jsonSchemaOf } from "../../../kernel/http/row.ts";
import { AnyJson, AnyObject, answers, jsonBody, parametersOf, Time } from "./docs-shapes.ts";

// Wire formats of capture, for the OpenAPI document only: capture itself reads bodies by hand.

const projectKey = z.string().describe("The project key, `phc_…`; `token` is read as well");

/** The fields of an event apart from the key. The contract requires the distinct id; it may be in the properties. */
const eventFields = {
  distinct_id: AnyJson.optional().describe("The distinct id of the person; other JSON is read as its text"),
  properties: AnyObject.optional(),
  timestamp: z.string().optional().describe("ISO 8601"),
  uuid: z.uuid().optional(),
  $set: AnyObject.optional().describe("Person properties to set"),
  $set_once: AnyObject.optional().describe("Person properties to set if they have no value"),
};

const Event = z.looseObject({ api_key: projectKey, event: z.string(), ...eventFields }).meta({ title: "Event" });

const Batch = z
  .looseObject({
    api_key: projectKey,
    batch: z.array(z.looseObject({ event: z.string(), ...eventFields }).meta({ title: "BatchItem" })),
    historical_migration: z.boolean().optional().describe("true: old events, which are processed in order"),
    sent_at: z.string().optional().describe("The sender's clock, ISO 8601"),
  })
  .meta({ title: "EventBatch" });

const Recording = z
  .looseObject({
    api_key: projectKey,
    distinct_id: z.string(),
    event: z.literal("$snapshot"),
    properties: z.looseObject({
      $session_id: z.string().min(1).max(70).describe("Letters, digits and `-`"),
      $snapshot_data: z.union([AnyObject, z.array(AnyObject)]).describe("The recorded rrweb events"),
    }),
  })
  .meta({ title: "Recording" });

const AnyCapture = z.union([Event, Batch, z.array(Event)]);
const Engagement = z.looseObject({ api_key: projectKey, ...eventFields }).meta({ title: "Engagement" });

const query = parametersOf({
  compression: z.enum(["gzip-js", "lz64", "base64"]).describe("Compression of the body, if its bytes do not show it"),
  data: z.string().describe("The events, instead of a body"),
  sent_at: z.int().describe("The sender's clock, ms since the epoch; `_` is read as well"),
  beacon: z.enum(["1"]).describe("`1`: the response has no body"),
});

const Accepted = z.strictObject({ status: z.literal("Ok") }).meta({ title: "Accepted" });

const accepted: Record<number, ReplyDocs> = {
  ...answers("The request was accepted; single events may have been dropped", Accepted),
  204: { description: "The same, with `?beacon=1`" },
};

const refused: Record<number, ReplyDocs> = {
  ...errorReplies(textShape, 400, 408, 413),
  // an unknown key is reported as JSON, a missing or malformed one as text
  ...errorReplies({ ...textShape, schema: errorSchema }, 401),
};

const legacy = (shape: z.ZodType): EndpointDocs => ({
  query,
  body: jsonBody(shape),
  replies: { ...accepted, ...refused },
});

const V1Event = z
  .looseObject({
    event: z.string(),
    uuid: z.uuid(),
    distinct_id: z.string(),
    timestamp: Time,
    properties: AnyObject.optional(),
    session_id: z.string().nullish(),
    window_id: z.string().nullish(),
    options: AnyObject.nullish(),
  })
  .meta({ title: "V1Event" });

const V1EventBatch = z
  .looseObject({
    created_at: Time,
    batch: z.array(V1Event).min(1),
    historical_migration: z.boolean().optional(),
    capture_internal: z.boolean().nullish(),
  })
  .meta({ title: "V1EventBatch" });

const V1Result = z.strictObject({ result: z.enum(["ok", "drop", "retry"]), details: z.string().optional() });
const V1Results = z.strictObject({ results: z.record(z.string(), V1Result) }).meta({ title: "V1Results" });

const v1: EndpointDocs = {
  headers: parametersOf({
    "PostHog-Sdk-Info": z.string().describe("`name/version` of the SDK; required"),
    "PostHog-Attempt": z.int().min(1).describe("1 for the first attempt; required"),
    "PostHog-Request-Id": z.uuid().describe("Returned with the response; required"),
    "PostHog-Request-Timestamp": Time.describe("The sender's clock; required"),
  }),
  bearer: "project",
  body: jsonBody(V1EventBatch),
  replies: {
    ...answers("A result for each event, by its uuid", V1Results),
    ...errorReplies({ schema: captureErrorSchema }, 400, 401, 408, 413, 415),
  },
};

const AiUpload = z.looseObject({
  event: AnyObject.describe("The event, with a name that starts with `$ai_`; the first part"),
  "event.properties": AnyObject.optional().describe("Its properties, if they are not in the event"),
});

const AcceptedPart = z
  .strictObject({
    name: z.string(),
    length: z.number(),
    "content-type": z.string().nullable(),
    "content-encoding": z.string().nullable(),
  })
  .meta({ title: "AcceptedPart" });

const aiUpload: EndpointDocs = {
  bearer: "project",
  body: { type: "multipart/form-data", schema: jsonSchemaOf(AiUpload, "input") },
  replies: { ...answers("The accepted parts", z.strictObject({ accepted_parts: z.array(AcceptedPart) })), ...refused },
};

/** The service answers JSON to protobuf as well. */
const otel: EndpointDocs = {
  bearer: "project",
  body: jsonBody(z.looseObject({ resourceSpans: z.array(AnyObject) }).meta({ title: "OtlpTraces" })),
  replies: { ...answers("Accepted", z.strictObject({})), ...refused },
};

const plain: EndpointDocs = { replies: { 200: { description: "The service runs", type: "text/plain" } } };

/** The capture endpoints in the OpenAPI document, by the first method and the path. */
export const captureDocs: Readonly<Record<string, EndpointDocs>> = {
  "POST /capture": legacy(Event),
  "POST /batch": legacy(Batch),
  "POST /e": legacy(AnyCapture),
  "POST /i/v0/e": legacy(AnyCapture),
  "POST /track": legacy(AnyCapture),
  "POST /engage": legacy(z.union([Engagement, AnyCapture])),
  "POST /i/v0/ai/batch": legacy(Batch),
  "POST /i/v0/ai": aiUpload,
  "POST /i/v0/ai/otel": otel,
  "POST /s": legacy(z.union([Recording, z.array(Recording).min(1)])),
  "POST /test/black_hole": { body: jsonBody(AnyJson, true), replies: { ...accepted, ...errorReplies(textShape, 413) } },
  "GET /": plain,
  "GET /_readiness": plain,
  "GET /_liveness": plain,
  "POST /i/v1/analytics/events": v1,
  "POST /i/v1/ai/events": v1,
};

import { z } from "zod";
import type { Json } from "../../kernel/base/json.ts";
import { BeforeRequest, FilterText, Limit, OfPartition, OfProject, SinceRequest } from "./query-shapes.ts";
import { StoredEvent } from "./stored-event.ts";

export const RequestListQuery = z.strictObject({
  project: OfProject.optional(),
  outcome: z
    .enum(["answered", "rejected", "unmatched"])
    .optional()
    .describe(
      "Only requests that were answered, or rejected; `unmatched`: rejected because their path does not exist. With `project` the latter include those without a project's key that arrived since the project was made",
    ),
  partition: OfPartition.optional(),
  filter: FilterText.optional().describe("Only what passes this filter, for example `status:>=400 path:/batch`"),
  before: BeforeRequest.optional(),
  since: SinceRequest.optional(),
  limit: Limit.default(100),
});
/** As clients give them; the client reads the pages. */
export type RequestQuery = Omit<z.input<typeof RequestListQuery>, "before">;

const requestFields = {
  n: z.int(),
  at: z.iso.datetime(),
  method: z.string(),
  target: z.string().describe("Path and query as sent, secrets masked"),
  status: z.int().describe("0: a fault prevented the response"),
  ms: z.number(),
  project: z.int().nullable(),
  outcome: z.enum(["answered", "rejected"]),
  rejected: z
    .strictObject({
      reason: z.string(),
      detail: z.string(),
      hint: z.string().optional().describe("How to fix it; for an unknown path, why it is not served and what is near"),
    })
    .nullable(),
  fault: z.string().nullable().describe("Names of the faults that affected it"),
  scripted: z.boolean().describe("Answered by a script"),
  source: z
    .string()
    .nullable()
    .describe("What answered, if neither the emulator nor a script did: `tape:checkout#12`, `upstream`"),
  partition: z.string().nullable().describe("Its X-Test-Id header"),
  events: z.int().describe("Number of its events"),
  dropped: z.int().describe("Number of its events that were dropped"),
};

export const SimRequest = z.strictObject(requestFields).meta({ title: "RequestSummary" });
export type SimRequest = z.infer<typeof SimRequest>;

export const RequestPage = z
  .strictObject({ requests: z.array(SimRequest), before: z.int().nullable().describe("For the next page") })
  .meta({ title: "RequestPage" });
export type RequestPage = z.infer<typeof RequestPage>;

const headers = z.array(z.tuple([z.string(), z.string()]).readonly()).readonly();

const DecodeStep = z.enum(["gzip", "deflate", "br", "zstd", "base64", "lz64", "form", "query", "protobuf", "otlp"]);
export type DecodeStep = z.infer<typeof DecodeStep>;

/** The result of one event, as the response of capture v1 has it. */
const CaptureResult = z.strictObject({
  uuid: z.string(),
  event: z.string(),
  result: z.string().describe("ok, warning, drop or retry"),
  details: z.string().nullable().describe("The reason in the response"),
  explanation: z.string().nullable().describe("What the reason means, and how to fix it"),
});
export type CaptureResult = z.infer<typeof CaptureResult>;

export const RequestInFull = z
  .strictObject({
    ...requestFields,
    peer: z.string(),
    project_header: z
      .string()
      .nullable()
      .describe(
        "Its X-Phx-Project header, which decides the project of captures and flag requests, whatever key they carry",
      ),
    headers: headers.describe("Pairs of name and value"),
    decode_steps: z.array(DecodeStep).readonly().describe("The steps by which the body was decoded to JSON, in order"),
    raw: z
      .union([
        z.strictObject({ text: z.string() }),
        z.strictObject({ base64: z.string() }),
        z.strictObject({ omitted: z.string(), bytes: z.int() }),
      ])
      .nullable()
      .describe("The bytes as received, if the body is not their exact text"),
    body: z.custom<Json>(),
    reply_headers: headers.describe("Headers of the response, without those of the connection"),
    reply: z.custom<Json>(),
    carried: z.array(StoredEvent).readonly(),
    results: z
      .array(CaptureResult)
      .readonly()
      .nullable()
      .describe("The result of each event, in responses of capture v1; null for other requests"),
    nearest: z.array(z.string()).readonly().describe("For an unknown path: the nearest endpoints"),
  })
  .meta({ title: "Request" });
export type RequestInFull = z.infer<typeof RequestInFull>;

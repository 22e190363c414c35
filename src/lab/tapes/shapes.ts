import { z } from "zod";
import { Exchange } from "./format/exchange-shape.ts";

// Messages complete the words "expected …".

const count = z.int();

const TapeProblem = z.strictObject({ file: z.string(), line: count, detail: z.string(), hint: z.string() });
export type TapeProblem = z.infer<typeof TapeProblem>;

const NamedExchange = z.strictObject({ i: count, method: z.string(), url: z.string(), route: z.string() });

const NearestExchange = z.strictObject({
  i: count,
  method: z.string(),
  url: z.string(),
  differing: z.array(z.strictObject({ path: z.string(), recorded: z.string(), asked: z.string() })),
});

const TapeMiss = z.strictObject({
  method: z.string(),
  target: z.string(),
  route: z.string(),
  times: count,
  nearest: z.array(NearestExchange).describe("The most similar exchanges and their differences"),
});
export type TapeMiss = z.infer<typeof TapeMiss>;

const TapeLedger = z
  .strictObject({
    total: count.describe("Exchanges of the tape that can be given as responses"),
    requests: count.describe("Requests that reached the tape, answered by it or not"),
    hits: count.describe("Requests that the tape answered"),
    approximate: count.describe(
      "Of these, answers that were given with the flags of another person, group or other properties",
    ),
    unused_count: count,
    miss_count: count.describe("Requests for which the tape has no response"),
    unused: z.array(NamedExchange).describe("Exchanges that were never used, the first 1,000"),
    left_out: z
      .array(NamedExchange.extend({ why: z.string() }))
      .describe("Exchanges that are never given as responses, the first 1,000"),
    captures: count.describe("Exchanges that capture events or recordings; the emulator answers those"),
    events: z
      .strictObject({ recorded: count, missing: z.array(z.strictObject({ event: z.string(), times: count })) })
      .describe("Recorded events, and those that were not sent again, the first 1,000 names"),
    misses: z.array(TapeMiss).describe("Requests without a response on the tape, the first 1,000"),
  })
  .meta({ title: "TapeLedger" });
export type TapeLedger = z.infer<typeof TapeLedger>;

const missPolicies = ["fail", "emulate", "upstream"] as const;
/** What a request gets that the tape has no response for: an error, the emulator's answer, or the service's own. */
export type MissPolicy = (typeof missPolicies)[number];

const LoadedTape = z
  .strictObject({
    name: z.string(),
    file: z.string(),
    upstream: z.string().nullable().describe("Where it was recorded; null for an import"),
    created: z.string(),
    mode: z.enum(["replay", "new"]),
    on_miss: z.enum(missPolicies),
    timing: z.string(),
    skip_status: z.array(count).describe("Recorded responses with these statuses are not given"),
    approximate: z.boolean().describe("True if flags of another person, group or other properties are given"),
    problems: z.array(TapeProblem).describe("Lines that could not be read"),
    added: count.describe(
      "Exchanges recorded because the tape had no response; only in the mode new, which a sim must be started with",
    ),
    ledger: TapeLedger,
  })
  .meta({ title: "TapeInForce" });
export type LoadedTape = z.infer<typeof LoadedTape>;

export const LoadedTapeReply = z.strictObject({ tape: LoadedTape.nullable().describe("null: the emulator answers") });
export type LoadedTapeReply = z.infer<typeof LoadedTapeReply>;

export const TapeOrder = z.strictObject({
  tape: z.string().min(1).describe("A name (tapes/NAME.tape.ndjson) or a path"),
  on_miss: z
    .enum(missPolicies)
    .optional()
    .describe("A request that is not on the tape: fail (default), or whose response it gets"),
  timing: z
    .string()
    .min(1)
    .optional()
    .describe("none (default), recorded, scale:N (of the recorded time) or max:N (ms)"),
  skip_status: z.array(count).optional().describe("Recorded responses with these statuses are not given, e.g. 429"),
  approximate: z
    .boolean()
    .optional()
    .describe(
      "Gives the flags of another person, group or other properties where the tape has none of this one, marked by the header x-phx-approximate (default: such a request is missed)",
    ),
});

export const RewindOrder = z.strictObject({
  client: z.string().min(1).optional().describe("test:NAME (X-Test-Id) or project:NUMBER (default: all)"),
});

export const TapeFiles = z.strictObject({
  folder: z.string(),
  tapes: z.array(
    z
      .strictObject({
        name: z.string(),
        file: z.string(),
        bytes: count,
        exchanges: count,
        upstream: z.string().nullable().describe("Where it was recorded"),
        created: z.string().nullable(),
        problem: z.string().nullable().describe("Why it cannot be read as a tape"),
      })
      .meta({ title: "TapeFile" }),
  ),
});
export type TapeFiles = z.infer<typeof TapeFiles>;

const TapeExchangeSummary = z
  .strictObject({
    i: count.describe("Its number on the tape"),
    at: z.iso.datetime(),
    route: z.string(),
    method: z.string(),
    url: z.string(),
    status: count.nullable().describe("null: it has no response"),
    ms: z.number().nullable(),
    complete: z.boolean().describe("False if it was cut off; it is replayed if the service did it"),
    client: z
      .string()
      .nullable()
      .describe("The test or project that sent it, if several were recorded at the same time"),
    used: z.boolean().describe("True if it answered a request"),
    redacted: count.describe("Number of redacted values"),
  })
  .meta({ title: "TapeExchangeSummary" });
export type TapeExchangeSummary = z.infer<typeof TapeExchangeSummary>;

export const TapeExchanges = z.strictObject({ exchanges: z.array(TapeExchangeSummary), more: z.boolean() });
export type TapeExchanges = z.infer<typeof TapeExchanges>;

export const TapeExchange = TapeExchangeSummary.extend({
  request: Exchange.shape.req,
  response: Exchange.shape.res,
  redacted: Exchange.shape.redacted,
}).meta({ title: "TapeExchange" });
export type TapeExchange = z.infer<typeof TapeExchange>;

const recordingModes = ["record", "spy"] as const;
export type RecordingMode = (typeof recordingModes)[number];

const path = z.string().regex(/^[^\0]+$/, "a string that is not empty");

export const RecordingOrder = z.strictObject({
  upstream: path.describe("us, eu, or the address of a self-hosted service"),
  mode: z
    .enum(recordingModes)
    .optional()
    .describe("record (default) passes everything on; spy passes on what the emulator does not know"),
  tape: path
    .optional()
    .describe("A name, or a path below the working or the data folder (default: nothing is written)"),
  include: z.array(z.string().min(1)).readonly().optional().describe("Globs over paths: only these are taped"),
  exclude: z.array(z.string().min(1)).readonly().optional().describe("Globs over paths that are not taped"),
  redact: z.enum(["default", "pii"]).optional().describe("default: secrets; pii: personal data as well"),
  allow_writes: z
    .boolean()
    .optional()
    .describe("In the mode spy: requests that change something may go to the upstream"),
});
export type RecordingOrder = z.infer<typeof RecordingOrder>;

export interface DifferenceGroup {
  route: string;
  severity: "break" | "additive" | "value";
  kind:
    | "status"
    | "content_type"
    | "header_missing"
    | "header_extra"
    | "header_value"
    | "body_missing"
    | "body_extra"
    | "missing"
    | "extra"
    | "type"
    | "null"
    | "elements"
    | "length"
    | "value"
    | "too_deep";
  path: string;
  recorded: string;
  own: string;
  detail: string;
  count: number;
  of: number;
  first: number;
}

export const RecordingFacts = z
  .strictObject({
    state: z.enum(["off", "recording", "stopped"]),
    mode: z.enum(recordingModes).nullable(),
    upstream: z.string().nullable(),
    tape: z.string().nullable().describe("The tape's file"),
    redaction: z.string().nullable(),
    started_at: z.iso.datetime().nullable(),
    passed: count.describe("Requests that were passed on"),
    in_flight: count,
    bytes_sent: count.describe("Bytes of bodies as they travelled"),
    bytes_received: count,
    taped: count.describe("Exchanges on the tape"),
    redacted: count.describe("Values that were redacted in them"),
    aborted: count.describe("Requests that either side cut off"),
    failed: count.describe("Requests that the upstream did not answer"),
    last_failure: z.string().nullable(),
    trouble: z.string().nullable().describe("Why the tape is incomplete"),
  })
  .meta({ title: "Recording" });
export type RecordingFacts = z.infer<typeof RecordingFacts>;

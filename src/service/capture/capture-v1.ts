import { type ErrorCode, SimError } from "../../kernel/base/errors.ts";
import type { Json } from "../../kernel/base/json.ts";
import { isUuid } from "../../kernel/base/text.ts";
import { inSlices, itemsPerStep, type Work } from "../../kernel/base/work.ts";
import { inflated, inflaters } from "../../kernel/codec/inflate.ts";
import { isJsonType } from "../../kernel/codec/media-type.ts";
import type { Call } from "../../kernel/http/call.ts";
import type { Endpoint } from "../../kernel/http/endpoint.ts";
import { errorReply } from "../../kernel/http/error-body.ts";
import { json, type Reply, withHeaders } from "../../kernel/http/reply.ts";
import { openV1 } from "../../state/journal/items.ts";
import type { DecodeStep } from "../../state/journal/request-shapes.ts";
import type { JsonText } from "../../state/journal/traffic.ts";
import { admitV1Batch, checkV1Envelope } from "./admit-v1.ts";
import { decideItems } from "./decide.ts";
import type { Desk } from "./desk.ts";
import type { Item } from "./item.ts";
import { parseJson } from "./json-text.ts";
import { decodedLimits, isUsedUp, type Packet } from "./packet.ts";
import { projectByHeader, v1Project } from "./project.ts";
import { parseRfc3339 } from "./timestamp.ts";

type Headers = Readonly<Record<string, string | undefined>>;

interface V1Headers {
  token: string;
  encoding: string | undefined;
  /** The sender's clock, ms since the epoch. */
  sentAt: number;
}

const required = [
  "posthog-sdk-info",
  "posthog-attempt",
  "posthog-request-id",
  "posthog-request-timestamp",
  "content-type",
  "user-agent",
];

const invalid = (text: string): SimError => new SimError("invalid_header_value", `invalid header value: ${text}`);

function bearer(authorization: string): string {
  const [scheme = "", ...rest] = authorization.split(" ");
  const token = rest.join(" ").trim();
  if (scheme.toLowerCase() === "bearer" && token !== "") return token;
  throw invalid("Authorization must use Bearer scheme");
}

interface Check {
  header: string;
  fits(value: string): boolean;
  code: ErrorCode;
  message(value: string): string;
}

const headerCheck = (header: string, fits: Check["fits"], what: string): Check => ({
  header,
  fits,
  code: "invalid_header_value",
  message: (value) => `invalid header value: ${header} ${what}: ${value}`,
});

/** In the order of the service. Upstream capture, v1/context.rs. */
const checks: readonly Check[] = [
  {
    header: "content-type",
    fits: isJsonType,
    code: "unsupported_content_type",
    message: (value) => `unsupported content type: ${value}`,
  },
  {
    header: "content-encoding",
    fits: (value) => inflaters.has(value.toLowerCase()),
    code: "unsupported_encoding",
    message: (value) => `unsupported content encoding: ${value}`,
  },
  headerCheck("posthog-request-id", isUuid, "is not a valid UUID"),
  headerCheck("posthog-attempt", (value) => /^[1-9]\d{0,8}$/.test(value), "must be a positive integer"),
  headerCheck("posthog-request-timestamp", (value) => !Number.isNaN(parseRfc3339(value)), "is not valid RFC 3339"),
];

/** @param isNamed True if the project is known already: no key is looked for. @throws SimError */
function readV1Headers(headers: Headers, isNamed = false): V1Headers {
  const { authorization } = headers;
  if (authorization === undefined && !isNamed) {
    throw new SimError("missing_authorization", "request is missing the Authorization header");
  }
  const missing = required.filter((name) => headers[name] === undefined);
  if (missing.length > 0) {
    const names = missing.map((name) => `"${name}"`).join(", ");
    throw new SimError("missing_required_headers", `request is missing required headers: [${names}]`);
  }
  const token = isNamed ? "" : bearer(authorization ?? "");
  for (const { header, fits, code, message } of checks) {
    const value = headers[header];
    if (value !== undefined && !fits(value)) throw new SimError(code, message(value));
  }
  return {
    token,
    encoding: headers["content-encoding"]?.toLowerCase(),
    sentAt: parseRfc3339(headers["posthog-request-timestamp"] ?? ""),
  };
}

const v1Codes = {
  undecodable_payload: ["request_decoding_error", "Failed to decode request body."],
  unparsable_payload: ["request_parsing_error", "Failed to parse request body."],
} as const;

/** The answer of v1 has few details; the journal has the rest as the hint. */
function asV1(error: unknown): unknown {
  if (!(error instanceof SimError)) return error;
  if (error.code !== "undecodable_payload" && error.code !== "unparsable_payload") return error;
  const [code, text] = v1Codes[error.code];
  return new SimError(code, text, { hint: error.message, cause: error });
}

function* decodeV1(body: Buffer, encoding: string | undefined): Work<JsonText> {
  try {
    const bytes = encoding === undefined ? body : yield* inflated(encoding, body, decodedLimits.v1);
    return yield* parseJson(bytes);
  } catch (error) {
    throw asV1(error);
  }
}

const steps: ReadonlyMap<string, DecodeStep[]> = new Map<string, DecodeStep[]>([
  ["gzip", ["gzip"]],
  ["deflate", ["deflate"]],
  ["br", ["br"]],
  ["zstd", ["zstd"]],
]);

interface V1Result {
  result: "ok" | "drop" | "retry";
  details?: string;
}

function resultOf(item: Item): V1Result {
  if (item.dropped !== undefined) return { result: "drop", details: item.dropped };
  return item.placeholder ? { result: "ok", details: "person_processing_disabled" } : { result: "ok" };
}

function drop(item: Item, detail: string): void {
  item.dropped = "scripted_result";
  item.detail = detail;
}

type V1Results = Record<string, V1Result>;

function* bodyOf({ body, record }: Packet, encoding: string | undefined): Work<Json> {
  if (body.length === 0) throw new SimError("empty_body", "request body is empty");
  if (encoding !== undefined) record.steps = steps.get(encoding) ?? [];
  const { text, bytes, value, redacted } = yield* decodeV1(body, encoding);
  record.text = text;
  record.bytes = bytes;
  if (redacted) record.redacted = true;
  yield* checkV1Envelope(value);
  return value;
}

/** The quota for events is used up. Upstream capture, v1/error.rs. */
const overQuota = (): SimError =>
  new SimError("billing_limit_exceeded", "The project has used up its events.", { retryAfter: 1 });

/** The project of the key; of a request with a wrong key the journal has the body as well. @throws SimError */
function* knownProject(
  desk: Desk,
  packet: Packet,
  token: string,
  encoding: string | undefined,
): Work<ReturnType<typeof v1Project>> {
  try {
    return v1Project(desk, token);
  } catch (error) {
    try {
      yield* bodyOf(packet, encoding);
    } catch {
      // the key is the first mistake
    }
    throw error;
  }
}

/** What the pipeline drops later (a repeated uuid, an invalid alias) is `ok` to the sender. Upstream v1/error.rs. */
function* takeV1(desk: Desk, packet: Packet, aiOnly: boolean): Work<V1Results> {
  const { record } = packet;
  record.shape = "v1";
  const named = projectByHeader(desk, packet);
  const { token, encoding, sentAt } = readV1Headers(packet.headers, named !== undefined);
  const project = (named ?? (yield* knownProject(desk, packet, token, encoding)))?.id ?? null;
  record.project = project;
  const opened = openV1(yield* bodyOf(packet, encoding));
  if (isUsedUp(packet, "events")) throw overQuota();
  const items = yield* admitV1Batch(opened.items, { at: packet.at, sentAt, aiOnly });
  const scripted = packet.fault?.results;
  if (scripted) for (const item of items) drop(item, `${scripted.result}: ${scripted.details}`);
  record.events = yield* decideItems(desk, project, items, packet);
  record.keys = items;
  const results: V1Results = {};
  for (const [i, item] of items.entries()) {
    results[item.uuid ?? ""] = scripted ?? resultOf(item);
    if (i % itemsPerStep === itemsPerStep - 1) yield;
  }
  return results;
}

const rows = [
  { path: "/i/v1/analytics/events", summary: "Captures events, with a result for each", aiOnly: false },
  { path: "/i/v1/ai/events", summary: "Captures LLM events, with a result for each", aiOnly: true },
];

/** On the wire; the decoded body may be larger. */
const bodyLimit = 10 * 1024 * 1024;

/** All answers, errors included, have the sender's request id. */
function echoed({ headers }: Call, reply: Reply): Reply {
  const id = headers["posthog-request-id"];
  return isUuid(id) ? withHeaders(reply, "posthog-request-id", id) : reply;
}

function refusal({ record }: Call, error: SimError): Reply {
  record.rejected = { reason: error.code, detail: error.extra.hint ?? error.message };
  return errorReply("capture-v1", error);
}

function* handle(desk: Desk, call: Call, aiOnly: boolean): Work<Reply> {
  try {
    const reply = echoed(call, json({ results: yield* takeV1(desk, call, aiOnly) }));
    return call.fault?.results?.result === "retry" ? withHeaders(reply, "retry-after", "1") : reply;
  } catch (error) {
    if (!(error instanceof SimError)) throw error;
    return echoed(call, refusal(call, error));
  }
}

/** Capture v1. Upstream capture, v1/analytics. */
export const captureV1Endpoints = (desk: Desk): Endpoint[] =>
  rows.map(({ path, summary, aiOnly }) => ({
    methods: ["POST"],
    path,
    family: "capture-v1",
    summary,
    bodyLimit,
    handle: (call) => inSlices(handle(desk, call, aiOnly)),
  }));

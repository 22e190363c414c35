import { SimError } from "../kernel/errors.ts";
import { inflated } from "../kernel/inflate.ts";
import type { Json } from "../kernel/json.ts";
import { itemsPerStep, type Work } from "../kernel/work.ts";
import type { Desk } from "../model/desk.ts";
import type { DecodeStep, Note } from "../model/traffic.ts";
import { admitV1Batch, checkV1Envelope } from "./admit-v1.ts";
import type { Item } from "./item.ts";
import { type JsonText, parseJson } from "./json-text.ts";
import { openV1 } from "./open.ts";
import { decodedLimits, isUsedUp, type Packet } from "./packet.ts";
import { projectByHeader, v1Project } from "./project.ts";
import { record } from "./record.ts";
import { readV1Headers } from "./v1-headers.ts";

/** The legacy codes of a body that cannot be read, as v1 names them. */
const v1Codes = {
  undecodable_payload: ["request_decoding_error", "Failed to decode request body."],
  unparsable_payload: ["request_parsing_error", "Failed to parse request body."],
} as const;

/** v1 tells the sender less than it knows; the journal has the rest as the hint. */
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

/** What the service tells the sender about one event. */
interface V1Result {
  result: "ok" | "drop";
  details?: string;
}

function resultOf(item: Item): V1Result {
  if (item.dropped !== undefined) return { result: "drop", details: item.dropped };
  return item.placeholder ? { result: "ok", details: "person_processing_disabled" } : { result: "ok" };
}

/** A v1 request is answered with a result for each uuid. */
type V1Results = Record<string, V1Result>;

function* bodyInto(note: Note, packet: Packet, encoding: string | undefined): Work<Json> {
  if (packet.body.length === 0) throw new SimError("empty_body", "request body is empty");
  if (encoding !== undefined) note.steps = steps.get(encoding) ?? [];
  const { text, bytes, value, redacted } = yield* decodeV1(packet.body, encoding);
  note.text = text;
  note.bytes = bytes;
  if (redacted) note.redacted = true;
  yield* checkV1Envelope(value);
  return value;
}

/** When nothing of a request may be taken any more. Upstream capture, v1/error.rs. */
const overQuota = (): SimError =>
  new SimError("billing_limit_exceeded", "The project has used up its events.", { retryAfter: 1 });

/**
 * Takes in a request of capture v1. What is found out is written into `note`, also when this throws.
 * What the pipeline drops later (a repeated uuid, an invalid alias) is `ok` to the sender, as upstream.
 * @throws SimError with the tags of upstream capture, v1/error.rs
 */
export function* takeV1(desk: Desk, packet: Packet, note: Note, aiOnly: boolean): Work<V1Results> {
  note.shape = "v1";
  const named = projectByHeader(desk, packet);
  const { token, encoding, sentAt } = readV1Headers(packet.headers, named !== undefined);
  const project = (named ?? v1Project(desk, token))?.id ?? null;
  note.project = project;
  const opened = openV1(yield* bodyInto(note, packet, encoding));
  if (isUsedUp(packet, "events")) throw overQuota();
  const items = yield* admitV1Batch(opened.items, { at: packet.at, sentAt, aiOnly });
  note.events = yield* record(desk, project, items, packet);
  note.keys = items;
  const results: V1Results = {};
  for (const [i, item] of items.entries()) {
    results[item.uuid ?? ""] = resultOf(item);
    if (i % itemsPerStep === itemsPerStep - 1) yield;
  }
  return results;
}

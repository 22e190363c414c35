import { SimError } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { maskKeys } from "../../../kernel/base/secrets.ts";
import type { Work } from "../../../kernel/base/work.ts";
import { inflated, tooLarge, undecodable } from "../../../kernel/codec/inflate.ts";
import { mediaType } from "../../../kernel/codec/media-type.ts";
import { json, type Reply } from "../../../kernel/http/reply.ts";
import { openLegacy } from "../../../state/journal/items.ts";
import { decideItems } from "../decide.ts";
import type { Desk } from "../desk.ts";
import { parseJson } from "../json-text.ts";
import { decodedLimits, isUsedUp, type Packet } from "../packet.ts";
import { bearerProject } from "../project.ts";
import { admitAll } from "../take-legacy.ts";
import { readProtobuf } from "./protobuf.ts";
import { eventName, eventOf, type SpanEvent } from "./span-events.ts";
import { checkCount, type OtlpSpan, spansOf } from "./spans.ts";

function* unpacked({ headers, body, record }: Packet): Work<Buffer> {
  const encoding = headers["content-encoding"]?.toLowerCase() ?? "";
  if (encoding === "") return body;
  if (encoding !== "gzip") throw undecodable(`Unsupported content-encoding: ${encoding}`);
  record.steps = ["gzip"];
  return yield* inflated("gzip", body, decodedLimits.otel);
}

function* readJson(bytes: Buffer): Work<Json> {
  try {
    return (yield* parseJson(bytes)).value;
  } catch (cause) {
    if (!(cause instanceof SimError) || cause.code !== "unparsable_payload") throw cause;
    const why = cause.message.replace("failed to parse request: ", "");
    throw new SimError("unparsable_payload", `failed to parse request: Invalid JSON: ${why}`, { cause });
  }
}

function* readRequest(packet: Packet): Work<JsonObject> {
  const bytes = yield* unpacked(packet);
  const type = mediaType(packet.headers["content-type"]);
  const { record } = packet;
  const readable = bytes.toString("latin1");
  if (maskKeys(readable) !== readable) record.redacted = true;
  if (type === "application/x-protobuf") {
    record.steps = [...(record.steps ?? []), "protobuf"];
    return yield* readProtobuf(bytes);
  }
  if (type !== "application/json") throw undecodable("Content-Type must be application/x-protobuf or application/json");
  const value = yield* readJson(bytes);
  if (isObject(value)) return value;
  throw new SimError("unparsable_payload", "failed to parse request: Invalid OTLP trace format: not an object");
}

function* eventsOf(desk: Desk, spans: readonly OtlpSpan[]): Work<SpanEvent[]> {
  checkCount(spans.filter((it) => eventName(it) !== undefined).length);
  const fallback = desk.ids.uuid();
  const events: SpanEvent[] = [];
  let size = 0;
  for (const span of spans) {
    yield;
    const event = eventOf(span, fallback);
    size += JSON.stringify(event.item).length;
    // attributes of a resource are repeated in each of its events
    if (size > decodedLimits.legacy) throw tooLarge(decodedLimits.legacy);
    events.push(event);
  }
  return events;
}

/** The body as the journal keeps it: a batch of the events, without keys. */
function bodyOf(events: readonly SpanEvent[], record: Packet["record"]): Json {
  const text = JSON.stringify({ batch: events.map((it) => it.item) });
  record.text = maskKeys(text);
  if (record.text !== text) record.redacted = true;
  return JSON.parse(record.text);
}

/** All or nothing, and no retry: exporters repeat after 429 and 503 only. Upstream capture, otel/filtering.rs. */
const overQuota = json({ error: "quota exceeded" }, 400);

/** Takes in spans of AI calls as events. Upstream capture, otel/mod.rs. @throws SimError as other capture */
export function* takeSpans(desk: Desk, packet: Packet): Work<Reply> {
  const { body, record } = packet;
  if (body.length === 0) throw new SimError("missing_payload", "request missing data payload");
  const project = bearerProject(desk, packet);
  const events = yield* eventsOf(desk, spansOf(yield* readRequest(packet)));
  record.steps = [...(record.steps ?? []), "otlp"];
  record.shape = "legacy";
  const opened = openLegacy(bodyOf(events, record), false);
  yield;
  const items = yield* admitAll(opened, packet, desk.dialect);
  for (const [i, { isAi }] of events.entries()) {
    const item = items[i];
    if (item && !isAi) item.dropped ??= "not_an_ai_span";
  }
  record.events = yield* decideItems(desk, project, items, packet);
  record.keys = items;
  const isRefused = isUsedUp(packet, "events") && events.some((it) => it.isAi);
  return isRefused ? overQuota : json({});
}

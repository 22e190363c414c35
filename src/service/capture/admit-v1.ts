import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import { itemsPerStep, type Work } from "../../kernel/base/work.ts";
import type { DropReason } from "../../state/journal/drop-reasons.ts";
import { maxName, noProperties, objectOf, optionProperties } from "../../state/journal/items.ts";
import { Item, uuidText } from "./item.ts";
import { isPlaceholder } from "./person-ids.ts";
import { futureTolerance, parseRfc3339 } from "./timestamp.ts";

const unparsable = (hint: string): SimError =>
  new SimError("request_parsing_error", "Failed to parse request body.", { hint });

const texts = ["event", "uuid", "distinct_id", "timestamp"] as const;
const optionalTexts = ["session_id", "window_id"] as const;

interface V1Item {
  event: string;
  uuid: string;
  distinct_id: string;
  timestamp: string;
  raw: JsonObject;
}

function readV1Item(raw: Json, index: number): V1Item {
  if (!isObject(raw)) throw unparsable(`batch[${index}] is not an object`);
  const { event, uuid, distinct_id, timestamp } = raw;
  for (const name of texts) {
    if (typeof raw[name] !== "string") throw unparsable(`batch[${index}].${name} is not a string`);
  }
  for (const name of optionalTexts) {
    const value = raw[name];
    if (value !== undefined && value !== null && typeof value !== "string") {
      throw unparsable(`batch[${index}].${name} is not a string`);
    }
  }
  return {
    event: String(event),
    uuid: String(uuid).trim(),
    distinct_id: String(distinct_id).trim(),
    timestamp: String(timestamp),
    raw,
  };
}

/** v1 counts bytes. */
const isTooLong = (text: string): boolean => text.length > maxName || Buffer.byteLength(text) > maxName;

interface Rule {
  reason: DropReason;
  breaks(item: V1Item): boolean;
}

/** Why one event is dropped while the others are kept, in the order of the service (process.rs). */
const rules: readonly Rule[] = [
  { reason: "dropped_performance_event", breaks: ({ event }) => event === "$performance_event" },
  { reason: "missing_event_name", breaks: ({ event }) => event === "" },
  { reason: "event_name_too_long", breaks: ({ event }) => isTooLong(event) },
  { reason: "missing_distinct_id", breaks: ({ distinct_id }) => distinct_id === "" },
  { reason: "distinct_id_too_large", breaks: ({ distinct_id }) => isTooLong(distinct_id) },
  { reason: "invalid_event_timestamp", breaks: ({ timestamp }) => Number.isNaN(parseRfc3339(timestamp)) },
  {
    reason: "malformed_event_properties",
    breaks: ({ raw }) => raw.properties !== undefined && !isObject(raw.properties),
  },
  { reason: "invalid_options", breaks: ({ raw }) => optionProperties(raw.options) === undefined },
];

interface V1Admission {
  /** Arrival, ms since the epoch. */
  at: number;
  /** The sender's clock when it sent, ms since the epoch. */
  sentAt: number;
  aiOnly: boolean;
}

function timeOf(item: V1Item, options: JsonObject, { at, sentAt }: V1Admission): number {
  const time = parseRfc3339(item.timestamp);
  if (options.$ignore_sent_at === true) return time;
  const adjusted = time + (at - sentAt);
  return adjusted > at + futureTolerance ? at : adjusted;
}

function keptItem(item: V1Item, uuid: string, admission: V1Admission): Item {
  const own = objectOf(item.raw.properties) ?? noProperties;
  const options = optionProperties(item.raw.options) ?? noProperties;
  const kept = new Item(timeOf(item, options, admission));
  kept.event = item.event;
  kept.distinct_id = item.distinct_id;
  kept.uuid = uuid;
  kept.properties = own;
  kept.processPerson = options.$process_person_profile ?? own.$process_person_profile;
  kept.placeholder = isPlaceholder(item.distinct_id);
  if (kept.placeholder) kept.warnings = ["person_processing_disabled"];
  kept.isCookieless = (options.$cookieless_mode ?? own.$cookieless_mode) === true;
  return kept;
}

function admitV1(item: V1Item, uuid: string, admission: V1Admission): Item {
  const broken = rules.find((rule) => rule.breaks(item));
  const misrouted = admission.aiOnly && !item.event.startsWith("$ai_");
  const reason = broken?.reason ?? (misrouted ? "misrouted_event" : undefined);
  if (reason === undefined) return keptItem(item, uuid, admission);
  const { event, distinct_id } = item;
  return Object.assign(new Item(admission.at), { event, distinct_id, uuid, dropped: reason });
}

function checkedUuid(text: string, earlier: Set<string>): string {
  if (text === "") throw new SimError("missing_event_uuid", "event submitted without a uuid");
  const uuid = uuidText(text);
  if (uuid === undefined) throw new SimError("invalid_event_uuid", `invalid event uuid: ${text}`);
  if (earlier.has(uuid)) throw new SimError("duplicate_event_uuid", `duplicate event uuid: ${text}`);
  earlier.add(uuid);
  return uuid;
}

/** Reads all items of a v1 batch; some may be dropped. @throws SimError request_parsing_error, …_event_uuid */
export function* admitV1Batch(items: readonly Json[], admission: V1Admission): Work<Item[]> {
  const earlier = new Set<string>();
  const admitted: Item[] = [];
  for (const raw of items) {
    const item = readV1Item(raw, admitted.length);
    admitted.push(admitV1(item, checkedUuid(item.uuid, earlier), admission));
    if (admitted.length % itemsPerStep === 0) yield;
  }
  return admitted;
}

/** Checks what stands beside the batch. @throws SimError request_parsing_error, empty_batch, invalid_batch */
export function* checkV1Envelope(body: Json): Work<void> {
  if (!isObject(body)) throw unparsable("the body is not an object");
  const { created_at, batch, historical_migration, capture_internal } = body;
  if (typeof created_at !== "string") throw unparsable("created_at is not a string");
  if (!Array.isArray(batch)) throw unparsable("batch is not an array");
  if (historical_migration !== undefined && typeof historical_migration !== "boolean") {
    throw unparsable("historical_migration is not a boolean");
  }
  if (capture_internal !== undefined && capture_internal !== null && typeof capture_internal !== "boolean") {
    throw unparsable("capture_internal is not a boolean");
  }
  for (const [i, item] of batch.entries()) {
    readV1Item(item, i);
    if (i % itemsPerStep === itemsPerStep - 1) yield;
  }
  if (batch.length === 0) throw new SimError("empty_batch", "request batch is empty");
  if (Number.isNaN(parseRfc3339(created_at))) {
    throw new SimError("invalid_batch", `invalid batch: created_at is not valid RFC 3339: ${created_at}`);
  }
}

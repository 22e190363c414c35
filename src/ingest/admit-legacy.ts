import { SimError } from "../kernel/errors.ts";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import type { Dialect } from "../model/dialect.ts";
import type { EventKey } from "../model/traffic.ts";
import { cut, distinctIdText, droppedItem, type Item, isTooLong, maxName, uuidText, warn } from "./item.ts";
import type { Opened } from "./open.ts";
import { eventTime, parseTime, type Timed } from "./timestamp.ts";

/** What all items of a request share. */
export interface Admission {
  dialect: Dialect;
  /** Arrival, ms since the epoch. */
  at: number;
  /** The sender's clock when it sent, ms since the epoch. */
  sentAt: number | undefined;
}

const variants = "data did not match any variant of untagged enum RawRequest";

const mismatch = (index: number, what: string): SimError =>
  new SimError("unparsable_payload", `failed to parse request: ${variants}: item ${index}: ${what}`);

const isText = (value: Json): boolean => typeof value === "string";
const isInteger = (value: Json): boolean => Number.isInteger(value);

/** Fields that make the service refuse the whole request when they are of another type; null is absent. */
const fieldTypes: readonly { field: string; fits: (value: Json) => boolean; what: string }[] = [
  { field: "token", fits: isText, what: "token is not a string" },
  { field: "$token", fits: isText, what: "$token is not a string" },
  { field: "api_key", fits: isText, what: "api_key is not a string" },
  { field: "timestamp", fits: isText, what: "timestamp is not a string" },
  { field: "offset", fits: isInteger, what: "offset is not an integer" },
  { field: "$set", fits: isObject, what: "$set is not an object" },
  { field: "$set_once", fits: isObject, what: "$set_once is not an object" },
];

function checkTypes(item: JsonObject, index: number): void {
  for (const { field, fits, what } of fieldTypes) {
    const value = item[field];
    if (value !== undefined && value !== null && !fits(value)) throw mismatch(index, what);
  }
}

function propertiesOf(item: JsonObject, index: number): JsonObject {
  const { properties } = item;
  if (properties === undefined) return noProperties;
  if (!isObject(properties)) throw mismatch(index, "properties is not an object");
  return properties;
}

const noProperties: JsonObject = Object.freeze({});

/** The uuid as sent; empty counts as absent. */
function uuidOf(item: JsonObject, index: number): string | null {
  const { uuid } = item;
  if (uuid === undefined || uuid === null || uuid === "") return null;
  const text = typeof uuid === "string" ? uuidText(uuid) : undefined;
  if (text === undefined) throw mismatch(index, "uuid is not a UUID");
  return text;
}

function timeOf(item: JsonObject, properties: JsonObject, admission: Admission): Timed {
  const { timestamp, offset } = item;
  const hasTime = typeof timestamp === "string" || typeof offset === "number";
  if (!hasTime) return { time: admission.at };
  return eventTime({
    timestamp: typeof timestamp === "string" ? timestamp : undefined,
    offset: typeof offset === "number" ? offset : undefined,
    sentAt: admission.sentAt,
    now: admission.at,
    ignoreSentAt: properties.$ignore_sent_at === true,
  });
}

/** The service's answer to what the contract only drops (dialect row nameless_events). */
const refusals = {
  invalid_item: ["unparsable_payload", `failed to parse request: ${variants}`],
  missing_event_name: [
    "missing_event_name",
    "failed to hydrate events from request: non-engage request missing event name attribute",
  ],
  empty_event_name: ["empty_event_name", "event submitted with an empty event name"],
  missing_distinct_id: ["missing_distinct_id", "event submitted without a distinct_id"],
} as const;

type Known = Parameters<typeof droppedItem>[2];

/** Drops the item (dialect `documented`) or refuses the request (dialect `production`). */
function refuse(reason: keyof typeof refusals, admission: Admission, known: Known): Item {
  if (admission.dialect === "documented") return droppedItem(reason, admission.at, known);
  const [code, text] = refusals[reason];
  throw new SimError(code, text);
}

const notABoolean = (value: Json | undefined): boolean => value !== undefined && typeof value !== "boolean";

/**
 * Reads one item of a legacy request.
 * @throws SimError unparsable_payload, invalid_cookieless_mode; in dialect `production` also
 * missing_event_name, empty_event_name, missing_distinct_id
 */
export function admitLegacy(raw: Json, index: number, admission: Admission): Item {
  if (!isObject(raw)) return refuse("invalid_item", admission, {});
  checkTypes(raw, index);
  const properties = propertiesOf(raw, index);
  const uuid = uuidOf(raw, index);
  const known = { ...legacyKey(raw), uuid };
  if (raw.event === performanceEvent) return droppedItem("dropped_performance_event", admission.at, known);
  if (typeof raw.event !== "string") return refuse("missing_event_name", admission, known);
  if (raw.event === "") return refuse("empty_event_name", admission, known);
  if (known.distinct_id === "") return refuse("missing_distinct_id", admission, known);
  if (notABoolean(properties.$cookieless_mode)) {
    throw new SimError("invalid_cookieless_mode", "event submitted with invalid cookieless mode");
  }
  return readItem(raw, properties, known, timeOf(raw, properties, admission));
}

/** The service filters these out before it looks at anything else. */
const performanceEvent = "$performance_event";

const objectOf = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

const rawId = (item: JsonObject): Json | undefined =>
  item.distinct_id ??
  item.$distinct_id ??
  (isObject(item.properties) ? item.properties.distinct_id : undefined);

/**
 * Name and distinct id of an item as they are kept: at most 200 characters, "" when missing.
 * The id may stand at the top or in the properties; null at the top counts as missing (posthog-php).
 */
export function legacyKey(item: JsonObject): EventKey {
  const name = typeof item.event === "string" ? item.event : "";
  const id = distinctIdText(rawId(item)) ?? "";
  return { event: isTooLong(name) ? cut(name) : name, distinct_id: isTooLong(id) ? cut(id) : id };
}

function readItem(
  raw: JsonObject,
  properties: JsonObject,
  known: EventKey & { uuid: string | null },
  timed: Timed,
): Item {
  const item: Item = {
    event: known.event,
    distinct_id: known.distinct_id,
    uuid: known.uuid,
    time: timed.time,
    properties,
    set: objectOf(raw.$set),
    setOnce: objectOf(raw.$set_once),
    processPerson: properties.$process_person_profile,
    warnings: timed.warning === undefined ? undefined : [timed.warning],
    placeholder: false,
    dropped: undefined,
    detail: undefined,
  };
  if (raw.event !== item.event) warn(item, "event_name_truncated");
  if (item.distinct_id.length >= maxName && isTooLong(distinctIdText(rawId(raw)) ?? "")) {
    warn(item, "distinct_id_truncated");
  }
  return item;
}

/** A batch must carry its key: without it the service reads the object as an event without a name. */
export function batchToken(envelope: JsonObject): string {
  const token = envelope.api_key ?? envelope.token;
  if (typeof token === "string") return token;
  throw new SimError("missing_batch_token", refusals.missing_event_name[1], {
    hint: "send the project key as `api_key` beside `batch`",
  });
}

/** 2021-01-01: a smaller number is seconds, and ignored, as upstream. */
const firstSentAt = Date.UTC(2021, 0, 1);
const lastSentAt = Date.UTC(9999, 11, 31);

/** The sender's clock: `sent_at` beside the batch, else `sent_at` or `_` of the query (ms). */
export function sentAtOf(opened: Opened, query: URLSearchParams): number | undefined {
  const text = opened.envelope?.sent_at;
  if (typeof text === "string") {
    const time = parseTime(text);
    if (!Number.isNaN(time)) return time;
  }
  if (query.size === 0) return undefined;
  const number = Number(query.get("sent_at") ?? query.get("_") ?? Number.NaN);
  return Number.isInteger(number) && number >= firstSentAt && number <= lastSentAt ? number : undefined;
}

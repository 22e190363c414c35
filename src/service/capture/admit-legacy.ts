import { SimError } from "../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../kernel/base/json.ts";
import type { Dialect } from "../../state/documents/dialect.ts";
import { idText, nameText, noProperties, objectOf, shortened } from "../../state/journal/items.ts";
import { Item, uuidText, warn } from "./item.ts";
import { namelessText } from "./open.ts";
import { eventTime } from "./timestamp.ts";

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

/** The uuid as sent; empty counts as absent. */
function uuidOf(item: JsonObject, index: number): string | null {
  const { uuid } = item;
  if (uuid === undefined || uuid === null || uuid === "") return null;
  const text = typeof uuid === "string" ? uuidText(uuid) : undefined;
  if (text === undefined) throw mismatch(index, "uuid is not a UUID");
  return text;
}

function settleTime(item: Item, raw: JsonObject, admission: Admission): void {
  const { timestamp, offset } = raw;
  if (typeof timestamp !== "string" && typeof offset !== "number") return;
  const { time, warning } = eventTime({
    timestamp: typeof timestamp === "string" ? timestamp : undefined,
    offset: typeof offset === "number" ? offset : undefined,
    sentAt: admission.sentAt,
    now: admission.at,
    ignoreSentAt: item.properties.$ignore_sent_at === true,
  });
  item.time = time;
  if (warning !== undefined) warn(item, warning);
}

/** The service's answer to what the contract only drops (dialect row nameless_events). */
const refusals = {
  invalid_item: ["unparsable_payload", `failed to parse request: ${variants}`],
  missing_event_name: ["missing_event_name", namelessText],
  empty_event_name: ["empty_event_name", "event submitted with an empty event name"],
  missing_distinct_id: ["missing_distinct_id", "event submitted without a distinct_id"],
} as const;

type Fault = keyof typeof refusals;

function refuse(reason: Fault, admission: Admission, item: Item): Item {
  if (admission.dialect === "production") {
    const [code, text] = refusals[reason];
    throw new SimError(code, text);
  }
  item.dropped = reason;
  return item;
}

function faultOf(raw: JsonObject, item: Item): Fault | undefined {
  if (typeof raw.event !== "string") return "missing_event_name";
  if (raw.event === "") return "empty_event_name";
  return item.distinct_id === "" ? "missing_distinct_id" : undefined;
}

const notABoolean = (value: Json | undefined): boolean => value !== undefined && typeof value !== "boolean";

/** The service filters these out before it looks at anything else. */
const performanceEvent = "$performance_event";

/** @throws SimError unparsable_payload, invalid_cookieless_mode; in dialect `production` for what `documented` drops */
export function admitLegacy(raw: Json, index: number, admission: Admission): Item {
  if (!isObject(raw)) return refuse("invalid_item", admission, new Item(admission.at));
  checkTypes(raw, index);
  const item = readItem(raw, index, admission);
  const fault = faultOf(raw, item);
  if (raw.event === performanceEvent) {
    item.dropped = "dropped_performance_event";
  } else if (fault !== undefined) {
    return refuse(fault, admission, item);
  } else if (notABoolean(item.properties.$cookieless_mode)) {
    throw new SimError("invalid_cookieless_mode", "event submitted with invalid cookieless mode");
  }
  return item;
}

function readItem(raw: JsonObject, index: number, admission: Admission): Item {
  const properties = propertiesOf(raw, index);
  const name = nameText(raw);
  const id = idText(raw);
  const item = new Item(admission.at);
  item.event = shortened(name);
  item.distinct_id = shortened(id);
  item.uuid = uuidOf(raw, index);
  item.properties = properties;
  item.set = objectOf(raw.$set);
  item.setOnce = objectOf(raw.$set_once);
  item.processPerson = properties.$process_person_profile;
  item.isCookieless = properties.$cookieless_mode === true;
  settleTime(item, raw, admission);
  if (name !== item.event) warn(item, "event_name_truncated");
  if (id !== item.distinct_id) warn(item, "distinct_id_truncated");
  return item;
}

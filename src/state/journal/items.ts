import { isObject, type Json, type JsonObject, sortedText } from "../../kernel/base/json.ts";
import type { EventKey } from "./traffic.ts";

// Stored bodies are read again when their events are shown, by the same rules as when they were captured.

export const noProperties: JsonObject = Object.freeze({});

export const objectOf = (value: Json | undefined): JsonObject | undefined => (isObject(value) ? value : undefined);

/** The service's limit for names and distinct ids, in characters. */
export const maxName = 200;

/** The text's first 200 characters. A character outside the BMP counts once, as in the service. */
const cut = (text: string): string => [...text].slice(0, maxName).join("");

const isTooLong = (text: string): boolean => text.length > maxName && [...text].length > maxName;

/** Nearly every id begins with a printable ASCII character, and needs no copy. */
function isBlank(text: string): boolean {
  const first = text.charCodeAt(0);
  return !(first > 0x20 && first < 0x7f) && text.trim() === "";
}

/** Text as is, anything else as its JSON text, NUL replaced; undefined if missing or blank. Upstream common/types event.rs. */
function distinctIdText(value: Json | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = typeof value === "string" ? value : sortedText(value);
  if (isBlank(text)) return undefined;
  return text.includes("\0") ? text.replaceAll("\0", "\ufffd") : text;
}

export interface Opened {
  items: readonly Json[];
  /** The object with the `batch` array. Its keys `token`, `api_key` and `sent_at` are for all items. */
  envelope: JsonObject | undefined;
}

export const isEngage = (path: string): boolean => path.startsWith("/engage");

const engaged = (item: JsonObject): JsonObject => (item.event === undefined ? { ...item, event: "$identify" } : item);

/** True with a key of its own or without a name; otherwise it is an event with a field `batch`. */
const isBatch = (body: JsonObject): boolean =>
  typeof body.event !== "string" || typeof (body.api_key ?? body.token) === "string";

/** A list, an object with `batch`, or one event: tried in the order of upstream capture, v0_request.rs (RawRequest). */
export function openLegacy(body: Json, engage: boolean): Opened {
  if (Array.isArray(body)) return { items: body, envelope: undefined };
  if (!isObject(body)) return { items: [body], envelope: undefined };
  if (Array.isArray(body.batch) && isBatch(body)) return { items: body.batch, envelope: body };
  return { items: [engage ? engaged(body) : body], envelope: undefined };
}

export function openV1(body: Json): Opened {
  const batch = isObject(body) ? body.batch : undefined;
  return { items: Array.isArray(batch) ? batch : [], envelope: isObject(body) ? body : undefined };
}

export const nameText = (item: JsonObject): string => (typeof item.event === "string" ? item.event : "");

/** The id is at the top or in the properties; null at the top counts as missing (posthog-php). */
export function idText(item: JsonObject): string {
  const top = item.distinct_id ?? item.$distinct_id;
  if (top !== undefined && top !== null) return distinctIdText(top) ?? "";
  return isObject(item.properties) ? (distinctIdText(item.properties.distinct_id) ?? "") : "";
}

export const shortened = (text: string): string => (isTooLong(text) ? cut(text) : text);

/** Name and distinct id of an item as they are kept: at most 200 characters, "" when missing. */
export const legacyKey = (item: JsonObject): EventKey => ({
  event: shortened(nameText(item)),
  distinct_id: shortened(idText(item)),
});

const spellings: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

function toBoolean(value: Json): boolean | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return value !== 0;
  return typeof value === "string" ? spellings.get(value.trim().toLowerCase()) : undefined;
}

function toText(value: Json): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" && Number.isInteger(value) ? String(value) : undefined;
}

/** option → the property it becomes, and how its value is read. Upstream capture, v1/analytics/types.rs. */
const options: readonly { name: string; property: string; read: (value: Json) => Json | undefined }[] = [
  { name: "cookieless_mode", property: "$cookieless_mode", read: toBoolean },
  { name: "disable_skew_correction", property: "$ignore_sent_at", read: toBoolean },
  { name: "product_tour_id", property: "$product_tour_id", read: toText },
  { name: "process_person_profile", property: "$process_person_profile", read: toBoolean },
];

export const optionPropertyNames: readonly string[] = options.map((it) => it.property);

/** The properties that `options` become; undefined when an option cannot be read. */
export function optionProperties(value: Json | undefined): JsonObject | undefined {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) return undefined;
  const properties: JsonObject = {};
  for (const { name, property, read } of options) {
    const option = value[name];
    if (option === undefined || option === null) continue;
    const known = read(option);
    if (known === undefined) return undefined;
    properties[property] = known;
  }
  return properties;
}

export const v1Key = (raw: JsonObject): EventKey => ({
  event: typeof raw.event === "string" ? raw.event : "",
  distinct_id: typeof raw.distinct_id === "string" ? raw.distinct_id.trim() : "",
});

export const recordingEvent = "$snapshot_items";

/** Names of what the service keeps elsewhere than in its table of events. Upstream event-pipeline, by event type. */
export const outsideEvents: ReadonlySet<string> = new Set([recordingEvent, "$$heatmap", "$$client_ingestion_warning"]);

export const propertiesOf = (item: Json | undefined): JsonObject =>
  isObject(item) && isObject(item.properties) ? item.properties : noProperties;

/** `posthog-js/1.2` → `posthog-js`; other senders are browsers. */
function libraryOf(userAgent: string | undefined): string {
  if (userAgent === undefined) return "unknown";
  const name = userAgent.split("/")[0] ?? "";
  return name.includes("posthog") ? name : "web";
}

const snapshotsOf = (item: Json): Json[] => {
  const data = propertiesOf(item).$snapshot_data;
  if (Array.isArray(data)) return data;
  return isObject(data) ? [data] : [];
};

/** The record's properties: the first item's labels, the snapshots of all items. Upstream events/recordings.rs. */
export function recordingProperties(
  items: readonly Json[],
  distinctId: string,
  userAgent: string | undefined,
): JsonObject {
  const { $session_id, $window_id, $snapshot_source, $lib } = propertiesOf(items[0]);
  return {
    distinct_id: distinctId,
    $session_id: $session_id ?? null,
    $window_id: $window_id ?? $session_id ?? null,
    $snapshot_source: $snapshot_source ?? "web",
    $snapshot_items: items.flatMap(snapshotsOf),
    $lib: typeof $lib === "string" ? $lib : libraryOf(userAgent),
  };
}

import { isObject, isTooDeep, type Json, type JsonObject, own } from "../../src/kernel/base/json.ts";
import { copiedProperties } from "../../src/state/journal/copied-properties.ts";
import { isCampaignParameter, isSdkProperty } from "../../src/state/journal/sdk-properties.ts";
import type { StoredEvent } from "../../src/state/journal/stored-event.ts";
import { type Code, code, type Written } from "./quote.ts";

/** Fields that differ from run to run. Measured with posthog-js and posthog-node. */
const volatile: ReadonlySet<string> = new Set(
  [
    "uuid timestamp sent_at offset received_at person_id request seq $insert_id $time $ip $device_id $anon_distinct_id",
    "$session_id $window_id $session_entry_url $pageview_id $prev_pageview_id $prev_pageview_duration",
    "$prev_pageview_last_scroll $prev_pageview_last_scroll_percentage $prev_pageview_max_scroll",
    "$prev_pageview_max_scroll_percentage $prev_pageview_last_content $prev_pageview_last_content_percentage",
    "$prev_pageview_max_content $prev_pageview_max_content_percentage $initialization_time",
    "$lib_rate_limit_remaining_tokens $feature_flag_evaluated_at $feature_flag_definitions_loaded_at",
    "$feature_flag_request_id $lib_custom_api_host $lib_version $lib_version__major $lib_version__minor",
    "$lib_version__patch $config_defaults $configured_session_timeout_ms $viewport_height $viewport_width",
    "$screen_height $screen_width $raw_user_agent $browser_version $os_version $timezone_offset token",
  ].flatMap((line) => line.split(" ")),
);

const volatilePrefixes: readonly string[] = ["$sdk_debug_", "$geoip_", "$initial_geoip_", "$session_entry_"];

/** True for a field that differs from run to run. */
export const isVolatile = (name: string): boolean =>
  volatile.has(name) || volatilePrefixes.some((prefix) => name.startsWith(prefix));

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?$/;

/** True for a uuid or timestamp, which are generated each time. */
const isMadeAnew = (value: Json): boolean => typeof value === "string" && (uuid.test(value) || moment.test(value));

/** `$` properties that are sent intentionally; the SDK adds the others. */
const meant: ReadonlySet<string> = new Set(
  [
    "$set $set_once $unset $group_type $group_key $group_set $groups $feature_flag $feature_flag_response",
    "$screen_name $event_type $survey_id $survey_response $process_person_profile $current_url $pathname",
  ].flatMap((line) => line.split(" ")),
);

/** True for a property that a test may assert: the app's own, some of the SDK's, and non-null campaign parameters. */
const isMeant = (name: string, value: Json): boolean =>
  !isVolatile(name) && (!isSdkProperty(name) || meant.has(name) || (isCampaignParameter(name) && value !== null));

/** Context of the copied event. */
export interface CopyContext {
  /** Address of the sim, without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  /** The item as sent; undefined if it is not kept, or valid only in its own request. */
  readonly item: Json | undefined;
}

/** Left out when sending again: generated each time, or part of the envelope. */
const renewed: ReadonlySet<string> = new Set(
  "uuid timestamp sent_at offset api_key token $token $insert_id $time $sent_at".split(" "),
);

const picked = (object: JsonObject, isWanted: (key: string, value: Json) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key, value]) => isWanted(key, value)));

const isKept = (key: string): boolean => !renewed.has(key);

/** Person properties that the service copies from event properties. */
const initialNames: ReadonlySet<string> = new Set(copiedProperties.values());

/** True for a person property that the service copies from an event property. */
export const isCopy = (key: string): boolean =>
  copiedProperties.has(key) || initialNames.has(key) || key.startsWith("$geoip_");

const isAdded = (key: string): boolean => key === "$ip" || key.startsWith("$geoip_") || /^\$group_\d$/.test(key);

/** `$set` or `$set_once` without properties added by the service; undefined if empty. */
function withoutCopies(value: Json | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const left = picked(value, (key) => !isCopy(key) && !isVolatile(key));
  return Object.keys(left).length > 0 ? left : undefined;
}

const setKeys: ReadonlySet<string> = new Set(["$set", "$set_once"]);

/** Properties as probably sent: without properties added by the service. */
function sentProperties(properties: JsonObject): JsonObject {
  const entries = Object.entries(properties).flatMap(([key, value]): [string, Json][] => {
    if (isAdded(key) || renewed.has(key)) return [];
    const shown = setKeys.has(key) ? withoutCopies(value) : value;
    return shown === undefined ? [] : [[key, shown]];
  });
  return Object.fromEntries(entries);
}

/** The item that reproduces the event. */
function itemToSend(event: StoredEvent, { item }: CopyContext): Json {
  if (item === undefined)
    return { event: event.event, distinct_id: event.distinct_id, properties: sentProperties(event.properties) };
  if (!isObject(item)) return item;
  const properties = own(item, "properties");
  const rest = picked(item, isKept);
  return isObject(properties) ? { ...rest, properties: picked(properties, isKept) } : rest;
}

/** The body of a POST to /batch/. */
export const bodyToSend = (event: StoredEvent, context: CopyContext): JsonObject => ({
  api_key: context.apiKey,
  batch: [itemToSend(event, context)],
});

/** The intentionally sent properties, for a `capture()`. */
export const meantProperties = (event: StoredEvent): JsonObject => picked(sentProperties(event.properties), isMeant);

const most = { properties: 20, text: 200, json: 2_000, depth: 8 } as const;

const isReadable = (value: Json): boolean => !isTooDeep(value, most.depth) && JSON.stringify(value).length <= most.json;

/** In a pattern, keys that start with `@` are operators; a literal `@` is doubled. */
const patternKey = (key: string): string => (key.startsWith("@") ? `@${key}` : key);

function patternOf(value: Json, anyText: Written): Written {
  if (isMadeAnew(value) || (typeof value === "string" && value.length > most.text)) return anyText;
  if (Array.isArray(value)) return value.map((it) => patternOf(it, anyText));
  return isObject(value) ? patternMap(Object.entries(value), anyText) : value;
}

const patternMap = (entries: readonly (readonly [string, Json])[], anyText: Written): ReadonlyMap<string, Written> =>
  new Map(entries.map(([key, value]) => [patternKey(key), patternOf(value, anyText)]));

const isLongText = (value: Json): boolean => typeof value === "string" && value.length > most.text;

/**
 * Assertions on properties: the intended ones, with `anyText` where the value differs between runs.
 * @param anyText Matches any string
 */
export function assertedProperties(event: StoredEvent, anyText: Written): ReadonlyMap<string, Written> {
  const entries = Object.entries(meantProperties(event)).filter(([, value]) => isLongText(value) || isReadable(value));
  return patternMap(entries.slice(0, most.properties), anyText);
}

/** The distinct id, unless it is generated per visitor. */
export const assertedId = ({ distinct_id: id }: StoredEvent): string | undefined =>
  id === "" || isMadeAnew(id) || id.startsWith("$posthog_") ? undefined : id;

export const anyStringInTests: Code = code("expect.any(String)");

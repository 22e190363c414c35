import { isoOf } from "../../kernel/base/clock.ts";
import { isObject, type Json, type JsonObject, own } from "../../kernel/base/json.ts";
import { clientAddress, headerIn } from "../../kernel/http/client-address.ts";
import type { EventFacts, StoredEvent } from "./event.ts";
import {
  isEngage,
  legacyKey,
  noProperties,
  objectOf,
  openLegacy,
  openV1,
  optionProperties,
  optionPropertyNames,
  propertiesOf,
  recordingEvent,
  recordingProperties,
  v1Key,
} from "./items.ts";
import { personProperties } from "./person-fields.ts";
import { eventPlace, ipOf } from "./places.ts";
import type { BodyShape, EventKey, TrafficLine } from "./traffic.ts";

interface Reader {
  items(line: TrafficLine): readonly Json[];
  key(item: JsonObject): EventKey;
  properties(item: JsonObject, line: TrafficLine): JsonObject;
}

const pathIn = (line: TrafficLine): string => line.target.replace(/^\/+/, "/");

const legacyItems = (line: TrafficLine): readonly Json[] =>
  line.body === undefined ? [] : openLegacy(line.body, isEngage(pathIn(line))).items;

/** `$lib` and `$lib_version` from `PostHog-Sdk-Info: name/version`; nothing when it is not that. */
function sdkProperties(info: string): { $lib: string; $lib_version: string } | undefined {
  const slash = info.lastIndexOf("/");
  const $lib = info.slice(0, Math.max(slash, 0)).trim();
  const $lib_version = info.slice(slash + 1).trim();
  return slash > 0 && $lib !== "" && $lib_version !== "" ? { $lib, $lib_version } : undefined;
}

function v1Properties(item: JsonObject, line: TrafficLine): JsonObject {
  const { session_id, window_id, options } = item;
  return {
    ...objectOf(item.properties),
    ...(typeof session_id === "string" ? { $session_id: session_id } : {}),
    ...(typeof window_id === "string" ? { $window_id: window_id } : {}),
    ...optionProperties(options),
    ...sdkProperties(headerIn(line.headers, "posthog-sdk-info") ?? ""),
  };
}

const readers: Record<BodyShape, Reader> = {
  legacy: { items: legacyItems, key: legacyKey, properties: (item) => objectOf(item.properties) ?? noProperties },
  v1: {
    items: (line) => (line.body === undefined ? [] : openV1(line.body).items),
    key: v1Key,
    properties: v1Properties,
  },
  recording: {
    // All items of the request are the one event.
    items: (line) => legacyItems(line).slice(0, 1),
    key: (item) => ({ event: recordingEvent, distinct_id: legacyKey(item).distinct_id }),
    properties: (item, line) =>
      recordingProperties(legacyItems(line), legacyKey(item).distinct_id, headerIn(line.headers, "user-agent")),
  },
};

const readerOf = (line: TrafficLine): Reader => readers[line.shape ?? "legacy"];

const noKey: EventKey = { event: "", distinct_id: "" };

/** The index keys of a line's events, as they were when it was written; blank where its body is gone. */
export function keysOf(line: TrafficLine): EventKey[] {
  const reader = readerOf(line);
  const items = reader.items(line);
  return (line.events ?? []).map((facts, index) => keyOf(reader, items[index], facts));
}

function keyOf(reader: Reader, item: Json | undefined, { id }: EventFacts): EventKey {
  const key = isObject(item) ? reader.key(item) : noKey;
  return id === undefined ? key : { ...key, distinct_id: id };
}

function personFields(item: JsonObject, properties: JsonObject, { place }: EventFacts): JsonObject {
  const top = { set: objectOf(item.$set), setOnce: objectOf(item.$set_once), place };
  const { set, setOnce } = personProperties({ properties, ...top });
  return { ...(set ? { $set: set } : {}), ...(setOnce ? { $set_once: setOnce } : {}) };
}

const groupFields = ({ groups = {} }: Pick<EventFacts, "groups">): JsonObject =>
  Object.fromEntries(Object.entries(groups).map(([index, key]) => [`$group_${index}`, key]));

/** The item's properties with those that the service adds, without those that it removes. */
function keptProperties(item: JsonObject, line: TrafficLine, facts: EventFacts): JsonObject {
  const sent = readerOf(line).properties(item, line);
  const address = clientAddress((name) => headerIn(line.headers, name), line.peer);
  const all: JsonObject = {
    ...sent,
    $ip: ipOf(sent, address),
    ...(facts.place && eventPlace(facts.place)),
    ...(line.shape === "recording" ? {} : personFields(item, sent, facts)),
    ...groupFields(facts),
    ...facts.adds,
  };
  for (const name of facts.strips ?? []) delete all[name];
  return all;
}

const composed: ReadonlySet<string> = new Set(["$ip", "$set", "$set_once"]);

/** Properties that v1 has outside an item's `properties`. */
const outside: ReadonlySet<string> = new Set([
  ...["$session_id", "$window_id", "$lib", "$lib_version"],
  ...optionPropertyNames,
]);

/** A property that the facts of an event decide, whatever the item has. */
function factsProperty(
  { strips, adds, groups, place }: EventFacts,
  name: string,
): { value: Json | undefined } | undefined {
  if (strips?.includes(name)) return { value: undefined };
  if (adds && Object.hasOwn(adds, name)) return { value: adds[name] };
  const fields = groups && name.startsWith("$group_") ? groupFields({ groups }) : undefined;
  const parts = place && name.startsWith("$geoip_") ? eventPlace(place) : undefined;
  const value = (fields && own(fields, name)) ?? (parts && own(parts, name));
  return value === undefined ? undefined : { value };
}

/** One property of a kept event as stored; undefined if it has none of this name, or its body is gone. */
export function keptProperty(line: TrafficLine, index: number, name: string): Json | undefined {
  const facts = line.events?.[index];
  if (facts === undefined) return undefined;
  const item = objectOf(readerOf(line).items(line)[index]) ?? noProperties;
  if (composed.has(name) || (line.shape === "v1" && outside.has(name)))
    return own(keptProperties(item, line, facts), name);
  const decided = factsProperty(facts, name);
  return decided ? decided.value : own(propertiesOf(item), name);
}

/** The properties of event `index` (from 0) of a line as sent; empty where its body is gone. */
export function sentProperties(line: TrafficLine, index: number): JsonObject {
  const reader = readerOf(line);
  const item = reader.items(line)[index];
  return isObject(item) ? reader.properties(item, line) : noProperties;
}

/** True if the sender gave the event its uuid; the sim makes those of the others. */
export function hasOwnUuid(line: TrafficLine, index: number): boolean {
  const item = readerOf(line).items(line)[index];
  return isObject(item) && typeof item.uuid === "string";
}

/** Event `index` (from 0) of a line; without its body only the facts. @throws RangeError if the line has no such event */
export function showEvent(line: TrafficLine, index: number): StoredEvent {
  const facts = line.events?.[index];
  if (facts === undefined) throw new RangeError(`request ${line.n} has no event ${index}`);
  const reader = readerOf(line);
  const found = reader.items(line)[index];
  const item = objectOf(found) ?? noProperties;
  const isKept = facts.dropped === undefined;
  return {
    seq: (line.seq ?? 0) + index,
    outcome: isKept ? "kept" : "dropped",
    reason: facts.dropped ?? null,
    detail: facts.detail ?? null,
    warnings: facts.warnings ?? [],
    project: line.project,
    uuid: facts.uuid,
    ...keyOf(reader, found, facts),
    timestamp: isoOf(facts.time),
    received_at: isoOf(line.at),
    person_id: facts.person,
    person_mode: facts.mode ?? (isKept ? "full" : "none"),
    properties: isKept ? keptProperties(item, line, facts) : reader.properties(item, line),
    request: line.n,
  };
}

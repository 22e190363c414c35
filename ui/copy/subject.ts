import { isObject, isTooDeep, type Json, type JsonObject, own } from "../../src/kernel/json.ts";
import { copiedProperties } from "../../src/model/copied-properties.ts";
import type { StoredEvent } from "../../src/model/stored-event.ts";
import { type Code, code, type Written } from "./quote.ts";
import { isMadeAnew, isMeant, isVolatile } from "./volatile.ts";

/** What copying needs to know besides the event. */
export interface CopyContext {
  /** Where the sim is, without a slash at the end. */
  readonly url: string;
  /** The key of the event's project. */
  readonly apiKey: string;
  /** The item as it was sent; undefined where it is gone, or where it makes sense only in its own request. */
  readonly item: Json | undefined;
}

/** Taken from what is sent again: it is new each time, or the envelope has it. */
const renewed: ReadonlySet<string> = new Set([
  "uuid",
  "timestamp",
  "sent_at",
  "offset",
  "api_key",
  "token",
  "$token",
  "$insert_id",
  "$time",
  "$sent_at",
]);

const picked = (object: JsonObject, isWanted: (key: string, value: Json) => boolean): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([key, value]) => isWanted(key, value)));

const isKept = (key: string): boolean => !renewed.has(key);

/** Copies that the service makes of an event's own properties. */
const initialNames: ReadonlySet<string> = new Set(copiedProperties.values());

/** Is it a person property that the service makes of an event property? */
export const isCopy = (key: string): boolean =>
  copiedProperties.has(key) || initialNames.has(key) || key.startsWith("$geoip_");

const isAdded = (key: string): boolean =>
  key === "$ip" || key.startsWith("$geoip_") || /^\$group_\d$/.test(key);

/** `$set` or `$set_once` without what the service has put in; undefined when nothing is left. */
function withoutCopies(value: Json | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const left = picked(value, (key) => !isCopy(key) && !isVolatile(key));
  return Object.keys(left).length > 0 ? left : undefined;
}

const setKeys: ReadonlySet<string> = new Set(["$set", "$set_once"]);

/** Properties as their sender may have given them: `$set` without copies, nothing that the service adds. */
function sentProperties(properties: JsonObject): JsonObject {
  const entries = Object.entries(properties).flatMap(([key, value]): [string, Json][] => {
    if (isAdded(key) || renewed.has(key)) return [];
    const shown = setKeys.has(key) ? withoutCopies(value) : value;
    return shown === undefined ? [] : [[key, shown]];
  });
  return Object.fromEntries(entries);
}

/** The item to send so that the same thing happens again. */
function itemToSend(event: StoredEvent, { item }: CopyContext): Json {
  if (item === undefined)
    return {
      event: event.event,
      distinct_id: event.distinct_id,
      properties: sentProperties(event.properties),
    };
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

/** The properties that somebody meant to send: what goes into a `capture()`. */
export const meantProperties = (event: StoredEvent): JsonObject =>
  picked(sentProperties(event.properties), isMeant);

/** More than this is not readable in a test. */
const most = { properties: 20, text: 200, json: 2_000, depth: 8 } as const;

const isReadable = (value: Json): boolean =>
  !isTooDeep(value, most.depth) && JSON.stringify(value).length <= most.json;

/** In a pattern, keys that start with `@` are operators: a property's own is doubled. */
const patternKey = (key: string): string => (key.startsWith("@") ? `@${key}` : key);

function patternOf(value: Json, anyText: Written): Written {
  if (isMadeAnew(value) || (typeof value === "string" && value.length > most.text)) return anyText;
  if (Array.isArray(value)) return value.map((it) => patternOf(it, anyText));
  return isObject(value) ? patternMap(Object.entries(value), anyText) : value;
}

const patternMap = (
  entries: readonly (readonly [string, Json])[],
  anyText: Written,
): ReadonlyMap<string, Written> =>
  new Map(entries.map(([key, value]) => [patternKey(key), patternOf(value, anyText)]));

const isLongText = (value: Json): boolean => typeof value === "string" && value.length > most.text;

/**
 * What a test may ask of the event's properties: those that were meant, with any text where the next run's differs.
 * @param anyText How the language says "any text"
 */
export function assertedProperties(event: StoredEvent, anyText: Written): ReadonlyMap<string, Written> {
  const entries = Object.entries(meantProperties(event)).filter(
    ([, value]) => isLongText(value) || isReadable(value),
  );
  return patternMap(entries.slice(0, most.properties), anyText);
}

/** The distinct id, unless it is one that is made anew for each visitor. */
export const assertedId = ({ distinct_id: id }: StoredEvent): string | undefined =>
  id === "" || isMadeAnew(id) || id.startsWith("$posthog_") ? undefined : id;

export const anyStringInTests: Code = code("expect.any(String)");

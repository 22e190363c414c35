import { isObject, type Json, type JsonObject, own } from "../kernel/json.ts";

/** A flags request, its aliases resolved. */
export interface FlagsRequest {
  readonly token: string | undefined;
  /** undefined when it is missing or null; "" is a distinct id. */
  readonly distinctId: string | undefined;
  readonly anonymousId: string | undefined;
  readonly deviceId: string | undefined;
  readonly personProperties: JsonObject;
  /** Group type → key, as sent. */
  readonly groups: JsonObject;
  /** Group type → properties, as sent. */
  readonly groupProperties: JsonObject;
  /** Only these flags; undefined is all. */
  readonly flagKeys: ReadonlySet<string> | undefined;
  readonly runtime: "all" | "client" | "server" | undefined;
  /** Where the caller is used; flags that name contexts are for these only. None: no filter. */
  readonly contexts: readonly string[];
  readonly isDisabled: boolean;
  readonly isGeoipDisabled: boolean;
}

const maxDistinctId = 200;

/** The first of several names that is there and not null. */
function first(body: JsonObject, ...names: string[]): Json | undefined {
  for (const name of names) {
    const value = own(body, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

const textIn = (value: Json | undefined): string | undefined =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;

/** Text that says something; "" counts as absent. */
const filled = (value: Json | undefined): string | undefined => textIn(value) || undefined;

const none: JsonObject = Object.freeze({});

/** PHP sends `[]` for an empty map. */
const objectIn = (value: Json | undefined): JsonObject => (isObject(value) ? value : none);

function distinctIdIn(value: Json | undefined): string | undefined {
  const text = textIn(value);
  if (text === undefined || text.length <= maxDistinctId) return text;
  return Array.from(text).slice(0, maxDistinctId).join("");
}

const textsIn = (value: Json | undefined): string[] | undefined =>
  Array.isArray(value) ? value.filter((it) => typeof it === "string") : undefined;

function keysIn(value: Json | undefined): ReadonlySet<string> | undefined {
  const keys = textsIn(value);
  return keys && new Set(keys);
}

const runtimeIn = (value: Json | undefined): FlagsRequest["runtime"] =>
  value === "all" || value === "client" || value === "server" ? value : undefined;

/** Reads a body's fields under all their names. Upstream PostHog rust/feature-flags, flag_request. */
export function flagsRequestOf(body: JsonObject): FlagsRequest {
  const personProperties = objectIn(first(body, "person_properties", "$properties"));
  return {
    token: filled(first(body, "token", "$token", "api_key")),
    distinctId: distinctIdIn(first(body, "distinct_id", "$distinct_id")),
    anonymousId: filled(first(body, "$anon_distinct_id", "anon_distinct_id")),
    deviceId: filled(first(body, "$device_id", "device_id") ?? own(personProperties, "$device_id")),
    personProperties,
    groups: objectIn(first(body, "groups", "$groups")),
    groupProperties: objectIn(first(body, "group_properties", "$group_properties")),
    flagKeys: keysIn(first(body, "flag_keys_to_evaluate", "flag_keys")),
    runtime: runtimeIn(own(body, "evaluation_runtime")),
    contexts: textsIn(first(body, "evaluation_contexts", "evaluation_environments")) ?? [],
    isDisabled: own(body, "disable_flags") === true,
    isGeoipDisabled: own(body, "geoip_disable") === true,
  };
}

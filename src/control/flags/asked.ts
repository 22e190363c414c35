import { pathOf } from "../../http/call.ts";
import { clientAddress, headerIn } from "../../ingest/client-address.ts";
import { isObject, type Json, type JsonObject, own } from "../../kernel/json.ts";
import type { TrafficLine } from "../../model/traffic.ts";
import type { FlagsAsked } from "./decision-answers.ts";

const flagPaths: ReadonlySet<string> = new Set(["/flags", "/decide"]);

/** Text, or a number as text. */
const textOf = (value: Json | undefined): string | null =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : null;

/** The first of several names that is there and not null: clients spell them differently. */
function first(body: JsonObject, ...names: string[]): Json | undefined {
  for (const name of names) {
    const value = own(body, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

const objectOf = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

/** The body of a request for flags; undefined when the line is none. */
export function flagsBody({ method, target, body }: TrafficLine): JsonObject | undefined {
  return method === "POST" && flagPaths.has(pathOf(target)) && isObject(body) ? body : undefined;
}

/** Whom a request for flags asked about. */
export const distinctIdOf = (body: JsonObject): string | null =>
  textOf(first(body, "distinct_id", "$distinct_id"));

function keysOf(body: JsonObject): string[] | null {
  const keys = first(body, "flag_keys_to_evaluate", "flag_keys");
  return Array.isArray(keys) ? keys.filter((it) => typeof it === "string") : null;
}

/** What a request for flags said, under all the names that the service reads. */
export function askedIn(body: JsonObject, line: TrafficLine): FlagsAsked {
  const person = objectOf(first(body, "person_properties", "$properties"));
  const address = clientAddress((name) => headerIn(line.headers, name), line.peer);
  return {
    person_properties: person,
    groups: objectOf(first(body, "groups", "$groups")),
    group_properties: objectOf(first(body, "group_properties", "$group_properties")),
    device_id: textOf(first(body, "$device_id", "device_id") ?? own(person, "$device_id")) || null,
    anon_distinct_id: textOf(first(body, "$anon_distinct_id", "anon_distinct_id")) || null,
    ip: own(body, "geoip_disable") === true ? null : address,
    keys: keysOf(body),
  };
}

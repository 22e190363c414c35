import type { Json, JsonObject } from "../base/json.ts";
import type { Place, Places } from "../journal/places.ts";
import { clientAddress } from "./client-address.ts";
import type { Packet } from "./packet.ts";

/** What the service writes to persons even where it is unknown. Upstream geoip.template.ts. */
const personParts = [
  "city_name",
  "city_confidence",
  "subdivision_2_name",
  "subdivision_2_code",
  "subdivision_1_name",
  "subdivision_1_code",
  "country_name",
  "country_code",
  "continent_name",
  "continent_code",
  "postal_code",
  "latitude",
  "longitude",
  "accuracy_radius",
  "time_zone",
] as const satisfies readonly (keyof Place)[];

const unknownPlace = Object.fromEntries(personParts.map((part) => [part, null]));

const prefixed = (prefix: string, parts: object): JsonObject =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [prefix + part, value]));

/** The properties of an event from the place: what is known of it. */
export const eventPlace = (place: Place): JsonObject => prefixed("$geoip_", place);

/** `$set` and `$set_once` of an event from the place; what is not known of it is null. */
export function personPlace(place: Place): { set: JsonObject; setOnce: JsonObject } {
  const parts = { ...unknownPlace, ...place };
  return { set: prefixed("$geoip_", parts), setOnce: prefixed("$initial_geoip_", parts) };
}

/** An event's `$ip`: the sender's word, unless it is empty; `address` is where the request came from. */
export const ipOf = (properties: JsonObject, address: string): Json =>
  properties.$ip || (properties.capture_internal === true ? "127.0.0.1" : address);

/** Finds the place of each event of a request; undefined when no place is known at all. */
type PlaceFinder = (properties: JsonObject) => Place | undefined;

/**
 * Looks places up for the events of a request. The hosted service's sample place of 127.0.0.1 is for its
 * own developers: here loopback has none, unless a row has one. Upstream geoip.template.ts.
 */
export function placeFinder(
  places: Places,
  { headers, peer }: Pick<Packet, "headers" | "peer">,
): PlaceFinder | undefined {
  if (places.isEmpty) return undefined;
  const address = clientAddress((name) => headers[name], peer);
  return (properties) => {
    if (properties.$geoip_disable) return undefined;
    const ip = ipOf(properties, address);
    return typeof ip === "string" ? places.placeOf(ip) : undefined;
  };
}

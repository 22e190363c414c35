import type { Json, JsonObject } from "../../kernel/base/json.ts";
import type { PlaceRow } from "../documents/world.ts";

/** Where an address is, in the service's names without `$geoip_`; absent parts are unknown. */
export type GeoPlace = Readonly<Omit<PlaceRow, "address">>;

export interface Places {
  /** True if no address has a place: there is neither a row nor a file. */
  readonly isEmpty: boolean;
  /** The place of an IPv4 or IPv6 address; undefined if it is not an address, or unknown. */
  placeOf(address: string): GeoPlace | undefined;
}

export const noPlaces: Places = { isEmpty: true, placeOf: () => undefined };

/** The service writes these to persons even if they are unknown. Upstream geoip.template.ts. */
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
] as const satisfies readonly (keyof GeoPlace)[];

const unknownPlace = Object.fromEntries(personParts.map((part) => [part, null]));

const prefixed = (prefix: string, parts: object): JsonObject =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [prefix + part, value]));

export const eventPlace = (place: GeoPlace): JsonObject => prefixed("$geoip_", place);

/** `$set` and `$set_once` of an event from the place; unknown parts are null. */
export function personPlace(place: GeoPlace): { set: JsonObject; setOnce: JsonObject } {
  const parts = { ...unknownPlace, ...place };
  return { set: prefixed("$geoip_", parts), setOnce: prefixed("$initial_geoip_", parts) };
}

/** `$ip` as sent, even null or empty; `address` is where the request came from. Upstream normalize-event-step.ts. */
export const ipOf = (properties: JsonObject, address: string): Json =>
  properties.$ip === undefined ? (properties.capture_internal === true ? "127.0.0.1" : address) : properties.$ip;

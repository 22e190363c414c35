import type { JsonObject } from "../../kernel/base/json.ts";
import { clientAddress } from "../../kernel/http/client-address.ts";
import { type GeoPlace, ipOf, type Places } from "../../state/journal/places.ts";
import type { Packet } from "./packet.ts";

export type PlaceFinder = (properties: JsonObject) => GeoPlace | undefined;

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

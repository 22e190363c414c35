import type { PlaceRow } from "../world/world.ts";

/** Where an address is, in the service's words without `$geoip_`; what is absent is unknown. */
export type Place = Readonly<Omit<PlaceRow, "address">>;

/** Tells places from addresses; the room `geo` implements it. */
export interface Places {
  /** No address has a place: there is neither a row nor a file. Then there is nothing to ask. */
  readonly isEmpty: boolean;
  /** The place of an IPv4 or IPv6 address; undefined for what is no address and where nothing is known. */
  placeOf(address: string): Place | undefined;
}

/** Knows no place. */
export const noPlaces: Places = { isEmpty: true, placeOf: () => undefined };

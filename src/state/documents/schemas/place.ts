import { z } from "zod";
import { parseNetwork } from "../../../kernel/base/network.ts";

const addressText = "an IP address, or a range such as 203.0.113.0/24";

/** The location of an address, with the service's keys without `$geoip_`. */
export const PlaceRow = z.object({
  /** An IP address, or a range such as `203.0.113.0/24`. */
  address: z.string().refine((text) => parseNetwork(text) !== undefined, addressText),
  country_name: z.string().optional(),
  country_code: z.string().optional(),
  city_name: z.string().optional(),
  /** Percent. */
  city_confidence: z.number().optional(),
  continent_name: z.string().optional(),
  continent_code: z.string().optional(),
  postal_code: z.string().optional(),
  time_zone: z.string().optional(),
  subdivision_1_code: z.string().optional(),
  subdivision_1_name: z.string().optional(),
  subdivision_2_code: z.string().optional(),
  subdivision_2_name: z.string().optional(),
  subdivision_3_code: z.string().optional(),
  subdivision_3_name: z.string().optional(),
  latitude: z.number().optional(),
  longitude: z.number().optional(),
  /** Kilometres. */
  accuracy_radius: z.number().optional(),
});

import { z } from "zod";
import { PlaceRow } from "../../world/schemas/place.ts";

type Key = keyof typeof PlaceRow.shape;

const descriptions: Readonly<Record<Key, string>> = {
  address: "An IP address, or a range such as 203.0.113.0/24.",
  country_name: "Such as `Sweden`.",
  country_code: "Two letters, such as `SE`.",
  city_name: "Such as `Linköping`.",
  city_confidence: "How sure the city is, in percent.",
  continent_name: "Such as `Europe`.",
  continent_code: "Two letters, such as `EU`.",
  postal_code: "As it stands on letters.",
  time_zone: "Such as `Europe/Stockholm`.",
  subdivision_1_code: "The largest part of the country, such as `E`.",
  subdivision_1_name: "Its name.",
  subdivision_2_code: "A part of that part.",
  subdivision_2_name: "Its name.",
  subdivision_3_code: "A part of that part again.",
  subdivision_3_name: "Its name.",
  latitude: "In degrees, north is positive.",
  longitude: "In degrees, east is positive.",
  accuracy_radius: "In kilometres.",
};

const { shape } = PlaceRow;
const described = Object.fromEntries(
  Object.entries(shape).map(([key, schema]) => [key, schema.describe(descriptions[key as Key])]),
) as typeof shape;

/** An address or a range of addresses, and where it is. */
export const AuthoredPlace = z.strictObject(described);

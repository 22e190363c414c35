import type { Place } from "../../journal/places.ts";

type Path = readonly (string | number)[];

const texts: readonly (readonly [keyof Place, Path])[] = [
  ["country_name", ["country", "names", "en"]],
  ["country_code", ["country", "iso_code"]],
  ["city_name", ["city", "names", "en"]],
  ["continent_name", ["continent", "names", "en"]],
  ["continent_code", ["continent", "code"]],
  ["postal_code", ["postal", "code"]],
  ["time_zone", ["location", "time_zone"]],
  ["subdivision_1_code", ["subdivisions", 0, "iso_code"]],
  ["subdivision_1_name", ["subdivisions", 0, "names", "en"]],
  ["subdivision_2_code", ["subdivisions", 1, "iso_code"]],
  ["subdivision_2_name", ["subdivisions", 1, "names", "en"]],
  ["subdivision_3_code", ["subdivisions", 2, "iso_code"]],
  ["subdivision_3_name", ["subdivisions", 2, "names", "en"]],
];

const numbers: readonly (readonly [keyof Place, Path])[] = [
  ["city_confidence", ["city", "confidence"]],
  ["latitude", ["location", "latitude"]],
  ["longitude", ["location", "longitude"]],
  ["accuracy_radius", ["location", "accuracy_radius"]],
];

function valueAt(record: unknown, path: Path): unknown {
  let here = record;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    // Whatever a file holds: only own keys are read.
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

/**
 * The place in a record of a city database, with English names. undefined when it has
 * nothing. Upstream geoip.template.ts and rust/common/geoip.
 */
export function placeOfRecord(record: unknown): Place | undefined {
  const known = [
    ...texts.map(([part, path]) => [part, valueAt(record, path)] as const).filter(([, it]) => isText(it)),
    ...numbers.map(([part, path]) => [part, valueAt(record, path)] as const).filter(([, it]) => isNumber(it)),
  ];
  // The tables say which parts are texts and which are numbers.
  return known.length === 0 ? undefined : (Object.freeze(Object.fromEntries(known)) as Place);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

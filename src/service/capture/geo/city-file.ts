import { readFile } from "node:fs/promises";
import { Reader, type Response } from "mmdb-lib";
import { addressText, type IpAddress } from "../../../kernel/base/network.ts";
import type { GeoPlace } from "../../../state/journal/places.ts";
import type { PlaceLookup } from "./places.ts";

export class CityFileError extends Error {
  readonly hint: string;

  constructor(message: string, hint: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "CityFileError";
    this.hint = hint;
  }
}

const wanted = "give a city database in MaxMind's format, such as GeoLite2-City.mmdb";
const again = "get it again";

const unreadable: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a folder",
  EACCES: "may not be read",
};

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "unknown error";
    throw new CityFileError(`${path} ${unreadable[code] ?? `cannot be read (${code})`}`, wanted, error);
  }
}

/** The marker before the metadata, near the end of every file. */
const marker = "\xab\xcd\xefMaxMind.com";
const dataGap = 16;

function readerOf(path: string, bytes: Buffer, metadataAt: number): Reader<Response> {
  const damaged = (cause?: unknown) => new CityFileError(`${path} is damaged`, again, cause);
  let reader: Reader<Response>;
  try {
    reader = new Reader<Response>(bytes);
  } catch (error) {
    throw damaged(error);
  }
  const { searchTreeSize, binaryFormatMajorVersion } = reader.metadata;
  if (binaryFormatMajorVersion !== 2 || !(searchTreeSize + dataGap <= metadataAt)) throw damaged();
  return reader;
}

function withoutMetadata(path: string, bytes: Buffer): CityFileError {
  if (bytes.length === 0) return new CityFileError(`${path} is empty`, again);
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return isPacked
    ? new CityFileError(`${path} is packed`, "unpack it (gunzip, tar) and give the .mmdb file")
    : new CityFileError(`${path} is not in MaxMind's format, or its end is missing`, wanted);
}

/** GeoLite2-City, GeoIP2-City-Europe, DBIP-City-Lite …; the enterprise databases have cities too. */
const cityTypes = /city|enterprise/i;

function check(path: string, bytes: Buffer): Reader<Response> {
  const metadataAt = bytes.lastIndexOf(marker, undefined, "latin1");
  if (metadataAt === -1) throw withoutMetadata(path, bytes);
  const reader = readerOf(path, bytes, metadataAt);
  const type = String(reader.metadata.databaseType);
  if (!cityTypes.test(type)) throw new CityFileError(`${path} is a database of type ${type}`, wanted);
  return reader;
}

/**
 * Reads a city database in MaxMind's format into memory. Damage inside is reported once, when a look-up meets it; the
 * address then has no place.
 * @throws CityFileError if the file is missing, damaged, packed or not a city database
 */
export async function openCityFile(path: string, onNotice: (text: string) => void): Promise<PlaceLookup> {
  const reader = check(path, await read(path));
  let isReported = false;
  function damage(text: string, error: unknown): undefined {
    if (isReported) return;
    isReported = true;
    onNotice(`${path} is damaged: no place for ${text} (${error instanceof Error ? error.message : error})`);
  }
  return function lookup(address: IpAddress): GeoPlace | undefined {
    if (address.length === 16 && reader.metadata.ipVersion === 4) return undefined;
    const text = addressText(address);
    try {
      return placeOfRecord(reader.get(text));
    } catch (error) {
      return damage(text, error);
    }
  };
}

type Path = readonly (string | number)[];

const textParts: readonly (readonly [keyof GeoPlace, Path])[] = [
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

const numberParts: readonly (readonly [keyof GeoPlace, Path])[] = [
  ["city_confidence", ["city", "confidence"]],
  ["latitude", ["location", "latitude"]],
  ["longitude", ["location", "longitude"]],
  ["accuracy_radius", ["location", "accuracy_radius"]],
];

function valueAt(record: unknown, path: Path): unknown {
  let here = record;
  for (const step of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, step)) return undefined;
    here = (here as Record<string | number, unknown>)[step];
  }
  return here;
}

/** The place in a record, with English names; undefined if it has none. Upstream geoip.template.ts, rust/common/geoip. */
function placeOfRecord(record: unknown): GeoPlace | undefined {
  const known = [
    ...textParts.map(([part, path]) => [part, valueAt(record, path)] as const).filter(([, it]) => isText(it)),
    ...numberParts.map(([part, path]) => [part, valueAt(record, path)] as const).filter(([, it]) => isNumber(it)),
  ];
  // the tables have the types of the parts
  return known.length === 0 ? undefined : (Object.freeze(Object.fromEntries(known)) as GeoPlace);
}

const isText = (value: unknown): boolean => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value);

import { readFile } from "node:fs/promises";
import { Reader, type Response } from "mmdb-lib";
import { type Address, addressText } from "../../base/network.ts";
import type { Place } from "../../journal/places.ts";
import { placeOfRecord } from "./city-record.ts";
import type { PlaceLookup } from "./places.ts";

/** A geographic database that cannot be used: what is wrong with the file, and what to do about it. */
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

/** What stands in front of the metadata, near the end of every file of the format. */
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

/** GeoLite2-City, GeoIP2-City-Europe, DBIP-City-Lite …; the enterprise databases hold cities, too. */
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
 * Reads a city database in MaxMind's format into memory. What is damaged further inside is reported once, on
 * `onNotice`, when an address leads there; the address has no place then.
 * @throws CityFileError when the file is missing, damaged, packed or no city database
 */
export async function openCityFile(path: string, onNotice: (text: string) => void): Promise<PlaceLookup> {
  const reader = check(path, await read(path));
  let isTold = false;
  function damage(text: string, error: unknown): undefined {
    if (isTold) return;
    isTold = true;
    onNotice(`${path} is damaged: no place for ${text} (${error instanceof Error ? error.message : error})`);
  }
  return function lookup(address: Address): Place | undefined {
    if (address.length === 16 && reader.metadata.ipVersion === 4) return undefined;
    const text = addressText(address);
    try {
      return placeOfRecord(reader.get(text));
    } catch (error) {
      return damage(text, error);
    }
  };
}

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { parseAddress } from "../../../../src/kernel/base/network.ts";
import { CityFileError, openCityFile } from "../../../../src/service/capture/geo/city-file.ts";
import type { GeoPlace } from "../../../../src/state/journal/places.ts";
import { newFolder } from "../../../support/folder.ts";
import { linkoping, type MmdbOptions, mmdb } from "./mmdb.ts";

const folder = newFolder();

let files = 0;
function fileOf(bytes: Buffer): string {
  files++;
  const path = join(folder, `${files}.mmdb`);
  writeFileSync(path, bytes);
  return path;
}

/** Opens the file and answers look-ups by an address's text. */
async function opened(bytes: Buffer) {
  const notices: string[] = [];
  const lookup = await openCityFile(fileOf(bytes), (text) => notices.push(text));
  const placeOf = (text: string): GeoPlace | undefined => {
    const address = parseAddress(text);
    return address && lookup(address);
  };
  return { placeOf, notices };
}

const japan = { country: { iso_code: "JP", names: { en: "Japan" } } };
const records = { "89.160.20.0/24": linkoping, "2001:db8::/32": japan, "203.0.113.7": japan };

const whole = {
  country_name: "Sweden",
  country_code: "SE",
  city_name: "Linköping",
  city_confidence: 60,
  continent_name: "Europe",
  continent_code: "EU",
  postal_code: "582 22",
  time_zone: "Europe/Stockholm",
  subdivision_1_code: "E",
  subdivision_1_name: "Östergötland County",
  subdivision_2_code: "E2",
  subdivision_2_name: "Second",
  subdivision_3_code: "E3",
  subdivision_3_name: "Third",
  latitude: 58.4167,
  longitude: 15.6167,
  accuracy_radius: 76,
};
const short = { country_code: "JP", country_name: "Japan" };

describe.each([24, 28, 32] as const)("a file with records of %i bits", (recordSize) => {
  test.each<[string, GeoPlace | undefined]>([
    ["89.160.20.129", whole],
    ["::ffff:89.160.20.129", whole],
    ["89.160.21.1", undefined],
    ["203.0.113.7", short],
    ["203.0.113.6", undefined],
    ["2001:db8:9::1", short],
    ["2001:db9::1", undefined],
    ["255.255.255.255", undefined],
  ])("%s", async (address, expected) => {
    const { placeOf, notices } = await opened(mmdb({ records, recordSize }));
    expect(placeOf(address)).toEqual(expected);
    expect(notices).toEqual([]);
  });
});

test("a file for IPv4 knows no IPv6 address", async () => {
  const { placeOf } = await opened(mmdb({ records: { "32.0.0.0/3": japan }, ipVersion: 4 }));
  expect([placeOf("32.1.13.184"), placeOf("2001:db8::1")]).toEqual([short, undefined]);
});

test.each<[string, MmdbOptions["records"][string], GeoPlace | undefined]>([
  ["nothing", {}, undefined],
  ["names in other languages only", { country: { iso_code: "SE", names: { de: "Schweden" } } }, { country_code: "SE" }],
  ["other types", { country: { iso_code: 5 }, location: { latitude: "58" }, city: "x" }, undefined],
  ["zero and negative numbers", { location: { latitude: 0, longitude: -0.5 } }, { latitude: 0, longitude: -0.5 }],
  ["further properties of its type", { traits: { is_anycast: true }, ...japan }, short],
  ["a long name", { city: { names: { en: "x".repeat(300) } } }, { city_name: "x".repeat(300) }],
])("a record with %s", async (_, record, expected) => {
  const { placeOf } = await opened(mmdb({ records: { "192.0.2.0/24": record } }));
  expect(placeOf("192.0.2.1")).toEqual(expected);
});

test.each(["GeoLite2-City", "GeoIP2-City-Europe", "GeoIP2-Enterprise", "DBIP-City-Lite (compat=City)"])(
  "type %s is taken",
  async (type) => {
    const { placeOf } = await opened(mmdb({ records, type }));
    expect(placeOf("203.0.113.7")).toEqual(short);
  },
);

describe("files that cannot be used", () => {
  const good = mmdb({ records });
  test.each<[string, Buffer, RegExp, RegExp]>([
    ["an empty one", Buffer.alloc(0), /is empty$/, /get it again/],
    ["text", Buffer.from("ip,country\n".repeat(50)), /is not in MaxMind's format/, /GeoLite2-City/],
    ["one whose end is missing", good.subarray(0, good.length - 400), /its end is missing/, /GeoLite2-City/],
    ["one whose front is missing", good.subarray(good.length - 400), /is damaged$/, /get it again/],
    ["one that ends within its description", good.subarray(0, good.length - 20), /is damaged$/, /get it again/],
    ["one with records of 20 bits", mmdb({ records, metadata: { record_size: 20 } }), /is damaged$/, /again/],
    ["version 1", mmdb({ records, metadata: { binary_format_major_version: 1 } }), /is damaged$/, /again/],
    ["a packed one", gzipSync(good), /is packed$/, /unpack it/],
    ["a country database", mmdb({ records, type: "GeoLite2-Country" }), /type GeoLite2-Country$/, /city/],
  ])("%s", async (_, bytes, message, hint) => {
    const path = fileOf(bytes);
    const error = await openCityFile(path, () => {}).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(CityFileError);
    expect(error).toMatchObject({ message: expect.stringMatching(message), hint: expect.stringMatching(hint) });
    expect(String(error)).toContain(path);
  });

  test("none, and a folder", async () => {
    mkdirSync(join(folder, "sub"));
    await expect(openCityFile(join(folder, "none.mmdb"), () => {})).rejects.toThrow(/none\.mmdb does not exist$/);
    await expect(openCityFile(join(folder, "sub"), () => {})).rejects.toThrow(/sub is a folder$/);
  });

  test("damage further inside is reported once, and the address has no place", async () => {
    const bytes = mmdb({ records: { "192.0.2.0/24": japan, "198.51.100.0/24": { country: { iso_code: "!!" } } } });
    // The type of a value becomes one that the format does not have.
    bytes[bytes.indexOf("!!") - 1] = 0;
    bytes[bytes.indexOf("!!")] = 0xff;
    const { placeOf, notices } = await opened(bytes);
    expect([placeOf("198.51.100.1"), placeOf("198.51.100.2"), placeOf("192.0.2.1")]).toEqual([
      undefined,
      undefined,
      short,
    ]);
    expect(notices).toEqual([expect.stringMatching(/\.mmdb is damaged: no place for 198\.51\.100\.1 /)]);
  });
});

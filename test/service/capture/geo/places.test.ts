import { describe, expect, test } from "vitest";
import { addressText } from "../../../../src/kernel/base/network.ts";
import { createPlaces } from "../../../../src/service/capture/geo/places.ts";
import type { PlaceRow } from "../../../../src/state/documents/world.ts";

const rows: PlaceRow[] = [
  { address: "203.0.113.7", country_code: "SE" },
  { address: "203.0.113.0/24", country_code: "DE", city_name: "Berlin" },
  { address: "2001:db8::/32", country_code: "JP" },
  { address: "::ffff:198.51.100.0/120", country_code: "BR" },
  { address: "10.1.0.0/16", country_code: "FR" },
  { address: "127.0.0.1", country_code: "IS" },
];

describe("rows", () => {
  const places = createPlaces({ rows: () => rows });
  test.each([
    ["203.0.113.7", { country_code: "SE" }],
    ["203.0.113.8", { country_code: "DE", city_name: "Berlin" }],
    ["::ffff:203.0.113.8", { country_code: "DE", city_name: "Berlin" }],
    ["::ffff:cb00:7108", { country_code: "DE", city_name: "Berlin" }],
    ["203.0.114.8", undefined],
    ["2001:db8:1::1", { country_code: "JP" }],
    ["2001:DB8:1::1", { country_code: "JP" }],
    ["2001:db9::1", undefined],
    ["198.51.100.1", { country_code: "BR" }],
    ["10.1.2.3", { country_code: "FR" }],
    ["10.2.2.3", undefined],
    ["127.0.0.1", { country_code: "IS" }],
    ["127.0.0.2", undefined],
    ["", undefined],
    ["unknown", undefined],
    ["203.0.113.7, 10.0.0.1", undefined],
    [`fe80::1%${"x".repeat(100)}`, undefined],
  ])("%s", (address, expected) => {
    expect(places.placeOf(address)).toEqual(expected);
    expect(places.placeOf(address)).toEqual(expected);
  });

  test("other rows count as soon as they are there", () => {
    let now: PlaceRow[] = [];
    const changing = createPlaces({ rows: () => now });
    expect([changing.isEmpty, changing.placeOf("203.0.113.7")]).toEqual([true, undefined]);
    now = rows;
    expect([changing.isEmpty, changing.placeOf("203.0.113.7")]).toEqual([false, { country_code: "SE" }]);
    now = [];
    expect([changing.isEmpty, changing.placeOf("203.0.113.7")]).toEqual([true, undefined]);
  });
});

describe("a database", () => {
  const asked: string[] = [];
  const places = createPlaces({
    rows: () => rows,
    lookup: (address) => {
      asked.push(addressText(address));
      return { country_code: "XX" };
    },
  });

  test.each([
    ["203.0.113.7", "SE"],
    ["203.0.114.1", "XX"],
    ["2001:db9::1", "XX"],
    ["0.1.2.3", undefined],
    ["10.2.2.3", undefined],
    ["100.127.255.255", undefined],
    ["100.128.0.0", "XX"],
    ["127.0.0.2", undefined],
    ["169.254.1.1", undefined],
    ["172.16.0.1", undefined],
    ["172.32.0.1", "XX"],
    ["192.168.1.1", undefined],
    ["::", undefined],
    ["::1", undefined],
    ["::ffff:127.0.0.2", undefined],
    ["fd00::1", undefined],
    ["fe80::1%lo", undefined],
    ["2600::1", "XX"],
  ])("%s: %s", (address, expected) => {
    expect(places.placeOf(address)?.country_code).toBe(expected);
  });

  test("is asked once for each address, and not for private ones", () => {
    asked.length = 0;
    for (const address of ["8.8.8.8", "8.8.8.8", "192.168.1.1", "203.0.113.7"]) places.placeOf(address);
    expect(asked).toEqual(["8.8.8.8"]);
  });

  test("counts as something to ask", () => {
    expect(createPlaces({ rows: () => [], lookup: () => undefined }).isEmpty).toBe(false);
  });
});

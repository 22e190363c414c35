import { describe, expect, test } from "vitest";
import { fixedClock } from "../../../../src/kernel/base/clock.ts";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { type RequestedSubject, subjectOf } from "../../../../src/service/flags/subjects.ts";
import type { GeoPlace, Places } from "../../../../src/state/journal/places.ts";
import { openPersonStore } from "../../../../src/state/persons/person-store.ts";
import { person } from "../../../state/persons/person-fixture.ts";
import { aProject } from "../../../support/documents.ts";

const sweden: GeoPlace = { country_code: "SE", city_name: "Umeå", latitude: 63.8 };
const geoip: Places = { isEmpty: false, placeOf: (address) => (address === "1.2.3.4" ? sweden : undefined) };

const people = openPersonStore();
const stored: JsonObject = { plan: "pro", $geoip_city_name: "Oslo", utm_source: "news", gone: null, distinct_id: "x" };
people.create(person(1, stored), ["u1"]);
people.create(person(2), ["anon"]);
people.addHashKeys(person(1), new Map([["mine", "k1"]]));
people.addHashKeys(
  person(2),
  new Map([
    ["mine", "k2"],
    ["theirs", "k2"],
  ]),
);
people.addGroupType(1, "company");
people.addGroupType(1, "__proto__");
people.saveGroup({ project: 1, type: 0, key: "acme", created_at: 0, properties: { tier: "gold", size: 5 } });

const ask = (asked: Partial<RequestedSubject> = {}) =>
  subjectOf({ people, geoip, clock: fixedClock(7) }, aProject(), {
    distinctId: "u1",
    personProperties: {},
    groups: {},
    groupProperties: {},
    ...asked,
  });

describe("person properties", () => {
  const from = { address: "1.2.3.4" };
  const hostile = JSON.parse('{"__proto__": 1}') as JsonObject;
  test.each<[string, Partial<RequestedSubject>, string, Json | undefined]>([
    ["stored", {}, "plan", "pro"],
    ["stored null", {}, "gone", null],
    ["unknown", {}, "constructor", undefined],
    ["sent over stored", { personProperties: { plan: "free" } }, "plan", "free"],
    ["sent null over stored", { personProperties: { plan: null } }, "plan", null],
    ["named like the prototype", { personProperties: hostile }, "__proto__", 1],
    ["the asked id over a stored property", {}, "distinct_id", "u1"],
    ["a sent distinct_id", { personProperties: { distinct_id: "me" } }, "distinct_id", "me"],
    ["the caller's place", from, "$geoip_country_code", "SE"],
    ["… before the stored one", from, "$geoip_city_name", "Umeå"],
    ["… behind the sent one", { ...from, personProperties: { $geoip_city_name: "Rom" } }, "$geoip_city_name", "Rom"],
    [
      "… in place of a sent null",
      { ...from, personProperties: { $geoip_city_name: null } },
      "$geoip_city_name",
      "Umeå",
    ],
    ["… only its texts", from, "$geoip_latitude", undefined],
    ["… not when disabled", { ...from, isGeoipDisabled: true }, "$geoip_city_name", "Oslo"],
    ["… of another address", { address: "4.3.2.1" }, "$geoip_city_name", "Oslo"],
    ["initial from current", {}, "$initial_utm_source", "news"],
    ["initial as sent", { personProperties: { $initial_utm_source: "ads" } }, "$initial_utm_source", "ads"],
    ["stored ignored", { isStoredIgnored: true }, "plan", undefined],
    ["stored ignored, but not the id", { isStoredIgnored: true }, "distinct_id", "u1"],
  ])("%s", (_name, asked, key, expected) => {
    expect(ask(asked).property(key)).toEqual(expected);
  });
});

describe("what a continuity flag hashes", () => {
  test.each<[string, Partial<RequestedSubject>, string, string]>([
    ["the stored key", {}, "mine", "k1"],
    ["… of the id's own person before the anonymous one's", { anonymousId: "anon" }, "mine", "k1"],
    ["the anonymous person's key", { anonymousId: "anon" }, "theirs", "k2"],
    ["the anonymous id", { anonymousId: "nobody" }, "theirs", "nobody"],
    ["the distinct id", {}, "theirs", "u1"],
    ["the id of no one", { distinctId: "nobody" }, "mine", "nobody"],
  ])("%s", (_name, asked, flagKey, expected) => {
    expect(ask(asked).continuityKey(flagKey)).toBe(expected);
  });
});

test("the person's own facts", () => {
  expect(ask().personId()).toBe(person(1).uuid);
  expect(ask().metadata("created_at")).toBe(new Date(person(1).created_at).toISOString());
  expect(ask().metadata("properties")).toBeUndefined();
  expect(ask({ distinctId: "nobody" }).personId()).toBeUndefined();
  expect(ask({ distinctId: "nobody" }).metadata("created_at")).toBeUndefined();
  expect(ask().now).toBe(7);
});

describe("groups", () => {
  const acme = { groups: { company: "acme" } };
  test.each<[string, Partial<RequestedSubject>, string, Json | undefined]>([
    ["stored", acme, "tier", "gold"],
    ["sent over stored", { ...acme, groupProperties: { company: { tier: "tin" } } }, "tier", "tin"],
    ["… key by key", { ...acme, groupProperties: { company: { tier: "tin" } } }, "size", 5],
    ["its key", acme, "$group_key", "acme"],
    ["of a new group", { groups: { company: 5 }, groupProperties: { company: { tier: "tin" } } }, "tier", "tin"],
    ["no object", { ...acme, groupProperties: { company: "x" } }, "tier", "gold"],
  ])("%s", (_name, asked, key, expected) => {
    expect(ask(asked).group(0)?.property(key)).toEqual(expected);
  });

  test.each<[string, Json, string | undefined]>([
    ["text", "acme", "acme"],
    ["a number", 5, "5"],
    ["nothing", "", undefined],
    ["an object", {}, undefined],
    ["null", null, undefined],
  ])("a key that is %s", (_name, key, expected) => {
    expect(ask({ groups: { company: key } }).group(0)?.key).toBe(expected);
  });

  test("types are reported by their names, and unknown ones are none", () => {
    const groups = JSON.parse('{"__proto__": "g", "planet": "mars"}') as JsonObject;
    expect(ask({ groups }).group(0)).toBeUndefined();
    expect(ask({ groups }).group(1)?.key).toBe("g");
    expect(ask({ groups }).group(2)).toBeUndefined();
  });
});

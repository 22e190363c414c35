import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PostHog } from "posthog-node";
import { afterEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../../src/index.ts";
import type { JsonObject } from "../../../../src/kernel/base/json.ts";
import { newFolder } from "../../../support/folder.ts";
import { linkoping, mmdb } from "./mmdb.ts";

const folder = newFolder();

const cityFile = join(folder, "city.mmdb");
writeFileSync(
  cityFile,
  mmdb({
    records: {
      "89.160.20.0/24": linkoping,
      "203.0.113.0/24": { country: { iso_code: "XX", names: { en: "Of the file" } } },
    },
  }),
);

const inSweden = { groups: [{ properties: [{ key: "$geoip_country_code", value: "SE" }] }] };

const scenario: SimOptions["scenario"] = {
  version: 1,
  organizations: [
    {
      name: "Org",
      projects: [{ id: 1, name: "App", api_key: "phc_geo", flags: { sweden: { filters: inSweden, runtime: "all" } } }],
    },
  ],
  personal_api_keys: [{ key: "phx_geo", scopes: ["*"] }],
  geoip: [
    {
      address: "203.0.113.7",
      country_code: "SE",
      country_name: "Sweden",
      latitude: 58.5,
      time_zone: "Europe/Stockholm",
      subdivision_3_code: "E3",
    },
    { address: "2001:db8::/32", country_code: "JP" },
    { address: "198.51.100.0/24", country_code: "DE" },
  ],
};

const sims: Sim[] = [];
afterEach(() => Promise.all(sims.splice(0).map((sim) => sim.close())));

async function start(options: SimOptions = {}): Promise<Sim> {
  const sim = await startSim({ scenario, ...options });
  sims.push(sim);
  return sim;
}

type Headers = Record<string, string>;

const post = (sim: Sim, path: string, body: object, headers: Headers = {}): Promise<Response> =>
  fetch(sim.url + path, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

/** Sends an event and shows it. */
async function capture(sim: Sim, properties: object, headers: Headers = {}, more: object = {}) {
  const since = await sim.events.mark();
  const body = { api_key: "phc_geo", event: "e", distinct_id: "u", properties, ...more };
  expect((await post(sim, "/capture/", body, headers)).status).toBe(200);
  const [stored] = await sim.events.list({ since });
  if (stored === undefined) throw new Error("the event was not taken");
  return stored;
}

const personOf = async (sim: Sim): Promise<unknown> => {
  const [person] = await sim.persons.list({ distinct_id: "u" });
  const { $creator_event_uuid: _, ...properties } = person?.properties ?? {};
  return person && properties;
};

const from = (address: string): Headers => ({ "x-forwarded-for": address });

/** All of them, in the service's order. */
const unknownPerson: JsonObject = {
  city_name: null,
  city_confidence: null,
  subdivision_2_name: null,
  subdivision_2_code: null,
  subdivision_1_name: null,
  subdivision_1_code: null,
  country_name: null,
  country_code: null,
  continent_name: null,
  continent_code: null,
  postal_code: null,
  latitude: null,
  longitude: null,
  accuracy_radius: null,
  time_zone: null,
};
const prefixed = (prefix: string, parts: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(parts).map(([part, value]) => [prefix + part, value]));

const sweden: JsonObject = {
  country_code: "SE",
  country_name: "Sweden",
  latitude: 58.5,
  time_zone: "Europe/Stockholm",
  subdivision_3_code: "E3",
};
const swedish = { ...unknownPerson, ...sweden };

describe("events", () => {
  test("have the place of their address, and so has their person", async () => {
    const sim = await start();
    const stored = await capture(sim, { a: 1 }, from("203.0.113.7"));
    expect(stored.properties).toEqual({
      a: 1,
      $ip: "203.0.113.7",
      ...prefixed("$geoip_", sweden),
      $set: prefixed("$geoip_", swedish),
      $set_once: prefixed("$initial_geoip_", swedish),
    });
    expect(await personOf(sim)).toEqual({ ...prefixed("$geoip_", swedish), ...prefixed("$initial_geoip_", swedish) });
  });

  test("a person has its last place and its first", async () => {
    const sim = await start();
    await capture(sim, {}, from("203.0.113.7"));
    await capture(sim, {}, from("198.51.100.1"));
    await capture(sim, {}, from("192.0.2.1"));
    expect(await personOf(sim)).toEqual({
      ...prefixed("$geoip_", { ...unknownPerson, country_code: "DE", subdivision_3_code: "E3" }),
      ...prefixed("$initial_geoip_", swedish),
    });
  });

  test("the place wins over what the sender says of it; other properties stay", async () => {
    const sim = await start();
    const properties = {
      $geoip_country_code: "US",
      $geoip_city_name: "Here",
      $browser: "B",
      $set: { $geoip_country_code: "US", plan: "pro" },
    };
    const stored = await capture(sim, properties, from("198.51.100.1"), { $set: { $geoip_city_name: "There" } });
    expect(stored.properties).toMatchObject({
      $geoip_country_code: "DE",
      $geoip_city_name: "Here",
      $set: { $geoip_country_code: "DE", $geoip_city_name: null, plan: "pro", $browser: "B" },
      $set_once: { $initial_geoip_country_code: "DE", $initial_browser: "B" },
    });
    expect(await personOf(sim)).toMatchObject({ $geoip_country_code: "DE", plan: "pro", $browser: "B" });
  });

  test.each<[string, object, Headers, string | undefined]>([
    ["the first forwarded address", {}, from("203.0.113.7, 198.51.100.1"), "SE"],
    ["… with a port", {}, from("198.51.100.1:4711"), "DE"],
    ["… after what is none", {}, from("unknown, 198.51.100.1"), "DE"],
    ["an IPv6 address", {}, from("[2001:db8::1]:443"), "JP"],
    ["an IPv4 address as IPv6", {}, from("::ffff:203.0.113.7"), "SE"],
    ["the contract's header", {}, { http_x_forwarded_for: "203.0.113.7" }, "SE"],
    ["the sender's $ip", { $ip: "198.51.100.9" }, from("203.0.113.7"), "DE"],
    ["an empty $ip has no place", { $ip: "" }, from("203.0.113.7"), undefined],
    ["… nor has null", { $ip: null }, from("203.0.113.7"), undefined],
    ["an $ip that is no text", { $ip: 7 }, from("203.0.113.7"), undefined],
    ["an $ip that is no address", { $ip: "home" }, from("203.0.113.7"), undefined],
    ["internal capture", { capture_internal: true }, from("203.0.113.7"), undefined],
    ["an address that no row has", {}, from("192.0.2.1"), undefined],
    ["the peer", {}, {}, undefined],
    ["$geoip_disable", { $geoip_disable: true }, from("203.0.113.7"), undefined],
    ["… as any value that is not empty", { $geoip_disable: "no" }, from("203.0.113.7"), undefined],
    ["$geoip_disable: false", { $geoip_disable: false }, from("203.0.113.7"), "SE"],
  ])("%s", async (_, properties, headers, expected) => {
    const sim = await start();
    const stored = await capture(sim, properties, headers);
    expect(stored.properties.$geoip_country_code).toBe(expected);
    expect(Object.hasOwn(stored.properties, "$set")).toBe(expected !== undefined);
    expect(await personOf(sim)).toEqual(
      expected === undefined ? {} : expect.objectContaining({ $geoip_country_code: expected }),
    );
  });

  test.each([
    ["a personless event", "e", { $process_person_profile: false }],
    ["$groupidentify", "$groupidentify", { $group_type: "company", $group_key: "acme" }],
  ])("%s has a place, its person has not", async (_, event, properties) => {
    const sim = await start();
    const stored = await capture(sim, properties, from("203.0.113.7"), { event });
    expect(stored.properties).toEqual({ ...properties, $ip: "203.0.113.7", ...prefixed("$geoip_", sweden) });
    expect((await personOf(sim)) ?? {}).toEqual({});
  });

  test("in a batch, each has the place of its own $ip", async () => {
    const sim = await start();
    const batch = ["203.0.113.7", undefined, "192.0.2.1"].map(($ip) => ({
      event: "e",
      distinct_id: "u",
      properties: { $ip },
    }));
    await post(sim, "/batch/", { api_key: "phc_geo", batch }, from("198.51.100.1"));
    const events = await sim.events.list();
    expect(events.map((it) => it.properties.$geoip_country_code)).toEqual(["SE", "DE", undefined]);
  });

  test("capture v1", async () => {
    const sim = await start();
    const at = new Date().toISOString();
    const headers = {
      authorization: "Bearer phc_geo",
      "posthog-sdk-info": "posthog-rs/1.0.0",
      "posthog-attempt": "1",
      "posthog-request-id": "018f3b6e-0000-7000-8000-000000000001",
      "posthog-request-timestamp": at,
      ...from("203.0.113.7"),
    };
    const uuid = "018f3b6e-0000-7000-8000-000000000002";
    const batch = [{ event: "e", uuid, distinct_id: "u", timestamp: at }];
    const answer = await post(sim, "/i/v1/analytics/events", { created_at: at, batch }, headers);
    expect([answer.status, await answer.json()]).toEqual([200, { results: { [uuid]: { result: "ok" } } }]);
    const [stored] = await sim.events.list();
    expect(stored?.properties).toMatchObject(prefixed("$geoip_", sweden));
  });

  test.each([
    ["of their own", true, undefined],
    ["when the request asks for it", false, "SE"],
  ])("posthog-node's have none %s", async (_, disableGeoip, expected) => {
    const sim = await start();
    const client = new PostHog("phc_geo", { host: sim.url, disableGeoip });
    client.capture({ event: "e", distinctId: "u", properties: { $ip: "203.0.113.7" } });
    await client.shutdown();
    const [stored] = await sim.events.list();
    expect(stored?.properties.$geoip_country_code).toBe(expected);
  });
});

describe("a file", () => {
  test("is asked where no row fits", async () => {
    const sim = await start({ geoip: cityFile });
    const codes = [];
    for (const address of ["203.0.113.7", "203.0.113.8", "89.160.20.129", "192.0.2.1"]) {
      codes.push((await capture(sim, {}, from(address))).properties.$geoip_country_code);
    }
    expect(codes).toEqual(["SE", "XX", "SE", undefined]);
  });

  test("reports all that it knows", async () => {
    const sim = await start({ geoip: cityFile });
    const { properties } = await capture(sim, {}, from("89.160.20.129"));
    expect(properties).toMatchObject({
      $geoip_city_name: "Linköping",
      $geoip_subdivision_2_code: "E2",
      $geoip_latitude: 58.4167,
      $geoip_accuracy_radius: 76,
    });
  });

  test("is not needed again to show what is stored", async () => {
    const data = join(folder, "data");
    const first = await start({ geoip: cityFile, data });
    const before = await capture(first, {}, from("89.160.20.129"));
    await first.close();
    const second = await start({ data });
    expect(await second.events.list()).toEqual([before]);
    expect(await personOf(second)).toMatchObject({ $initial_geoip_city_name: "Linköping" });
    expect((await capture(second, {}, from("89.160.20.129"))).properties).not.toHaveProperty("$geoip_city_name");
  });

  test.each([
    [join(folder, "none.mmdb"), "none.mmdb does not exist"],
    [import.meta.filename, "sim.test.ts is not in MaxMind's format"],
  ])("that cannot be used is reported: %s", async (geoip, message) => {
    await expect(startSim({ scenario, geoip })).rejects.toMatchObject({
      name: "StartError",
      code: "geoip",
      message: expect.stringContaining(message),
      hint: expect.stringContaining("GeoLite2-City.mmdb"),
    });
  });
});

describe("flags", () => {
  const decide = async (sim: Sim, body: object, headers: Headers, query = "") => {
    const answer = await post(sim, `/flags/?v=1${query}`, { api_key: "phc_geo", distinct_id: "u", ...body }, headers);
    const { featureFlags, errorsWhileComputingFlags } = (await answer.json()) as JsonObject;
    expect(errorsWhileComputingFlags).toBe(false);
    return (featureFlags as JsonObject).sweden;
  };
  const said = (code: string | null) => ({ person_properties: { $geoip_country_code: code } });

  test.each<[string, object, Headers, boolean]>([
    ["a forwarded address", {}, from("203.0.113.7"), true],
    ["… with a port", {}, from("203.0.113.7:4711"), true],
    ["only the first entry counts", {}, from("unknown, 203.0.113.7"), false],
    ["the contract's header", {}, { http_x_forwarded_for: "203.0.113.7" }, true],
    ["… before the usual one", {}, { http_x_forwarded_for: "203.0.113.7", ...from("198.51.100.1") }, true],
    ["… unless it is unreadable", {}, { http_x_forwarded_for: "?", ...from("203.0.113.7") }, true],
    ["another country", {}, from("198.51.100.1"), false],
    ["an address that no row has", {}, from("192.0.2.1"), false],
    ["the peer", {}, {}, false],
    ["geoip_disable", { geoip_disable: true }, from("203.0.113.7"), false],
    ["the caller's word wins", said("DE"), from("203.0.113.7"), false],
    ["… both ways", said("SE"), from("198.51.100.1"), true],
    ["null is no word", said(null), from("203.0.113.7"), true],
    ["… and stays null without a place", said(null), from("192.0.2.1"), false],
  ])("%s", async (_, body, headers, expected) => {
    expect(await decide(await start(), body, headers)).toBe(expected);
  });

  test("the request's place wins over the stored one, which counts where there is none", async () => {
    const sim = await start();
    await capture(sim, {}, from("203.0.113.7"));
    expect(await decide(sim, {}, from("192.0.2.1"))).toBe(true);
    expect(await decide(sim, {}, from("198.51.100.1"))).toBe(false);
    expect(await decide(sim, { geoip_disable: true }, from("198.51.100.1"))).toBe(true);
    const alone = "&only_use_override_person_properties=true";
    expect(await decide(sim, {}, from("192.0.2.1"), alone)).toBe(false);
    expect(await decide(sim, {}, from("203.0.113.7"), alone)).toBe(true);
  });

  test("the peer has a place when a row says so", async () => {
    const sim = await start({ scenario: { ...scenario, geoip: [{ address: "127.0.0.0/8", country_code: "SE" }] } });
    expect(await decide(sim, {}, {})).toBe(true);
  });

  test("posthog-node", async () => {
    const sim = await start({ scenario: { ...scenario, geoip: [{ address: "127.0.0.1", country_code: "SE" }] } });
    const client = new PostHog("phc_geo", { host: sim.url, disableGeoip: false });
    const isOn = async (disableGeoip: boolean) =>
      (await client.evaluateFlags("u", { disableGeoip })).isEnabled("sweden");
    const [withPlace, without] = [await isOn(false), await isOn(true)];
    await client.shutdown();
    expect([withPlace, without]).toEqual([true, false]);
  });
});

describe("rows of a scenario", () => {
  test.each<[string, JsonObject, string]>([
    [
      "no range",
      { address: "203.0.113.0/33" },
      "/geoip/1/address: expected an IP address, or a range such as 203.0.113.0/24",
    ],
    ["no address", { address: "example.com" }, "/geoip/1/address: expected an IP address, or a range such as"],
    ["none at all", { country_code: "SE" }, "/geoip/1/address: "],
    ["an unknown key", { address: "1.2.3.4", country: "SE" }, "/geoip/1/country: unknown key"],
    ["a number as text", { address: "1.2.3.4", latitude: "58" }, "/geoip/1/latitude: "],
  ])("%s", async (_, row, line) => {
    const rows = [{ address: "1.2.3.4" }, row];
    const broken = { ...(scenario as object), geoip: rows } as unknown as SimOptions["scenario"];
    await expect(startSim({ scenario: broken })).rejects.toMatchObject({
      code: "scenario",
      message: expect.stringContaining(`scenario ${line}`),
    });
  });

  test("are back after a reset", async () => {
    const sim = await start();
    await sim.reset();
    expect((await capture(sim, {}, from("198.51.100.1"))).properties.$geoip_country_code).toBe("DE");
  });
});

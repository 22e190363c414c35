import { describe, expect, test } from "vitest";
import type { EventFacts } from "../../../src/state/journal/event.ts";
import { keptProperty, keysOf, showEvent } from "../../../src/state/journal/show.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";
import { key, now, openEdge } from "../../service/capture/edge.ts";

const uuid = "018f3b6e-0000-7000-8000-000000000001";

describe("showEvent", () => {
  test("a kept event, whole", async () => {
    const edge = openEdge();
    await edge.capture("before", "u");
    const outcome = await edge.send({
      body: {
        api_key: key,
        batch: [
          { event: "", distinct_id: "u" },
          {
            event: "paid",
            uuid,
            timestamp: new Date(now - 1000).toISOString(),
            properties: { distinct_id: "u", amount: 5, $groups: { company: "acme" } },
          },
        ],
      },
    });
    expect(outcome.events[1]).toEqual({
      seq: 3,
      outcome: "kept",
      reason: null,
      detail: null,
      warnings: [],
      project: 1,
      uuid,
      event: "paid",
      distinct_id: "u",
      timestamp: "2026-07-01T11:59:59.000Z",
      received_at: "2026-07-01T12:00:00.000Z",
      person_id: edge.people.personOf(1, "u")?.uuid,
      person_mode: "full",
      properties: { distinct_id: "u", amount: 5, $groups: { company: "acme" }, $group_0: "acme", $ip: "127.0.0.1" },
      request: 2,
    });
  });

  test("a dropped event is shown as it was sent", async () => {
    const { events } = await openEdge().send({
      body: { api_key: key, event: "", distinct_id: "u", uuid, properties: { a: 1, $browser: "B" } },
    });
    expect(events[0]).toMatchObject({
      outcome: "dropped",
      reason: "empty_event_name",
      event: "",
      distinct_id: "u",
      uuid,
      person_id: null,
      person_mode: "none",
      properties: { a: 1, $browser: "B" },
    });
    expect(events[0]?.properties).not.toHaveProperty("$ip");
  });

  test.each([
    ["the peer", {}, {}, "10.0.0.9"],
    ["the first forwarded address", { "x-forwarded-for": "203.0.113.7, 10.0.0.1" }, {}, "203.0.113.7"],
    ["in the contract's spelling", { http_x_forwarded_for: "203.0.113.8" }, {}, "203.0.113.8"],
    ["… without its port", { "x-forwarded-for": "203.0.113.7:4711" }, {}, "203.0.113.7"],
    ["… IPv6, too", { "x-forwarded-for": "[2001:db8::1]:4711" }, {}, "2001:db8::1"],
    ["the first that is an address", { "x-forwarded-for": "unknown, 203.0.113.7" }, {}, "203.0.113.7"],
    ["… of both headers", { "x-forwarded-for": "?", http_x_forwarded_for: "203.0.113.8" }, {}, "203.0.113.8"],
    ["an empty header is none", { "x-forwarded-for": "" }, {}, "10.0.0.9"],
    ["the sender's own $ip", { "x-forwarded-for": "203.0.113.7" }, { $ip: "1.2.3.4" }, "1.2.3.4"],
    ["… even if it is empty", { "x-forwarded-for": "203.0.113.7" }, { $ip: "" }, ""],
    ["… or null", {}, { $ip: null }, null],
    ["internal capture", {}, { capture_internal: true }, "127.0.0.1"],
  ])("$ip: %s", async (_, headers, properties, expected) => {
    const body = { api_key: key, event: "e", distinct_id: "u", properties };
    const { events } = await openEdge().send({ body, headers, peer: "10.0.0.9" });
    expect(events[0]?.properties.$ip).toBe(expected);
  });

  const bare: TrafficLine = {
    n: 7,
    at: now,
    method: "POST",
    target: "/e/",
    peer: "127.0.0.1",
    status: 200,
    us: 0,
    project: 1,
    seq: 5,
    events: [{ uuid, time: now, person: uuid }],
    headers: [],
    raw: { omitted: "too_large", bytes: 100 },
  };

  test("a line whose body was not kept shows what its facts know", () => {
    expect(showEvent(bare, 0)).toMatchObject({
      seq: 5,
      uuid,
      event: "",
      distinct_id: "",
      properties: { $ip: "127.0.0.1" },
    });
    expect(keysOf(bare)).toEqual([{ event: "", distinct_id: "" }]);
  });

  test("an event that the line does not have", () => {
    expect(() => showEvent(bare, 1)).toThrow(RangeError);
  });
});

describe("keysOf", () => {
  const long = "🦔".repeat(300);
  test.each([
    [
      "batch with dropped items",
      "/batch/",
      {
        api_key: key,
        batch: [{ event: "a", distinct_id: "u" }, 5, { event: long, distinct_id: long }, { distinct_id: 5 }],
      },
    ],
    ["engage", "//engage/?x=1", { api_key: key, distinct_id: "u" }],
    [
      "recording",
      "/s/",
      [{ event: "$snapshot", properties: { token: key, distinct_id: "u", $session_id: "s", $snapshot_data: [] } }],
    ],
  ])("finds the keys that were noted: %s", async (_, target, body) => {
    const { line, note } = await openEdge().send({ target, body });
    expect(keysOf(line)).toEqual(note.keys?.map(({ event, distinct_id }) => ({ event, distinct_id })));
    expect(keysOf(line).length).toBeGreaterThan(0);
  });
});

const item = {
  ...{ event: "a", distinct_id: "u", $set: { a: 1 }, session_id: "S", options: { process_person_profile: "0" } },
  properties: { plan: { x: [1] }, $lib: "web", $session_id: "s", $group_0: "sent", $geoip_city_name: "sent" },
};

test.each<[string, Partial<EventFacts>, Partial<TrafficLine>]>([
  ["as sent", {}, { body: [item] }],
  ["of v1", {}, { body: { batch: [item] }, shape: "v1" }],
  ["with groups", { groups: { "0": "acme" } }, { body: [item] }],
  ["with a place", { place: { city_name: "Berlin" } as EventFacts["place"] & object }, { body: [item] }],
  ["added", { adds: { plan: null, $lib: "added" }, groups: { "0": "acme" } }, { body: [item] }],
  ["removed", { strips: ["plan", "$set"], adds: { $set: 1 } }, { body: [item] }],
  ["without an object", {}, { body: ["x"] }],
  ["without a body", {}, {}],
])("single properties %s are those of the event", (_, facts, more) => {
  const line = {
    ...{ n: 1, at: 5, method: "POST", target: "/batch/", peer: "10.0.0.7", status: 200, us: 1, project: 1, seq: 7 },
    ...{ events: [{ uuid, time: 1, person: null, ...facts }], headers: ["PostHog-Sdk-Info", "sdk/1"] },
    ...more,
  };
  const { properties } = showEvent(line, 0);
  const names = [...Object.keys(properties), ...Object.keys(item.properties), "constructor"];
  for (const name of names)
    expect(keptProperty(line, 0, name)).toEqual(Object.hasOwn(properties, name) ? properties[name] : undefined);
});

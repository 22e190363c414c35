import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { personUuid } from "../../../../src/state/persons/person.ts";
import { key, openEdge } from "../edge.ts";

const snapshot = (properties: object = {}, more: object = {}) => ({
  event: "$snapshot",
  properties: { token: key, distinct_id: "u", $session_id: "0190-abc", $snapshot_data: [{ type: 4 }], ...properties },
  ...more,
});

const uuid = "018f3b6e-0000-7000-8000-000000000001";

describe("/s", () => {
  test("all snapshots of a request become one record", async () => {
    const edge = openEdge();
    const body = [
      snapshot({ $window_id: "w", $lib: "web" }, { uuid }),
      snapshot({ $snapshot_data: { type: 2 }, $session_id: "ignored" }),
    ];
    const { status, json, events, note } = await edge.send({ target: "/s/", body: gzipSync(JSON.stringify(body)) });
    expect([status, json, note.steps, note.events?.length]).toEqual([200, { status: "Ok" }, ["gzip"], 1]);
    expect(events).toMatchObject([
      { event: "$snapshot_items", distinct_id: "u", uuid, outcome: "kept", person_mode: "propertyless" },
    ]);
    expect(events[0]?.properties).toEqual({
      $ip: "127.0.0.1",
      distinct_id: "u",
      $session_id: "0190-abc",
      $window_id: "w",
      $snapshot_source: "web",
      $snapshot_items: [{ type: 4 }, { type: 2 }],
      $lib: "web",
    });
  });

  test.each([
    ["posthog-ios/3.1", "posthog-ios"],
    ["Mozilla/5.0", "web"],
    [undefined, "unknown"],
  ])("what is missing is filled in; User-Agent %s", async (agent, library) => {
    const headers: Record<string, string> = agent === undefined ? {} : { "user-agent": agent };
    const { events } = await openEdge().send({ target: "/s/", body: snapshot(), headers });
    expect(events[0]?.properties).toMatchObject({ $window_id: "0190-abc", $snapshot_source: "web", $lib: library });
  });

  test("no person is made; the one that is there is named", async () => {
    const edge = openEdge();
    const before = await edge.send({ target: "/s/", body: snapshot() });
    expect([before.events[0]?.person_id, edge.people.personOf(1, "u")]).toEqual([personUuid(1, "u"), undefined]);
    await edge.capture("$identify", "v", { $anon_distinct_id: "u" });
    const after = await edge.send({ target: "/s/", body: snapshot() });
    expect(after.events[0]?.person_id).toBe(personUuid(1, "v"));
  });

  test("a repeated record is dropped", async () => {
    const edge = openEdge();
    await edge.send({ target: "/s/", body: snapshot({}, { uuid }) });
    const { status, events } = await edge.send({ target: "/s/", body: snapshot({}, { uuid }) });
    expect([status, events[0]?.reason]).toEqual([200, "duplicate_event_uuid"]);
  });

  test.each([
    ["no data", snapshot({ $snapshot_data: undefined }), "replay event submitted without snapshot data"],
    ["data that is text", snapshot({ $snapshot_data: "x" }), "replay event submitted without snapshot data"],
    ["null data", snapshot({ $snapshot_data: null }), "replay event submitted without snapshot data"],
    [
      "a second item without data",
      [snapshot(), snapshot({ $snapshot_data: 5 })],
      "replay event submitted without snapshot data",
    ],
    ["no session", snapshot({ $session_id: undefined }), "replay event submitted without session id"],
    ["a session that is no text", snapshot({ $session_id: 5 }), "replay event has invalid session id"],
    ["a session with other characters", snapshot({ $session_id: "a_b" }), "replay event has invalid session id"],
    ["a long session", snapshot({ $session_id: "a".repeat(71) }), "replay event has invalid session id"],
    ["no distinct_id", snapshot({ distinct_id: undefined }), "event submitted without a distinct_id"],
    [
      "no name",
      { ...snapshot(), event: undefined },
      "failed to hydrate events from request: non-engage request missing event name attribute",
    ],
  ])("refused in both dialects: %s", async (_, body, text) => {
    for (const dialect of ["documented", "production"] as const) {
      const outcome = await openEdge(dialect).send({ target: "/s/", body });
      expect([outcome.status, outcome.text, outcome.events]).toEqual([400, text, []]);
    }
  });

  test("GET and beacon", async () => {
    const data = encodeURIComponent(JSON.stringify(snapshot()));
    const { status, events } = await openEdge().send({ target: `/s/?beacon=1&data=${data}`, method: "GET" });
    expect([status, events.length]).toEqual([204, 1]);
  });
});

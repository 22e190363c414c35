import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { key, now, openEdge } from "../edge.ts";

const path = "/i/v1/analytics/events";
const requestId = "0190b6f0-1111-7222-8333-444455556666";
const at = (shift: number) => new Date(now + shift).toISOString();

const headers = {
  authorization: `Bearer ${key}`,
  "posthog-sdk-info": "posthog-node/5.70.0",
  "posthog-attempt": "1",
  "posthog-request-id": requestId,
  "posthog-request-timestamp": at(0),
  "content-type": "application/json",
  "user-agent": "posthog-node/5.70.0",
};

const uuidOf = (n: number) => `018f3b6e-0000-7000-8000-00000000000${n}`;
const item = (more: object = {}, n = 1) => ({
  event: "e",
  uuid: uuidOf(n),
  distinct_id: "u",
  timestamp: at(-60_000),
  ...more,
});
const batch = (...items: unknown[]) => ({ created_at: at(0), batch: items });

const without = (name: keyof typeof headers): Record<string, string> => {
  const { [name]: _, ...rest } = headers;
  return rest;
};

const post = (body: unknown, given: Record<string, string> = headers, edge = openEdge(), target: string = path) =>
  edge.send({ target, body, headers: given });

describe("a batch", () => {
  test("one result for each uuid, the request id echoed", async () => {
    const outcome = await post(batch(item(), item({ distinct_id: "" }, 2), item({ distinct_id: "user" }, 3)));
    expect(outcome.status).toBe(200);
    expect(outcome.headers["posthog-request-id"]).toBe(requestId);
    expect(outcome.json).toEqual({
      results: {
        [uuidOf(1)]: { result: "ok" },
        [uuidOf(2)]: { result: "drop", details: "missing_distinct_id" },
        [uuidOf(3)]: { result: "ok", details: "person_processing_disabled" },
      },
    });
    expect(outcome.events.map((it) => [it.outcome, it.reason, it.person_mode, it.warnings])).toEqual([
      ["kept", null, "full", []],
      ["dropped", "missing_distinct_id", "none", []],
      ["kept", null, "propertyless", ["person_processing_disabled"]],
    ]);
  });

  test("with a trailing slash, too; not with GET", async () => {
    expect((await post(batch(item()), headers, openEdge(), `${path}/`)).status).toBe(200);
    expect((await openEdge("production").send({ target: path, method: "GET" })).status).toBe(405);
  });

  const plain = Buffer.from(JSON.stringify(batch(item())));
  test.each([
    ["gzip", gzipSync(plain)],
    ["GZIP", gzipSync(plain)],
    ["deflate", deflateSync(plain)],
    ["deflate", deflateRawSync(plain)],
    ["br", brotliCompressSync(plain)],
  ])("packed as %s", async (encoding, body) => {
    const { status, note } = await post(body, { ...headers, "content-encoding": encoding });
    expect([status, note.steps, note.text]).toEqual([200, [encoding.toLowerCase()], plain.toString()]);
  });

  test("ids and uuids are trimmed", async () => {
    const { json, events } = await post(batch(item({ uuid: ` ${uuidOf(1).toUpperCase()} `, distinct_id: " u " })));
    expect(json).toEqual({ results: { [uuidOf(1)]: { result: "ok" } } });
    expect(events[0]).toMatchObject({ distinct_id: "u", uuid: uuidOf(1) });
  });

  test("what the pipeline drops later is ok to the sender", async () => {
    const edge = openEdge();
    await post(batch(item()), headers, edge);
    const retry = await post(batch(item()), headers, edge);
    expect([retry.json, retry.events[0]?.reason]).toEqual([
      { results: { [uuidOf(1)]: { result: "ok" } } },
      "duplicate_event_uuid",
    ]);
  });

  test("persons and groups as everywhere", async () => {
    const edge = openEdge();
    const properties = { $anon_distinct_id: "anon", $set: { a: 1 }, $groups: { company: "acme" } };
    const { events } = await post(batch(item({ event: "$identify", properties })), headers, edge);
    expect(edge.people.personOf(1, "anon")).toMatchObject({ is_identified: true, properties: { a: 1 } });
    expect(events[0]?.properties).toMatchObject({ $group_0: "acme" });
  });
});

describe("events that are dropped", () => {
  test.each([
    ["$performance_event", { event: "$performance_event" }, "dropped_performance_event"],
    ["no name", { event: "" }, "missing_event_name"],
    ["a long name", { event: "e".repeat(201) }, "event_name_too_long"],
    ["a name long in bytes", { event: "ü".repeat(101) }, "event_name_too_long"],
    ["a blank distinct_id", { distinct_id: "  " }, "missing_distinct_id"],
    ["a long distinct_id", { distinct_id: "u".repeat(201) }, "distinct_id_too_large"],
    ["a time without a zone", { timestamp: "2026-07-01T12:00:00" }, "invalid_event_timestamp"],
    ["properties that are no object", { properties: [] }, "malformed_event_properties"],
    ["null properties", { properties: null }, "malformed_event_properties"],
    ["options that are no object", { options: [] }, "invalid_options"],
    ["an option that cannot be read", { options: { process_person_profile: "maybe" } }, "invalid_options"],
    ["a tour that is no text", { options: { product_tour_id: {} } }, "invalid_options"],
  ])("%s", async (_, more, details) => {
    const { status, json, events } = await post(batch(item(more), item({}, 2)));
    expect([status, json]).toEqual([
      200,
      { results: { [uuidOf(1)]: { result: "drop", details }, [uuidOf(2)]: { result: "ok" } } },
    ]);
    expect(events.map((it) => it.reason)).toEqual([details, null]);
  });

  test("the AI path takes LLM events only", async () => {
    const body = batch(item({ event: "$ai_trace" }), item({}, 2));
    const { json } = await post(body, headers, openEdge(), "/i/v1/ai/events");
    expect(json).toEqual({
      results: { [uuidOf(1)]: { result: "ok" }, [uuidOf(2)]: { result: "drop", details: "misrouted_event" } },
    });
  });
});

describe("what the service writes into the properties", () => {
  const rows: [string, object, Record<string, Json>][] = [
    ["session and window", { session_id: "s", window_id: "w" }, { $session_id: "s", $window_id: "w" }],
    ["cookieless_mode", { options: { cookieless_mode: "false" } }, { $cookieless_mode: false }],
    ["disable_skew_correction", { options: { disable_skew_correction: "1" } }, { $ignore_sent_at: true }],
    ["product_tour_id", { options: { product_tour_id: 5 } }, { $product_tour_id: "5" }],
    ["process_person_profile", { options: { process_person_profile: " FALSE " } }, { $process_person_profile: false }],
    ["null and unknown options", { options: { cookieless_mode: null, other: {} } }, {}],
    [
      "options win over properties",
      { options: { cookieless_mode: 0 }, properties: { $cookieless_mode: true } },
      { $cookieless_mode: false },
    ],
  ];
  test.each(rows)("%s", async (_, more, expected) => {
    const { events } = await post(batch(item(more)));
    const library = { $lib: "posthog-node", $lib_version: "5.70.0" };
    expect(events[0]?.properties).toEqual({ $ip: "127.0.0.1", ...library, ...expected });
  });

  test("process_person_profile: false makes the event personless", async () => {
    const { events } = await post(batch(item({ options: { process_person_profile: false } })));
    expect(events[0]?.person_mode).toBe("propertyless");
  });

  test("a PostHog-Sdk-Info that is not name/version adds nothing", async () => {
    const { events } = await post(batch(item()), { ...headers, "posthog-sdk-info": "mine" });
    expect(events[0]?.properties).toEqual({ $ip: "127.0.0.1" });
  });
});

describe("times", () => {
  const hour = 3_600_000;
  test.each([
    ["no skew", at(0), {}, -60_000],
    ["the sender's clock is an hour behind", at(-hour), {}, -60_000 + hour],
    ["skew correction disabled", at(-hour), { options: { disable_skew_correction: true } }, -60_000],
    ["too far ahead: arrival", at(0), { timestamp: at(24 * hour) }, 0],
  ])("%s", async (_, sentAt, more, shift) => {
    const given = { ...headers, "posthog-request-timestamp": sentAt };
    const { events } = await post(batch(item(more)), given);
    expect(Date.parse(events[0]?.timestamp ?? "") - now).toBe(shift);
  });
});

describe("requests that are refused", () => {
  const rows: [string, unknown, Record<string, string>, number, string, RegExp][] = [
    ["no Authorization", batch(item()), without("authorization"), 401, "missing_authorization", /Authorization/],
    [
      "another scheme",
      batch(item()),
      { ...headers, authorization: "Basic abc" },
      400,
      "invalid_header_value",
      /Bearer scheme$/,
    ],
    [
      "a malformed key",
      batch(item()),
      { ...headers, authorization: "Bearer phx_1" },
      401,
      "invalid_api_token",
      /^The provided API token is not valid\.$/,
    ],
    [
      "an unknown key",
      batch(item()),
      { ...headers, authorization: "Bearer phc_nobody" },
      401,
      "invalid_api_token",
      /not valid\.$/,
    ],
    ["no User-Agent", batch(item()), without("user-agent"), 400, "missing_required_headers", /\["user-agent"\]$/],
    [
      "no PostHog headers",
      batch(item()),
      { authorization: headers.authorization, "content-type": "application/json", "user-agent": "x" },
      400,
      "missing_required_headers",
      /\["posthog-sdk-info", "posthog-attempt", "posthog-request-id", "posthog-request-timestamp"\]$/,
    ],
    [
      "attempt 0",
      batch(item()),
      { ...headers, "posthog-attempt": "0" },
      400,
      "invalid_header_value",
      /positive integer: 0$/,
    ],
    [
      "an attempt that is no number",
      batch(item()),
      { ...headers, "posthog-attempt": "x" },
      400,
      "invalid_header_value",
      /positive integer/,
    ],
    [
      "a request id that is no UUID",
      batch(item()),
      { ...headers, "posthog-request-id": "x" },
      400,
      "invalid_header_value",
      /not a valid UUID: x$/,
    ],
    [
      "a bad request time",
      batch(item()),
      { ...headers, "posthog-request-timestamp": "now" },
      400,
      "invalid_header_value",
      /not valid RFC 3339: now$/,
    ],
    [
      "text/plain",
      batch(item()),
      { ...headers, "content-type": "text/plain" },
      415,
      "unsupported_content_type",
      /text\/plain$/,
    ],
    [
      "an unknown encoding",
      batch(item()),
      { ...headers, "content-encoding": "lz4" },
      415,
      "unsupported_encoding",
      /lz4$/,
    ],
    ["nothing", "", headers, 400, "empty_body", /^request body is empty$/],
    ["no JSON", "{{{", headers, 400, "request_parsing_error", /^Failed to parse request body\.$/],
    [
      "gzip that is none",
      "x",
      { ...headers, "content-encoding": "gzip" },
      400,
      "request_decoding_error",
      /^Failed to decode request body\.$/,
    ],
    ["a list", [item()], headers, 400, "request_parsing_error", /./],
    ["no created_at", { batch: [item()] }, headers, 400, "request_parsing_error", /./],
    ["no batch", { created_at: at(0) }, headers, 400, "request_parsing_error", /./],
    ["an item that is no object", batch(item(), 5), headers, 400, "request_parsing_error", /./],
    ["an item without a name", batch(item({ event: undefined })), headers, 400, "request_parsing_error", /./],
    ["a distinct_id that is no text", batch(item({ distinct_id: 5 })), headers, 400, "request_parsing_error", /./],
    ["a session_id that is no text", batch(item({ session_id: 5 })), headers, 400, "request_parsing_error", /./],
    [
      "historical_migration that is no boolean",
      { ...batch(item()), historical_migration: "no" },
      headers,
      400,
      "request_parsing_error",
      /./,
    ],
    ["an empty batch", batch(), headers, 400, "empty_batch", /^request batch is empty$/],
    [
      "a bad created_at",
      { created_at: "now", batch: [item()] },
      headers,
      400,
      "invalid_batch",
      /created_at is not valid RFC 3339: now$/,
    ],
    [
      "an empty uuid",
      batch(item({ uuid: " " })),
      headers,
      400,
      "missing_event_uuid",
      /^event submitted without a uuid$/,
    ],
    ["a uuid that is none", batch(item({ uuid: "x" })), headers, 400, "invalid_event_uuid", /: x$/],
    ["the same uuid twice", batch(item(), item()), headers, 400, "duplicate_event_uuid", new RegExp(`${uuidOf(1)}$`)],
    [
      "a bomb",
      gzipSync(Buffer.alloc(50 * 1024 * 1024 + 1)),
      { ...headers, "content-encoding": "gzip" },
      413,
      "payload_too_large",
      /./,
    ],
  ];
  test.each(rows)("%s", async (_, body, given, status, error, description) => {
    const edge = openEdge();
    const outcome = await post(body, given, edge);
    expect([outcome.status, outcome.rejected, outcome.events]).toEqual([status, error, []]);
    expect(outcome.json).toEqual({
      error,
      error_description: expect.stringMatching(description),
      error_uri: "https://posthog.com/docs/api",
    });
    expect(edge.people.personOf(1, "u")).toBeUndefined();
  });

  test("the request id comes back with errors, too", async () => {
    const { headers: found } = await post("", headers);
    expect(found["posthog-request-id"]).toBe(requestId);
  });

  test("the journal has more than the sender's response", async () => {
    const { line } = await post(batch(item(), item({ window_id: 5 }, 2)));
    expect(line.rejected).toEqual({ reason: "request_parsing_error", detail: "batch[1].window_id is not a string" });
    expect(line.project).toBe(1);
  });

  test("an unknown key is taken and dropped by the live service", async () => {
    const given = { ...headers, authorization: "Bearer phc_nobody" };
    const { status, json, events } = await post(batch(item()), given, openEdge("production"));
    expect([status, json]).toEqual([200, { results: { [uuidOf(1)]: { result: "ok" } } }]);
    expect(events.map((it) => it.reason)).toEqual(["unknown_project_key"]);
  });
});

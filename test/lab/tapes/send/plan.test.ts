import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import type { SendPlan } from "../../../../src/lab/tapes/send/plan.ts";
import { planSend } from "../../../../src/lab/tapes/send/plan.ts";
import { createPace, readRate } from "../../../../src/lab/tapes/send/run.ts";
import { leaveFor, readTarget } from "../../../../src/lab/tapes/send/target.ts";
import type { Prepared } from "../../../../src/lab/tapes/upstream/transport.ts";
import { exchangeWith } from "../har/tapes.ts";

const at = Date.parse("2026-03-01T12:00:00.000Z");
const now = Date.parse("2026-03-11T00:00:00.000Z");
const day = 86_400_000;

const planWith = (over: Partial<SendPlan> = {}): SendPlan => ({
  target: new URL("http://127.0.0.1:7490"),
  keys: { project: "phc_mine", personal: "phx_mine" },
  shiftMs: 0,
  ...over,
});

function prepared(exchange: Exchange, plan: Partial<SendPlan> = {}): Prepared {
  const planned = planSend(exchange, planWith(plan), now);
  if ("skip" in planned) throw new Error(planned.skip);
  return planned.prepared;
}

const captureOf = (body: Json, req: Partial<Exchange["req"]> = {}): Exchange =>
  exchangeWith({ url: "https://us.i.posthog.com/batch/", body: { json: body }, ...req }, {}, { route: "capture" });

const sentJson = (body: Json, plan: Partial<SendPlan> = {}): unknown =>
  JSON.parse(prepared(captureOf(body), plan).body.toString());

describe("events", () => {
  const iso = (time: number) => new Date(time).toISOString();
  test.each<[name: string, event: object, shiftMs: number, after: object]>([
    ["a timestamp stays", { timestamp: iso(at) }, 0, { timestamp: iso(at) }],
    ["a timestamp stays as it was spelled", { timestamp: "2026-03-01" }, 0, { timestamp: "2026-03-01" }],
    ["a timestamp moves", { timestamp: iso(at) }, day, { timestamp: iso(at + day) }],
    ["an offset counts from now", { offset: 500 }, 0, { offset: now - at + 500 }],
    ["an offset moves", { offset: 500 }, now - at, { offset: 500 }],
    ["none is the time of arrival", {}, 0, { timestamp: iso(at) }],
    ["one that cannot be read stays", { timestamp: "noon" }, day, { timestamp: "noon" }],
    ["beyond all calendars it stays", { timestamp: iso(at) }, 9e15, { timestamp: iso(at) }],
  ])("%s", (_, event, shiftMs, after) => {
    expect(sentJson([{ event: "e", ...event }], { shiftMs })).toEqual([{ event: "e", ...after }]);
  });

  const event = { event: "e", timestamp: iso(at) };
  test.each<[name: string, body: Json, after: unknown]>([
    ["a batch", { batch: [event], sent_at: iso(at) }, { batch: [event], sent_at: iso(now) }],
    ["v1", { batch: [event], created_at: iso(at) }, { batch: [event], created_at: iso(now) }],
    ["no sent_at stays none", { batch: [event] }, { batch: [event] }],
    ["data", { data: { ...event }, api_key: "{{secret:project_key#3}}" }, { data: event, api_key: "phc_mine" }],
    [
      "a back-fill stays one",
      { batch: [event], historical_migration: true },
      { batch: [event], historical_migration: true },
    ],
    ["one alone", { ...event, sent_at: iso(at) }, { ...event, sent_at: iso(now) }],
    ["what is no event", { batch: [null, 1, "x"] }, { batch: [null, 1, "x"] }],
    ["what is no body", 7, 7],
  ])("%s", (_, body, after) => {
    expect(sentJson(body)).toEqual(after);
  });

  test("a key named __proto__ is a key", () => {
    const body: Json = JSON.parse(`[{"event":"e","timestamp":"2026-03-01","properties":{"__proto__":{"a":1}}}]`);
    expect(prepared(captureOf(body)).body.toString()).toBe(JSON.stringify(body));
  });

  test("uuids are kept or made anew, the same one for the same", () => {
    const one = { ...event, uuid: "a", properties: { $insert_id: "i" } };
    expect(sentJson([one])).toEqual([one]);
    expect(sentJson([one, one, event], { newUuid: (it) => `new-${it}` })).toEqual([
      { ...one, uuid: "new-a", properties: { $insert_id: "new-i" } },
      { ...one, uuid: "new-a", properties: { $insert_id: "new-i" } },
      event,
    ]);
  });

  test("only those of capture requests: flags and the management API are sent as they are", () => {
    const body = { sent_at: "x", timestamp: iso(at), uuid: "a" };
    const exchange = exchangeWith({ body: { json: body } });
    expect(JSON.parse(prepared(exchange, { shiftMs: day, newUuid: () => "b" }).body.toString())).toEqual(body);
  });
});

describe("the request", () => {
  test("goes to the target, with its keys, headers in order, and its length", () => {
    const sent = prepared(
      exchangeWith({
        url: "https://us.posthog.com/array/%7B%7Bsecret%3Aproject_key%231%7D%7D/config?a=é&b=%C3%A9#x",
        method: "POST",
        headers: [
          [":authority", "us.posthog.com"],
          ["hOst", "us.posthog.com"],
          ["X-B", "2"],
          ["Authorization", "Bearer {{secret:personal_api_key#1}}"],
          ["x-a", "1"],
          ["X-B", "3"],
          ["Cookie", "a={{secret:cookie#1}}"],
          ["Content-Length", "999"],
          ["Transfer-Encoding", "chunked"],
          ["bad name", "1"],
          ["x-bad", "1\r\nx: 2"],
        ],
        body: { text: "é {{secret:project_key#1}}" },
      }),
      { target: new URL("https://staging.example:8443/ingest/") },
    );
    expect(sent.target).toBe("/ingest/array/phc_mine/config?a=%C3%A9&b=%C3%A9");
    expect(sent.headers).toEqual([
      ...["Host", "staging.example:8443", "X-B", "2", "Authorization", "Bearer phx_mine", "x-a", "1"],
      ...["X-B", "3", "Content-Length", "11"],
    ]);
    expect(sent.body.toString()).toBe("é phc_mine");
  });

  test("a credential that was taken away as a whole gets its scheme back", () => {
    const sent = prepared(exchangeWith({ headers: [["authorization", "{{secret:authorization#1}}"]] }));
    expect(sent.headers).toContain("Bearer phx_mine");
  });

  test("posthog-js' time of sending in the query is now, of capture requests only", () => {
    const url = "https://us.i.posthog.com/e/?ip=0&_=1772366400000&ver=1";
    expect(prepared(captureOf([], { url })).target).toBe(`/e/?ip=0&_=${now}&ver=1`);
    expect(prepared(exchangeWith({ url })).target).toBe("/e/?ip=0&_=1772366400000&ver=1");
  });

  test("a body travels as it travelled", () => {
    const wire = { bytes: 9, encodings: ["gzip"] };
    const sent = prepared(captureOf({ batch: [] }, { wire }));
    expect(gunzipSync(sent.body).toString()).toBe('{"batch":[]}');
    expect(sent.headers).toEqual(expect.arrayContaining(["Content-Length", String(sent.body.length)]));
  });

  test("a GET without a body says no length", () => {
    expect(prepared(exchangeWith({ method: "GET" })).headers).not.toContain("Content-Length");
    expect(prepared(exchangeWith({ method: "DELETE" })).headers).toContain("Content-Length");
  });

  test.each<[reason: string, exchange: Exchange]>([
    ["no_body", exchangeWith({ body: { omitted: "excluded", bytes: 3 } })],
    ["no_body", exchangeWith({ body: { file: "a".repeat(64), bytes: 3 } })],
    ["cut_off", exchangeWith({}, null, { aborted: "client" })],
    ["tunnel", exchangeWith({ method: "CONNECT" })],
    ["tunnel", exchangeWith({ headers: [["Upgrade", "WebSocket"]] })],
    ["method", exchangeWith({ method: "GET / HTTP/1.1\r\nx:" })],
    ["encoding", exchangeWith({ body: { text: "x" }, wire: { bytes: 1, encodings: ["rot13"] } })],
  ])("%s: is left out", (skip, exchange) => {
    expect(planSend(exchange, planWith(), now)).toEqual({ skip });
  });
});

describe("where to", () => {
  test.each([
    ["127.0.0.1:7490", "loopback"],
    ["http://localhost:1", "loopback"],
    ["http://[::1]:1/ingest", "loopback"],
    ["https://us.i.posthog.com", "production"],
    ["https://POSTHOG.com.", "production"],
    ["https://posthog.com.evil.example", "other"],
    ["http://10.0.0.1", "other"],
    ["http://127.0.0.1.example", "other"],
  ])("%s is %s", (text, kind) => {
    expect(readTarget(text).kind).toBe(kind);
  });

  test.each(["", "ftp://x", "http://", "http://a:b@x", "http://x/?q", "http://x/#f", "a b"])(
    "%j is no target",
    (text) => {
      expect(() => readTarget(text)).toThrow(TypeError);
    },
  );

  const none = { yes: false, production: false, hosts: [] };
  test.each([
    ["http://localhost:1", none, "send"],
    ["http://x.example", none, "dry"],
    ["http://x.example", { ...none, hosts: ["x.example"] }, "dry"],
    ["http://x.example", { ...none, yes: true }, "refused"],
    ["http://x.example", { ...none, yes: true, hosts: ["y.example"] }, "refused"],
    ["http://x.example", { ...none, yes: true, hosts: ["y.example", "*.example"] }, "send"],
    ["http://x.example:81", { ...none, yes: true, hosts: ["x.example:80"] }, "refused"],
    ["https://eu.posthog.com", { ...none, yes: true, hosts: ["eu.posthog.com"] }, "refused"],
    ["https://eu.posthog.com", { ...none, yes: true, production: true }, "refused"],
    ["https://eu.posthog.com", { ...none, production: true }, "dry"],
    ["https://eu.posthog.com", { yes: true, production: true, hosts: ["eu.posthog.com"] }, "send"],
  ])("%s with %j: %s", (text, permits, may) => {
    expect(leaveFor(readTarget(text), permits).may).toBe(may);
  });

  test.each(["*", "/path", "", "a b"])("%j allows nothing: it is no host", (host) => {
    expect(() => leaveFor(readTarget("http://x.example"), { ...none, hosts: [host] })).toThrow(TypeError);
  });
});

describe("how fast", () => {
  test.each([
    ["10", { perSecond: 10 }],
    ["0.5", { perSecond: 0.5 }],
    ["2x", { factor: 2 }],
    ["0.25X", { factor: 0.25 }],
    ["0", undefined],
    ["0x", undefined],
    ["-1", undefined],
    ["x", undefined],
    ["fast", undefined],
    ["1e9", undefined],
  ])("%s", (text, rate) => {
    expect(readRate(text)).toEqual(rate);
  });

  test("a rate per second, without a burst after a pause", () => {
    const due = createPace({ perSecond: 4 });
    expect([due(0, 1000), due(0, 1000), due(0, 1001), due(0, 9000), due(0, 9000)]).toEqual([
      1000, 1250, 1500, 9000, 9250,
    ]);
  });

  test("at a multiple of the recorded pace", () => {
    const due = createPace({ factor: 2 });
    expect([due(5000, 100), due(6000, 100), due(4000, 100), due(9000, 900)]).toEqual([100, 600, 100, 2100]);
  });

  test("as fast as it goes", () => {
    expect(createPace(undefined)(5000, 100)).toBe(100);
  });
});

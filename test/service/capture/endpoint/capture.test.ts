import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { key, now, openEdge, otherKey, type Sent } from "../edge.ts";

const event = { api_key: key, event: "e", distinct_id: "u" };
const batch = (...items: unknown[]) => ({ api_key: key, batch: items });
const uuid = "018f3b6e-0000-7000-8000-000000000001";
const dialects = ["documented", "production"] as const;

describe("paths and methods", () => {
  const body = JSON.stringify(event);
  const data = `?data=${encodeURIComponent(body)}`;
  test.each([
    // path, GET in documented, GET in production
    ["/capture", 405, 200],
    ["/batch", 405, 200],
    ["/e", 200, 200],
    ["/i/v0/e", 200, 200],
    ["/track", 200, 200],
    ["/engage", 200, 200],
  ])("%s", async (path, documented, production) => {
    const statuses: number[] = [];
    for (const dialect of dialects) {
      const { send } = openEdge(dialect);
      for (const target of [path, `${path}/`, `/${path}//`]) {
        const posted = await send({ target, body });
        expect([posted.status, posted.json, posted.events.length]).toEqual([200, { status: "Ok" }, 1]);
        expect((await send({ target, method: "OPTIONS" })).status).toBe(200);
      }
      const got = await send({ target: path + data, method: "GET" });
      expect(got.events.length).toBe(got.status === 200 ? 1 : 0);
      statuses.push(got.status);
    }
    expect(statuses).toEqual([documented, production]);
  });

  test.each([
    ["/", "capture"],
    ["/_readiness", "capture"],
    ["/_liveness", "ok"],
  ])("GET %s", async (target, text) => {
    const edge = openEdge();
    const { status, text: found } = await edge.send({ target, method: "GET" });
    expect([status, found, edge.lines.length]).toEqual([200, text, 0]);
  });

  test("the black hole forgets", async () => {
    const { send } = openEdge();
    const { status, json, events } = await send({ target: "/test/black_hole", body: "anything" });
    expect([status, json, events]).toEqual([200, { status: "Ok" }, []]);
  });

  test("the limits on the wire", () => {
    const limits = Object.fromEntries(openEdge().endpoints.map(({ path, bodyLimit }) => [path, bodyLimit]));
    const mebibyte = 1024 * 1024;
    expect([limits["/batch"], limits["/s"], limits["/i/v1/analytics/events"]]).toEqual([
      20 * mebibyte,
      25 * mebibyte,
      10 * mebibyte,
    ]);
  });
});

describe("answers", () => {
  test.each([
    ["200 and JSON", "/e/", 200, '{"status":"Ok"}'],
    ["a beacon gets no body", "/e/?beacon=1", 204, ""],
    ["another beacon value is none", "/e/?beacon=0", 200, '{"status":"Ok"}'],
  ])("%s", async (_, target, status, text) => {
    const outcome = await openEdge().send({ target, body: event });
    expect([outcome.status, outcome.text, outcome.events.length]).toEqual([status, text, 1]);
  });

  test("errors are text", async () => {
    const { headers, text } = await openEdge().send({ body: "" });
    expect([headers["content-type"], text]).toEqual(["text/plain; charset=utf-8", "request missing data payload"]);
  });
});

describe("shapes: what is kept, in order", () => {
  const one = { event: "a", distinct_id: "u" };
  const two = { event: "b", distinct_id: "v" };
  const rows: [string, Sent["target"], unknown, string[]][] = [
    ["single", "/capture/", { ...one, api_key: key }, ["a:u"]],
    ["batch", "/batch/", batch(one, two), ["a:u", "b:v"]],
    ["batch with `token`", "/batch/", { token: key, batch: [one, two] }, ["a:u", "b:v"]],
    ["a batch on /capture", "/capture/", batch(one, two), ["a:u", "b:v"]],
    ["a single event on /batch", "/batch/", { ...one, api_key: key }, ["a:u"]],
    ["array, key in the properties", "/e/", [{ ...one, properties: { token: key } }, two], ["a:u", "b:v"]],
    [
      "array, key in the items",
      "/e/",
      [
        { ...one, token: key },
        { ...two, api_key: key },
      ],
      ["a:u", "b:v"],
    ],
    ["$token", "/e/", { ...one, $token: key }, ["a:u"]],
    [
      "a null api_key beside a key in the properties",
      "/e/",
      { ...one, api_key: null, properties: { token: key } },
      ["a:u"],
    ],
    ["an event that has a field `batch`", "/e/", { ...one, batch: [1], properties: { token: key } }, ["a:u"]],
    ["distinct_id in the properties", "/batch/", batch({ event: "a", properties: { distinct_id: "u" } }), ["a:u"]],
    ["$distinct_id", "/e/", { api_key: key, event: "a", $distinct_id: "u" }, ["a:u"]],
    [
      "null at the top, the real one in the properties (posthog-php)",
      "/batch/",
      batch({ event: "$create_alias", distinct_id: null, properties: { distinct_id: "u", alias: "w" } }),
      ["$create_alias:u"],
    ],
    ["`groups: []` (posthog-php)", "/batch/", batch({ ...one, groups: [] }), ["a:u"]],
    ["a number as distinct_id", "/e/", { api_key: key, event: "a", distinct_id: 23 }, ["a:23"]],
    ["an object as distinct_id", "/e/", { api_key: key, event: "a", distinct_id: { id: 1 } }, ['a:{"id":1}']],
    ["blanks around a distinct_id stay", "/e/", { ...one, distinct_id: " u ", api_key: key }, ["a: u "]],
    ["NUL in a distinct_id", "/e/", { ...one, distinct_id: "u\0", api_key: key }, ["a:u\ufffd"]],
    ["/engage without a name", "/engage/", { api_key: key, distinct_id: "u", $set: { a: 1 } }, ["$identify:u"]],
    ["/engage with a name", "/engage/", { ...one, api_key: key }, ["a:u"]],
    ["historical_migration", "/batch/", { ...batch(one), historical_migration: true }, ["a:u"]],
    [
      "keys named like built-ins",
      "/e/",
      JSON.stringify(one).replace("}", `,"api_key":"${key}","__proto__":{"x":1},"constructor":1}`),
      ["a:u"],
    ],
  ];
  for (const dialect of dialects) {
    test.each(rows)(`${dialect}: %s`, async (_, target, body, expected) => {
      const { status, events } = await openEdge(dialect).send({ target: target ?? "", body });
      expect(status).toBe(200);
      expect(events.map((it) => `${it.event}:${it.distinct_id}`)).toEqual(expected);
      expect(events.every((it) => it.outcome === "kept" && it.project === 1)).toBe(true);
    });
  }
});

describe("dropped by the contract, refused by the live service", () => {
  const good = { event: "good", distinct_id: "u" };
  const hydrate = "failed to hydrate events from request: non-engage request missing event name attribute";
  const noId = "event submitted without a distinct_id";
  test.each([
    ["no name", { distinct_id: "u" }, "missing_event_name", hydrate],
    ["a name that is no text", { event: 5, distinct_id: "u" }, "missing_event_name", hydrate],
    ["an empty name", { event: "", distinct_id: "u" }, "empty_event_name", "event submitted with an empty event name"],
    ["no distinct_id", { event: "e" }, "missing_distinct_id", noId],
    ["a null distinct_id", { event: "e", distinct_id: null }, "missing_distinct_id", noId],
    ["an empty distinct_id", { event: "e", distinct_id: "" }, "missing_distinct_id", noId],
    ["a blank distinct_id", { event: "e", distinct_id: " \t" }, "missing_distinct_id", noId],
    ["an empty one in the properties", { event: "e", properties: { distinct_id: "" } }, "missing_distinct_id", noId],
  ])("%s", async (_, bad, reason, text) => {
    const contract = await openEdge("documented").send({ target: "/batch/", body: batch(good, bad, good) });
    expect([contract.status, contract.json]).toEqual([200, { status: "Ok" }]);
    expect(contract.events.map((it) => it.reason)).toEqual([null, reason, null]);

    const single = await openEdge("documented").send({ body: { ...bad, api_key: key } });
    expect([single.status, single.events.map((it) => it.reason)]).toEqual([200, [reason]]);

    const live = await openEdge("production").send({ target: "/batch/", body: batch(good, bad, good) });
    expect([live.status, live.text, live.rejected, live.events]).toEqual([400, text, reason, []]);
    expect(live.line.project).toBe(1);
  });

  test("an item that is no object", async () => {
    const contract = await openEdge("documented").send({ body: batch(good, "text", null, [good]) });
    expect(contract.events.map((it) => it.reason)).toEqual([null, "invalid_item", "invalid_item", "invalid_item"]);
    const live = await openEdge("production").send({ body: batch(good, "text") });
    expect([live.status, live.rejected]).toEqual([400, "unparsable_payload"]);
  });

  test("a refused request leaves no person behind", async () => {
    const edge = openEdge("production");
    await edge.send({ body: batch(good, { event: "e" }) });
    expect(edge.people.personOf(1, "u")).toBeUndefined();
  });
});

describe("refused by both", () => {
  const variants = "failed to parse request: data did not match any variant of untagged enum RawRequest";
  const inconsistent = "batch submitted with inconsistent api_key values";
  const rows: [string, unknown, number, string, RegExp][] = [
    ["nothing", "", 400, "missing_payload", /^request missing data payload$/],
    ["text", '"text"', 400, "unparsable_payload", new RegExp(variants)],
    ["null", "null", 400, "undecodable_payload", /^failed to decode request/],
    ["an empty array", [], 400, "empty_batch", /^request holds no event$/],
    ["an empty batch", batch(), 400, "empty_batch", /^request holds no event$/],
    ["a batch without a key", { batch: [event] }, 400, "missing_batch_token", /non-engage request missing event name/],
    ["a malformed uuid", { ...event, uuid: "not-a-uuid" }, 400, "unparsable_payload", /item 0: uuid is not a UUID$/],
    ["a uuid that is no text", { ...event, uuid: 5 }, 400, "unparsable_payload", /uuid is not a UUID$/],
    [
      "properties that are no object",
      { ...event, properties: [] },
      400,
      "unparsable_payload",
      /properties is not an object/,
    ],
    ["null properties", { ...event, properties: null }, 400, "unparsable_payload", /properties is not an object/],
    ["a timestamp that is no text", { ...event, timestamp: 5 }, 400, "unparsable_payload", /timestamp is not a string/],
    ["an offset that is no integer", { ...event, offset: "5" }, 400, "unparsable_payload", /offset is not an integer/],
    ["$set that is no object", { ...event, $set: [] }, 400, "unparsable_payload", /\$set is not an object/],
    [
      "$cookieless_mode that is no boolean",
      { ...event, properties: { $cookieless_mode: "yes" } },
      400,
      "invalid_cookieless_mode",
      /^event submitted with invalid cookieless mode$/,
    ],
    ["no key", { event: "e", distinct_id: "u" }, 401, "missing_token", /^event submitted without an api_key$/],
    [
      "two keys",
      [
        { ...event, token: undefined },
        { ...event, api_key: otherKey },
      ],
      401,
      "inconsistent_tokens",
      new RegExp(`^${inconsistent}$`),
    ],
    ["an empty key", { ...event, api_key: " " }, 401, "malformed_token", /^API key is not valid: empty$/],
    ["a long key", { ...event, api_key: "k".repeat(65) }, 401, "malformed_token", /^API key is not valid: too_long$/],
    ["a key beyond ASCII", { ...event, api_key: "phc_ü" }, 401, "malformed_token", /^API key is not valid: not_ascii$/],
    [
      "a personal key",
      { ...event, api_key: "phx_1" },
      401,
      "malformed_token",
      /^API key is not valid: personal_api_key$/,
    ],
    ["NUL in a key", { ...event, api_key: "phc_\0a" }, 401, "malformed_token", /^API key is not valid: null_byte$/],
  ];
  for (const dialect of dialects) {
    test.each(rows)(`${dialect}: %s`, async (_, body, status, reason, text) => {
      const outcome = await openEdge(dialect).send({ target: "/batch/", body });
      expect([outcome.status, outcome.rejected, outcome.events]).toEqual([status, reason, []]);
      expect(outcome.text).toMatch(text);
    });
  }

  test("what was known by then is noted", async () => {
    const body = { ...batch({ event: "e", distinct_id: "u", uuid: "x" }) };
    const { note } = await openEdge().send({ body: gzipSync(JSON.stringify(body)) });
    expect([note.steps, note.project, note.text]).toEqual([["gzip"], 1, JSON.stringify(body)]);
  });
});

describe("project keys", () => {
  const unknown = { ...event, api_key: "phc_nobody_has_this_key" };

  test("unknown, by the contract: 401", async () => {
    const { status, json, rejected, events } = await openEdge("documented").send({ body: unknown });
    expect([status, rejected, events]).toEqual([401, "invalid_api_key", []]);
    expect(json).toEqual({
      type: "authentication_error",
      code: "invalid_api_key",
      detail: "Project API key invalid. You can find your project API key in PostHog project settings.",
      attr: null,
    });
  });

  test("unknown, by the live service: 200, and each event is dropped", async () => {
    const body = { ...unknown, event: undefined, batch: [event, event] };
    const { status, json, events } = await openEdge("production").send({ target: "/batch/", body });
    expect([status, json]).toEqual([200, { status: "Ok" }]);
    expect(events.map((it) => [it.outcome, it.reason, it.project, it.person_mode])).toEqual([
      ["dropped", "unknown_project_key", null, "none"],
      ["dropped", "unknown_project_key", null, "none"],
    ]);
  });

  test("blanks around a key are cut off", async () => {
    const { events } = await openEdge().send({ body: { ...event, api_key: ` ${key}\n` } });
    expect(events.map((it) => it.project)).toEqual([1]);
  });

  test("the batch's key wins over those of its items", async () => {
    const { events } = await openEdge().send({ body: batch({ event: "e", distinct_id: "u", api_key: otherKey }) });
    expect(events.map((it) => it.project)).toEqual([1]);
  });
});

describe("uuids", () => {
  test.each([
    ["as sent", uuid, uuid],
    ["in capitals", uuid.toUpperCase(), uuid],
    ["without dashes", uuid.replaceAll("-", ""), uuid],
    ["with its scheme", `urn:uuid:${uuid}`, uuid],
  ])("%s", async (_, sent, shown) => {
    expect((await openEdge().capture("e", "u", {}, { uuid: sent })).uuid).toBe(shown);
  });

  test.each([
    ["absent", undefined],
    ["null", null],
    ["empty", ""],
  ])("%s: a new one", async (_, sent) => {
    expect((await openEdge().capture("e", "u", {}, { uuid: sent })).uuid).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-/,
    );
  });

  test("a uuid counts once in its project", async () => {
    const edge = openEdge();
    const item = { event: "e", distinct_id: "u", uuid };
    const first = await edge.send({ body: batch(item, item) });
    const retry = await edge.send({ body: batch(item) });
    const other = await edge.send({ body: { ...batch(item), api_key: otherKey } });
    expect([first, retry, other].map(({ events }) => events.map((it) => it.reason))).toEqual([
      [null, "duplicate_event_uuid"],
      ["duplicate_event_uuid"],
      [null],
    ]);
    expect(retry.status).toBe(200);
  });

  test("a dropped event does not use its uuid up", async () => {
    const edge = openEdge();
    const bad = { event: "$identify", distinct_id: "u", uuid, properties: { $process_person_profile: false } };
    const { events } = await edge.send({ body: batch(bad, { ...bad, properties: {} }) });
    expect(events.map((it) => it.outcome)).toEqual(["dropped", "kept"]);
  });
});

describe("times", () => {
  const minute = 60_000;
  const at = (shift: number) => new Date(now + shift).toISOString();
  const item = { event: "e", distinct_id: "u" };
  const rows: [string, string, unknown, number, string[]][] = [
    ["arrival", "/batch/", batch(item), 0, []],
    ["timestamp", "/batch/", batch({ ...item, timestamp: at(-minute) }), -minute, []],
    ["offset", "/e/", [{ ...item, offset: 2884, properties: { token: key } }], -2884, []],
    [
      "skew from sent_at beside the batch",
      "/batch/",
      { ...batch({ ...item, timestamp: at(-minute) }), sent_at: at(5 * minute) },
      -6 * minute,
      [],
    ],
    ["skew from the query", `/e/?sent_at=${now + 5 * minute}`, { ...event, timestamp: at(-minute) }, -6 * minute, []],
    ["skew from `_`", `/e/?_=${now + 5 * minute}`, { ...event, timestamp: at(-minute) }, -6 * minute, []],
    ["seconds in the query are ignored", `/e/?_=${now / 1000}`, { ...event, timestamp: at(-minute) }, -minute, []],
    [
      "the body's sent_at wins over the query's",
      `/batch/?sent_at=${now + 5 * minute}`,
      { ...batch({ ...item, timestamp: at(-minute) }), sent_at: at(0) },
      -minute,
      [],
    ],
    [
      "$ignore_sent_at",
      `/e/?_=${now + 5 * minute}`,
      { ...event, timestamp: at(-minute), properties: { $ignore_sent_at: true } },
      -minute,
      [],
    ],
    ["unreadable", "/e/", { ...event, timestamp: "soon" }, 0, ["ignored_invalid_timestamp"]],
    ["a day ahead", "/e/", { ...event, timestamp: at(24 * 60 * minute) }, 0, ["timestamp_in_the_future"]],
  ];
  test.each(rows)("%s", async (_, target, body, shift, warnings) => {
    const { events } = await openEdge().send({ target, body });
    expect(events.map((it) => [Date.parse(it.timestamp) - now, it.warnings])).toEqual([[shift, warnings]]);
  });
});

describe("long names", () => {
  test("are cut to 200 characters, with a warning", async () => {
    const name = "🦔".repeat(201);
    const { events } = await openEdge().send({ body: { ...event, event: name, distinct_id: `${name}x` } });
    const [stored] = events;
    expect([[...(stored?.event ?? "")].length, [...(stored?.distinct_id ?? "")].length]).toEqual([200, 200]);
    expect(stored?.warnings).toEqual(["event_name_truncated", "distinct_id_truncated"]);
  });

  test("200 characters are not long", async () => {
    const stored = await openEdge().capture("🦔".repeat(200), "u".repeat(200));
    expect(stored.warnings).toEqual([]);
  });
});

describe("$performance_event", () => {
  test("is filtered out, and the request succeeds without it", async () => {
    for (const dialect of dialects) {
      const { status, events } = await openEdge(dialect).send({ body: { ...event, event: "$performance_event" } });
      expect([status, events.map((it) => it.reason)]).toEqual([200, ["dropped_performance_event"]]);
    }
  });
});

describe("/i/v0/ai/batch", () => {
  test.each([
    ["LLM events only", batch({ event: "$ai_generation", distinct_id: "u" }), 200, undefined],
    [
      "others among them",
      batch({ event: "$ai_trace", distinct_id: "u" }, { event: "e", distinct_id: "u" }),
      400,
      "not_an_ai_event",
    ],
  ])("%s", async (_, body, status, reason) => {
    const outcome = await openEdge().send({ target: "/i/v0/ai/batch/", body });
    expect([outcome.status, outcome.rejected]).toEqual([status, reason]);
  });

  test("takes no GET", async () => {
    expect((await openEdge("production").send({ target: "/i/v0/ai/batch", method: "GET" })).status).toBe(405);
  });
});

import { beforeEach, describe, expect, test } from "vitest";
import { control as controlOf } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim } = await openSim();
beforeEach(() => sim.reset());

const capture = (body: object, path = "/capture/") =>
  sim.handle(new Request(sim.url + path, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...body }) }));

const control = (method: string, path: string, body?: unknown) =>
  controlOf<Record<string, unknown>>(sim, method, path, body);

describe("GET /__sim/events", () => {
  const rows: [query: string, names: string[]][] = [
    ["", ["a", "b", "", "a"]],
    ["?order=desc", ["a", "", "b", "a"]],
    ["?event=a", ["a", "a"]],
    ["?distinct_id=v", ["b", "a"]],
    ["?event=a&distinct_id=v", ["a"]],
    ["?outcome=dropped", [""]],
    ["?outcome=kept&limit=2", ["a", "b"]],
    ["?project=1", ["a", "b", "", "a"]],
    ["?project=2", []],
    [`?where=${encodeURIComponent('{"properties":{"plan":"pro"}}')}`, ["b"]],
    [`?where=${encodeURIComponent('{"event":"a","distinct_id":"v"}')}`, ["a"]],
    [`?event=b&where=${encodeURIComponent('{"event":"a"}')}`, []],
    [`?where=${encodeURIComponent('{"properties":{"nested":{"x":{"@gte":1}}}}')}`, ["b"]],
  ];
  test.each(rows)("%s", async (query, names) => {
    await capture(
      {
        batch: [
          { event: "a", distinct_id: "u" },
          { event: "b", distinct_id: "v", properties: { plan: "pro", nested: { x: 1 } } },
          { distinct_id: "nameless" },
          { event: "a", distinct_id: "v" },
        ],
      },
      "/batch/",
    );
    const { answer } = await control("GET", `events${query}`);
    expect((answer.events as { event: string }[]).map((it) => it.event)).toEqual(names);
  });

  test("a page ends with the cursor of the next one", async () => {
    for (const event of ["a", "b", "c"]) await capture({ event, distinct_id: "u" });
    const first = (await control("GET", "events?limit=2")).answer;
    expect(first.more).toBe(true);
    const second = (await control("GET", `events?limit=2&since=${first.cursor}`)).answer;
    expect([(second.events as { event: string }[]).map((it) => it.event), second.more]).toEqual([["c"], false]);
  });

  test("a dropped event keeps its reason", async () => {
    expect((await capture({ event: "a" })).status).toBe(200);
    const [event] = await sim.events.dropped();
    expect(event).toMatchObject({ event: "a", outcome: "dropped", reason: "missing_distinct_id" });
  });

  const bad: [string, string, string][] = [
    ["?limit=0", "?limit", "expected a number of at least 1, got 0"],
    ["?limit=10001", "?limit", "expected a number of at most 10000, got 10001"],
    ["?limit=x", "?limit", 'expected a number, got "x"'],
    ["?since=-1", "?since", "expected a number of at least 0, got -1"],
    ["?outcome=lost", "?outcome", 'expected "kept" or "dropped", got "lost"'],
    ["?where=x", "?where", '"where" must be a JSON object'],
    [
      `?where=${encodeURIComponent('{"a":{"@gtx":1}}')}`,
      "?where/a/@gtx",
      'there is no operator "@gtx"; did you mean @gt?',
    ],
    [`?where=${encodeURIComponent('{"__proto__":1}')}`, "?where/__proto__", 'an event has no "__proto__"'],
    ["?wait_ms=60001", "?wait_ms", "expected milliseconds from 0 to 60000, got 60001"],
    ["?wait_ms=-1", "?wait_ms", "expected milliseconds from 0 to 60000, got -1"],
  ];
  test.each(bad)("%s is refused", async (query, pointer, detail) => {
    const { status, answer } = await control("GET", `events${query}`);
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
    expect(answer.detail).toBe(detail);
  });
});

test("DELETE /__sim/events clears; persons stay; the cursor goes on", async () => {
  await capture({ event: "a", distinct_id: "u" });
  const { answer } = await control("DELETE", "events");
  expect(answer.cleared).toBe(1);
  expect(await sim.events.list()).toEqual([]);
  expect(await sim.persons.list()).toHaveLength(1);
  await capture({ event: "b", distinct_id: "u" });
  expect((await sim.events.list({ since: Number(answer.cursor) })).map((it) => it.event)).toEqual(["b"]);
});

describe("GET /__sim/events?wait_ms", () => {
  const list = async (query: string) => (await control("GET", `events?${query}`)).answer;
  const names = (answer: Record<string, unknown>) => (answer.events as { event: string }[]).map((it) => it.event);

  test("events that have arrived are listed at once", async () => {
    await capture({ event: "a", distinct_id: "u" });
    expect(names(await list("wait_ms=60000"))).toEqual(["a"]);
  });

  const awaited: [query: string, where?: object][] = [
    [""],
    ["&event=b"],
    ["&distinct_id=v"],
    ["&outcome=kept&project=1"],
    ["", { event: "b" }],
    ["", { properties: { n: { "@gte": 2 } } }],
    ["&event=b", { properties: { n: 2 } }],
  ];
  test.each(awaited)("answers as soon as it comes: %s %j", async (query, where) => {
    const since = await sim.events.mark();
    const text = where ? `&where=${encodeURIComponent(JSON.stringify(where))}` : "";
    const listed = list(`since=${since}&wait_ms=60000${query}${text}`);
    await capture({ event: "b", distinct_id: "v", properties: { n: 2 } });
    const answer = await listed;
    expect([names(answer), answer.cursor]).toEqual([["b"], since + 1]);
  });

  test("an event that does not match does not end the wait", async () => {
    const listed = list("event=b&wait_ms=60000");
    await capture({ event: "a", distinct_id: "u" });
    await capture({ event: "b", distinct_id: "u" });
    expect(names(await listed)).toEqual(["b"]);
  });

  test("no event until the end: an empty list, with the cursor to go on from", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const answer = await list("event=b&wait_ms=1");
    expect([answer.events, answer.cursor, answer.more]).toEqual([[], await sim.events.mark(), false]);
  });

  test("an event that cannot arrive any more is not waited for", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const cursor = await sim.events.mark();
    expect((await list(`event=b&until=${cursor}&wait_ms=60000`)).events).toEqual([]);
  });

  test("pages that wait lose no event and repeat none", async () => {
    const start = await sim.events.mark();
    const sending = (async () => {
      for (let i = 0; i < 60; i++) await capture({ event: `e${i}`, distinct_id: "u" });
    })();
    const got: string[] = [];
    let since = start;
    while (got.length < 60) {
      const answer = await list(`since=${since}&limit=7&wait_ms=60000`);
      got.push(...names(answer));
      since = Number(answer.cursor);
    }
    await sending;
    expect(got).toEqual(Array.from({ length: 60 }, (_, i) => `e${i}`));
  });

  test("a caller that disconnects ends the wait", async () => {
    const end = new AbortController();
    const url = `${sim.url}/__sim/events?event=never&wait_ms=60000`;
    const listed = sim.handle(new Request(url, { signal: end.signal }));
    await control("GET", "info");
    end.abort();
    await expect(listed).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the journal", () => {
  test("keeps requests with their responses", async () => {
    await sim.handle(
      new Request(`${sim.url}/capture/?x=1`, {
        method: "POST",
        headers: { authorization: "Bearer phx_real_secret", "x-one": "1" },
        body: JSON.stringify({ api_key: sim.apiKey, event: "a", distinct_id: "u" }),
      }),
    );
    const [latest] = await sim.requests.list();
    expect(latest).toMatchObject({
      method: "POST",
      target: "/capture/?x=1",
      status: 200,
      outcome: "answered",
      events: 1,
    });
    const { answer } = await control("GET", `requests/${latest?.n}`);
    expect(answer.headers).toContainEqual(["authorization", "Bearer phx_***"]);
    expect(answer.headers).toContainEqual(["x-one", "1"]);
    expect(answer.body).toEqual({ api_key: sim.apiKey, event: "a", distinct_id: "u" });
    expect(answer.reply).toEqual({ status: "Ok" });
    expect(answer.carried).toMatchObject([{ event: "a", outcome: "kept" }]);
  });

  test("keeps rejected requests with reason and raw body", async () => {
    const bytes = new Uint8Array([0x1f, 0x8b, 1, 2, 3]);
    const response = await sim.handle(new Request(`${sim.url}/e/`, { method: "POST", body: bytes }));
    expect(response.status).toBe(400);
    const [latest] = await sim.requests.list({ outcome: "rejected" });
    expect(latest).toMatchObject({ status: 400, rejected: { reason: "undecodable_payload" } });
    const { answer } = await control("GET", `requests/${latest?.n}`);
    expect(answer.raw).toEqual({ base64: Buffer.from(bytes).toString("base64") });
  });

  test("keeps requests to unknown paths", async () => {
    await sim.handle(new Request(`${sim.url}/nowhere`));
    expect((await sim.requests.list({ outcome: "rejected" }))[0]).toMatchObject({
      target: "/nowhere",
      status: 404,
      rejected: { reason: "not_found" },
    });
  });

  test("answers 404 for a request that does not exist", async () => {
    expect((await control("GET", "requests/999999")).status).toBe(404);
    expect((await control("GET", "events/999999")).status).toBe(404);
  });
});

test("GET /__sim/persons and /__sim/groups list what events made", async () => {
  await capture({
    event: "$identify",
    distinct_id: "u",
    properties: { $anon_distinct_id: "anon", $set: { plan: "pro" } },
  });
  await capture({
    event: "$groupidentify",
    distinct_id: "u",
    properties: { $group_type: "company", $group_key: "acme", $group_set: { tier: "gold" } },
  });
  const [person] = await sim.persons.list({ distinct_id: "anon" });
  expect(person).toMatchObject({ is_identified: true, properties: { plan: "pro" } });
  expect(person).toMatchObject({ distinct_ids: expect.arrayContaining(["anon", "u"]) });
  const { answer } = await control("GET", "persons/u");
  expect(answer.history).toMatchObject([
    { event: "$identify", change: { $set: { plan: "pro" }, $anon_distinct_id: "anon" } },
  ]);
  expect(await sim.groups.list()).toMatchObject([{ type: "company", key: "acme", properties: { tier: "gold" } }]);
  expect((await control("GET", "persons/nobody")).status).toBe(404);
});

describe("POST /__sim/reset", () => {
  test("goes back to the scenario", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const { answer } = await control("POST", "reset");
    expect(answer.reset).toEqual(["world", "people", "events", "faults", "answers", "clock"]);
    expect([await sim.events.list(), await sim.persons.list()]).toEqual([[], []]);
  });

  test("resets only the parts that it names", async () => {
    await capture({ event: "a", distinct_id: "u" });
    await control("POST", "reset", { what: ["events"] });
    expect([await sim.events.list(), (await sim.persons.list()).length]).toEqual([[], 1]);
  });

  test.each([[{ what: "events" }], [{ what: ["nothing"] }], [{ which: [] }]])("%j is refused", async (body) => {
    expect((await control("POST", "reset", body)).status).toBe(400);
  });
});

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Sim, startSim } from "../../src/index.ts";

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
beforeEach(() => sim.reset());
afterAll(() => sim.close());

const capture = (body: object, path = "/capture/") =>
  sim.handle(
    new Request(sim.url + path, { method: "POST", body: JSON.stringify({ api_key: sim.apiKey, ...body }) }),
  );

async function control(method: string, path: string, body?: unknown) {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { "content-type": "application/json" };
  }
  const response = await sim.handle(new Request(`${sim.url}/__sim/${path}`, init));
  return { status: response.status, answer: (await response.json()) as Record<string, unknown> };
}

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

  test("pages by cursor", async () => {
    for (const event of ["a", "b", "c"]) await capture({ event, distinct_id: "u" });
    const first = (await control("GET", "events?limit=2")).answer;
    expect(first.more).toBe(true);
    const second = (await control("GET", `events?limit=2&since=${first.cursor}`)).answer;
    expect([(second.events as { event: string }[]).map((it) => it.event), second.more]).toEqual([
      ["c"],
      false,
    ]);
  });

  test("a dropped event keeps its reason", async () => {
    expect((await capture({ event: "a" })).status).toBe(200);
    const [event] = await sim.events.dropped();
    expect(event).toMatchObject({ event: "a", outcome: "dropped", reason: "missing_distinct_id" });
  });

  const bad: [string, string][] = [
    ["?limit=0", '"limit" must be a whole number'],
    ["?limit=x", '"limit" must be a whole number'],
    ["?since=-1", '"since" must be a whole number'],
    ["?outcome=lost", '"outcome" must be one of kept, dropped'],
    ["?where=x", '"where" must be a JSON object'],
    [`?where=${encodeURIComponent('{"a":{"@gt":1}}')}`, "operator at /a/@gt is not supported yet"],
  ];
  test.each(bad)("%s is refused", async (query, detail) => {
    const { status, answer } = await control("GET", `events${query}`);
    expect([status, answer.code]).toEqual([400, "invalid_input"]);
    expect(answer.detail).toContain(detail);
  });
});

test("DELETE /__sim/events clears; persons stay; the cursor goes on", async () => {
  await capture({ event: "a", distinct_id: "u" });
  const { answer } = await control("DELETE", "events");
  expect(answer.cleared).toBe(1);
  expect(await sim.events.list()).toEqual([]);
  expect(await sim.persons()).toHaveLength(1);
  await capture({ event: "b", distinct_id: "u" });
  expect((await sim.events.list({ since: Number(answer.cursor) })).map((it) => it.event)).toEqual(["b"]);
});

describe("POST /__sim/events/wait", () => {
  test("finds what is already there", async () => {
    await capture({ event: "a", distinct_id: "u", properties: { plan: "pro", n: 1 } });
    const event = await sim.events.waitFor("a", { plan: "pro" });
    expect(event).toMatchObject({ event: "a", distinct_id: "u", properties: { plan: "pro", n: 1 } });
  });

  test("returns when it comes", async () => {
    const waiting = sim.events.waitFor("later", { n: 2 });
    await capture({ event: "later", distinct_id: "u", properties: { n: 1 } });
    await capture({ event: "later", distinct_id: "u", properties: { n: 2 } });
    expect((await waiting).properties.n).toBe(2);
  });

  test("counts, from a cursor on", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const since = await sim.events.mark();
    const waiting = control("POST", "events/wait", { match: { event: "a" }, count: 2, since });
    await capture({ batch: [1, 2, 3].map((n) => ({ event: "a", distinct_id: `u${n}` })) }, "/batch/");
    const { answer } = await waiting;
    expect((answer.events as { seq: number }[]).map((it) => it.seq)).toEqual([since + 1, since + 2]);
  });

  test("many waiters, one event each", async () => {
    const names = Array.from({ length: 50 }, (_, i) => `e${i}`);
    const waiting = names.map((name) => sim.events.waitFor(name));
    await Promise.all(names.map((event) => capture({ event, distinct_id: "u" })));
    expect((await Promise.all(waiting)).map((it) => it.event)).toEqual(names);
  });

  test("in vain: 409 with a report of what came instead and what was dropped", async () => {
    await capture({ event: "signup", distinct_id: "u" });
    await capture({ event: "checkout" });
    const { status, answer } = await control("POST", "events/wait", {
      match: { event: "checkout" },
      timeout_ms: 0,
    });
    expect([status, answer.code]).toEqual([409, "wait_timeout"]);
    expect(answer.report).toMatchObject({
      seen: { signup: 1 },
      dropped: [{ event: "checkout", reason: "missing_distinct_id" }],
      got: 0,
    });
    await expect(sim.events.waitFor("checkout", undefined, { timeoutMs: 0 })).rejects.toThrow(
      /captured in scope: signup\ndropped: #\d+ checkout — missing_distinct_id/,
    );
  });

  const bad: [body: unknown, code: string, pointer: string | null][] = [
    [{ match: 1 }, "invalid_input", "/match"],
    [{ match: { properties: { n: { "@gte": 1 } } } }, "invalid_input", "/match/properties/n/@gte"],
    [{ count: 0 }, "invalid_input", "/count"],
    [{ timeout_ms: 1e9 }, "invalid_input", "/timeout_ms"],
    [{ since: "x" }, "invalid_input", "/since"],
    [{ project: "one" }, "invalid_input", "/project"],
    [{ outcome: "lost" }, "invalid_input", "/outcome"],
    [{ timeout: 5 }, "invalid_input", "/timeout"],
    [[], "invalid_input", ""],
    ["{", "parse_error", null],
    ["[".repeat(500), "parse_error", null],
  ];
  test.each(bad)("%j is refused", async (body, code, pointer) => {
    const { status, answer } = await control("POST", "events/wait", body);
    expect([status, answer.code, answer.pointer]).toEqual([400, code, pointer]);
  });
});

describe("POST /__sim/settle", () => {
  test("returns when it is quiet", async () => {
    await capture({ event: "a", distinct_id: "u" });
    expect((await control("POST", "settle", { idle_ms: 5 })).answer).toEqual({
      quiet: true,
      cursor: await sim.events.mark(),
    });
  });

  test("says when it does not get quiet", async () => {
    const { status, answer } = await control("POST", "settle", { idle_ms: 1000, timeout_ms: 0 });
    expect([status, answer.code]).toEqual([409, "wait_timeout"]);
  });
});

describe("the journal", () => {
  test("keeps what came and what was answered", async () => {
    await sim.handle(
      new Request(`${sim.url}/capture/?x=1`, {
        method: "POST",
        headers: { authorization: "Bearer phx_real_secret", "x-one": "1" },
        body: JSON.stringify({ api_key: sim.apiKey, event: "a", distinct_id: "u" }),
      }),
    );
    const [latest] = await sim.requests();
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
    const [latest] = await sim.requests({ outcome: "rejected" });
    expect(latest).toMatchObject({ status: 400, rejected: { reason: "undecodable_payload" } });
    const { answer } = await control("GET", `requests/${latest?.n}`);
    expect(answer.raw).toEqual({ base64: Buffer.from(bytes).toString("base64") });
  });

  test("keeps unknown paths", async () => {
    await sim.handle(new Request(`${sim.url}/nowhere`));
    expect((await sim.requests({ outcome: "rejected" }))[0]).toMatchObject({
      target: "/nowhere",
      status: 404,
      rejected: { reason: "not_found" },
    });
  });

  test("a request that is not there", async () => {
    expect((await control("GET", "requests/999999")).status).toBe(404);
    expect((await control("GET", "events/999999")).status).toBe(404);
  });
});

test("persons and groups can be asked for", async () => {
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
  const [person] = await sim.persons({ distinct_id: "anon" });
  expect(person).toMatchObject({ is_identified: true, properties: { plan: "pro" } });
  expect(person).toMatchObject({ distinct_ids: expect.arrayContaining(["anon", "u"]) });
  const { answer } = await control("GET", "persons/u");
  expect(answer.history).toMatchObject([
    { event: "$identify", change: { $set: { plan: "pro" }, $anon_distinct_id: "anon" } },
  ]);
  expect(await sim.groups()).toMatchObject([{ type: "company", key: "acme", properties: { tier: "gold" } }]);
  expect((await control("GET", "persons/nobody")).status).toBe(404);
});

describe("POST /__sim/reset", () => {
  test("back to the scenario", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const { answer } = await control("POST", "reset");
    expect(answer.reset).toEqual(["world", "people", "events", "faults", "answers", "clock"]);
    expect([await sim.events.list(), await sim.persons()]).toEqual([[], []]);
  });

  test("only a part", async () => {
    await capture({ event: "a", distinct_id: "u" });
    await control("POST", "reset", { what: ["events"] });
    expect([await sim.events.list(), (await sim.persons()).length]).toEqual([[], 1]);
  });

  test.each([[{ what: "events" }], [{ what: ["nothing"] }], [{ which: [] }]])(
    "%j is refused",
    async (body) => {
      expect((await control("POST", "reset", body)).status).toBe(400);
    },
  );
});

import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type SimOptions, startSim } from "../../../src/index.ts";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const notices: string[] = [];
const { sim, capture } = await openSim({ onNotice: (text) => notices.push(text) });
beforeAll(async () => {
  await control(sim, "GET", "info");
});
beforeEach(() => sim.reset());
const wait = (body: unknown, signal?: AbortSignal) => control(sim, "POST", "events/wait", body, signal);
const names = (answer: { events: { event: string }[] }) => answer.events.map((it) => it.event);
const newProject = async () => (await control(sim, "POST", "projects", { name: "another one" })).answer;

describe("finds", () => {
  test("an event that has already arrived", async () => {
    await capture({ event: "a", distinct_id: "u", properties: { plan: "pro", n: 1 } });
    const { answer } = await wait({ match: { event: "a", properties: { plan: "pro" } } });
    expect(answer.events).toMatchObject([{ distinct_id: "u", properties: { plan: "pro", n: 1 } }]);
    expect(answer.cursor).toBe(answer.events[0]?.seq);
  });

  test("what is there, without any time to wait", async () => {
    await capture(Array.from({ length: 500 }, (_, i) => ({ event: `e${i}`, distinct_id: "u" })));
    expect((await wait({ match: { properties: {}, event: "e499" }, timeout_ms: 0 })).status).toBe(200);
    expect((await wait({ match: { distinct_id: "u" }, count: 500, timeout_ms: 0 })).status).toBe(200);
  });

  const patterns: [match: unknown][] = [
    ["later"],
    [{ event: "later" }],
    [{ distinct_id: "v" }],
    [{ properties: { n: { "@gte": 2 } } }],
    [{ event: { "@startsWith": "lat" } }],
    [{ "@all": [{ event: "later" }, { properties: { n: 2 } }] }],
  ];
  test.each(patterns)("%j when it comes", async (match) => {
    const waiting = wait({ match });
    await capture({ event: "earlier", distinct_id: "u", properties: { n: 1 } });
    await capture({ event: "later", distinct_id: "v", properties: { n: 2 } });
    expect(names((await waiting).answer)).toEqual(["later"]);
  });

  test("that many, from a cursor on", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const since = await sim.events.mark();
    const waiting = wait({ match: "a", count: 2, since });
    await capture([1, 2, 3].map((n) => ({ event: "a", distinct_id: `u${n}` })));
    const { answer } = await waiting;
    expect(answer.events.map((it) => it.seq)).toEqual([since + 1, since + 2]);
    expect(answer.cursor).toBe(since + 2);
  });

  test("the first ones, also when others come during the look back", async () => {
    await capture(Array.from({ length: 1_000 }, () => ({ event: "a", distinct_id: "u" })));
    const waiting = wait({ match: { properties: {} }, count: 2 });
    await capture({ event: "a", distinct_id: "u" });
    const first = (await sim.events.list({ limit: 2 })).map((it) => it.seq);
    expect((await waiting).answer.events.map((it) => it.seq)).toEqual(first);
  });

  test("dropped events, when asked", async () => {
    const waiting = wait({ match: "a", outcome: "dropped" });
    await capture({ event: "a", distinct_id: "u" });
    await capture({ event: "a" });
    expect((await waiting).answer.events).toMatchObject([{ reason: "missing_distinct_id" }]);
  });

  test("only those of the project", async () => {
    const other = await newProject();
    const waiting = wait({ match: "a", project: other.id });
    await capture({ event: "a", distinct_id: "u" });
    await capture({ event: "a", distinct_id: "v" }, { key: other.api_key });
    expect((await waiting).answer.events).toMatchObject([{ project: other.id, distinct_id: "v" }]);
  });
});

describe("a sequence", () => {
  const rows: [sequence: string[], captured: string[], places: number[] | null][] = [
    [
      ["a", "b"],
      ["a", "b"],
      [0, 1],
    ],
    [
      ["a", "b"],
      ["b", "a", "x", "b"],
      [1, 3],
    ],
    [
      ["a", "a"],
      ["a", "x", "a"],
      [0, 2],
    ],
    [
      ["a", "b", "a"],
      ["a", "a", "b", "a"],
      [0, 2, 3],
    ],
    [["a", "b"], ["b", "a"], null],
    [["a", "a"], ["a"], null],
  ];
  test.each(rows)("%j in %j", async (sequence, captured, places) => {
    const start = await sim.events.mark();
    await capture(captured.map((event) => ({ event, distinct_id: "u" })));
    const { status, answer } = await wait({ sequence, since: start, timeout_ms: 0 });
    if (places === null) expect([status, answer.code]).toEqual([409, "wait_timeout"]);
    else expect(answer.events.map((it) => it.seq - start - 1)).toEqual(places);
  });

  test("one by one, as they come", async () => {
    const waiting = wait({ sequence: [{ event: "a" }, { properties: { n: 2 } }] });
    for (const n of [2, 1, 2]) await capture({ event: "a", distinct_id: "u", properties: { n } });
    expect((await waiting).answer.events.map((it) => it.properties.n)).toEqual([2, 2]);
  });

  test("the report says which order it was", async () => {
    await capture(["b", "a"].map((event) => ({ event, distinct_id: "u" })));
    const { answer } = await wait({ sequence: ["a", "b"], timeout_ms: 0 });
    expect(answer.report.complaints).toMatchObject([{ kind: "out_of_order", expectation: 1, after: 0 }]);
  });
});

test("1,000 wait at once, each for its own event; all come in one request", async () => {
  const count = 1_000;
  const own = Array.from({ length: count }, (_, i) => `e${i}`);
  const byName = own.map((event) => wait({ match: event, timeout_ms: 60_000 }));
  const byProperty = own
    .slice(0, 50)
    .map((_, i) => wait({ match: { properties: { i: { "@eq": i } } }, timeout_ms: 60_000 }));
  await capture(own.map((event, i) => ({ event, distinct_id: "u", properties: { i } })));
  expect((await Promise.all(byName)).flatMap(({ answer }) => names(answer))).toEqual(own);
  expect((await Promise.all(byProperty)).flatMap(({ answer }) => names(answer))).toEqual(own.slice(0, 50));
});

test("a caller that goes away ends it, and its late event is not reported", async () => {
  const end = new AbortController();
  const waiting = wait({ match: "unheard", timeout_ms: 60_000 }, end.signal);
  await control(sim, "GET", "info");
  end.abort();
  await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
  await capture({ event: "unheard", distinct_id: "u" });
  expect(notices.filter((it) => it.includes("unheard"))).toEqual([]);
});

test("a sim that closes ends it", async () => {
  const own = await startSim();
  const waiting = control(own, "POST", "events/wait", { match: "a", timeout_ms: 60_000 });
  const verifying = control(own, "POST", "events/verify", {
    expect: [{ match: "a", count: 0 }],
    settle_ms: 60_000,
    timeout_ms: 60_000,
  });
  await own.close();
  for (const { status, answer } of await Promise.all([waiting, verifying]))
    expect([status, answer.detail]).toEqual([409, "the sim is closing"]);
});

describe("in vain", () => {
  test("409 with what was wanted, what came instead and what was dropped", async () => {
    await capture([{ event: "signup", distinct_id: "u" }, { event: "checkout" }]);
    const { status, answer } = await wait({ match: "checkout", timeout_ms: 0 });
    expect([status, answer.code, answer.cursor]).toEqual([409, "wait_timeout", await sim.events.mark()]);
    expect(answer.waited_ms).toBe(answer.report.waited_ms);
    expect(answer.report).toMatchObject({
      title: 'wait for "checkout"',
      seen: { signup: 1 },
      dropped: [{ event: "checkout", reason: "missing_distinct_id", fits: true }],
      complaints: [{ kind: "too_few", got: 0, wanted: { min: 1 } }],
      in_flight: 0,
      requests: 1,
      project: null,
    });
    expect(answer.detail).toBe(answer.report.text.split("\n")[0]);
  });

  test("the title is the caller's", async () => {
    const { answer } = await wait({ match: "a", timeout_ms: 0, title: 'waitFor("a")' });
    expect(answer.report.text).toMatch(/^waitFor\("a"\) — not captured within \d+ ms/);
  });

  test("fewer events than the count", async () => {
    await capture({ event: "a", distinct_id: "u" });
    const { answer } = await wait({ match: "a", count: 3, timeout_ms: 0 });
    expect(answer.report.complaints).toMatchObject([{ kind: "too_few", got: 1, wanted: { min: 3 } }]);
  });

  test("nothing has reached the sim at all", async () => {
    const { answer } = await wait({ match: "a", timeout_ms: 0, project: sim.projectId });
    expect(answer.report).toMatchObject({ requests: 0, url: sim.url, project: { id: 1, api_key: sim.apiKey } });
  });

  test("it came before the cursor, and is in another project", async () => {
    const other = await newProject();
    await capture([
      { event: "a", distinct_id: "early" },
      { event: "b", distinct_id: "early" },
    ]);
    const since = await sim.events.mark();
    await capture({ event: "a", distinct_id: "elsewhere" }, { key: other.api_key });
    const { answer } = await wait({ match: "a", timeout_ms: 0, project: sim.projectId, since });
    expect(answer.report).toMatchObject({
      early: [{ distinct_id: "early", seq: since - 1 }],
      elsewhere: [{ distinct_id: "elsewhere", project: other.id, api_key: other.api_key }],
      late: [],
      seen: {},
      evicted: false,
    });
  });

  test("it comes while the report is made: the report says so, and nothing is reported again", async () => {
    await control(sim, "POST", "faults", { effect: { latency: 100 }, match: { route: "capture" } });
    const sent = capture({ event: "tardy", distinct_id: "u" });
    const { answer } = await wait({ match: "tardy", timeout_ms: 1, project: sim.projectId });
    expect(answer.report.late).toMatchObject([{ event: "tardy", project: sim.projectId }]);
    expect(answer.cursor).toBeLessThan(answer.report.late[0]?.seq ?? 0);
    await sent;
    await capture({ event: "tardy", distinct_id: "u" });
    expect(notices.filter((it) => it.includes("tardy"))).toEqual([]);
  });

  test("it comes later: the sim says so, once", async () => {
    await wait({ match: { event: "late", properties: { n: 1 } }, timeout_ms: 1 });
    for (const n of [2, 1, 1]) await capture({ event: "late", distinct_id: "u", properties: { n } });
    expect(notices.filter((it) => it.includes('"late"'))).toEqual([
      expect.stringMatching(/^event #\d+ "late" came \d+\.\d s after a wait for it gave up \(project 1\)$/),
    ]);
  });

  test("only the last 100 waits in vain are remembered", async () => {
    await wait({ match: "forgotten", timeout_ms: 1 });
    await Promise.all(Array.from({ length: 100 }, (_, i) => wait({ match: `kept-${i}`, timeout_ms: 1 })));
    await capture(["forgotten", "kept-0", "kept-99"].map((event) => ({ event, distinct_id: "u" })));
    const reported = notices.filter((it) => /forgotten|kept-/.test(it)).map((it) => /"(.+)"/.exec(it)?.[1]);
    expect(reported).toEqual(["kept-0", "kept-99"]);
  });

  test("rejected requests, unknown paths, senders and faults are reported", async () => {
    const post = (path: string, body: string, headers: Record<string, string> = {}) =>
      sim.handle(new Request(sim.url + path, { method: "POST", body, headers }));
    await post("/batch/", "{", { "user-agent": "posthog-python/6.1.0" });
    await post("/bacth/", "{}");
    await capture({ event: "x", distinct_id: "u", properties: { $lib: "web", $lib_version: "1.2.3" } });
    await control(sim, "POST", "faults", { preset: "capture-503", times: 2 });
    await capture({ event: "a", distinct_id: "u" });
    const { answer } = await wait({ match: "a", timeout_ms: 0, project: sim.projectId });
    expect(answer.report).toMatchObject({
      rejected: [
        { method: "POST", target: "/batch/", reason: "fault" },
        { method: "POST", target: "/batch/", reason: expect.any(String), detail: expect.any(String) },
      ],
      unmatched: [{ method: "POST", target: "/bacth/" }],
      requests: 4,
      senders: [
        { lib: "web", version: "1.2.3" },
        { lib: "posthog-python", version: "6.1.0" },
      ],
      faults: [{ name: "capture-503", touched: 1 }],
      last_request_ms_ago: expect.any(Number),
    });
  });

  test("a request without a project counts for a test's project only from its start", async () => {
    const post = (path: string) => sim.handle(new Request(sim.url + path, { method: "POST", body: "{" }));
    await post("/batch/");
    await post("/bacth/");
    await sim.clock.advance("1s");
    const { id } = await newProject();
    const report = async (project: number) => (await wait({ match: "a", timeout_ms: 0, project })).answer.report;
    expect(await report(id)).toMatchObject({ rejected: [], unmatched: [], requests: 0 });
    await post("/batch/");
    expect(await report(id)).toMatchObject({ rejected: [{ target: "/batch/" }], requests: 1 });
    expect(await report(sim.projectId)).toMatchObject({ rejected: [{}, {}], unmatched: [{}], requests: 3 });
  });

  const links: [given: SimOptions, linked: boolean][] = [
    [{}, false],
    [{ reportLinks: true }, true],
  ];
  test.each(links)("a sim with %j links to the inspector: %s", async (given, linked) => {
    await using other = await startSim(given);
    const { answer } = await control(other, "POST", "events/wait", { match: "a", timeout_ms: 0 });
    expect(answer.report.text.includes(`inspect: ${other.url}/__sim/`)).toBe(linked);
    expect(answer.report.inspectable).toBe(linked);
  });

  test("a neighbour's faults and requests are not reported", async () => {
    const other = await newProject();
    await control(sim, "POST", "faults", { preset: "capture-503", match: { project: other.id } });
    await capture({ event: "a", distinct_id: "u" }, { key: other.api_key });
    const { answer } = await wait({ match: "a", timeout_ms: 0, project: sim.projectId });
    expect(answer.report).toMatchObject({ faults: [], rejected: [], requests: 0, last_request_ms_ago: null });
  });

  const clearings: [what: string, clear: (other: number) => Promise<unknown>, evicted: boolean][] = [
    ["nothing", async () => {}, false],
    ["all", () => sim.events.clear(), true],
    ["its own", () => control(sim, "DELETE", `events?project=${sim.projectId}`), true],
    ["a neighbour's", (other) => control(sim, "DELETE", `events?project=${other}`), false],
    ["the log", () => sim.reset(), true],
  ];
  test.each(clearings)("was what came since the cursor let go? Cleared was %s", async (_, clear, evicted) => {
    const other = await newProject();
    await capture([1, 2].map(() => ({ event: "before", distinct_id: "u" })));
    const since = await sim.events.mark();
    await capture({ event: "a", distinct_id: "u" });
    await capture({ event: "a", distinct_id: "u" }, { key: other.api_key });
    await clear(other.id);
    const { answer } = await wait({ match: "b", timeout_ms: 0, project: sim.projectId, since });
    expect(answer.report.evicted).toBe(evicted);
  });
});

test("POST /__sim/events/surroundings: what else there is to know, for an evaluation in the client", async () => {
  await capture({ event: "a", distinct_id: "u" });
  const since = await sim.events.mark();
  const { status, answer } = await control(sim, "POST", "events/surroundings", {
    match: { event: "a" },
    project: sim.projectId,
    since,
  });
  expect(status).toBe(200);
  expect(answer).toMatchObject({ waited_ms: null, since, early: [{ event: "a", seq: since }], late: [] });
  expect((await control(sim, "POST", "events/surroundings", {})).answer).toMatchObject({ early: [], project: null });
});

describe("bodies that are wrong", () => {
  const bad: [body: unknown, code: string, pointer: string | null][] = [
    [{ match: 1 }, "invalid_input", "/match"],
    [{ match: { properties: { n: { "@gtx": 1 } } } }, "invalid_input", "/match/properties/n/@gtx"],
    [{ match: { properties: { n: { "@gte": {} } } } }, "invalid_input", "/match/properties/n/@gte"],
    [{ match: { event: { "@regex": "(" } } }, "invalid_input", "/match/event/@regex"],
    [{ match: { evnt: "a" } }, "invalid_input", "/match/evnt"],
    [{ match: { "@any": [{ event: "a" }, { plan: "pro" }] } }, "invalid_input", "/match/@any/1/plan"],
    [{ sequence: ["a", { "@not": { "@all": [{ Event: "b" }] } }] }, "invalid_input", "/sequence/1/@not/@all/0/Event"],
    [{ match: JSON.parse('{"__proto__":{"event":"a"}}') }, "invalid_input", "/match/__proto__"],
    [{ count: 0 }, "invalid_input", "/count"],
    [{ count: 100_001 }, "invalid_input", "/count"],
    [{ timeout_ms: 1e9 }, "invalid_input", "/timeout_ms"],
    [{ since: "x" }, "invalid_input", "/since"],
    [{ project: "one" }, "invalid_input", "/project"],
    [{ project: 999_999 }, "invalid_input", "/project"],
    [{ outcome: "lost" }, "invalid_input", "/outcome"],
    [{ timeout: 5 }, "invalid_input", "/timeout"],
    [{ title: 5 }, "invalid_input", "/title"],
    [{ title: "x".repeat(1_001) }, "invalid_input", "/title"],
    [{ sequence: [] }, "invalid_input", "/sequence"],
    [{ sequence: "a" }, "invalid_input", "/sequence"],
    [{ sequence: Array(101).fill("a") }, "invalid_input", "/sequence"],
    [{ sequence: ["a", 1] }, "invalid_input", "/sequence/1"],
    [{ sequence: ["a"], match: "a" }, "invalid_input", "/match"],
    [{ sequence: ["a"], count: 2 }, "invalid_input", "/count"],
    [[], "invalid_input", ""],
    ["{", "parse_error", null],
    ["[".repeat(500), "parse_error", null],
  ];
  test.each(bad)("%j", async (body, code, pointer) => {
    const { status, answer } = await wait(body);
    expect([status, answer.code, answer.pointer]).toEqual([400, code, pointer]);
  });

  test("keys of a prototype are keys like others", async () => {
    const { status, answer } = await wait('{"match":{"properties":{"__proto__":{"event":"a"}}},"timeout_ms":0}');
    expect([status, answer.code]).toEqual([409, "wait_timeout"]);
    expect((await wait('{"__proto__":1}')).status).toBe(400);
  });
});

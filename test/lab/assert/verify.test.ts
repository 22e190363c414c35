import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { control } from "../../support/control.ts";
import { openSim } from "../../support/sim.ts";

const { sim, capture } = await openSim();
beforeAll(async () => {
  await control(sim, "GET", "info");
});
beforeEach(() => sim.reset());
const verify = (body: unknown) => control(sim, "POST", "events/verify", body);
const named = (...names: string[]) => names.map((event) => ({ event, distinct_id: "u" }));

describe("what holds, or fails, whatever the app does is refused", () => {
  type Row = [terms: object, pointer: string, detail: RegExp];
  const none = (match: unknown) => ({ expect: [{ match, count: 0 }] });
  const nested = /properties are given flat: \{plan: "pro"\}/;
  const rows: Row[] = [
    [
      none({ event: "a", properties: { properties: { plan: "pro" } } }),
      "/expect/0/match/properties/properties",
      nested,
    ],
    [none({ event: 5 }), "/expect/0/match/event", /"event" of an event is a string: 5 never fits/],
    [none({ event: ["a"] }), "/expect/0/match/event", /\["a"\] never fits/],
    [none({ event: { "@exists": false } }), "/expect/0/match/event", /never fits/],
    [none({ distinct_id: { "@in": [1, 2] } }), "/expect/0/match/distinct_id", /is a string/],
    [none({ event: "a", properties: "pro" }), "/expect/0/match/properties", /is an object: "pro" never/],
    [none({ "@any": [{ event: "a" }, { event: 1 }] }), "/expect/0/match/@any/1/event", /1 never fits/],
    [none({ event: "a", outcome: "dropped" }), "/expect/0/match/outcome", /are about kept events/],
    [none({ event: "a", reason: "no_event_name" }), "/expect/0/match/reason", /"reason" is null/],
    [none({ event: "a", person_mode: "anonymous" }), "/expect/0/match/person_mode", /"full" or "propertyless"/],
    [none(""), "/expect/0/match/event", /no kept event has an empty event/],
    [
      none({ event: "a", properties: { plan: { "@in": [] } } }),
      "/expect/0/match/properties/plan",
      /@in of an empty list/,
    ],
    [{ expect: [{ match: {} }] }, "/expect/0/match", /\{\} fits every event/],
    [{ expect: [{ match: { properties: {} } }] }, "/expect/0/match", /fits every event/],
    [{ expect: [{ match: { event: { "@regex": ".*" } } }] }, "/expect/0/match", /fits every event/],
    [{ expect: [{ match: { outcome: "kept" } }] }, "/expect/0/match", /fits every event/],
    [{ expect: [{ match: { "@all": [] } }], nothing_else: true }, "/expect/0/match", /fits every event/],
    [{ expect: [{ match: "a", count: {} }] }, "/expect/0/count", /always holds/],
    [{ expect: [{ match: "a", count: { min: 0 } }] }, "/expect/0/count", /always holds/],
    [{ ...none("a"), since: 1e9 }, "/since", /"since" is 1000000000, but the newest event is #\d+/],
  ];
  test.each(rows)("%j", async (terms, pointer, detail) => {
    const { status, answer } = await verify({ timeout_ms: 0, settle_ms: 1, ...terms });
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
    expect(answer.detail).toMatch(detail);
  });

  test("a wait for what never comes", async () => {
    const wait = async (body: object) =>
      (await control(sim, "POST", "events/wait", { timeout_ms: 0, ...body })).answer.pointer;
    expect(await wait({ sequence: ["a", { event: 5 }] })).toBe("/sequence/1/event");
    expect(await wait({ match: { event: "a", reason: "x" } })).toBe("/match/reason");
    expect(await wait({ match: { event: "a", reason: "x" }, outcome: "dropped" })).toBeNull();
  });

  test("properties with the name properties, and what only looks empty", async () => {
    const since = await sim.events.mark();
    await capture([{ event: "a", distinct_id: "u", properties: { properties: { plan: "pro" } } }]);
    const match = { event: "a", properties: { properties: { "@all": [{ plan: "pro" }] } } };
    expect((await verify({ expect: [{ match }], since, timeout_ms: 0 })).status).toBe(200);
    expect((await verify({ expect: [{ match: {}, count: 1 }], since, settle_ms: 1 })).status).toBe(200);
  });
});

describe("what is there", () => {
  type Row = [captured: string[], terms: object, outcome: "passed" | string[]];
  const rows: Row[] = [
    [["a"], { expect: [{ match: "a" }] }, "passed"],
    [["a", "a"], { expect: [{ match: "a" }] }, "passed"],
    [["a", "a"], { expect: [{ match: "a", count: 2 }] }, "passed"],
    [["a", "a"], { expect: [{ match: "a", count: 1 }] }, ["too_many"]],
    [["a", "a"], { expect: [{ match: "a", count: 3 }] }, ["too_few"]],
    [["a"], { expect: [{ match: "a", count: { min: 1, max: 2 } }] }, "passed"],
    [["a"], { expect: [{ match: "a", count: { max: 0 } }] }, ["too_many"]],
    [["b"], { expect: [{ match: "a", count: 0 }] }, "passed"],
    [["b"], { expect: [{ match: "a", count: {} }], nothing_else: true }, ["unexpected"]],
    [["a", "b"], { expect: [{ match: "a" }, { match: "c" }, { match: "d" }] }, ["too_few", "too_few"]],
    [["a", "x", "b"], { expect: [{ match: "a" }, { match: "b" }], ordered: true }, "passed"],
    [["b", "a", "b"], { expect: [{ match: "a" }, { match: "b" }], ordered: true }, "passed"],
    [["b", "a"], { expect: [{ match: "a" }, { match: "b" }], ordered: true }, ["out_of_order"]],
    [["a", "b", "a"], { expect: [{ match: "a", count: 2 }, { match: "b" }], ordered: true }, ["out_of_order"]],
    [["a", "b"], { expect: [{ match: "a" }], nothing_else: true }, ["unexpected"]],
    [["a", "$pageview"], { expect: [{ match: "a" }], nothing_else: true }, "passed"],
    [[], { expect: [], nothing_else: true }, "passed"],
    [["a"], { expect: [], nothing_else: true }, ["unexpected"]],
    [["a"], { expect: [{ match: { event: { "@regex": "^a$" } } }, { match: {}, count: 1 }] }, "passed"],
  ];
  test.each(rows)("%j: %j", async (captured, terms, outcome) => {
    const since = await sim.events.mark();
    if (captured.length > 0) await capture(named(...captured));
    const { status, answer } = await verify({ ...terms, since, timeout_ms: 0, settle_ms: 1 });
    if (outcome === "passed") {
      expect([status, answer.passed, answer.settled]).toEqual([200, true, true]);
    } else {
      const kinds = answer.report.complaints.map((it) => it.kind);
      expect([status, answer.code, kinds]).toEqual([409, "expectation_failed", outcome]);
      expect(answer.cursor).toBe(since + captured.length);
    }
  });

  test("the answer says which events it was", async () => {
    const since = await sim.events.mark();
    await capture(named("a", "b", "a", "c"));
    const { answer } = await verify({ expect: [{ match: "a" }, { match: "c" }, { match: {}, count: 4 }] });
    expect(answer.matched).toEqual([[since + 1, since + 3], [since + 4], [since + 1, since + 2, since + 3, since + 4]]);
    expect(answer.events.map((it) => it.event)).toEqual(["a", "b", "a", "c"]);
  });

  test("only that of the project and since the cursor counts", async () => {
    const other = (await control(sim, "POST", "projects", {})).answer;
    await capture(named("a"));
    const since = await sim.events.mark();
    await capture(named("a"), { key: other.api_key });
    const terms = { expect: [{ match: "a", count: 0 }], settle_ms: 1 };
    expect((await verify({ ...terms, since, project: sim.projectId })).status).toBe(200);
    expect((await verify({ ...terms, since, project: other.id })).status).toBe(409);
    expect((await verify({ ...terms, project: sim.projectId })).status).toBe(409);
  });
});

describe("what comes", () => {
  test("minimums are waited for", async () => {
    const verifying = verify({ expect: [{ match: "a", count: { min: 2 } }, { match: "b" }] });
    for (const event of ["a", "b", "a"]) await capture(named(event));
    const { status, answer } = await verifying;
    expect([status, answer.events.length]).toEqual([200, 3]);
  });

  test("so is the order", async () => {
    const verifying = verify({ expect: [{ match: "a" }, { match: "b" }], ordered: true });
    for (const event of ["b", "a", "b"]) await capture(named(event));
    expect((await verifying).status).toBe(200);
  });

  test("too much of something is answered at once", async () => {
    const verifying = verify({ expect: [{ match: "a", count: 0 }, { match: "never" }], timeout_ms: 60_000 });
    await capture(named("a"));
    const { status, answer } = await verifying;
    expect([status, answer.report.complaints[0]?.kind]).toEqual([409, "too_many"]);
  });

  test("also while it settles", async () => {
    const verifying = verify({ expect: [{ match: "a", count: 0 }], settle_ms: 60_000, timeout_ms: 60_000 });
    await control(sim, "GET", "info");
    await capture(named("a"));
    expect((await verifying).status).toBe(409);
  });

  test.each([
    ["a maximum", { expect: [{ match: "a", count: 0 }] }],
    ["nothing else", { expect: [{ match: "b", count: { min: 0 } }], nothing_else: true }],
  ])("%s waits for what is in flight", async (_, terms) => {
    await control(sim, "POST", "faults", { effect: { latency: 50 }, match: { route: "capture" } });
    const sent = capture(named("a"));
    const { status } = await verify({ ...terms, project: sim.projectId, settle_ms: 1 });
    expect(status).toBe(409);
    await sent;
  });

  test("without a maximum nothing is settled", async () => {
    await control(sim, "POST", "faults", { effect: { latency: 60_000 }, match: { route: "flags" } });
    const end = new AbortController();
    const flags = sim.handle(new Request(`${sim.url}/flags/`, { method: "POST", body: "{}", signal: end.signal }));
    const gone = expect(flags).rejects.toMatchObject({ name: "AbortError" });
    await capture(named("a"));
    expect((await verify({ expect: [{ match: "a" }], settle_ms: 60_000 })).status).toBe(200);
    end.abort();
    await gone;
  });

  test("what never gets quiet is evaluated when the time is over, and the answer says so", async () => {
    let isOver = false;
    const noise = (async () => {
      while (!isOver) await capture(named("b"));
    })();
    const { status, answer } = await verify({
      expect: [{ match: "a", count: 0 }],
      project: sim.projectId,
      settle_ms: 100,
      timeout_ms: 1,
    });
    isOver = true;
    await noise;
    expect([status, answer.settled]).toEqual([200, false]);
  });

  test("settle_ms 0 does not wait", async () => {
    const { status, answer } = await verify({ expect: [{ match: "a", count: 0 }], settle_ms: 0, timeout_ms: 60_000 });
    expect([status, answer.events]).toEqual([200, []]);
  });
});

describe("bodies that are wrong", () => {
  const one = { match: "a" };
  const bad: [body: unknown, pointer: string][] = [
    [{}, "/expect"],
    [{ expect: {} }, "/expect"],
    [{ expect: [] }, "/expect"],
    [{ expect: Array(101).fill(one) }, "/expect"],
    [{ expect: [1] }, "/expect/0"],
    [{ expect: [one, {}] }, "/expect/1/match"],
    [{ expect: [{ match: { "@x": 1 } }] }, "/expect/0/match/@x"],
    [{ expect: [{ match: "a", times: 1 }] }, "/expect/0/times"],
    [{ expect: [{ match: "a", count: -1 }] }, "/expect/0/count"],
    [{ expect: [{ match: "a", count: 1.5 }] }, "/expect/0/count"],
    [{ expect: [{ match: "a", count: "1" }] }, "/expect/0/count"],
    [{ expect: [{ match: "a", count: { min: "1" } }] }, "/expect/0/count/min"],
    [{ expect: [{ match: "a", count: { least: 1 } }] }, "/expect/0/count/least"],
    [{ expect: [{ match: "a", count: { min: 2, max: 1 } }] }, "/expect/0/count"],
    [{ expect: [one], ordered: "yes" }, "/ordered"],
    [{ expect: [one], nothing_else: 1 }, "/nothing_else"],
    [{ expect: [one], settle_ms: -1 }, "/settle_ms"],
    [{ expect: [one], timeout_ms: 60_001 }, "/timeout_ms"],
    [{ expect: [one], project: 999_999 }, "/project"],
    [{ expect: [one], since: -1 }, "/since"],
    [{ expect: [one], title: [] }, "/title"],
    [{ expect: [one], order: true }, "/order"],
  ];
  test.each(bad)("%j", async (body, pointer) => {
    const { status, answer } = await verify(body);
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
  });
});

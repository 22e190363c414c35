import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Sim, type SimOptions, startSim } from "../../../src/index.ts";
import type { JsonObject } from "../../../src/kernel/base/json.ts";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim();
});
afterEach(() => sim.close());

const scenarioWith = (part: object): object => ({
  version: 1,
  organizations: [{ name: "Org", projects: [{ name: "App", api_key: "phc_app", ...part }] }],
  personal_api_keys: [{ key: "phx_all", scopes: ["*"] }],
});

async function restart(options: SimOptions): Promise<void> {
  await sim.close();
  sim = await startSim(options);
}

async function control(method: string, path: string, body?: object, headers = {}) {
  const given = body === undefined ? {} : { body: JSON.stringify(body) };
  const all = { "content-type": "application/json", ...headers };
  const response = await sim.handle(new Request(`${sim.url}${path}`, { method, headers: all, ...given }));
  return { status: response.status, answer: JSON.parse((await response.text()) || "{}") };
}

const capture = (event: string, distinct_id: string, properties: object = {}) =>
  control("POST", "/capture/", { api_key: sim.apiKey, event, distinct_id, properties });

const identify = (into: string, other: string, properties: object = {}) =>
  capture("$identify", into, { $anon_distinct_id: other, ...properties });

const timeline = async (id: string, query = "") =>
  (await control("GET", `/__sim/persons/${encodeURIComponent(id)}/timeline${query}`)).answer;

const stepsOf = async (id: string) =>
  ((await timeline(id)).events as JsonObject[]).map(({ event, step }) => ({ event, step })).reverse();

/** Without the property that each person has of the event that created it. */
const own = (properties: unknown): JsonObject => {
  const { $creator_event_uuid: _, ...rest } = properties as JsonObject;
  return rest;
};

const nothing = { created: false, identified: false, join: null, changes: [] };

describe("GET /__sim/persons/:id/timeline", () => {
  test("what each event did, newest first, over all ids", async () => {
    await capture("viewed", "anon", { $set: { plan: "free" } });
    await capture("clicked", "anon");
    await identify("u1", "anon", { $set: { plan: "pro" }, $set_once: { first: 1, plan: "never" } });
    await capture("left", "u1", { $unset: ["first"] });
    const reported = await timeline("anon");
    expect(reported).toMatchObject({
      origin: "event",
      gaps: [],
      elsewhere: {},
      before: null,
      person: { distinct_ids: ["anon", "u1"], properties: { plan: "pro" } },
      joins: [{ by: "$identify", other: "anon", into: "u1", outcome: "attached", reason: null, seq: 3 }],
    });
    expect(reported.events.map((it: JsonObject) => [it.seq, it.event, it.distinct_id])).toEqual([
      [4, "left", "u1"],
      [3, "$identify", "u1"],
      [2, "clicked", "anon"],
      [1, "viewed", "anon"],
    ]);
    expect(await stepsOf("u1")).toMatchObject([
      { step: { ...nothing, created: true, changes: [{ property: "plan", by: "$set", to: "free" }] } },
      { step: null },
      {
        step: {
          created: false,
          identified: true,
          join: { outcome: "attached" },
          changes: [
            { property: "first", by: "$set_once", to: 1 },
            { property: "plan", by: "$set", from: "free", to: "pro" },
          ],
        },
      },
      { step: { ...nothing, changes: [{ property: "first", by: "$unset", from: 1 }] } },
    ]);
    expect(reported.events.map((it: JsonObject) => own((it.after as JsonObject).properties))).toEqual([
      { plan: "pro" },
      { plan: "pro", first: 1 },
      { plan: "free" },
      { plan: "free" },
    ]);
    expect(reported.properties).toMatchObject([
      {
        property: "first",
        left_out: 0,
        values: [
          { seq: 4, gone: true },
          { seq: 3, value: 1 },
        ],
      },
      {
        property: "plan",
        values: [
          { seq: 3, value: "pro" },
          { seq: 1, value: "free" },
        ],
      },
    ]);
  });

  const joins: [what: string, send: () => Promise<unknown>, outcome: string, reason: string | null][] = [
    ["two ids no one knows", () => identify("a", "b"), "created", null],
    ["one that is known", () => capture("x", "a").then(() => identify("a", "b")), "attached", null],
    [
      "two persons",
      async () => {
        await capture("x", "a", { $set: { from_a: 1 } });
        await capture("x", "b", { $set: { from_b: 1 } });
        await identify("a", "b");
      },
      "merged",
      null,
    ],
    ["the same twice", () => identify("a", "b").then(() => identify("a", "b")), "same", null],
    [
      "one that is identified already",
      async () => {
        await identify("b", "b0");
        await capture("x", "a");
        await identify("a", "b");
      },
      "refused",
      "cannot_merge_already_identified",
    ],
    ["a placeholder", () => identify("a", "anonymous"), "refused", "cannot_merge_with_illegal_distinct_id"],
    [
      "one that is identified, dangerously",
      async () => {
        await identify("b", "b0");
        await capture("x", "a");
        await capture("$merge_dangerously", "a", { alias: "b" });
      },
      "merged",
      null,
    ],
  ];
  test.each(joins)("a join: %s", async (_, send, outcome, reason) => {
    await send();
    const reported = await timeline("a");
    expect(reported.joins.at(-1)).toMatchObject({ outcome, reason });
    expect(reported).toMatchObject({ origin: "event", gaps: [] });
  });

  test("what a merge brings", async () => {
    await capture("x", "a", { $set: { both: "a" } });
    await capture("x", "b", { $set: { both: "b", from_b: 1 } });
    await identify("a", "b");
    const [{ step, after }] = (await timeline("b")).events;
    expect(step).toEqual({
      created: false,
      identified: true,
      join: { by: "$identify", other: "b", into: "a", outcome: "merged", reason: null },
      changes: [{ property: "from_b", by: "merge", to: 1 }],
    });
    expect(own(after.properties)).toEqual({ both: "a", from_b: 1 });
    const { properties } = await timeline("b");
    expect(properties).toMatchObject([
      { property: "both", values: [{ value: "a", by: "merge" }, { value: "b" }, { value: "a" }] },
      { property: "from_b", values: [{ value: 1, by: "$set" }] },
    ]);
  });

  test.each(["documented", "production"] as const)("the direction of an alias, %s", async (dialect) => {
    await restart({ dialect });
    await capture("x", "main");
    await capture("$create_alias", "main", { alias: "second" });
    const { joins: reported, origin } = await timeline("second");
    const main = dialect === "production" ? { other: "second", into: "main" } : { other: "main", into: "second" };
    expect([reported, origin]).toMatchObject([[{ by: "$create_alias", ...main, outcome: "attached" }], "event"]);
  });

  test("dropped and personless events do nothing", async () => {
    await capture("x", "a", { $set: { n: 1 } });
    await capture("$identify", "a", { $anon_distinct_id: 7 });
    await capture("y", "a", { $process_person_profile: false, $set: { n: 2 } });
    const { events } = await timeline("a");
    expect(events).toMatchObject([
      { event: "y", person_mode: "propertyless", step: null, after: { properties: { n: 1 } } },
      { outcome: "dropped", reason: "invalid_anon_distinct_id", step: null },
      { step: { created: true } },
    ]);
  });

  test("copied properties and capture v1's own place for options", async () => {
    await capture("$pageview", "a", { $browser: "Firefox", utm_source: "mail" });
    const reported = await timeline("a");
    expect(reported.events[0].after.properties).toMatchObject({ $browser: "Firefox", $initial_utm_source: "mail" });
    expect(reported.origin).toBe("event");
  });

  test("page by page", async () => {
    for (const n of [1, 2, 3, 4, 5]) await capture("e", n % 2 ? "a" : "b", { n });
    await identify("a", "b");
    const first = await timeline("a", "?limit=2");
    const second = await timeline("a", `?limit=2&before=${first.before}`);
    const third = await timeline("a", `?limit=2&before=${second.before}`);
    const seqs = [first, second, third].map((it) => it.events.map((event: JsonObject) => event.seq));
    expect(seqs).toEqual([
      [6, 5],
      [4, 3],
      [2, 1],
    ]);
    expect([first.before, second.before, third.before]).toEqual([5, 3, null]);
  });

  test("a person of the scenario", async () => {
    const scenario = scenarioWith({
      persons: [{ distinct_ids: ["seed"], properties: { plan: "free" }, created_at: "2026-01-01T00:00:00Z" }],
    });
    await restart({ scenario });
    expect(await timeline("seed")).toMatchObject({ origin: "scenario", gaps: [], events: [], joins: [] });
    await capture("upgraded", "seed", { $set: { plan: "pro" } });
    expect(await timeline("seed")).toMatchObject({
      origin: "scenario",
      gaps: [],
      events: [{ step: { created: false, changes: [{ property: "plan", from: "free", to: "pro" }] } }],
    });
  });

  test("cleared events are reported", async () => {
    await capture("x", "other");
    await capture("x", "a", { $set: { plan: "free", city: "Ulm" } });
    await control("DELETE", "/__sim/events");
    await capture("x", "a", { $set: { plan: "pro" } });
    expect(await timeline("a")).toMatchObject({
      origin: "unknown",
      gaps: [{ reason: "events_lost" }],
      elsewhere: { city: "Ulm" },
    });
  });

  test("a change through the management API is reported", async () => {
    await capture("x", "a", { $set: { plan: "free" } });
    const { person } = await timeline("a");
    const auth = { authorization: `Bearer ${sim.personalApiKey}` };
    await control("PATCH", `/api/projects/1/persons/${person.uuid}/`, { properties: { vip: true } }, auth);
    expect(await timeline("a")).toMatchObject({
      origin: "unknown",
      gaps: [{ reason: "changed_elsewhere" }],
      elsewhere: { vip: true },
    });
  });

  test("hostile property names stay data", async () => {
    const hostile = '{"__proto__":{"polluted":1},"constructor":"c"}';
    const body = `{"api_key":"${sim.apiKey}","event":"x","distinct_id":"a","properties":{"$set":${hostile}}}`;
    const request = new Request(`${sim.url}/capture/`, { method: "POST", body });
    expect((await sim.handle(request)).status).toBe(200);
    const reported = await timeline("a");
    expect(reported.properties.map((it: JsonObject) => it.property)).toEqual(["__proto__", "constructor"]);
    expect(JSON.stringify(own(reported.events[0].after.properties))).toBe(hostile);
    expect(({} as JsonObject).polluted).toBeUndefined();
  });

  test("many values of one property", async () => {
    for (let n = 0; n < 25; n++) await capture("x", "a", { $set: { n } });
    const [{ values, left_out }] = (await timeline("a")).properties;
    expect([values.length, values[0].value, left_out]).toEqual([20, 24, 5]);
  });

  test("more events than are played again", async () => {
    const batch = Array.from({ length: 1_050 }, (_, n) => ({
      event: "x",
      distinct_id: "a",
      properties: { $set: { n } },
    }));
    await control("POST", "/batch/", { api_key: sim.apiKey, batch });
    const reported = await timeline("a", "?limit=1");
    expect(reported).toMatchObject({ gaps: [{ reason: "too_many_events" }], events: [{ is_known: true }] });
    const [oldest] = (await timeline("a", "?before=2")).events;
    expect(oldest).toMatchObject({ seq: 1, is_known: false, step: null, after: null });
  });

  test.each([
    ["nobody", "", 404],
    ["a", "?limit=0", 400],
    ["a", "?limit=501", 400],
    ["a", "?limit=x", 400],
    ["a", "?before=0", 400],
    ["a", "?before=-1", 400],
    ["a", "?project=x", 400],
    ["a", "?project=99", 404],
  ])("%s%s is a mistake", async (id, query, status) => {
    await capture("x", "a");
    expect((await control("GET", `/__sim/persons/${id}/timeline${query}`)).status).toBe(status);
  });

  test("says why a personless id has no person", async () => {
    await capture("x", "ghost", { $process_person_profile: false });
    const { status, answer } = await control("GET", "/__sim/persons/ghost/timeline");
    expect([status, answer.hint]).toEqual([404, expect.stringContaining("personless")]);
  });
});

const group = (type: string, key: string, set: object) =>
  capture("$groupidentify", "u", { $group_type: type, $group_key: key, $group_set: set });

const detail = async (type: string, key: string, query = "") =>
  control("GET", `/__sim/groups/${encodeURIComponent(type)}/${encodeURIComponent(key)}${query}`);

describe("groups", () => {
  test.each([
    ["", ["zeta", "acme", "acme"]],
    ["search=ACM", ["acme", "acme"]],
    ["search=team", ["acme"]],
    ["search=corporation", ["zeta"]],
    ["search=nothing", []],
    ["search=a&limit=1", ["zeta"]],
    ["search=a&limit=1&offset=1", ["acme"]],
  ])("GET /__sim/groups?%s", async (query, keys) => {
    await group("company", "acme", { tier: "gold" });
    await group("team", "acme", {});
    await group("company", "zeta", { name: "Zeta Corporation" });
    const { answer } = await control("GET", `/__sim/groups?${query}`);
    expect(answer.groups.map((it: JsonObject) => it.key)).toEqual(keys);
  });

  test("one group: what was done to it, and its events", async () => {
    await group("company", "acme", { tier: "silver" });
    await group("company", "acme", { tier: "gold", seats: 3 });
    await group("company", "other", { tier: "none" });
    await capture("bought", "u", { $groups: { company: "acme" } });
    await capture("bought", "u", { $groups: { company: "other" } });
    const { answer } = await detail("company", "acme");
    expect(answer).toMatchObject({
      type: "company",
      key: "acme",
      origin: "event",
      gaps: [],
      properties: { tier: "gold", seats: 3 },
      history: [
        {
          created: false,
          changes: [
            { property: "seats", by: "$group_set", to: 3 },
            { property: "tier", by: "$group_set", from: "silver", to: "gold" },
          ],
        },
        { created: true, after: { tier: "silver" } },
      ],
      values: [{ property: "seats" }, { property: "tier", values: [{ value: "gold" }, { value: "silver" }] }],
      events: [{ event: "bought", distinct_id: "u" }],
      searched: 5,
    });
    expect((await detail("0", "acme")).answer.type).toBe("company");
  });

  test("a key that is a number is known by its digits", async () => {
    await group("company", "7", {});
    await capture("bought", "u", { $groups: { company: 7 } });
    const { answer } = await detail("company", "7");
    expect(answer.events.map((it: JsonObject) => it.event)).toEqual(["bought"]);
  });

  test("a group of the scenario, and one whose beginning is gone", async () => {
    const groups = [{ type: "company", key: "seed", properties: { tier: "gold" } }];
    await restart({ scenario: scenarioWith({ groups }) });
    expect((await detail("company", "seed")).answer).toMatchObject({ origin: "scenario", gaps: [], history: [] });
    await group("company", "late", { tier: "gold" });
    await group("company", "late", { seats: 1 });
    await control("DELETE", "/__sim/events");
    expect((await detail("company", "late")).answer).toMatchObject({
      origin: "unknown",
      gaps: [{ reason: "events_lost" }],
    });
  });

  test("a key with every kind of character", async () => {
    const key = "a/b?c#d %2F é";
    await group("company", key, {});
    expect((await detail("company", key)).answer.key).toBe(key);
  });

  test.each([
    ["company", "nobody", "", 404],
    ["planet", "acme", "", 404],
    ["7", "acme", "", 404],
    ["company", "acme", "?limit=0", 400],
    ["company", "acme", "?project=x", 400],
    ["company", "acme", "?project=99", 404],
  ])("%s/%s%s is a mistake", async (type, key, query, status) => {
    await group("company", "acme", {});
    expect((await detail(type, key, query)).status).toBe(status);
  });
});

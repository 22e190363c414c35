import { describe, expect, test } from "vitest";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import { manage, now } from "./manage.ts";
import { uuidOf } from "./world.ts";

const root = "/api/projects/1/events";
const hour = 3_600_000;

const iso = (ms: number): string => new Date(ms).toISOString();

let seq = 0;
const stored = (name: string, ago: number, given: Partial<StoredEvent> = {}): StoredEvent => ({
  seq: ++seq,
  outcome: "kept",
  reason: null,
  detail: null,
  warnings: [],
  project: 1,
  uuid: uuidOf(name),
  event: "signed_up",
  distinct_id: "ann",
  timestamp: iso(now - ago),
  received_at: iso(now),
  person_id: null,
  person_mode: "full",
  properties: {},
  request: seq,
  ...given,
});

/** In order of arrival: `late` reports a time before `first`, `future` of one to come. */
const events = [
  stored("first", 3 * hour, { properties: { plan: "pro", tags: ["a", "b"], $elements_chain: "a:b" } }),
  stored("view", 2 * hour, { event: "$pageview", distinct_id: "ann-2", properties: { plan: "free", deep: { a: 1 } } }),
  stored("late", 30 * hour, { distinct_id: "bob", properties: { plan: true } }),
  stored("future", -hour, { properties: { plan: "pro" } }),
  stored("old", 9 * 24 * hour, { event: "$pageview", distinct_id: "nobody", properties: { plan: "ancient" } }),
  stored("other", hour, { project: 2, distinct_id: "eva" }),
  stored("foreign", hour, { project: 3 }),
];

function start() {
  const sim = manage({ events });
  const person = { project: 1, created_at: 0, is_identified: true, version: 0 };
  const properties = { email: "ann@example.test", plan: "pro", username: "ann" };
  sim.people.create({ ...person, uuid: uuidOf("ann"), properties }, ["ann", "ann-2"]);
  sim.people.create({ ...person, uuid: uuidOf("bob"), properties: {}, is_identified: false }, ["bob"]);
  return sim;
}

const names = (json: { results: { id: string }[] }) =>
  json.results.map(({ id }) => ["first", "view", "late", "future", "old", "other"].find((it) => uuidOf(it) === id));
const error = (detail: string, attr: string | null = null) => ({
  type: "validation_error",
  code: "invalid_input",
  detail,
  attr,
});

test("an event is shown whole; its person only where it is asked for", async () => {
  const { get } = start();
  const shown = {
    id: uuidOf("first"),
    distinct_id: "ann",
    properties: { plan: "pro", tags: ["a", "b"] },
    event: "signed_up",
    timestamp: "2026-03-04T02:06:07.089000+00:00",
    person: null,
    elements: [],
    elements_chain: "a:b",
  };
  const person = {
    is_identified: true,
    distinct_ids: ["ann"],
    properties: { email: "ann@example.test", username: "ann" },
  };
  expect((await get(`${root}/${uuidOf("first")}/`)).json).toEqual(shown);
  expect((await get(`${root}/${uuidOf("first").toUpperCase()}?include_person=1`)).json).toEqual({ ...shown, person });
  expect((await get(`${root}/?after=2026-03-04T02:00:00Z`)).json.results.at(-1)).toEqual({ ...shown, person });
});

test("an event that has no person any more says so", async () => {
  const { get } = start();
  expect((await get(`${root}/${uuidOf("old")}?include_person=true`)).json.person).toBeNull();
});

const json = (filters: unknown) => `properties=${encodeURIComponent(JSON.stringify(filters))}`;
const all = ["view", "first", "late", "old"];

test.each([
  ["", all],
  ["event=signed_up", ["first", "late"]],
  ["event=", all],
  ["distinct_id=bob", ["late"]],
  ["event=signed_up&distinct_id=bob", ["late"]],
  [`person_id=${uuidOf("ann")}`, ["view", "first"]],
  [`person_id=${uuidOf("ann").toUpperCase()}`, ["view", "first"]],
  [`person_id=${uuidOf("nobody")}`, []],
  [json([{ key: "plan", value: "pro" }]), ["first"]],
  [json([{ key: "plan", value: ["pro", "free"], operator: "exact", type: "event" }]), ["view", "first"]],
  ["before=2026-03-04T03:00:00Z", ["first", "late", "old"]],
  ["before=2026-03-04T04:00:00%2B01:00", ["first", "late", "old"]],
  ["before=2026-03-04T04:00:00+01:00", ["first", "late", "old"]],
  ["before=2026-03-02", ["old"]],
  ["before=2030-01-01", ["future", ...all]],
  ["before=what+is+no+date", all],
  ["after=-24h", ["view", "first"]],
  ["after=-2d", ["view", "first", "late"]],
  ["after=-1m", all],
  ["after=2026-03-04T02:06:07.089Z", ["view"]],
  ["after=-24h&before=-150h", []],
  ["limit=2", ["view", "first"]],
  ["limit=2&offset=1", ["first", "late"]],
  ["limit=0", all],
  ["orderBy=%5B%22timestamp%22%5D", [...all].reverse()],
  ["orderBy=%5B%22-timestamp%22%5D", all],
])("the list with ?%s has %j", async (query, expected) => {
  const { get } = start();
  const answer = await get(`${root}/?${query}`);
  expect(names(answer.json)).toEqual(expected);
});

test.each([
  ["limit=1", "view", "before=2026-03-04T03%3A06%3A07.089000%2B00%3A00&limit=1"],
  ["event=signed_up&limit=1", "first", "before=2026-03-04T02%3A06%3A07.089000%2B00%3A00&event=signed_up&limit=1"],
  [
    "orderBy=%5B%22timestamp%22%5D&limit=1",
    "old",
    "after=2026-02-23T05%3A06%3A07.089000%2B00%3A00&limit=1&orderBy=%5B%22timestamp%22%5D",
  ],
])("the page after ?%s starts behind its last event", async (query, last, next) => {
  const { get } = start();
  const answer = await get(`${root}/?${query}`);
  expect(names(answer.json)).toEqual([last]);
  expect(answer.json.next).toBe(`http://sim.test${root}/?${next}`);
});

test("following the links shows every event once, and ends", async () => {
  const { get } = start();
  const seen: unknown[] = [];
  let path: string | null = `${root}?limit=1`;
  while (path !== null && seen.length < 10) {
    const answer: { json: { next: string | null; results: { id: string }[] } } = await get(path);
    seen.push(...names(answer.json));
    path = answer.json.next?.replace("http://sim.test", "") ?? null;
  }
  expect(seen).toEqual(all);
});

test("many events are read in parts, and the newest of them are found", async () => {
  const many = Array.from({ length: 1000 }, (_, i) =>
    stored(`many ${i}`, ((i * 7919) % 1000) * 1000, { properties: { i } }),
  );
  const { get } = manage({ events: many });
  const { json } = await get(`${root}?limit=3`);
  expect(json.results.map((it: { timestamp: string }) => it.timestamp)).toEqual([
    "2026-03-04T05:06:07.089000+00:00",
    "2026-03-04T05:06:06.089000+00:00",
    "2026-03-04T05:06:05.089000+00:00",
  ]);
});

test.each([
  ["offset=50001", error("Offset is deprecated. Max supported offset value is 50000")],
  ["properties=x", error("Properties are unparsable!")],
  [
    json([{ key: "a", operator: "regex", value: "x" }]),
    error("The operator 'regex' in property filters is not supported by phx-sim."),
  ],
  [
    json([{ key: "a", type: "person", value: "x" }]),
    error("The type 'person' in property filters is not supported by phx-sim."),
  ],
])("the list with ?%s is refused", async (query, expected) => {
  const { get } = start();
  expect(await get(`${root}/?${query}`)).toMatchObject({ status: 400, json: expected });
});

test.each([
  ["x", 400, "Invalid UUID"],
  [uuidOf("nothing"), 404, `No events exist for event UUID ${uuidOf("nothing")}`],
  [uuidOf("other"), 404, `No events exist for event UUID ${uuidOf("other")}`],
  [uuidOf("foreign"), 404, `No events exist for event UUID ${uuidOf("foreign")}`],
])("event %s does not exist for project 1", async (id, status, detail) => {
  const { get } = start();
  expect(await get(`${root}/${id}/`)).toMatchObject({ status, json: { detail, attr: null } });
});

describe("values of a property", () => {
  test.each([
    ["key=plan", ["pro", "true", "free"]],
    ["key=plan&value=R", ["pro", "true", "free"]],
    ["key=plan&value=fre", ["free"]],
    ["key=plan&event_name=$pageview", ["free"]],
    ["key=plan&event_name=$pageview&event_name=signed_up&value=pr", ["pro"]],
    ["key=tags", ["a", "b"]],
    ["key=deep", ['{"a":1}']],
    ["key=constructor", []],
    ["key=custom_event", ["signed_up"]],
  ])("?%s are %j", async (query, expected) => {
    const { get } = start();
    const { json } = await get(`${root}/values/?${query}`);
    expect(json).toEqual(expected.map((name) => ({ name })));
  });

  test("are ten at most, and need a key", async () => {
    const many = Array.from({ length: 30 }, (_, i) => stored(`value ${i}`, 0, { properties: { i } }));
    const { get } = manage({ events: many });
    expect((await get(`${root}/values?key=i`)).json).toHaveLength(10);
    expect((await get(`${root}/values`)).json).toEqual(error("You must provide a key"));
  });
});

test.each(["/", "/values/?key=a", "/x/"])("GET %s needs query:read", async (path) => {
  const { get } = start();
  const { status, json } = await get(root + path, { key: "phx_reader" });
  expect(json.detail).toBe("API key missing required scope 'query:read'");
  expect(status).toBe(403);
});

test("events are also at the environment's address, and not written", async () => {
  const { get, post } = start();
  expect(names((await get("/api/environments/2/events")).json)).toEqual(["other"]);
  expect((await post(`${root}/`, {})).status).toBe(403);
});

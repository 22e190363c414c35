import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { isCapture } from "../../../../src/lab/tapes/format/routes.ts";
import { loadTapeMatcher } from "../../../../src/lab/tapes/match/tape-matcher.ts";
import { asked, bodyOf, hitOf, matcherOf, type Said, tapeOf } from "./tape.ts";

const a1 = "0195f3f6-aaaa-7000-8000-000000000001";
const a2 = "0195f3f6-aaaa-7000-8000-000000000002";
const b1 = "0195f3f6-bbbb-7000-8000-000000000001";
const b2 = "0195f3f6-bbbb-7000-8000-000000000002";
const signed = [["authorization", "Bearer phx_live"]] as const;
const flags = (body: Json, query = "?v=2"): Said => ({ target: `/flags/${query}`, body });
const list = "/api/projects/1/dashboards";

/** One recorded request, one live: found, and how? */
const [one, two, three] = ["1", "2", "3"].map((n) => `0195f3f6-0000-7000-8000-00000000000${n}`) as [
  string,
  string,
  string,
];

/** Requests for flags after one of `u` in the group `a` was recorded. */
const others: { name: string; live: { [key: string]: Json }; found: string }[] = [
  { name: "flags: another person", live: { distinct_id: "w" }, found: "miss" },
  {
    name: "flags: another person whose id is a UUID",
    live: { distinct_id: two, $anon_distinct_id: three },
    found: "miss",
  },
  { name: "flags: another group", live: { distinct_id: "u", groups: { company: "b" } }, found: "miss" },
  { name: "flags: no group", live: { distinct_id: "u", groups: {} }, found: "miss" },
  { name: "flags: another visitor", live: { distinct_id: two }, found: "miss" },
  {
    name: "flags: other properties",
    live: { distinct_id: "u", groups: { company: "a" }, person_properties: { plan: "b" } },
    found: "miss",
  },
];

const rows: { name: string; recorded: Said; live: Said; found: string }[] = [
  {
    name: "path and query",
    recorded: { target: `${list}?limit=10` },
    live: { target: `${list}?limit=10` },
    found: "exact",
  },
  { name: "a slash at the end", recorded: { target: `${list}/` }, live: { target: list }, found: "exact" },
  {
    name: "order of the query",
    recorded: { target: `${list}?a=1&b=2` },
    live: { target: `${list}?b=2&a=1` },
    found: "exact",
  },
  {
    name: "order of equal parameters",
    recorded: { target: `${list}?a=1&a=2` },
    live: { target: `${list}?a=2&a=1` },
    found: "miss",
  },
  {
    name: "limit counts",
    recorded: { target: `${list}?limit=10` },
    live: { target: `${list}?limit=20` },
    found: "miss",
  },
  { name: "offset counts", recorded: { target: `${list}?offset=10` }, live: { target: list }, found: "miss" },
  { name: "cache buster", recorded: { target: `${list}?_=1` }, live: { target: `${list}?_=2` }, found: "exact" },
  { name: "method counts", recorded: { target: list }, live: { target: list, method: "DELETE" }, found: "miss" },
  { name: "other project", recorded: { target: list }, live: { target: "/api/projects/2/dashboards" }, found: "miss" },
  { name: "percent-encoded path", recorded: { target: "/api/x%20y" }, live: { target: "/api/x%20y/" }, found: "exact" },
  { name: "broken percent", recorded: { target: "/api/%zz" }, live: { target: "/api/%zz" }, found: "exact" },
  {
    name: "key order in a body",
    recorded: { target: list, body: { a: 1, b: 2 } },
    live: { target: list, body: { b: 2, a: 1 } },
    found: "exact",
  },
  {
    name: "list order in a body",
    recorded: { target: list, body: { a: [1, 2] } },
    live: { target: list, body: { a: [2, 1] } },
    found: "miss",
  },
  {
    name: "minus zero",
    recorded: { target: list, body: { a: 0 } },
    live: { target: list, body: { a: -0 } },
    found: "exact",
  },
  {
    name: "number and text",
    recorded: { target: list, body: { a: 1 } },
    live: { target: list, body: { a: "1" } },
    found: "miss",
  },
  {
    name: "NFC",
    recorded: { target: list, body: { n: "caf\u00e9" } },
    live: { target: list, body: { n: "cafe\u0301" } },
    found: "exact",
  },
  {
    name: "null is not absent",
    recorded: { target: list, body: { a: null } },
    live: { target: list, body: {} },
    found: "miss",
  },
  {
    name: "a field uuid of a resource is an id",
    recorded: { target: list, body: { x: a1 } },
    live: { target: list, body: { x: b1 } },
    found: "exact",
  },
  {
    name: "the same id twice",
    recorded: { target: list, body: { x: a1, y: a1 } },
    live: { target: list, body: { x: b1, y: b2 } },
    found: "miss",
  },
  {
    name: "two ids",
    recorded: { target: list, body: { x: a1, y: a2 } },
    live: { target: list, body: { x: b1, y: b1 } },
    found: "miss",
  },
  {
    name: "timestamps of resources count",
    recorded: { target: list, body: { timestamp: "1" } },
    live: { target: list, body: { timestamp: "2" } },
    found: "miss",
  },
  {
    name: "placeholder of a secret",
    recorded: { target: list, body: { password: "{{secret:password#1}}" } },
    live: { target: list, body: { password: "hunter2" } },
    found: "exact",
  },
  {
    name: "placeholder under any name",
    recorded: { target: list, body: { odd: "{{secret:jwt#1}}" } },
    live: { target: list, body: { odd: "eyJx" } },
    found: "exact",
  },
  {
    name: "placeholder in a query",
    recorded: { target: "/api/surveys?token=%7B%7Bsecret:token%231%7D%7D" },
    live: { target: "/api/surveys?token=phc_mine" },
    found: "exact",
  },
  {
    name: "placeholder in a path",
    recorded: { target: "/array/%7B%7Bsecret%3Atoken%231%7D%7D/config.js" },
    live: { target: "/array/phc_mine/config.js" },
    found: "exact",
  },
  {
    name: "asset with a version",
    recorded: { target: "/static/array.js?v=1.2" },
    live: { target: "/static/array.js?v=1.3" },
    found: "exact",
  },
  {
    name: "a prototype's key in a body",
    recorded: { target: list, body: JSON.parse('{"__proto__":{"a":1}}') },
    live: { target: list, body: {} },
    found: "miss",
  },
  {
    name: "a prototype's key in a query",
    recorded: { target: `${list}?__proto__=1` },
    live: { target: `${list}?__proto__=1` },
    found: "exact",
  },
  { name: "credentials and none", recorded: { target: list, headers: signed }, live: { target: list }, found: "miss" },
  {
    name: "credentials that a browser's export left out",
    recorded: { target: list },
    live: { target: list, headers: signed },
    found: "exact",
  },
  {
    name: "refused without credentials",
    recorded: { target: list, status: 401 },
    live: { target: list, headers: signed },
    found: "miss",
  },
  {
    name: "flags: same person",
    recorded: flags({ distinct_id: "u", token: "phc_aaaa" }),
    live: flags({ token: "phc_bbbb", distinct_id: "u" }),
    found: "exact",
  },
  {
    name: "flags: anonymous person",
    recorded: flags({ distinct_id: a1 }),
    live: flags({ distinct_id: b1 }),
    found: "exact",
  },
  {
    name: "flags: empty is absent",
    recorded: flags({ distinct_id: "u", groups: {} }),
    live: flags({ distinct_id: "u" }),
    found: "exact",
  },
  {
    name: "flags: session and time",
    recorded: flags({ distinct_id: "u", person_properties: { $session_id: "1" } }, "?v=2&_=1&ver=1"),
    live: flags({ distinct_id: "u", person_properties: { $session_id: "2" } }, "?v=2&_=2&ver=2"),
    found: "exact",
  },
  {
    name: "flags: other properties",
    recorded: flags({ distinct_id: "u", person_properties: { plan: "a" } }),
    live: flags({ distinct_id: "u", person_properties: { plan: "b" } }),
    found: "miss",
  },
  {
    name: "flags: one of all recorded flags",
    recorded: flags({ distinct_id: "u" }),
    live: flags({ distinct_id: "u", flag_keys_to_evaluate: ["a"] }),
    found: "all_flags",
  },
  {
    name: "flags: one of all recorded flags, in a context that was not recorded",
    recorded: flags({ distinct_id: "u" }),
    live: flags({ distinct_id: "u", flag_keys: ["a"], evaluation_contexts: ["b"] }),
    found: "miss",
  },
  {
    name: "flags: other properties of the SDK's own",
    recorded: flags({ distinct_id: "u", person_properties: { plan: "a", $initial_url: "a" } }),
    live: flags({ distinct_id: "u", person_properties: { plan: "a", $initial_url: "b" } }),
    found: "distinct_id",
  },
  ...others.map(({ name, live, found }) => ({
    name,
    recorded: flags({ distinct_id: "u", groups: { company: "a" }, person_properties: { plan: "a" } }),
    live: flags({ person_properties: { plan: "a" }, ...live }),
    found,
  })),
  {
    name: "flags: another visitor, as anonymous as the recorded one",
    recorded: flags({ distinct_id: one, person_properties: { plan: "a" } }),
    live: flags({ distinct_id: two, person_properties: { plan: "b" } }),
    found: "miss",
  },
  {
    name: "flags: a person whose id is a UUID",
    recorded: flags({ distinct_id: one, $anon_distinct_id: three }),
    live: flags({ distinct_id: one, $anon_distinct_id: two }),
    found: "exact",
  },
  {
    name: "flags: an identified person is not the visitor before",
    recorded: flags({ distinct_id: one }),
    live: flags({ distinct_id: two, $anon_distinct_id: one }),
    found: "miss",
  },
  {
    name: "flags: other version",
    recorded: flags({ distinct_id: "u" }),
    live: flags({ distinct_id: "u" }, "?v=1"),
    found: "miss",
  },
  { name: "flags: body that is none", recorded: flags("x"), live: flags([1]), found: "exact" },
];

const v4 = (n: number) => `1b4e28ba-2fa1-4d2e-883f-00000000000${n}`;

/** The same request, with another value of what decides its flags. */
const deciding: [name: string, recorded: { [key: string]: Json }, live: { [key: string]: Json }][] = [
  ["$distinct_id", { $distinct_id: "anna" }, { $distinct_id: "ben" }],
  ["a UUID of the app", { distinct_id: v4(1) }, { distinct_id: v4(2) }],
  ["anon_distinct_id", { distinct_id: one, anon_distinct_id: two }, { distinct_id: three, anon_distinct_id: two }],
  ["$groups", { distinct_id: "u", $groups: { c: "a" } }, { distinct_id: "u", $groups: { c: "b" } }],
  ["$device_id", { $device_id: "a" }, { $device_id: "b" }],
  ["device_id", { device_id: "a" }, { device_id: "b" }],
  ["$device_id of the person", { person_properties: { $device_id: "a" } }, { person_properties: { $device_id: "b" } }],
  ["$properties", { $properties: { plan: "a" } }, { $properties: { plan: "b" } }],
  ["a UUID in properties", { person_properties: { org: v4(1) } }, { person_properties: { org: v4(2) } }],
  ["group_properties", { group_properties: { c: { plan: "a" } } }, { group_properties: { c: { plan: "b" } } }],
  ["$group_properties", { $group_properties: { c: { plan: "a" } } }, { $group_properties: { c: { plan: "b" } } }],
  ["flag_keys_to_evaluate", { flag_keys_to_evaluate: ["a"] }, { flag_keys_to_evaluate: ["b"] }],
  ["flag_keys", { flag_keys: ["a"] }, { flag_keys: ["b"] }],
  ["all flags", { flag_keys: ["a"] }, {}],
  ["evaluation_environments", { evaluation_environments: ["a"] }, { evaluation_environments: ["b"] }],
];

test.each(deciding)("flags: another %s is a miss, the same one none", async (_, recorded, live) => {
  const matcher = await matcherOf([flags(recorded)]);
  expect([matcher.answer(asked(flags(live))), matcher.answer(asked(flags(recorded)))].map(hitOf)).toEqual(["miss", 1]);
});

test("flags: one field under two names is the same", async () => {
  const matcher = await matcherOf([flags({ api_key: "phc_aaaa", distinct_id: "u", groups: [] })]);
  expect(hitOf(matcher.answer(asked(flags({ token: "phc_aaaa", $distinct_id: "u" }))))).toBe(1);
});

test("flags: properties that differ without meaning are left out", async () => {
  const matcher = await matcherOf([flags({ distinct_id: "u", person_properties: { seen: 1, plan: "a" } })], {
    noise: ["req.body.person_properties.seen"],
  });
  const of = (plan: string) => flags({ distinct_id: "u", person_properties: { seen: 2, plan } });
  expect([matcher.answer(asked(of("b"))), matcher.answer(asked(of("a")))].map(hitOf)).toEqual(["miss", 1]);
});

test.each(rows)("$name: $found", async ({ recorded, live, found }) => {
  const answered = (await matcherOf([recorded])).answer(asked(live));
  expect("hit" in answered ? answered.tier : "miss").toBe(found);
});

test.each([
  ["another person", { distinct_id: "w" }, "another_person"],
  ["another group", { distinct_id: "u", groups: { company: "b" } }, "another_group"],
  [
    "other properties",
    { distinct_id: "u", groups: { company: "a" }, person_properties: { plan: "b" } },
    "other_properties",
  ],
  ["the same", { distinct_id: "u", groups: { company: "a" } }, undefined],
])("approximate answers are marked: %s", async (_, body, mark) => {
  const recorded = flags({ distinct_id: "u", groups: { company: "a" } });
  const matcher = await matcherOf([recorded], { nearness: "approximate" });
  expect(matcher.answer(asked(flags(body)))).toMatchObject({
    hit: {},
    ...(mark !== undefined && { approximate: mark }),
  });
  expect(matcher.ledger().approximate).toBe(mark === undefined ? 0 : 1);
});

describe("noise", () => {
  const tape = (): Said[] => [{ target: `${list}?date_from=1`, body: { q: [{ at: 1, x: 1 }] } }];
  const live: Said = { target: `${list}?date_from=2`, body: { q: [{ at: 2, x: 1 }] } };

  test.each([
    { noise: ["req.query.date_from", "req.body.q[].at"], found: 1 },
    { noise: ["req.query.date_from"], found: "miss" },
    { noise: [], found: "miss" },
  ])("$noise: $found", async ({ noise, found }) => {
    expect(hitOf((await matcherOf(tape(), { noise })).answer(asked(live)))).toBe(found);
  });

  test("of the header", async () => {
    const source = tapeOf(tape(), { noise: ["req.query.date_from", "req.body.q[].at"] });
    expect(hitOf((await loadTapeMatcher(source)).answer(asked(live)))).toBe(1);
  });
});

describe("ids", () => {
  test("an answer has the live ids, and later paths are understood", async () => {
    const matcher = await matcherOf([
      { target: "/flags/?v=2", body: { distinct_id: a1 }, answer: { person: a1, text: `of ${a1}` } },
      { target: `/api/projects/1/persons/${a1}`, answer: { distinct_ids: [a1] } },
    ]);
    const first = matcher.answer(asked({ target: "/flags/?v=2", body: { distinct_id: b1 } }));
    const second = matcher.answer(asked({ target: `/api/projects/1/persons/${b1}` }));
    expect(bodyOf(first)).toEqual({ person: b1, text: `of ${b1}` });
    expect(bodyOf(second)).toEqual({ distinct_ids: [b1] });
  });

  test("two persons stay two", async () => {
    const matcher = await matcherOf([
      { target: "/flags/?v=2", body: { distinct_id: a1 } },
      { target: "/flags/?v=2", body: { distinct_id: a2 } },
    ]);
    const ask = (distinct_id: string) => hitOf(matcher.answer(asked({ target: "/flags/?v=2", body: { distinct_id } })));
    expect([b2, b1, b2, b1].map(ask)).toEqual([1, 2, 1, 2]);
  });

  test("the project's key of the caller is in the answer", async () => {
    const key = "{{secret:token#1}}";
    const matcher = await matcherOf([
      { target: `/array/${encodeURIComponent(key)}/config`, answer: { token: key, url: `/x?token=${key}` } },
    ]);
    const answered = matcher.answer(asked({ target: "/array/phc_mine/config" }));
    expect(bodyOf(answered)).toEqual({ token: "phc_mine", url: "/x?token=phc_mine" });
  });

  test("what was made is known by the id that was reported", async () => {
    const matcher = await matcherOf([
      { target: list, body: { name: "x" }, status: 201, answer: { id: 42 } },
      { target: `${list}/42`, answer: { id: 42, tiles: [{ dashboard_id: 42 }] } },
    ]);
    expect(hitOf(matcher.answer(asked({ target: list, body: { name: "x" } })))).toBe(1);
    expect(hitOf(matcher.answer(asked({ target: `${list}/43` })))).toBe("miss");
    expect(hitOf(matcher.answer(asked({ target: `${list}/42` })))).toBe(2);
  });

  test("what the emulator made instead of the tape gets its number", async () => {
    const matcher = await matcherOf([
      { target: list, body: { name: "x" }, status: 201, answer: { id: 42 } },
      { target: `${list}/42`, answer: { id: 42, tiles: [{ dashboard_id: 42, id: 42 }] } },
      { target: `${list}/7`, answer: { id: 7 } },
    ]);
    const answered = matcher.answer(asked({ target: `${list}/5` }));
    expect(bodyOf(answered)).toMatchObject({ id: 5, tiles: [{ dashboard_id: 5 }] });
    expect(hitOf(matcher.answer(asked({ target: `${list}/6` })))).toBe("miss");
  });

  test("further pages lead here", async () => {
    const next = `https://us.posthog.com${list}?offset=10`;
    const other = "https://example.com/x";
    const matcher = await matcherOf([
      { target: list, answer: { next, previous: null, url: next, results: [{ next: other }] } },
    ]);
    expect(bodyOf(matcher.answer(asked({ target: list })))).toEqual({
      next: `http://127.0.0.1:8010${list}?offset=10`,
      previous: null,
      url: next,
      results: [{ next: other }],
    });
  });

  test("a privacy profile's mail addresses are ids, others are not", async () => {
    const said = (id: string): Said => ({ target: "/api/x", body: { to: id } });
    const find = async (redaction: string, recorded: string, live: string) =>
      hitOf((await loadTapeMatcher(tapeOf([said(recorded)], { redaction }))).answer(asked(said(live))));
    expect(await find("pii", "user1@example.test", "jane@acme.com")).toBe(1);
    expect(await find("pii", "joe@acme.com", "jane@acme.com")).toBe("miss");
    expect(await find("default", "user1@example.test", "jane@acme.com")).toBe("miss");
  });
});

test.each([
  ["capture", true],
  ["recordings", true],
  ["flags", false],
  ["GET /api/users/@me", false],
])("isCapture(%s) is %s", (route, expected) => expect(isCapture(route)).toBe(expected));

describe("many series of one shape", () => {
  const id = (n: number, kind = "aaaa") => `0195f3f6-${kind}-7000-8000-${String(n).padStart(12, "0")}`;
  const tile = (a: string, b: string): Said => ({ target: "/api/x", body: { a, b } });

  test("ids that are known choose among them", async () => {
    const matcher = await matcherOf([
      { target: `/api/projects/1/persons/${id(3)}` },
      ...[1, 2, 3, 4].map((n) => tile(id(n), id(100 + n))),
    ]);
    expect(hitOf(matcher.answer(asked({ target: `/api/projects/1/persons/${id(9, "bbbb")}` })))).toBe(1);
    expect(hitOf(matcher.answer(asked(tile(id(9, "bbbb"), id(10, "bbbb")))))).toBe(4);
    expect(hitOf(matcher.answer(asked(tile(id(5, "bbbb"), id(10, "bbbb")))))).toBe("miss");
    expect(hitOf(matcher.answer(asked(tile(id(5, "bbbb"), id(6, "bbbb")))))).toBe(2);
  });

  test("recorded ids that come as they are mean themselves", async () => {
    const matcher = await matcherOf([1, 2, 3].map((n) => ({ target: "/flags/?v=2", body: { distinct_id: id(n) } })));
    const hits = [3, 1].map((n) =>
      hitOf(matcher.answer(asked({ target: "/flags/?v=2", body: { distinct_id: id(n) } }))),
    );
    expect(hits).toEqual([3, 1]);
  });
});

describe("bodies that are not JSON", () => {
  test.each<{ name: string; live: Json | undefined; found: number | "miss" }>([
    { name: "the same bytes", live: "AAEC", found: 1 },
    { name: "other bytes", live: "AAED", found: "miss" },
    { name: "none", live: undefined, found: "miss" },
  ])("$name: $found", async ({ live, found }) => {
    const { header, exchanges } = tapeOf([{ target: "/api/upload", method: "POST" }]);
    const binary = exchanges.map((it) => ({ ...it, req: { ...it.req, body: { b64: "AAEC" } } }));
    const matcher = await loadTapeMatcher({ header, exchanges: binary });
    const said: Said = { target: "/api/upload", method: "POST", ...(live !== undefined && { body: live }) };
    expect(hitOf(matcher.answer(asked(said)))).toBe(found);
  });
});

test("a privacy profile's stand-ins match anyone who comes", async () => {
  const said = (name: string): Said => ({
    target: "/batch",
    body: { batch: [{ event: "$identify", $set: { name, plan: "pro" }, properties: { $ip: name } }] },
  });
  const matcher = await loadTapeMatcher(tapeOf([said("Person 1"), said("Person 1")], { redaction: "pii" }));
  expect(matcher.compareEvents(asked(said("Jane Doe")))).toEqual({ matched: 1, extra: [] });
  const strict = await loadTapeMatcher(tapeOf([said("Person 1")]));
  expect(strict.compareEvents(asked(said("Jane Doe")))).toEqual({ matched: 0, extra: ["$identify"] });
});

test("deep documents do not end the matcher", async () => {
  let body: Json = "end";
  for (let n = 0; n < 20_000; n++) body = [body];
  const matcher = await matcherOf([
    { target: list, body },
    { target: "/api/x", answer: body },
  ]);
  expect(hitOf(matcher.answer(asked({ target: list, body })))).toBe(1);
  expect(hitOf(matcher.answer(asked({ target: list, body: [[1]] })))).toBe("miss");
  expect(hitOf(matcher.answer(asked({ target: "/api/x" })))).toBe(2);
});

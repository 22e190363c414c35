import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { asked, hitOf, matcherOf, type Said } from "./tape.ts";

const target = "/api/projects/1/dashboards";

describe("misses name what is nearest", () => {
  const missOf = async (recorded: Said[], live: Said) => {
    const answered = (await matcherOf(recorded)).answer(asked(live));
    return "miss" in answered ? answered.miss.nearest : [];
  };

  test("of the same route, the fewest differences first, three at most", async () => {
    const recorded = [
      { target: `${target}?limit=1&offset=5` },
      { target: `${target}?limit=2` },
      { target: "/api/users/@me" },
      { target: `${target}?limit=3&a=1&b=2` },
      { target: `${target}?limit=4&a=1` },
    ];
    expect(await missOf(recorded, { target: `${target}?limit=9` })).toMatchObject([
      { i: 2, method: "GET", differing: [{ path: "req.query.limit", recorded: "2", asked: "9" }] },
      {
        i: 1,
        differing: [
          { path: "req.query.limit", recorded: "1", asked: "9" },
          { path: "req.query.offset", recorded: "5", asked: "(absent)" },
        ],
      },
      { i: 5 },
    ]);
  });

  test("other routes where there is none of the same", async () => {
    const near = await missOf([{ target: "/zzz/zzz/zzz" }, { target: "/api/users/@you" }], {
      target: "/api/users/@me",
    });
    expect(near[0]).toMatchObject({ i: 2, differing: [{ path: "req.path" }] });
  });

  test("bodies; a place that has a placeholder matches anything", async () => {
    const [near] = await missOf([{ target, body: { name: "a", list: [1, 2], password: "{{secret:password#1}}" } }], {
      target,
      body: { name: "phx_0123456789abcdef", list: [1], password: 7 },
    });
    expect(near?.differing).toEqual([
      { path: "req.body.name", recorded: "a", asked: "phx_***" },
      { path: "req.body.list[1]", recorded: "2", asked: "(absent)" },
    ]);
  });

  test("no secret is reported with a whole body", async () => {
    const [near] = await missOf([{ target, method: "POST" }], { target, body: { password: "hunter2", n: 1 } });
    expect(near?.differing).toEqual([{ path: "req.body", recorded: "(absent)", asked: '{"password":"***","n":1}' }]);
  });

  test("an empty tape has none", async () => {
    expect(await missOf([], { target })).toEqual([]);
  });

  const paths = (near: Awaited<ReturnType<typeof missOf>>) => near[0]?.differing.map(({ path }) => path);

  test("one of the same route is the only one", async () => {
    const near = await missOf([{ target: "/api/x" }, { target: `${target}?a=1` }], { target });
    expect(near.map(({ i }) => i)).toEqual([2]);
  });

  test("of other routes, the one whose path is the nearest; another method counts as two letters", async () => {
    const recorded = [
      { target: "/api/usersxxx/@me" },
      { target: "/api/users/@me", method: "PUT" },
      { target: "/api/usersx/@me" },
      { target: "/api/users/@me/too/far" },
    ];
    const near = await missOf(recorded, { target: "/api/users/@me" });
    expect(near.map(({ i }) => i)).toEqual([3, 2, 1]);
    expect(near.map(({ method }) => method)).toEqual(["GET", "PUT", "GET"]);
    expect(near[1]).toEqual({
      i: 2,
      method: "PUT",
      url: "https://us.posthog.com/api/users/@me",
      differing: [{ path: "req.method", recorded: "PUT", asked: "GET" }],
    });
  });

  test("a path's first hundred letters count", async () => {
    const long = `/api/${"x".repeat(95)}`;
    const other = `/apj/${"x".repeat(95)}`;
    const nearestOf = async (recorded: string, live: string) =>
      (await missOf([{ target: other }, { target: recorded }], { target: live }))[0]?.i;
    expect(await nearestOf(`${long}a`, long)).toBe(2);
    expect(await nearestOf(long, `${long}a`)).toBe(2);
  });

  test("the first fifty of a route are compared", async () => {
    const row = (at: number): Said => ({
      target: at === 50 ? `${target}?n=50` : at === 51 ? `${target}?n=51&a=0` : `${target}?n=${at}&a=1&b=2`,
    });
    const recorded = Array.from({ length: 51 }, (_, at) => row(at + 1));
    const near = await missOf(recorded, { target: `${target}?n=51&a=0&c=1` });
    expect(near.map(({ i }) => i)).toEqual([50, 1, 2]);
  });

  test("ten differences, of eighty letters each, are shown", async () => {
    const fields = (text: string) => Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`f${i}`, text]));
    const [near] = await missOf([{ target, body: fields("x".repeat(80)) }], { target, body: fields("y".repeat(81)) });
    expect(near?.differing).toHaveLength(10);
    expect(near?.differing[9]).toEqual({ path: "req.body.f9", recorded: "x".repeat(80), asked: `${"y".repeat(80)}…` });
  });

  test("credentials count where it is known whether there were any", async () => {
    const signed = [["authorization", "Bearer phx_live"]] as const;
    const at = `${target}?a=1`;
    const live = { target: `${target}?a=2` };
    expect(paths(await missOf([{ target: at, headers: signed }], live))).toEqual(["req.query.a", "req.signed"]);
    expect(paths(await missOf([{ target: at, status: 401 }], { ...live, headers: signed }))).toEqual([
      "req.query.a",
      "req.signed",
    ]);
    expect(paths(await missOf([{ target: at }], live))).toEqual(["req.query.a"]);
  });

  test("a live id that can stand for the recorded one is no difference", async () => {
    const id = (n: number) => `0195f3f6-aaaa-7000-8000-00000000000${n}`;
    const recorded = [{ target, body: { name: "a", first: id(1), second: id(1) } }];
    const asking = (second: number) => ({ target, body: { name: "b", first: id(2), second: id(second) } });
    expect(paths(await missOf(recorded, asking(2)))).toEqual(["req.body.name"]);
  });

  test("a number in a list, or in a field that names no id, is what it is", async () => {
    const recorded = [{ target, body: { name: "a", list: [1], count: 5, id: 1 } }];
    const live = { target, body: { name: "b", list: [2], count: 6, id: 2 } };
    expect(paths(await missOf(recorded, live))).toEqual([
      "req.body.name",
      "req.body.list[0]",
      "req.body.count",
      "req.body.id",
    ]);
  });

  test("any secret can be any other one, also where another one stood for it before", async () => {
    const matcher = await matcherOf([
      { target, body: { password: "one-1" } },
      { target, body: { name: "a", password: "one-1" } },
    ]);
    expect(hitOf(matcher.answer(asked({ target, body: { password: "live-1" } })))).toBe(1);
    const answered = matcher.answer(asked({ target, body: { name: "b", password: "live-2" } }));
    expect("miss" in answered && paths(answered.miss.nearest.filter(({ i }) => i === 2))).toEqual(["req.body.name"]);
  });

  test("an id stands for one live id only", async () => {
    const id = (n: number) => `0195f3f6-aaaa-7000-8000-00000000000${n}`;
    const matcher = await matcherOf([
      { target, body: { x: id(1) } },
      { target, body: { name: "a", x: id(1) } },
    ]);
    expect(hitOf(matcher.answer(asked({ target, body: { x: id(5) } })))).toBe(1);
    const answered = matcher.answer(asked({ target, body: { name: "b", x: id(6) } }));
    expect("miss" in answered && paths(answered.miss.nearest.filter(({ i }) => i === 2))).toEqual([
      "req.body.name",
      "req.body.x",
    ]);
  });

  test("a secret that is missing is not reported", async () => {
    const [near] = await missOf([{ target, body: { name: "a", password: "hunter2" } }], {
      target,
      body: { name: "a" },
    });
    expect(near?.differing).toEqual([{ path: "req.body.password", recorded: "***", asked: "(absent)" }]);
  });
});

describe("an exchange that differs only where its tape has placeholders", () => {
  const secret = "{{secret:token#1}}";
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const noted = (note: Json, redacted = ["req.body.note"]): Said => ({ target, body: { note }, redacted });
  const packed = `{"note":"some ${secret}"}`;

  test.each<[what: string, recorded: Said[], live: Said, hit: number | "miss"]>([
    ["in a text", [noted(`Bearer ${secret} end`)], noted("Bearer a b end"), 1],
    ["other text around it", [noted(`Bearer ${secret} end`)], noted("Basic a b end"), "miss"],
    ["where nothing was redacted", [noted(`Bearer ${secret} end`, [])], noted("Bearer a b end"), "miss"],
    ["a number", [noted(secret)], noted(7), 1],
    ["a yes", [noted(secret)], noted(true), 1],
    ["null", [noted(secret)], noted(null), "miss"],
    ["an object", [noted(secret)], noted({ a: 1 }), "miss"],
    ["a number in place of a text", [noted(`x${secret}`)], noted(7), "miss"],
    ["in base64", [noted(base64(packed))], noted(base64('{"note":"some live"}')), 1],
    ["the second of two", [noted(`a ${secret}`), noted(`b ${secret}`)], noted("b live"), 2],
    ["the first of two", [noted(`a ${secret}`), noted(`${secret} b`)], noted("a live b"), 1],
    [
      "another route",
      [{ target: `/api/${encodeURIComponent(secret)}`, redacted: ["req.path"] }],
      { target: "/api/users/@me" },
      "miss",
    ],
    ["another method", [{ ...noted(`a ${secret}`), method: "PUT" }], { ...noted("a live"), method: "PATCH" }, "miss"],
  ])("%s", async (_, recorded, live, hit) => {
    expect(hitOf((await matcherOf(recorded)).answer(asked(live)))).toBe(hit);
  });

  test("the first thousand are compared", async () => {
    const recorded = Array.from({ length: 1001 }, (_, at) => noted(`${at + 1} ${secret}`));
    const matcher = await matcherOf(recorded);
    expect(hitOf(matcher.answer(asked(noted("1000 live"))))).toBe(1000);
    expect(hitOf(matcher.answer(asked(noted("1001 live"))))).toBe("miss");
  });
});

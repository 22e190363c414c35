import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/kernel/base/json.ts";
import { likeness, nearestEvents } from "../../../../src/lab/assert/match/nearest.ts";
import type { Pattern } from "../../../../src/lab/assert/match/types.ts";
import { stored } from "./events.ts";

describe("likeness of names", () => {
  test.each<[a: string, b: string, from: number, to: number]>([
    ["signup", "signup", 1, 1],
    ["signup_completed", "Signup Completed", 0.9, 0.99],
    ["signupCompleted", "signup_completed", 0.9, 0.99],
    ["signup_complete", "Signup Completed", 0.8, 0.95],
    ["signup", "singup", 0.6, 0.95],
    ["completed_signup", "signup_completed", 0.7, 0.9],
    ["user_signup_completed", "signup_completed", 0.4, 0.9],
    ["signup_started", "signup_completed", 0, 0],
    ["checkout", "signup", 0, 0],
    ["", "signup", 0, 0],
    ["购买", "购买 ", 0.9, 0.99],
    // Alike in two thirds of the longer one, or not alike.
    ["abcdef", "abcdxx", 0.63, 0.64],
    ["abcdef", "abcxxx", 0, 0],
    ["abcd", "abcdef", 0.63, 0.64],
    ["abc", "abcdef", 0, 0],
    ["x".repeat(64), `${"x".repeat(63)}y`, 0.9, 0.95],
    ["x".repeat(65), `${"x".repeat(64)}y`, 0, 0],
    ["X".repeat(70), "x".repeat(70), 0.95, 0.95],
    ["x".repeat(5_000), `${"x".repeat(5_000)}y`, 0, 0],
    // More than half of the words, or not alike.
    ["shop cart paid", "paid cart shop", 0.8, 0.8],
    ["paid cart", "cart order", 0, 0],
    ["paidCart", "cart_paid", 0.8, 0.8],
    ["go go", "go", 0.8, 0.8],
    ["!!!", "???", 0, 0],
    ["", "!", 0, 0],
  ])("%s, %s", (a, b, from, to) => {
    expect(likeness(a, b)).toBeGreaterThanOrEqual(from);
    expect(likeness(a, b)).toBeLessThanOrEqual(to);
    expect(likeness(b, a)).toBe(likeness(a, b));
  });
});

describe("nearestEvents", () => {
  const match = { event: "signup", distinct_id: "u1", properties: { plan: "pro", amount: { "@gte": 10 } } };

  test("the name counts most, then what fits of the rest, then what is newest", () => {
    const events = [
      stored(1, "signup", { plan: "pro", amount: 5 }),
      stored(2, "signup", { plan: "free", amount: 5 }),
      stored(3, "sign_up", { plan: "pro", amount: 10 }),
      stored(4, "signup", { plan: "pro", amount: 5 }),
      stored(5, "other", { plan: "pro", amount: 10 }),
      stored(6, "signup", { plan: "pro", amount: 10 }),
    ];
    const misses = nearestEvents(match, events, 10);
    expect(misses.map(({ seq }) => seq)).toEqual([3, 4, 1, 2]);
    expect(misses.every(({ score }) => score > 0 && score < 1)).toBe(true);
    expect(nearestEvents(match, events)).toHaveLength(3);
  });

  test("without a name, what has the properties is near", () => {
    const events = [stored(1, "a", { plan: "free" }), stored(2, "b", {}), stored(3, "c", { plan: "Pro" })];
    expect(nearestEvents({ properties: { plan: "pro" } }, events).map(({ seq }) => seq)).toEqual([3, 1]);
  });

  test("the parts of @all count alike", () => {
    const pattern = { "@all": [{ event: "signup" }, { properties: { plan: "pro" } }] };
    const events = [stored(1, "other", { plan: "pro" }), stored(2, "signup", { plan: "free" })];
    expect(nearestEvents(pattern, events).map(({ seq, differences }) => [seq, differences.length])).toEqual([[2, 1]]);
  });

  const scores = (pattern: Pattern, ...events: ReturnType<typeof stored>[]) =>
    nearestEvents(pattern, events, 10).map(({ seq, score }) => [seq, score]);

  test("the name counts 0.65, the rest its share: a property that is there but differs counts 0.3", () => {
    const pattern = { event: "signup", properties: { plan: "pro", seats: 2 } };
    expect(
      scores(
        pattern,
        stored(1, "signup"),
        stored(2, "signup", { plan: "pro" }),
        stored(3, "signup", { plan: "free" }),
        stored(4, "signup", { plan: "pro", seats: 3 }),
        stored(5, "Sign Up", { plan: "pro", seats: 2 }),
      ),
    ).toEqual([
      [5, 0.97],
      [4, 0.88],
      [2, 0.83],
      [3, 0.7],
      [1, 0.65],
    ]);
    // What differs only in something else than leaves is near, and still does not fit.
    expect(scores({ event: { "@all": ["signup", { "@not": "signup" }] } }, stored(1, "signup"))).toEqual([]);
    expect(scores({ properties: expect.objectContaining({ a: 1 }) }, stored(1, "x"))).toEqual([[1, 0.3]]);
  });

  test("only what fits has 1, and a name alone is all there is to fit", () => {
    expect(scores({ event: "signup" }, stored(1, "sign_up"), stored(2, "signup"))).toEqual([[1, 0.97]]);
    const many = (last: number) =>
      Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`p${i}`, i === 299 ? last : i]));
    expect(scores({ event: "signup", properties: many(1) }, stored(1, "signup", many(2)))).toEqual([[1, 0.99]]);
  });

  test("a nested pattern whose parent is absent, or of another type, counts as absent", () => {
    const pattern = { event: "signup", properties: { $set: { plan: "pro", address: { city: "Zug" } } } };
    const misses = nearestEvents(pattern, [
      stored(1, "signup"),
      stored(2, "signup", { $set: null }),
      stored(3, "signup", { $set: "plan" }),
      stored(4, "signup", { $set: ["pro"] }),
      stored(5, "signup", { $set: { plan: "pro" } }),
    ]);
    expect(misses.map(({ seq, score }) => [seq, score])).toEqual([
      [5, 0.83],
      [4, 0.65],
      [3, 0.65],
    ]);
    expect(misses[0]?.differences.map(({ path }) => path)).toEqual(["properties.$set.address"]);
  });

  test("names of the language are no properties", () => {
    const pattern = { event: "signup", properties: { constructor: 1, toString: { length: 0 } } };
    expect(scores(pattern, stored(1, "signup"))).toEqual([[1, 0.65]]);
  });

  test("a property named event is one like any other, where it is not the event's own", () => {
    const pattern = { event: "signup", properties: { event: "a", b: 1 } };
    expect(scores(pattern, stored(1, "signup", { event: "a" }), stored(2, "signup", { b: 2 }))).toEqual([
      [1, 0.83],
      [2, 0.7],
    ]);
  });

  test("@all counts part for part at the top, and as one leaf further down", () => {
    const own = { "@all": [{ properties: { a: 1, b: 1 } }, { properties: { c: 1 } }] };
    expect(scores(own, stored(1, "x", { a: 1, b: 1 }), stored(2, "x", { c: 1 }))).toEqual([
      [1, 0.67],
      [2, 0.33],
    ]);
    const inside = { properties: { n: { "@all": [{ "@gt": 1 }, { "@lt": 9 }] }, m: 1 } };
    expect(scores(inside, stored(1, "x", { n: 10, m: 1 }))).toEqual([[1, 0.65]]);
    expect(scores({ properties: { n: { "@gt": 1 }, m: 1 } }, stored(1, "x", { n: 0, m: 1 }))).toEqual([[1, 0.65]]);
    expect(scores({ "@any": [{ event: "a" }] }, stored(1, "x"))).toEqual([[1, 0.3]]);
  });

  test("patterns of more than ten levels count their eleventh as one", () => {
    const deep = (levels: number, leaf: Json): JsonObject =>
      levels === 0 ? { a: leaf, b: 1 } : { x: deep(levels - 1, leaf), y: 1 };
    // Ten keys lead to the pair, of which one fits; y fits at each of the levels before.
    expect(scores({ properties: deep(8, 1) }, stored(1, "e", deep(8, 2)))).toEqual([[1, 0.93]]);
    expect(scores({ properties: deep(9, 1) }, stored(1, "e", deep(9, 2)))).toEqual([[1, 0.93]]);
  });

  test("several names must all be near", () => {
    const pattern = { "@all": [{ event: "signup" }, { event: { "@startsWith": "zz" } }, { distinct_id: "u1" }] };
    expect(scores(pattern, stored(1, "signup"))).toEqual([]);
    expect(scores({ "@all": [{ event: "signup" }, { event: "login" }] }, stored(1, "signup"))).toEqual([]);
    expect(scores({ event: /^sign/ }, stored(1, "checkout"))).toEqual([]);
  });

  test("a miss names the event", () => {
    const [miss] = nearestEvents({ event: "signup", distinct_id: "u2" }, [stored(1, "signup")]);
    expect(miss).toEqual({
      seq: 1,
      event: "signup",
      distinct_id: "u1",
      received_at: "2026-01-05T09:00:00.100Z",
      score: 0.76,
      differences: [{ path: "distinct_id", expected: '"u2"', actual: '"u1"', hint: null }],
    });
  });

  test.each([[(it: unknown) => it === 1], [/a/], ["signup"], [null], [expect.objectContaining({ event: "signup" })]])(
    "takes any pattern: %s",
    (pattern) => {
      expect(Array.isArray(nearestEvents(pattern, [stored(1, "a")]))).toBe(true);
    },
  );
});

import { describe, expect, test } from "vitest";
import { likeness, nearestEvents } from "../../src/match/nearest.ts";
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
    ["x".repeat(5_000), `${"x".repeat(5_000)}y`, 0, 0],
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
    expect(nearestEvents(pattern, events).map(({ seq, differences }) => [seq, differences.length])).toEqual([
      [2, 1],
    ]);
  });

  test.each([
    [(it: unknown) => it === 1],
    [/a/],
    ["signup"],
    [null],
    [expect.objectContaining({ event: "signup" })],
  ])("takes any pattern: %s", (pattern) => {
    expect(Array.isArray(nearestEvents(pattern, [stored(1, "a")]))).toBe(true);
  });
});

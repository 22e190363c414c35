import { expect as jest } from "expect";
import { describe, expect, test } from "vitest";
import { describePattern, describeValue } from "../../../../src/lab/assert/match/describe.ts";

const cyclic: Record<string, unknown> = {};
cyclic.a = cyclic;

describe("describePattern", () => {
  test.each<[pattern: unknown, text: string]>([
    ["pro", '"pro"'],
    [-0, "-0"],
    [null, "null"],
    [undefined, "undefined"],
    [5n, "[object BigInt]"],
    [{ plan: "pro", amount: expect.any(Number) }, '{plan: "pro", amount: Any<Number>}'],
    [{ $set: {}, "a b": [1] }, '{$set: {}, "a b": [1]}'],
    [{ amount: { "@gte": 10, "@lt": 20 } }, "{amount: @gte 10 @lt 20}"],
    [{ "@not": { plan: "x" } }, '@not {plan: "x"}'],
    [/check\/out/i, "/check\\/out/i"],
    [new Date("2026-01-05T09:00:00Z"), "Date 2026-01-05T09:00:00.000Z"],
    [new Date(Number.NaN), "Invalid Date"],
    [new URL("http://x/"), '"http://x/"'],
    [new Map(), "[object Map]"],
    [(v: number) => v > 3, "(v) => v > 3"],
    [expect.anything(), "Anything"],
    [expect.stringContaining("a"), 'StringContaining "a"'],
    [expect.not.stringMatching(/a/), "StringNotMatching /a/"],
    [expect.objectContaining({ a: expect.any(String) }), "ObjectContaining {a: Any<String>}"],
    [expect.closeTo(0.3), "NumberCloseTo 0.3 (2 digits)"],
    [jest.any(Number), "Any<Number>"],
    [jest.arrayContaining([1]), "ArrayContaining [1]"],
    [{ test: () => true, and: () => 0, or: () => 0, message: 'typeOf("string")' }, 'typeOf("string")'],
    [{ asymmetricMatch: () => true }, "a matcher"],
    ["\u001b[31m\u202e\u009b\n", '"\\u001b[31m\\u202e\\x9b\\n"'],
    [cyclic, "{a: {a: {a: {a: {a: {a: {a: …}}}}}}}"],
  ])("%s", (pattern, text) => {
    expect(describePattern(pattern)).toBe(text);
  });

  test.each<[pattern: unknown]>([
    ["x".repeat(1_000_000)],
    [Array.from({ length: 100_000 }, (_, i) => i)],
    [Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`${"k".repeat(500)}${i}`, cyclic]))],
    [{ "\u001b": 1, "@\u001b": "\u0007" }],
  ])("is bounded and plain", (pattern) => {
    const text = describePattern(pattern, 100);
    expect(text.length).toBeLessThanOrEqual(100);
    expect(text).not.toMatch(/\p{Cc}/u);
  });
});

test("a value's keys are keys, whatever they look like", () => {
  expect(describeValue({ "@gte": 1, toJSON: 1 })).toBe('{"@gte": 1, toJSON: 1}');
  expect(describeValue(undefined)).toBeNull();
});

test("a matcher that cannot say what it is", () => {
  const silent = {
    asymmetricMatch: () => true,
    toAsymmetricMatcher: () => {
      throw new Error("no");
    },
    toString: () => {
      throw new Error("no");
    },
  };
  expect(describePattern({ a: silent })).toBe("{a: a matcher}");
});

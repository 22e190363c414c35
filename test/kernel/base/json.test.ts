import { describe, expect, test } from "vitest";
import { isTooDeep, type Json, own } from "../../../src/kernel/base/json.ts";
import { fc } from "../../support/chance.ts";

const depthOf = (value: Json): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe("isTooDeep", () => {
  const nested = (open: string, close: string, depth: number): Json =>
    JSON.parse(open.repeat(depth) + (open === "[" ? "" : "1") + close.repeat(depth));

  test.each([
    [nested("[", "]", 128), false],
    [nested("[", "]", 129), true],
    [nested('{"a":', "}", 128), false],
    [nested('{"a":', "}", 129), true],
    [nested("[", "]", 100_000), true],
    [Array.from({ length: 500 }, () => [{}]), false],
    ["[[[", false],
    [null, false],
  ])("row %#", (value, expected) => {
    expect(isTooDeep(value)).toBe(expected);
  });

  test("agrees with counting on any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 7 }), (value, limit) => {
        expect(isTooDeep(value as Json, limit)).toBe(depthOf(value as Json) > limit);
      }),
    );
  });
});

test("own sees no inherited names", () => {
  expect([own({}, "constructor"), own(JSON.parse('{"__proto__":1}'), "__proto__")]).toEqual([undefined, 1]);
});

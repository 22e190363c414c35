import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTooDeep, type Json, own } from "../../src/kernel/json.ts";

const depthOf = (value: Json): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0;

describe("isTooDeep", () => {
  test.each([
    ["[".repeat(128) + "]".repeat(128), false],
    ["[".repeat(129) + "]".repeat(129), true],
    [`${'{"a":'.repeat(129)}1${"}".repeat(129)}`, true],
    [JSON.stringify(Array.from({ length: 500 }, () => [{}])), false],
    [JSON.stringify("[".repeat(500)), false],
    [JSON.stringify(['"[\\"'.repeat(300)]), false],
    [`["${"\\\\".repeat(200)}",${"[".repeat(128)}${"]".repeat(128)}]`, true],
    ["[".repeat(300), true],
    ['"'.repeat(301), false],
    ["", false],
  ])("row %#", (text, expected) => {
    expect(isTooDeep(text)).toBe(expected);
  });

  test("agrees with counting on any JSON", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 7 }), (value, limit) => {
        expect(isTooDeep(JSON.stringify(value), limit)).toBe(depthOf(value as Json) > limit);
      }),
    );
  });
});

test("own sees no inherited names", () => {
  expect([own({}, "constructor"), own(JSON.parse('{"__proto__":1}'), "__proto__")]).toEqual([undefined, 1]);
});

import { expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { isEqual } from "../../../src/kernel/base/json-differences.ts";

test.each<[Json | undefined, Json | undefined, boolean]>([
  [[1, 2], [1, 2], true],
  [[1], { 0: 1 }, false],
  [null, undefined, false],
  [{ constructor: 1 }, { x: 1 }, false],
])("isEqual(%j, %j) is %s", (a, b, same) => {
  expect(isEqual(a, b)).toBe(same);
});

test("values that are too deep for a walk are compared by their texts", () => {
  const nested = (value: Json): Json => Array.from({ length: 1_000 }).reduce<Json>((inner) => [inner], value);
  expect(isEqual(nested(1), nested(1))).toBe(true);
  expect(isEqual(nested(1), nested(2))).toBe(false);
});

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

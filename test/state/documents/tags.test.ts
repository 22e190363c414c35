import { expect, test } from "vitest";
import { tidyTags } from "../../../src/state/documents/tags.ts";

test.each([
  [[], []],
  [
    ["b", "A", " a ", "B"],
    ["a", "b"],
  ],
  [["", "  ", "x y"], ["x y"]],
])("%j", (tags, expected) => {
  expect(tidyTags(tags)).toEqual(expected);
});

import { describe, expect, test } from "vitest";
import { firstShown, shownCount, stepTo, topFor } from "../../../ui/parts/list-positions.ts";

describe("what is drawn of a list", () => {
  test.each([
    [0, 600, 0],
    [0, 600, 5],
    [0, 600, 100_000],
    [2_799_400, 600, 100_000],
    [1_234_567, 600, 100_000],
    [999_999_999, 600, 100_000],
    [500, 0, 100],
  ])(
    "from %i px, %i px high, of %i rows: all in sight, never more than there are, never many",
    (top, height, count) => {
      const first = firstShown(top, 28, count);
      const shown = shownCount(height, 28, count - first);
      const [begin, end] = [Math.min(count, Math.floor(top / 28)), Math.min(count, Math.ceil((top + height) / 28))];
      expect(first).toBeGreaterThanOrEqual(0);
      expect(first).toBeLessThanOrEqual(begin);
      expect(first + shown).toBeGreaterThanOrEqual(end);
      expect(first + shown).toBeLessThanOrEqual(count);
      expect(shown).toBeLessThan(60);
    },
  );

  test.each([
    ["in sight", 10, 200],
    ["above", 2, 56],
    ["below", 30, 588],
    ["half below", 17, 224],
  ])("a row %s is brought into sight the nearest way", (_, index, top) => {
    expect(topFor(index, 200, 280, 28)).toBe(top);
  });
});

describe("keys in a list", () => {
  test.each([
    ["ArrowDown", -1, 0],
    ["ArrowDown", 9, 9],
    ["ArrowUp", 0, 0],
    ["PageDown", -1, 4],
    ["PageDown", 8, 9],
    ["PageUp", 6, 2],
    ["Home", 6, 0],
    ["End", 0, 9],
    ["a", 0, undefined],
    ["constructor", 0, undefined],
  ])("%s from %i", (key, from, to) => expect(stepTo(key, from, 10, 4)).toBe(to));

  test("an empty list has nowhere to go", () => expect(stepTo("End", -1, 0, 4)).toBe(undefined));
});

import { describe, expect, test } from "vitest";
import type { Completion, FilterProblem } from "../../../src/state/journal/filter/types.ts";
import { accepted, markedText, nextOf } from "../../../ui/parts/filter-box/filter-text.ts";

const wrong = (at: number, length: number): FilterProblem => ({ at, length, message: "no" });

/** What is wrong in brackets. */
const drawn = (text: string, problems: FilterProblem[]): string =>
  markedText(text, problems)
    .map((it) => (it.isWrong ? `[${it.text}]` : it.text))
    .join("");

describe("what is underlined", () => {
  test.each<[string, FilterProblem[], string]>([
    ["event:a", [], "event:a"],
    ["", [], ""],
    ["evnt:a b", [wrong(0, 4)], "[evnt]:a b"],
    ["a b c", [wrong(4, 1), wrong(0, 1)], "[a] b [c]"],
    ["a b", [wrong(0, 3), wrong(1, 1)], "[a b]"],
    ["a OR", [wrong(4, 0)], "a OR[ ]"],
    ["a b", [wrong(2, 0)], "a [b]"],
    ["ab", [wrong(1, 99)], "a[b]"],
    ["ab", [wrong(50, 2)], "ab"],
  ])("%j with %j is %j", (text, problems, expected) => {
    expect(drawn(text, problems)).toBe(expected);
  });
});

describe("what is accepted", () => {
  const offer = (text: string, from: number, to: number): Completion => ({ text, from, to, note: "" });
  test.each<[string, Completion, string, number]>([
    ["ev", offer("event:", 0, 2), "event:", 6],
    ["is:dr", offer("dropped", 3, 5), "is:dropped ", 11],
    ["is:dr event:a", offer("dropped", 3, 5), "is:dropped event:a", 10],
    ["(is:dr)", offer("dropped", 4, 6), "(is:dropped)", 11],
    ["pr", offer("prop.", 0, 2), "prop.", 5],
    ["", offer("event:", 0, 0), "event:", 6],
  ])("into %j: %j gives %j, the caret at %d", (text, it, expected, caret) => {
    expect(accepted(text, it)).toEqual({ text: expected, caret });
  });
});

test.each([
  [-1, 3, 1, 0],
  [0, 3, 1, 1],
  [2, 3, 1, -1],
  [-1, 3, -1, 2],
  [0, 3, -1, -1],
  [-1, 0, 1, -1],
] as const)("after %d of %d by %d comes %d", (index, count, step, expected) => {
  expect(nextOf(index, count, step)).toBe(expected);
});

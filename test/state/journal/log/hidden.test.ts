import { expect, test } from "vitest";
import { type HiddenRange, type HidingTable, hiddenRuns, hideOnly } from "../../../../src/state/journal/log/hidden.ts";
import { RowTable } from "../../../../src/state/journal/log/rows.ts";

const hidden = 2;
const flagBits = 2;

/** A table with one column from a text: a project's letter for each row, small when it is hidden. */
function tableOf(text: string, first = 1): HidingTable {
  const rows = new RowTable(1);
  for (const letter of text) {
    const project = letter.toUpperCase().charCodeAt(0) - 64;
    rows.add((project << flagBits) | (letter === letter.toLowerCase() ? hidden : 0));
  }
  return { rows, meta: 0, hiddenBit: hidden, flagBits, first };
}

const textOf = ({ rows }: HidingTable): string =>
  Array.from({ length: rows.length }, (_, row) => {
    const flags = rows.get(row, 0);
    const letter = String.fromCharCode(64 + (flags >>> flagBits));
    return flags & hidden ? letter.toLowerCase() : letter;
  }).join("");

test.each<[text: string, runs: HiddenRange[]]>([
  ["", []],
  ["AAB", []],
  ["aaa", [{ project: 1, from: 1, to: 3 }]],
  ["aBa", [{ project: 1, from: 1, to: 3 }]],
  [
    "aAa",
    [
      { project: 1, from: 1, to: 1 },
      { project: 1, from: 3, to: 3 },
    ],
  ],
  [
    "abAb",
    [
      { project: 1, from: 1, to: 1 },
      { project: 2, from: 2, to: 4 },
    ],
  ],
])("what is hidden of %j", (text, runs) => {
  expect(hiddenRuns(tableOf(text))).toEqual(runs);
});

test.each([
  ["AAAA", "aaAA", "aaAA"],
  ["abab", "ABAB", "ABAB"],
  ["AbAb", "aBaB", "aBaB"],
  ["AAAAAA", "AaA", "AaAaaa"],
  ["ABABAB", "aBAb", "aBAbab"],
  ["aaa", "", "aaa"],
])("%j with what was hidden of %j becomes %j", (now, then, result) => {
  for (const first of [1, 500]) {
    const mark = tableOf(then, first);
    const table = tableOf(now, first);
    hideOnly(table, hiddenRuns(mark), first + then.length - 1);
    expect(textOf(table)).toBe(result);
  }
});

test("the other flags stay as they are", () => {
  const table = tableOf("AB");
  table.rows.set(0, 0, table.rows.get(0, 0) | 1);
  hideOnly(table, [], 0);
  expect([table.rows.get(0, 0), table.rows.get(1, 0)]).toEqual([0b111, 0b1010]);
});

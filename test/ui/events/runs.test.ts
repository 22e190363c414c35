import { expect, test } from "vitest";
import type { EventRow } from "../../../src/state/journal/feed/feed-row.ts";
import { Runs } from "../../../ui/views/events/runs.ts";
import { eventRow } from "../../support/rows.ts";

/** Rows by letters, newest first: a capital is an event of a session, a small letter one of a person without. */
const rowsOf = (letters: string, last = letters.length): EventRow[] =>
  [...letters].map((it, i) =>
    eventRow(last - i, { distinct_id: it.toLowerCase(), session: it === it.toUpperCase() ? `session ${it}` : null }),
  );

const listOf = (rows: readonly EventRow[]) => ({ count: () => rows.length, at: (i: number) => rows[i] });

/** What the list shows: `|` for a divider. */
function shown(runs: Runs, rows: readonly EventRow[]): string {
  const indexOf = (seq: number) => rows.findIndex((it) => it.seq === seq);
  return Array.from({ length: runs.count() }, (_, place) => {
    const item = runs.at(place, listOf(rows), indexOf);
    if (item && "row" in item) {
      expect(runs.placeOf(indexOf(item.row.seq), item.row.seq)).toBe(place);
      return item.row.session === null ? item.row.distinct_id : item.row.distinct_id.toUpperCase();
    }
    return item ? "|" : "?";
  }).join("");
}

const cases: [letters: string, expected: string][] = [
  ["", ""],
  ["a", "a"],
  ["aaa", "aaa"],
  ["abc", "abc"],
  ["aab", "|aa|b"],
  ["abb", "a|bb"],
  ["aabb", "|aa|bb"],
  ["abbcdee", "a|bb|cd|ee"],
  ["AAa", "|AA|a"],
  ["aabaa", "|aa|b|aa"],
];

test.each(cases)("%s is shown as %s", (letters, expected) => {
  const rows = rowsOf(letters);
  const runs = new Runs();
  runs.update(listOf(rows));
  expect(shown(runs, rows)).toBe(expected);
});

test.each(cases)("%s one by one", (letters, expected) => {
  const runs = new Runs();
  for (let count = 0; count <= letters.length; count++) {
    const before = runs.added();
    const [top] = rowsOf(letters.slice(letters.length - count + 1));
    const rows = rowsOf(letters.slice(letters.length - count));
    const index = (all: readonly EventRow[]) => all.findIndex((it) => it.seq === top?.seq);
    const placeBefore = top ? runs.placeOf(0, top.seq) : 0;
    runs.update(listOf(rows));
    if (top && count > 1) expect(runs.placeOf(index(rows), top.seq) - placeBefore).toBe(runs.added() - before);
  }
  expect(shown(runs, rowsOf(letters))).toBe(expected);
});

test("older rows, and rows that are gone, are taken in", () => {
  const rows = rowsOf("aabbcc");
  const runs = new Runs();
  runs.update(listOf(rows.slice(0, 3)));
  expect(shown(runs, rows.slice(0, 3))).toBe("|aa|b");
  runs.update(listOf(rows));
  expect(shown(runs, rows)).toBe("|aa|bb|cc");
  runs.update(listOf(rows.slice(0, 4)));
  expect(shown(runs, rows.slice(0, 4))).toBe("|aa|bb");
  runs.update(listOf([]));
  expect(runs.count()).toBe(0);
});

test("a divider counts what is below it", () => {
  const rows = [
    eventRow(4, { at: 90, event: "$exception", session: "s" }),
    eventRow(3, { at: 30, session: "s" }),
    eventRow(2, { distinct_id: "__proto__" }),
    eventRow(1, { distinct_id: "constructor" }),
  ];
  const runs = new Runs();
  runs.update(listOf(rows));
  expect(runs.at(0, listOf(rows), (seq) => 4 - seq)).toMatchObject({
    run: { session: "s", count: 2, exceptions: 1, first: 30, last: 90 },
  });
});

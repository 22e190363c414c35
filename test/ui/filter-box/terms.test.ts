import { expect, test } from "vitest";
import { readEventFilter } from "../../../src/state/journal/filter/read.ts";
import { hasTerm, toggled, withoutTerm, withTerm } from "../../../ui/parts/filter-box/filter-text.ts";

test.each<[string, string, string]>([
  ["", "is:dropped", "is:dropped"],
  ["event:a", "is:dropped", "event:a is:dropped"],
  ["is:dropped", "is:dropped", "is:dropped"],
  ["event:a OR event:b", "is:dropped", "(event:a OR event:b) is:dropped"],
  ["is:dropped OR event:b", "is:dropped", "(is:dropped OR event:b) is:dropped"],
  ["(event:a OR event:b)", "is:dropped", "(event:a OR event:b) is:dropped"],
])("%j and %j is %j", (text, term, expected) => {
  expect(withTerm(text, term)).toBe(expected);
  expect(readEventFilter(expected)).toHaveProperty("filter");
});

test.each<[string, string, string]>([
  ["is:dropped", "is:dropped", ""],
  ["event:a is:dropped prop.x:1", "is:dropped", "event:a prop.x:1"],
  ["is:dropped event:a is:dropped", "is:dropped", "event:a"],
  ["event:a AND is:dropped", "is:dropped", "event:a"],
  ["is:dropped and -event:a", "is:dropped", "-event:a"],
  ["event:a AND is:dropped AND b", "is:dropped", "event:a AND b"],
  ["(is:dropped OR event:a)", "is:dropped", "(is:dropped OR event:a)"],
  ['"is:dropped"', "is:dropped", '"is:dropped"'],
  ["-is:dropped", "is:dropped", "-is:dropped"],
  ["NOT is:dropped", "is:dropped", "NOT is:dropped"],
  ['prop.x:"a \\" (b" is:dropped', "is:dropped", 'prop.x:"a \\" (b"'],
])("%j without %j is %j", (text, term, expected) => {
  expect(withoutTerm(text, term)).toBe(expected);
  expect(hasTerm(expected, term)).toBe(false);
  expect(readEventFilter(expected)).toHaveProperty("filter");
});

test("one takes the place of its rivals, and goes with a second click", () => {
  const rivals = ["is:dropped", "is:warned"];
  expect(toggled("event:a is:warned", "is:dropped", rivals)).toBe("event:a is:dropped");
  expect(toggled("event:a is:dropped", "is:dropped", rivals)).toBe("event:a");
});

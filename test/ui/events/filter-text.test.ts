import { describe, expect, test } from "vitest";
import { readEventFilter } from "../../../src/filter/read.ts";
import {
  hasTerm,
  namesIn,
  nameTerm,
  sinceNow,
  toggled,
  withoutTerm,
  withTerm,
} from "../../../ui/views/events/filter-text.ts";

describe("terms of a filter by click", () => {
  test.each<[string, string, string]>([
    ["", "is:dropped", "is:dropped"],
    ["event:a", "is:dropped", "event:a is:dropped"],
    ["is:dropped", "is:dropped", "is:dropped"],
    ["event:a OR event:b", "is:dropped", "(event:a OR event:b) is:dropped"],
    ["(event:a OR event:b)", "is:dropped", "(event:a OR event:b) is:dropped"],
  ])("%j and %j is %j", (text, term, expected) => {
    expect(withTerm(text, term)).toBe(expected);
    expect(readEventFilter(expected)).toHaveProperty("filter");
  });

  test.each<[string, string, string]>([
    ["is:dropped", "is:dropped", ""],
    ["event:a is:dropped prop.x:1", "is:dropped", "event:a prop.x:1"],
    ["(is:dropped OR event:a)", "is:dropped", "(is:dropped OR event:a)"],
    ['"is:dropped"', "is:dropped", '"is:dropped"'],
    ["-is:dropped", "is:dropped", "-is:dropped"],
  ])("%j without %j is %j", (text, term, expected) => {
    expect(withoutTerm(text, term)).toBe(expected);
  });

  test("one takes the place of its rivals, and goes with a second click", () => {
    const rivals = ["is:dropped", "is:warned"];
    expect(toggled("event:a is:warned", "is:dropped", rivals)).toBe("event:a is:dropped");
    expect(toggled("event:a is:dropped", "is:dropped", rivals)).toBe("event:a");
  });

  test.each(["$pageview", "order paid", 'say "hi"', "a*b", "a,b", "(x)", "OR", "", "ä ö"])(
    "the name %j is found again as a term",
    (name) => {
      const term = nameTerm(name);
      const text = withTerm("is:kept", term);
      expect([hasTerm(text, term), namesIn(text)]).toEqual([true, [term]]);
      const reading = readEventFilter(term);
      expect("filter" in reading && reading.filter.indexed.event).toBe(name);
    },
  );

  test("from now on is said once", () => {
    expect(sinceNow("event:a", 12)).toBe("event:a seq:>12");
    expect(sinceNow("event:a seq:>12", 40)).toBe("event:a seq:>40");
  });
});

import { describe, expect, test } from "vitest";
import { readEventFilter } from "../../../src/state/journal/filter/read.ts";
import { hasTerm, nameTerm, withTerm } from "../../../ui/parts/filter-box/filter-text.ts";
import { namesIn, sinceNow } from "../../../ui/views/events/address.ts";

describe("terms of a filter by click", () => {
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

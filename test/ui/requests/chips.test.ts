import { describe, expect, test } from "vitest";
import { readRequestFilter } from "../../../src/state/journal/filter/read.ts";
import { hasTerm, toggled } from "../../../ui/parts/filter-box/filter-text.ts";
import { chips, routeIn, routes, withRoute } from "../../../ui/views/requests/list-filter.ts";

test.each([...chips, ...routes])("$term is a filter", ({ term }) => {
  expect(readRequestFilter(term)).toHaveProperty("filter");
});

test.each([
  ["", "is:rejected", "is:rejected"],
  ["status:400", "is:rejected", "status:400 is:rejected"],
  ["is:rejected status:400", "is:rejected", "status:400"],
  ["a OR b", "is:rejected", "(a OR b) is:rejected"],
  ["(is:rejected OR b)", "is:rejected", "(is:rejected OR b) is:rejected"],
])("%j with %j turned is %j", (filter, term, expected) => {
  const turned = toggled(filter, term);
  expect(turned).toBe(expected);
  expect(hasTerm(turned, term)).toBe(!hasTerm(filter, term));
  expect(readRequestFilter(turned)).toHaveProperty("filter");
});

describe("routes", () => {
  test.each([
    ["is:rejected", "route:/batch", "is:rejected route:/batch"],
    ["route:/flags is:rejected", "route:/batch", "is:rejected route:/batch"],
    ["route:/flags", "", ""],
    ["route:/mine", "route:/batch", "route:/mine route:/batch"],
  ])("%j with %j is %j", (filter, term, expected) => {
    expect(withRoute(filter, term)).toBe(expected);
    expect(routeIn(expected)).toBe(term);
  });
});

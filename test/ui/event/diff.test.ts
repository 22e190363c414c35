import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { jsonPath } from "../../../ui/parts/tree/model.ts";
import { countsOf, type Difference, differencesOf } from "../../../ui/views/event/diff.ts";

const reported = ({ path, change, isVolatile }: Difference): string =>
  `${change} ${jsonPath(path)}${isVolatile ? " ~" : ""}`;

describe("differencesOf", () => {
  test.each<[string, Json, Json, string[]]>([
    ["equal", { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, ["same $.a"]],
    ["the order of keys means nothing", { a: 1, b: 2 }, { b: 2, a: 1 }, ["same $.b", "same $.a"]],
    ["a number as text", { a: 1 }, { a: "1" }, ["changed $.a"]],
    ["null is a value", { a: null }, {}, ["removed $.a"]],
    ["deeper", { a: { b: 1, c: 2 } }, { a: { b: 1, d: 3 } }, ["same $.a.b", "added $.a.d", "removed $.a.c"]],
    ["another kind", { a: {} }, { a: [] }, ["changed $.a"]],
    ["an item put in front", { a: [2, 3] }, { a: [1, 2, 3] }, ["added $.a[0]"]],
    ["an item taken out", { a: [1, 2, 3] }, { a: [1, 3] }, ["removed $.a[1]"]],
    ["an item changed", { a: [1, { x: 1 }, 3] }, { a: [1, { x: 2 }, 3] }, ["changed $.a[1].x"]],
    ["all items gone", { a: [1] }, { a: [] }, ["removed $.a[0]"]],
    ["what is new each time", { $ip: "1", a: 1 }, { $ip: "2", a: 1 }, ["changed $.$ip ~", "same $.a"]],
    ["below what is new", { $geoip_x: { y: 1 } }, { $geoip_x: { y: 2 } }, ["changed $.$geoip_x.y ~"]],
    ["no objects at all", 1, 2, ["changed $"]],
  ])("%s", (_, before, after, lines) => {
    expect(differencesOf(before, after).map((it) => reported(it).replaceAll('["', ".").replaceAll('"]', ""))).toEqual(
      lines,
    );
  });

  test("hostile keys are keys", () => {
    const before = JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}') as Json;
    const after = JSON.parse('{"__proto__": {"a": 2}, "toString": 1}') as Json;
    expect(differencesOf(before, after).map(reported)).toEqual([
      "changed $.__proto__.a",
      "added $.toString",
      "removed $.constructor",
    ]);
  });

  test("stops at 2,000", () => {
    const many = (value: number) => Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, value]));
    expect(differencesOf(many(1), many(2))).toHaveLength(2_000);
  });
});

test("what is volatile counts apart", () => {
  const found = differencesOf({ a: 1, b: 1, c: 1, uuid: "x" }, { a: 1, b: 2, d: 1, uuid: "y" });
  expect(countsOf(found)).toEqual({ same: 1, changed: 1, added: 1, removed: 1, volatile: 1 });
});

import { describe, expect, test } from "vitest";
import {
  layoutFor,
  propertiesIn,
  readChoice,
  usualChoice,
  wantedProperties,
} from "../../../ui/views/events/columns.ts";

describe("a stored choice of columns", () => {
  test.each([null, "", "{", "null", "[]", "{}", '{"shown":"path"}', '{"shown":null,"widths":{}}'])(
    "%j is the usual one",
    (text) => {
      expect(readChoice(text)).toEqual(usualChoice);
    },
  );
  test("keeps what can be read", () => {
    const text =
      '{"shown":["id","id","nothing",7,"prop.amount","prop.","__proto__"],"widths":{"id":9999,"at":-5,"x":"y"}}';
    expect(readChoice(text)).toEqual({ shown: ["id", "prop.amount"], widths: { id: 1_000, at: 40 } });
    const many = JSON.stringify({ shown: Array.from({ length: 99 }, (_, i) => `prop.p${i}`) });
    expect(readChoice(many).shown).toHaveLength(12);
  });
});

test.each<[string, string[]]>([
  ["", []],
  ["event:a amount", []],
  ["prop.amount:>90 -properties.plan:pro prop.amount:<99", ["amount", "plan"]],
  ['prop."a.b":1 OR (prop.items.sku~x)', ["a.b", "items.sku"]],
  ["prop.", []],
])("properties in the filter %j are %j", (filter, expected) => {
  expect(propertiesIn(filter)).toEqual(expected);
});

test("values are asked for the filter's properties and the columns, each once", () => {
  expect(wantedProperties("prop.a:1", { shown: ["path", "prop.b", "prop.a", "prop.x,y"], widths: {} })).toEqual([
    "a",
    "b",
  ]);
});

describe("columns by the list's width", () => {
  const ids = (width: number, shown: readonly string[] = ["path", "lib", "id", "project", "prop.amount"]) =>
    layoutFor(width, { shown, widths: {} })
      .columns.map((it) => it.id)
      .slice(3);
  test("give way: the SDK first, then the URL", () => {
    expect(ids(2_000)).toEqual(["preview", "path", "lib", "id", "project", "prop.amount"]);
    expect(ids(930)).toEqual(["preview", "path", "id", "project", "prop.amount"]);
    expect(ids(850)).toEqual(["preview", "id", "project", "prop.amount"]);
    expect(ids(620)).toEqual(["preview", "prop.amount"]);
    expect(ids(500)).toEqual(["preview"]);
  });
  test("a narrow list has two lines", () => {
    const { columns, isTwoLines } = layoutFor(380, usualChoice);
    expect([columns.map((it) => it.id), isTwoLines]).toEqual([["at", "outcome", "event"], true]);
  });
  test("widths that were set are used", () => {
    expect(layoutFor(1_000, { shown: ["path"], widths: { event: 300 } }).template).toBe(
      "96px 16px 300px minmax(96px, 1fr) 104px",
    );
  });
});

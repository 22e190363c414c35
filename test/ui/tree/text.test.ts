import { describe, expect, test } from "vitest";
import { plain } from "../../../ui/parts/text.ts";
import { cutText, finderOf, linkOf, piecesOf, visible } from "../../../ui/parts/tree/safe-text.ts";

describe("visible", () => {
  test.each([
    ["plain", "plain"],
    ["a\u202eb", "a\\u202eb"],
    ["\u001b[31mred", "\\x1b[31mred"],
    ["one\ntwo\tthree\r\0", "one\\ntwo\\tthree\\r\\0"],
    ["zero\u200bwidth", "zero\\u200bwidth"],
    ["a\u200db", "a\\u200db"],
    ["👩‍💻 👍🏽", "👩‍💻 👍🏽"],
    ["❤️‍🔥", "❤️‍🔥"],
    ["\u{e0041}", "\\u{e0041}"],
    ["\ud800", "\\ud800"],
    ["naïve 日本語", "naïve 日本語"],
  ])("%j becomes %j", (text, shown) => {
    expect([visible(text), plain(text)]).toEqual([shown, shown]);
  });
});

describe("cutText", () => {
  test.each([
    ["short", 10, "short"],
    ["abcdef", 3, "abc"],
    ["ab😀", 3, "ab"],
    ["ab😀", 4, "ab😀"],
  ])("%j at %i", (text, limit, cut) => {
    expect([cutText(text, limit), plain(text, limit)]).toEqual([cut, cut === text ? cut : `${cut}…`]);
  });
});

describe("finderOf", () => {
  test.each([
    ["", "anything", false],
    ["  ", "any thing", false],
    ["A.b", "xa.bx", true],
    ["a.b", "aXb", false],
    ["(a+)+$", "((a+)+$)", true],
    ["[x]", "y[X]", true],
    ["a-b", "A-B", true],
    ["\\d", "5", false],
    ["a/b|c", "a/b|c", true],
    ["STRASSE", "straße", false],
    ["İ", "xİ", true],
    ["\ud800", "\ud800", true],
  ])("%j in %j: %s", (typed, text, isFound) => {
    const finder = finderOf(typed);
    expect(finder !== undefined && text.search(finder) !== -1).toBe(isFound);
  });
});

describe("piecesOf", () => {
  test("marks hits and spells out what cannot be seen, also inside a hit", () => {
    const pieces = piecesOf("one\nTWO\u202e two", finderOf("two"));
    expect(pieces.map(({ text, mark }) => [text, mark])).toEqual([
      ["one", "plain"],
      ["\\n", "spelled"],
      ["TWO", "hit"],
      ["\\u202e", "spelled"],
      [" ", "plain"],
      ["two", "hit"],
    ]);
    expect(pieces.find((it) => it.endsLine)?.text).toBe("\\n");
  });

  test("shows all of the text", () => {
    const text = "a\tb <img src=x> \u001b c";
    expect(
      piecesOf(text, finderOf("img"))
        .map((it) => it.text)
        .join(""),
    ).toBe(visible(text));
  });
});

describe("linkOf", () => {
  test.each([
    ["https://example.com/a?b=c#d", "https://example.com/a?b=c#d"],
    ["HTTP://example.com", "http://example.com/"],
    ["javascript:alert(1)", undefined],
    ["JaVaScRiPt://example.com/%0aalert(1)", undefined],
    [" https://example.com", undefined],
    ["https://example.com/a b", undefined],
    ["https://example.com/\u202egpj", undefined],
    ["https://exa\nmple.com", undefined],
    ["data:text/html,x", undefined],
    ["//example.com", undefined],
    ["https://", undefined],
    ["see https://example.com", undefined],
    [`https://example.com/${"a".repeat(3000)}`, undefined],
  ])("%j", (text, href) => {
    expect(linkOf(text)).toBe(href);
  });
});

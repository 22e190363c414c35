import { describe, expect, test } from "vitest";
import { valuePieces } from "../../../ui/views/flags/bold.ts";

const bold = (text: string): string[] =>
  valuePieces(text)
    .filter((it) => it.isValue)
    .map((it) => it.text);

describe("values in a sentence about rules", () => {
  test.each([
    ['When country is "DE" or "CH": 50 % of them get it.', ['"DE"', '"CH"', "50 %"]],
    ['When name is "a \\"quoted\\" one": no one gets variant "b".', ['"a \\"quoted\\" one"', '"b"']],
    ["Everyone gets it.", []],
    ["12.5 % of all persons get it.", ["12.5 %"]],
    ['an open " quote, 5 %', ["5 %"]],
  ])("%s", (text, values) => {
    expect(bold(text)).toEqual(values);
    expect(
      valuePieces(text)
        .map((it) => it.text)
        .join(""),
    ).toBe(text);
  });

  test("a long hostile text takes no longer", () => {
    expect(bold('"\\'.repeat(1_000))).toEqual([]);
    expect(bold('"'.repeat(1_999))).toHaveLength(999);
  });
});

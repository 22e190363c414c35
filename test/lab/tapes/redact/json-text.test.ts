import { describe, expect, test } from "vitest";
import { isObject, type Json } from "../../../../src/kernel/base/json.ts";
import { rewriteJson } from "../../../../src/lab/tapes/redact/walk.ts";

const asItIs = (value: Json): Json => value;
const withA = (value: Json): Json => (isObject(value) ? { ...value, a: "new" } : value);
const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

describe("a JSON text", () => {
  test.each([
    [' { "a" : "b" }', "with its whitespace"],
    ["[ true, null ]", "without strings and numbers"],
    [nested(200), "as deep as is walked"],
    ["[1.50, 1e21, 12345678901234567890, -0.0]", "with numbers that JavaScript writes differently"],
  ])("stays as it is if nothing changes: %s", (text) => {
    expect(rewriteJson(text, asItIs)).toBe(text);
  });

  test.each([
    ["12", "a number alone"],
    ["hello", "a word"],
    ["[1, 2", "cut off"],
    ['["\ue0f712"]', "with the mark of numbers in it"],
    [nested(201), "too deep"],
  ])("is not rewritten: %s", (text) => {
    expect(rewriteJson(text, asItIs)).toBeUndefined();
  });

  test("keeps the digits of what is not touched", () => {
    const text = '{"a":"old","n":1.50,"big":12345678901234567890,"say":"say \\"5\\" and 6","m":"mutant"}';
    expect(rewriteJson(text, withA)).toBe(text.replace('"old"', '"new"'));
  });

  test("a key that came twice is written once, with its later value", () => {
    expect(rewriteJson('{"a":"secret","a":1.50}', asItIs)).toBe('{"a":1.50}');
  });
});

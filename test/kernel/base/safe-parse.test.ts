import { expect, test } from "vitest";
import { z } from "zod";
import { safeParse } from "../../../src/kernel/base/safe-parse.ts";
import { stringOf, uriText } from "../../../src/kernel/base/text.ts";

const noText = '{"length":[{"toString":1},null]}';

test("a value of a wrong type is refused for its type, whatever its length is", () => {
  expect(() => z.string().max(3).safeParse(JSON.parse(noText))).toThrow(TypeError);
  const { error } = safeParse(z.string().max(3), JSON.parse(noText));
  expect(error?.issues[0]).toMatchObject({ code: "invalid_type", expected: "string" });
});

test("another option of a union reads it unchanged", () => {
  const shape = z.union([z.string().max(3), z.record(z.string(), z.json())]);
  const { data } = safeParse(shape, JSON.parse(noText));
  expect(JSON.stringify(data)).toBe(noText);
});

test("every value has a text", () => {
  expect([1, "a", null, undefined, ["a"]].map(stringOf)).toEqual(["1", "a", "null", "undefined", "a"]);
  expect(stringOf(JSON.parse('{"toString":1}'))).toBe('{"toString":1}');
  expect(uriText("ä\ud800b\udc00")).toBe("%C3%A4%EF%BF%BDb%EF%BF%BD");
  expect(uriText("😀")).toBe("%F0%9F%98%80");
});

import { expect, test } from "vitest";
import { bounded, boundedReplace } from "../../src/base/bounded-regexp.ts";
import { wildcardPattern } from "../../src/base/text.ts";

/** Takes longer than any test in a plain search. */
const hostile = `${"a".repeat(60)}!`;

test("a search that takes too long is given up, and the next ones are not made", () => {
  const expression = bounded(/^(a+)+$/);
  expect(expression.test("aaa")).toBe(true);
  expect(expression.gaveUp).toBe(false);
  expect(expression.test(hostile)).toBe(false);
  expect(expression.gaveUp).toBe(true);
});

test("a replacement that takes too long has no result; others have one", () => {
  const replace = boundedReplace(/(a+)+$/g);
  expect(replace("baa", () => "x")).toBe("bx");
  expect(replace("a text, longer than twelve characters: aaaa", (found) => `<${found}>`)).toBe(
    "a text, longer than twelve characters: <aaaa>",
  );
  expect(replace(hostile, () => "x")).toBeUndefined();
  expect(replace("baa", () => "x")).toBe("bx");
});

test("all that is found is replaced, in a long text as well", () => {
  const text = "ord-12 and ord-7; ".repeat(2_000);
  expect(boundedReplace(/ord-(?:\d)+/g)(text, () => "*")).toBe("* and *; ".repeat(2_000));
  expect(boundedReplace(/ord-\d+/g)(text, () => "*")).toBe("* and *; ".repeat(2_000));
});

test.each([
  ["a", "a", true],
  ["a", "ab", false],
  ["*", "", true],
  ["a*", "a\nb", true],
  ["*a", "ba", true],
  ["a*a", "a", false],
  ["a*a", "aba", true],
  ["a*b*b", "abb", true],
  ["a*b*b", "ab", false],
  ["a**c", "abc", true],
  ["*b*", "abc", true],
  ["a.c", "abc", false],
  ["*ab*ab*abc", "abababc", true],
])("the wildcard %s and %j", (form, text, fits) => {
  expect(wildcardPattern(form).test(text)).toBe(fits);
});

test("a wildcard with many stars is linear", () => {
  expect(wildcardPattern(`${"*a".repeat(30)}*b`).test("a".repeat(5_000))).toBe(false);
});

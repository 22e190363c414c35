import { expect, test } from "vitest";
import { bounded, boundedReplace } from "../../../src/kernel/base/bounded-regexp.ts";

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

test("many searches that take too long are given up sooner and sooner", () => {
  // with the same time for each, they took longer than a test may take
  for (let n = 0; n < 2_000; n++) expect(bounded(new RegExp(`^(a+)+b{${n}}c$`)).test(hostile)).toBe(false);
});

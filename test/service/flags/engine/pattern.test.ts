import { describe, expect, test } from "vitest";
import { patternOf } from "../../../../src/service/flags/engine/pattern.ts";
import { FlagFailure } from "../../../../src/service/flags/engine/reasons.ts";
import { fc } from "../../../support/chance.ts";
import rows from "./patterns.json" with { type: "json" };

type Row = [pattern: string, text: string, expected: boolean | string];

function outcomeOf(pattern: string, text: string): boolean | string {
  try {
    return patternOf(pattern)?.(text) ?? "invalid";
  } catch (error) {
    if (error instanceof FlagFailure) return error.code;
    throw error;
  }
}

/** Patterns that mean the same in both languages. */
const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 3, depthIdentifier: "pattern" },
    fc.constantFrom("a", "b", "[ab]", "[^a]", "^", "$", "\\b", ""),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `${a}${b}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{2}", "{1,3}", "{2,}")).map(([a, n]) => `(?:${a})${n}`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", " "), maxLength: 8 });

describe("patterns", () => {
  test.each(rows as Row[])("%j in %j: %s", (source, haystack, expected) => {
    expect(outcomeOf(source, haystack)).toBe(expected);
  });

  test("the search finds what JavaScript finds", () => {
    fc.assert(
      fc.property(pattern, text, (source, haystack) => {
        expect(outcomeOf(source, haystack)).toBe(new RegExp(source).test(haystack));
      }),
      { numRuns: 300 },
    );
  });

  test("no pattern hangs: nested repeats are followed in linear time", () => {
    const long = `${"a".repeat(100_000)}!`;
    for (const source of ["(a+)+$", "(a|a)+$", "(a|aa)+$", "^(a?){30}a{30}$", "a*a*a*a*a*b"]) {
      expect(outcomeOf(source, long)).toBe(false);
    }
  });

  test("patterns nested too deep are invalid", () => {
    const times = 5000;
    for (const [open, close] of [
      ["(", ")"],
      ["[", "]"],
      ["", "*"],
    ] as const) {
      expect(outcomeOf(`${open.repeat(times)}a${close.repeat(times)}`, "a")).toBe("invalid");
    }
  });

  test("what needs backtracking and might hang is refused", () => {
    const long = `${"a".repeat(20_000)}!`;
    expect(outcomeOf("(?=a)(a+)+$", "aaa")).toBe("unsupported_regex");
    expect(outcomeOf("(a*)(a*)b\\1", long)).toBe("unsupported_regex");
    expect(outcomeOf("a{300}{300}b|(c|d)*", long)).toBe("unsupported_regex");
    expect(outcomeOf("(?:\\w{500}){500}", "a")).toBe("unsupported_regex");
  });
});

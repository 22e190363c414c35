import { describe, expect, test } from "vitest";
import { parsedJson } from "../../../src/kernel/base/json.ts";
import { TooManyNodes } from "../../../src/kernel/base/json-bounds.ts";
import { parsingJson, writingJson } from "../../../src/kernel/base/json-turns.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { fc } from "../../support/chance.ts";

const parse = (text: string, deepest?: number) => atOnce(parsingJson(text, deepest));
const long = "x".repeat(200_000);
const big = Array.from({ length: 5_000 }, (_, i) => ({ i, text: `a "quoted" \\ ${i}`, list: [[], {}, null] }));

describe("a text that is parsed in steps has the value of JSON.parse", () => {
  const values: [name: string, value: unknown][] = [
    ["a list", big],
    ["an object of many keys", Object.fromEntries(big.map((it) => [`k${it.i}`, it]))],
    ["large things in large things", { a: 1, "#": "#", b: { c: [1, big, { d: big }, 2], e: "##" }, f: [big, big] }],
    ["long strings", [long, { [long]: long }, [long]]],
    ["long strings of backslashes", ["\\".repeat(100_001), `${long}\\`, { a: '"'.repeat(100_000) }]],
    ["a string", long],
    ["a number", 5],
    ["nothing in it", [[], {}, [[]]]],
  ];
  test.each(values)("%s", (_name, value) => {
    expect(parse(JSON.stringify(value))).toEqual(value);
    const spaced = JSON.stringify(value, null, 2);
    expect(parse(` \n${spaced}\t`)).toEqual(value);
  });

  test("a key __proto__, and one that comes twice", () => {
    const text = `{"a":1,"__proto__":${JSON.stringify(big)},"a":${JSON.stringify(long)},"a":2,"\\u0062":${JSON.stringify(big)},"b":3}`;
    expect(JSON.stringify(parse(text))).toBe(JSON.stringify(JSON.parse(text)));
  });
});

describe("a text that is not JSON", () => {
  const text = JSON.stringify({ a: big, b: [big] });
  const damage = fc.record({
    at: fc.nat(text.length - 1),
    removed: fc.nat(1),
    put: fc.constantFrom("", ...'{}[],:"\\x0 '),
  });
  test("wherever it was damaged", () => {
    fc.assert(
      fc.property(damage, ({ at, removed, put }) => {
        const damaged = text.slice(0, at) + put + text.slice(at + removed);
        const value = parsedJson(damaged);
        if (value === undefined) expect(() => parse(damaged)).toThrow(SyntaxError);
        else expect(parse(damaged)).toEqual(value);
      }),
      { numRuns: 20 },
    );
  });

  const commas = `[${JSON.stringify(long)},,${JSON.stringify(long)}]`;
  test.each([
    ["an item is missing", commas],
    ["a comma too many", `[${JSON.stringify(long)},]`],
    ["a member is missing", commas.replaceAll("[", "{").replaceAll("]", "}")],
    ["another bracket", `[${JSON.stringify(long)}}`],
    ["two values", `[${JSON.stringify(long)}] []`],
    ["text behind it", `[${JSON.stringify(long)}] 1`],
    ["only an end", "]"],
    ["nothing", ""],
  ])("%s", (_name, wrong) => expect(() => parse(wrong)).toThrow(SyntaxError));
});

test("more than a million objects and lists are refused, and too many levels", () => {
  expect(() => parse(`[${"{},".repeat(1_000_000)}{}]`)).toThrow(TooManyNodes);
  expect(() => parse("[".repeat(200) + "]".repeat(200))).toThrow("recursion limit");
  expect(parse("[".repeat(200) + "]".repeat(200), 200)).toBeDefined();
});

describe("a value that is written in steps has the text of JSON.stringify", () => {
  const pair = "\ud83d\ude00";
  const values: [name: string, value: unknown][] = [
    ["a list", big],
    ["objects in objects", { a: { b: { big, c: undefined }, d: [] }, e: {} }],
    ["many keys", Object.fromEntries(big.map((it) => [`k ${it.i} "`, it]))],
    ["a long string", `x${pair.repeat(600_000)}`],
    ["a long string of halves", `${"\ud83d".repeat(600_000)}\ude00`],
    ["what JSON does not have", [undefined, Number.NaN, ...big, new Date(0), { a: undefined, at: new Date(0), big }]],
    ["something small", { a: [1, "2", null] }],
  ];
  test.each(values)("%s", (_name, value) => {
    const bytes = atOnce(writingJson(value));
    expect(bytes.equals(Buffer.from(JSON.stringify(value)))).toBe(true);
  });
});

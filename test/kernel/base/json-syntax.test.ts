import { describe, expect, test } from "vitest";
import { syntaxErrorAt } from "../../../src/kernel/base/json-syntax.ts";

describe("the place of a syntax error", () => {
  test.each([
    ["", 1, 1],
    ["   ", 1, 4],
    ["{", 1, 2],
    ["[1, 2", 1, 6],
    ['{"a": 1,}', 1, 9],
    ["[1,]", 1, 4],
    ['{"a" 1}', 1, 6],
    ['{"a": x}', 1, 7],
    ["{a: 1}", 1, 2],
    ["{'a': 1}", 1, 2],
    ['{"a": 1 "b": 2}', 1, 9],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a": [1, {"b": }]}', 1, 17],
    ['{"a": "line\nbreak"}', 1, 7],
    ['{"a": "\\x"}', 1, 7],
    ["[01]", 1, 3],
    ["[1.]", 1, 3],
    ["[+1]", 1, 2],
    ["[-]", 1, 2],
    ["[nul]", 1, 2],
    ["[true false]", 1, 7],
    ["[}", 1, 2],
    ["{]", 1, 2],
    ["1 2", 1, 3],
    ["{} // comment", 1, 4],
    ["[\u00a01]", 1, 2],
  ])("%j: line %i, column %i", (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow(SyntaxError);
    expect(syntaxErrorAt(text)).toMatchObject({ line, column });
  });

  test.each([
    "null",
    "0",
    " [ ] ",
    "{}",
    '{"a":{"b":[1,-2.5e+3,"\\u00e9\\n",true,false,null,{}]},"":[[]]}',
    '\t\r\n"x"',
  ])("%j has none", (text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(syntaxErrorAt(text)).toBeUndefined();
  });
});

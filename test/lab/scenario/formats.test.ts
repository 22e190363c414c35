import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/kernel/base/json.ts";
import { type ParsedText, parseJson, parseYaml } from "../../../src/lab/scenario/parse.ts";

import { placeAt, plainValue, positionOf } from "../../../src/lab/scenario/tree.ts";

const source = (text: string) => ({ file: "it", text });

async function jsonOf(reading: Promise<ParsedText>): Promise<Json | undefined> {
  const { tree, problems } = await reading;
  expect(problems).toEqual([]);
  return tree && plainValue(tree);
}

async function textsOf(reading: Promise<ParsedText>): Promise<string[]> {
  return (await reading).problems.map(({ text }) => text);
}

describe("JSON", () => {
  test("may have comments and trailing commas", async () => {
    const text = '{ // one\n "a": [1, 2,], /* two */ "b": { "c": null, }, }';
    expect(await jsonOf(parseJson(source(text)))).toEqual({ a: [1, 2], b: { c: null } });
  });

  test("keys that mean something to JavaScript are keys", async () => {
    const value = await jsonOf(parseJson(source('{ "__proto__": { "polluted": true }, "constructor": 1 }')));
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("a number beyond all is a problem", async () => {
    for (const number of ["1e999", `1${"0".repeat(400)}`]) {
      const problem = ["expected a number that JSON can hold"];
      expect(await textsOf(parseJson(source(`[${number}]`)))).toEqual(problem);
      expect(await textsOf(parseYaml(source(`[${number}]`)))).toEqual(problem);
    }
  });

  test("a whole number that a double does not hold is kept as text", async () => {
    const text = "[9007199254740993, -9007199254740993, 9007199254740992, 12, 1e3, 1.5]";
    const kept = ["9007199254740993", "-9007199254740993", 2 ** 53, 12, 1000, 1.5];
    expect(await jsonOf(parseJson(source(text)))).toEqual(kept);
    expect(await jsonOf(parseYaml(source(text)))).toEqual(kept);
  });

  test.each([
    ["lists", "[".repeat(200_000)],
    ["closed lists", `${"[".repeat(102)}${"]".repeat(102)}`],
    ["objects", '{"a":'.repeat(200_000)],
  ])("%s nested too deeply are a problem", async (_, text) => {
    expect(await textsOf(parseJson(source(text)))).toEqual(["expected at most 100 levels of lists and objects"]);
  });
});

describe("YAML", () => {
  test.each<[string, string, Json]>([
    ["dates stay texts", "at: 2025-01-01", { at: "2025-01-01" }],
    ["so do yes, no and on", "[yes, no, on, off]", ["yes", "no", "on", "off"]],
    ["so do versions", "v: 2.3.4", { v: "2.3.4" }],
    ["numbers, truth and nothing", "[1, -1.5, 2e3, true, false, null, ~]", [1, -1.5, 2000, true, false, null, null]],
    ["texts of several lines", "a: |\n  one\n  two\n", { a: "one\ntwo\n" }],
    ["a key without a value", "a:\nb: 1", { a: null, b: 1 }],
    ["keys that look like numbers", "1: a\ntrue: b", { "1": "a", true: "b" }],
    ["an anchor and its alias", "a: &x { b: [1] }\nc: *x", { a: { b: [1] }, c: { b: [1] } }],
    ["a later anchor of the same name", "a: &x 1\nb: *x\nc: &x 2\nd: *x", { a: 1, b: 1, c: 2, d: 2 }],
    [
      "a merge: what is there wins",
      "a: &x { b: 1, c: 2 }\nd: { <<: *x, b: 3 }",
      { a: { b: 1, c: 2 }, d: { b: 3, c: 2 } },
    ],
    [
      "a merge of several: the first wins",
      "a: &x { b: 1 }\nc: &y { b: 2, d: 3 }\ne: { <<: [*x, *y] }",
      { a: { b: 1 }, c: { b: 2, d: 3 }, e: { b: 1, d: 3 } },
    ],
    ["a merge key in quotes is a key", '"<<": 1', { "<<": 1 }],
    ["a tag that says what it is anyway", "a: !!str 12", { a: "12" }],
    ["comments only", "# nothing\n", null],
  ])("%s", async (_, text, value) => {
    expect(await jsonOf(parseYaml(source(text)))).toEqual(value);
  });

  test("keys that mean something to JavaScript are keys", async () => {
    const value = await jsonOf(parseYaml(source("__proto__: { polluted: true }\nconstructor: 1")));
    expect(Object.keys(value ?? {})).toEqual(["__proto__", "constructor"]);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  test("aliases of aliases end at a million values", async () => {
    const lines = Array.from({ length: 9 }, (_, i) => `l${i + 1}: &l${i + 1} [${`*l${i}, `.repeat(10)}]`);
    const text = ["l0: &l0 [ha]", ...lines].join("\n");
    expect(await textsOf(parseYaml(source(text)))).toEqual(["expected at most 1000000 values"]);
  });

  test.each([
    ["a tag of someone's own", "a: !evil 1", "expected a value without the tag !evil"],
    ["a date's tag", "a: !!timestamp 2025-01-01", "expected a value without the tag tag:yaml.org,2002:timestamp"],
    ["a merge with a text", "a: { <<: text }", "expected an object, or a list of objects"],
    ["an alias before its anchor", "a: *x\nb: &x 1", "*x is an anchor that nothing before it has"],
    ["two documents", "a: 1\n---\nb: 2", "expected one scenario in a file"],
    ["deep nesting", "[".repeat(5000), /levels|not YAML/],
  ])("%s is a problem", async (_, text, problem) => {
    const [first = ""] = await textsOf(parseYaml(source(text)));
    if (typeof problem === "string") expect(first).toBe(problem);
    else expect(first).toMatch(problem);
  });
});

describe("places", () => {
  const json = '{\r\n  "a": {\n    "b": [1,\n      {"c": 2}]\n  }\n}';
  const yaml = "a:\n  b:\n    - 1\n    - c: 2\n";

  test.each<[string, (string | number)[], boolean, string, string]>([
    ["the root", [], false, "1:1", "1:1"],
    ["an object", ["a"], false, "2:8", "2:3"],
    ["its key", ["a"], true, "2:3", "1:1"],
    ["an item", ["a", "b", 0], false, "3:11", "3:7"],
    ["a value below", ["a", "b", 1, "c"], false, "4:13", "4:10"],
    ["its key", ["a", "b", 1, "c"], true, "4:8", "4:7"],
    ["what is missing, in its parent", ["a", "b", 1, "x"], false, "4:7", "4:7"],
    ["what is missing far below", ["a", "x", "y", 3], false, "2:8", "2:3"],
  ])("%s", async (_, path, isAboutKey, inJson, inYaml) => {
    for (const [reading, expected] of [
      [parseJson(source(json)), inJson],
      [parseYaml(source(yaml)), inYaml],
    ] as const) {
      const { tree } = await reading;
      const position = tree && positionOf(placeAt(tree, path, isAboutKey));
      expect(`${position?.line}:${position?.column}`).toBe(expected);
    }
  });
});

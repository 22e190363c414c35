import { describe, expect, test, vi } from "vitest";
import { isObject, type Json } from "../../../../src/kernel/base/json.ts";
import { operators } from "../../../../src/lab/assert/match/operators.ts";
import { checkPattern, fits, shapeOf } from "../../../../src/lab/assert/match/pattern.ts";

const yes = true;
const no = false;
const iso = "2026-01-05T09:00:00Z";

/** pattern, value (undefined: absent), does it fit? */
const wire: [pattern: Json, value: Json | undefined, does: boolean][] = [
  ["pro", "pro", yes],
  ["pro", "Pro", no],
  [49, 49, yes],
  [49, "49", no],
  [0, false, no],
  [null, null, yes],
  [null, undefined, no],
  [true, true, yes],
  [{}, {}, yes],
  [{}, [], no],
  [{}, "text", no],
  [{ a: 1 }, { a: 1, b: 2 }, yes],
  [{ a: 1 }, { b: 2 }, no],
  [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, yes],
  [{ a: null }, {}, no],
  [{ constructor: 1 }, {}, no],
  [JSON.parse('{"__proto__": {"a": 1}}'), {}, no],
  [JSON.parse('{"__proto__": {"a": 1}}'), JSON.parse('{"__proto__": {"a": 1}}'), yes],
  [[], [], yes],
  [[1, { a: 1 }], [1, { a: 1, b: 2 }], yes],
  [[1], [1, 2], no],
  [[1, 2], [1, 3], no],
  [[1, 2], [2, 1], no],
  [{ "a@b": 1 }, { "a@b": 1 }, yes],
  [{ a: { b: { "@exists": false } } }, { a: 1 }, no],
  [[1], { 0: 1, length: 1 }, no],
  [{ "@@gte": 1 }, { "@gte": 1 }, yes],
  [{ "@@gte": 1 }, 2, no],
  [{ "@@@x": 1 }, { "@@x": 1 }, yes],
  [{ "@eq": { a: 1 } }, { a: 1 }, yes],
  [{ "@eq": { a: 1 } }, { a: 1, b: 2 }, no],
  [{ "@eq": { "@gte": 1 } }, { "@gte": 1 }, yes],
  [{ "@eq": [1, [2]] }, [1, [2]], yes],
  [{ "@eq": null }, undefined, no],
  [{ "@ne": 1 }, 2, yes],
  [{ "@ne": 1 }, 1, no],
  [{ "@ne": 1 }, undefined, yes],
  [{ "@gt": 10 }, 11, yes],
  [{ "@gt": 10 }, 10, no],
  [{ "@gte": 10 }, 10, yes],
  [{ "@gte": 10 }, "10", no],
  [{ "@gte": 10 }, undefined, no],
  [{ "@gte": 10 }, null, no],
  [{ "@lt": 10 }, 9, yes],
  [{ "@lt": 10 }, 10, no],
  [{ "@lte": 10 }, 10, yes],
  [{ "@lte": 10 }, 10.5, no],
  [{ "@gte": 10, "@lt": 20 }, 15, yes],
  [{ "@gte": 10, "@lt": 20 }, 20, no],
  [{ "@gt": iso }, "2026-01-05T10:00:00+00:00", yes],
  [{ "@gt": iso }, "2026-01-05T10:00:00+02:00", no],
  [{ "@lt": iso }, "2026-01-05", yes],
  [{ "@lt": iso }, "yesterday", no],
  [{ "@gt": iso }, 4_000_000_000_000, no],
  [{ "@at": iso }, "2026-01-05T10:00:00.000+01:00", yes],
  [{ "@at": iso }, "2026-01-05T09:00:00.001Z", no],
  [{ "@at": iso }, Date.parse(iso), no],
  [{ "@in": ["a", 1, { b: 2 }] }, { b: 2 }, yes],
  [{ "@in": ["a"] }, "b", no],
  [{ "@in": [] }, "b", no],
  [{ "@nin": ["a"] }, "b", yes],
  [{ "@nin": ["a"] }, "a", no],
  [{ "@nin": ["a"] }, undefined, yes],
  [{ "@exists": true }, null, yes],
  [{ "@exists": true }, undefined, no],
  [{ "@exists": false }, undefined, yes],
  [{ "@exists": false }, null, no],
  [{ a: { "@exists": false } }, {}, yes],
  [{ a: { "@exists": false } }, { a: 0 }, no],
  [{ a: { b: { "@exists": false } } }, {}, no],
  [{ "@type": "string" }, "", yes],
  [{ "@type": "number" }, "1", no],
  [{ "@type": "integer" }, 1.5, no],
  [{ "@type": "integer" }, 2, yes],
  [{ "@type": "boolean" }, false, yes],
  [{ "@type": "array" }, [], yes],
  [{ "@type": "object" }, [], no],
  [{ "@type": "object" }, null, no],
  [{ "@type": "object" }, {}, yes],
  [{ "@type": "null" }, null, yes],
  [{ "@type": "date" }, iso, yes],
  [{ "@type": "date" }, "2026-02-30", no],
  [{ "@type": ["string", "null"] }, null, yes],
  [{ "@type": ["string", "null"] }, undefined, no],
  [{ "@regex": "^https?:" }, "https://x", yes],
  [{ "@regex": "^https?:" }, "ftp://x", no],
  [{ "@regex": "1" }, 1, no],
  [{ "@regex": { pattern: "PRO", flags: "i" } }, "pro", yes],
  [{ "@regex": { pattern: "a", flags: "g" } }, "ba", yes],
  [{ "@contains": "b" }, "abc", yes],
  [{ "@contains": "b" }, ["a", "b"], yes],
  [{ "@contains": { sku: "x" } }, [{ sku: "x", n: 1 }], yes],
  [{ "@contains": { sku: "x" } }, [{ sku: "y" }], no],
  [{ "@contains": "b" }, { b: 1 }, no],
  [{ "@startsWith": "/check" }, "/checkout", yes],
  [{ "@startsWith": "out" }, "/checkout", no],
  [{ "@endsWith": "out" }, "/checkout", yes],
  [{ "@endsWith": "out" }, ["out"], no],
  [{ "@len": 3 }, "abc", yes],
  [{ "@len": 2 }, [1, 2], yes],
  [{ "@len": { "@gte": 1 } }, [], no],
  [{ "@len": 0 }, {}, no],
  [{ "@not": { plan: "free" } }, { plan: "pro" }, yes],
  [{ "@not": { plan: "free" } }, { plan: "free" }, no],
  [{ "@not": "free" }, undefined, yes],
  [{ "@any": ["a", { "@gte": 3 }] }, 4, yes],
  [{ "@any": ["a", { "@gte": 3 }] }, 2, no],
  [{ "@any": [] }, 2, no],
  [{ "@all": [{ "@gte": 3 }, { "@lt": 5 }] }, 4, yes],
  [{ "@all": [{ "@gte": 3 }, { "@lt": 5 }] }, 5, no],
  [{ "@all": [] }, undefined, yes],
  [{ "@each": { "@type": "number" } }, [1, 2], yes],
  [{ "@each": { "@type": "number" } }, [1, "2"], no],
  [{ "@each": 1 }, [], yes],
  [{ "@each": 1 }, 1, no],
  [{ "@closeTo": 0.3 }, 0.1 + 0.2, yes],
  [{ "@closeTo": 0 }, 0.0045, yes],
  [{ "@closeTo": 0 }, 0.005, no],
  [{ "@closeTo": 0 }, "0", no],
  [{ "@closeTo": { value: 0, digits: 0 } }, 0.4, yes],
  [{ "@closeTo": { value: 0, digits: 0 } }, 0.5, no],
  [{ "@closeTo": { value: 1, within: 0.5 } }, 1.5, yes],
  [{ "@closeTo": { value: 1, within: 0.5 } }, 1.6, no],
  [{ "@closeTo": 0.3 }, 0.31, no],
  [{ "@closeTo": { value: 0.3, digits: 1 } }, 0.34, yes],
  [{ "@closeTo": { value: 100, within: 5 } }, 105, yes],
  [{ "@closeTo": { value: 100, within: 5 } }, "100", no],
];

test.each(wire)("%j on %j: %s", (pattern, value, does) => {
  expect(checkPattern(pattern)).toEqual([]);
  expect(fits(pattern, value)).toBe(does);
});

test.each<[pattern: unknown]>([
  ...[null, "x", [], {}, Infinity, { value: "1" }, { value: 1, other: 1 }].map(
    (it) => [{ "@closeTo": it }] as [unknown],
  ),
  [{ "@closeTo": { value: 1, within: "1" } }],
  [{ "@closeTo": { value: 1, digits: "1" } }],
  [{ "@closeTo": { value: 1, within: 1, digits: 1 } }],
  ...[Infinity, Number.NaN, true, null, "soon"].map((it) => [{ "@gt": it }] as [unknown]),
  ...[[], "strong", ["string", "strong"], [["string"]], null, "constructor"].map(
    (it) => [{ "@type": it }] as [unknown],
  ),
  ...[5, "soon", null].map((it) => [{ "@at": it }] as [unknown]),
  ...["@in", "@nin", "@any", "@all"].map((name) => [{ [name]: { 0: 1, length: 1 } }] as [unknown]),
  ...["@startsWith", "@endsWith"].map((name) => [{ [name]: 5 }] as [unknown]),
  ...[0, null, "true"].map((it) => [{ "@exists": it }] as [unknown]),
])("a wrong operand: %j", (pattern) => {
  expect(checkPattern(pattern)).toHaveLength(1);
  expect([undefined, null, 0, 1, "soon", [], {}].filter((value) => fits(pattern, value))).toEqual([]);
});

test("every operator has its meaning, for messages", () => {
  const meanings = [...operators.values()].map(({ meaning }) => meaning);
  expect(meanings.filter((it) => typeof it !== "string" || it.length < 5)).toEqual([]);
  expect(new Set(meanings).size).toBe(meanings.length);
});

test.each<[pattern: unknown, is: string]>([
  [undefined, "absent"],
  [null, "literal"],
  ["a", "literal"],
  [10n, "never"],
  [Symbol("a"), "never"],
  [new Map(), "never"],
  [new Set(), "never"],
  [Promise.resolve(), "never"],
  [new ArrayBuffer(1), "never"],
  [
    {
      toJSON() {
        return this;
      },
    },
    "never",
  ],
  [{ toJSON: () => 1 }, "converted"],
  [{ toJSON: 1 }, "object"],
  [new URL("http://x.test"), "converted"],
  [/a/, "regex"],
  [new Date(0), "moment"],
  [[], "list"],
  [{ "@gt": 1 }, "operators"],
  [{ "@@gt": 1 }, "object"],
  [() => true, "predicate"],
  [expect.anything(), "predicate"],
])("%o is of the shape %s", (pattern, is) => {
  expect(shapeOf(pattern).is).toBe(is);
  if (is === "never") expect([undefined, null, 10, "a", [], {}].filter((it) => fits(pattern, it))).toEqual([]);
});

test("every operator is in the table, holding and not", () => {
  const used = (does: boolean) =>
    new Set(
      wire
        .flatMap(([pattern, , it]) => (it === does ? [...JSON.stringify(pattern).matchAll(/"(@\w+)"/g)] : []))
        .map(([, name]) => name),
    );
  for (const name of operators.keys()) {
    expect([...used(true)]).toContain(name);
    expect([...used(false)]).toContain(name);
  }
});

const sinonLike = { test: (value: unknown) => value === 5, and: () => 0, or: () => 0, message: "five" };
class Point {
  x = 1;
}

/** In-process patterns. */
const inProcess: [name: string, pattern: unknown, value: Json | undefined, does: boolean][] = [
  ["undefined, absent", { a: undefined }, {}, yes],
  ["undefined, null", { a: undefined }, { a: null }, no],
  ["RegExp", /out$/, "checkout", yes],
  ["RegExp, not a text", /1/, 1, no],
  ["RegExp with memory", /a/g, "ba", yes],
  ["sticky RegExp", /a/y, "ba", no],
  ["Date, same moment", new Date(iso), "2026-01-05T10:00:00+01:00", yes],
  ["Date, another", new Date(iso), "2026-01-05T10:00:00Z", no],
  ["Date, a number", new Date(iso), Date.parse(iso), no],
  ["invalid Date", new Date(Number.NaN), "Invalid Date", no],
  ["Date in a comparison", { "@gte": new Date(iso) }, "2026-01-06", yes],
  ["RegExp in @regex", { "@regex": /PRO/i }, "pro", yes],
  ["predicate", (it: unknown) => it === 3, 3, yes],
  ["predicate, absent", { a: () => true }, {}, no],
  ["truthy predicate", (it: string) => it.match(/x/), "x", yes],
  ["predicate that throws", (it: string) => it.startsWith("x"), 3, no],
  ["async predicate", async () => true, 3, no],
  ["sinon-like matcher", sinonLike, 5, yes],
  ["sinon-like matcher", sinonLike, 6, no],
  ["own matcher", { asymmetricMatch: (it: unknown) => it === 1 }, 1, yes],
  ["URL", new URL("http://x/"), "http://x/", yes],
  ["Map", new Map(), {}, no],
  ["Set", new Set(), {}, no],
  ["promise", Promise.resolve(), {}, no],
  ["bigint", 1n, 1, no],
  ["symbol", Symbol.iterator, 1, no],
  ["NaN", Number.NaN, null, no],
  ["instance of a class", new Point(), { x: 1, y: 2 }, yes],
  ["matcher in operators", { "@each": expect.any(Number) }, [1, 2], yes],
  ["matcher deep down", { items: [{ n: expect.any(Number) }] }, { items: [{ n: 1, m: 2 }] }, yes],
];

test.each(inProcess)("%s", (_, pattern, value, does) => {
  expect(fits(pattern, value)).toBe(does);
});

test("a RegExp's own position is left alone", () => {
  const pattern = /a/g;
  pattern.lastIndex = 1;
  expect([fits(pattern, "a"), fits(pattern, "a"), pattern.lastIndex]).toEqual([true, true, 1]);
});

test("absent values are not shown to predicates and matchers", () => {
  const predicate = vi.fn(() => true);
  expect(fits({ a: predicate, b: { asymmetricMatch: predicate } }, {})).toBe(false);
  expect(predicate).not.toHaveBeenCalled();
});

const deep = (levels: number): Json => JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
const cyclic: Record<string, unknown> = {};
cyclic["@all"] = [cyclic];

const mistakes: [pattern: unknown, pointer: string, detail: RegExp, hint: RegExp][] = [
  [{ "@get": 1 }, "/@get", /no operator "@get"; did you mean @g/, /write "@@get"/],
  [{ a: [{ "@wat": 1 }] }, "/a/0/@wat", /no operator "@wat"/, /@@wat/],
  [{ "@quite-another": 1 }, "/@quite-another", /no operator/, /operators: @eq, @ne/],
  [{ "a/b~c": { "@x": 1 } }, "/a~1b~0c/@x", /no operator/, /./],
  [{ p: { "@gte": 1, plan: "pro" } }, "/p", /operators and properties in one object: "@gte" beside "plan"/, /@all/],
  [{ p: { plan: "pro", "@@x": 1, "@gte": 1 } }, "/p", /operators and properties/, /@@gte/],
  [{ "@gte": "ten" }, "/@gte", /a number or an ISO 8601 time/, /at least/],
  [{ "@lt": null }, "/@lt", /a number/, /less/],
  [{ "@at": 5 }, "/@at", /ISO 8601/, /equal/],
  [{ "@in": "a" }, "/@in", /a list of values/, /one of/],
  [{ "@nin": { a: 1 } }, "/@nin", /a list/, /none of/],
  [{ "@exists": "yes" }, "/@exists", /true or false/, /exists/],
  [{ "@type": "strnig" }, "/@type", /one of string, number/, /type/],
  [{ "@type": "constructor" }, "/@type", /one of string, number/, /type/],
  [{ "@type": [] }, "/@type", /one of string, number/, /type/],
  [{ "@regex": "(" }, "/@regex", /Invalid regular expression/, /pattern/],
  [{ "@regex": 5 }, "/@regex", /pattern as a string/, /pattern/],
  [{ "@regex": { pattern: "a", flag: "i" } }, "/@regex", /pattern as a string/, /pattern/],
  [{ "@regex": { pattern: "a", flags: "q" } }, "/@regex", /flags/, /pattern/],
  [{ "@regex": "a".repeat(1001) }, "/@regex", /at most 1000 characters, not 1001/, /pattern/],
  [{ "@startsWith": 1 }, "/@startsWith", /a string/, /starts/],
  [{ "@any": { a: 1 } }, "/@any", /a list of patterns/, /one of/],
  [{ "@all": "x" }, "/@all", /a list of patterns/, /all of/],
  [{ "@any": ["other", { "@nope": 1 }] }, "/@any/1/@nope", /no operator/, /@not/],
  [{ "@not": { "@lenn": 1 } }, "/@not/@lenn", /did you mean @len/, /@@lenn/],
  [{ "@closeTo": "1" }, "/@closeTo", /a number/, /near/],
  [{ "@closeTo": { value: 1, digits: 2, within: 3 } }, "/@closeTo", /a number/, /near/],
];

describe("checkPattern", () => {
  test.each(mistakes)("%j", (pattern, pointer, detail, hint) => {
    const [problem, ...others] = checkPattern(pattern);
    expect(others).toEqual([]);
    expect(problem?.pointer).toBe(pointer);
    expect(problem?.detail).toMatch(detail);
    expect(problem?.hint).toMatch(hint);
  });

  test.each(mistakes)("what is wrong fits nothing: %j", (pattern) => {
    const values: Json[] = [1, "a", null, {}, [], { p: 1 }, { p: { plan: "pro" } }];
    for (const value of values) {
      // The negation of what fits nothing fits everything.
      expect(fits(pattern, value)).toBe(isObject(pattern) && "@not" in pattern);
    }
  });

  test("several mistakes are all reported", () => {
    expect(checkPattern({ a: { "@x": 1 }, b: { "@in": 1 } }).map(({ pointer }) => pointer)).toEqual([
      "/a/@x",
      "/b/@in",
    ]);
  });

  test("too deep", () => {
    expect(checkPattern(deep(100))).toEqual([]);
    expect(checkPattern(deep(5_000))[0]?.detail).toMatch(/deeper than 100/);
    expect(checkPattern(cyclic)[0]?.detail).toMatch(/deeper than 100/);
  });

  test.each<[kind: string, wrap: (inner: unknown) => unknown, step: string]>([
    ["lists", (it) => [it], "/0"],
    ["objects", (it) => ({ a: it }), "/a"],
    ["operators", (it) => ({ "@not": it }), "/@not"],
  ])("%s are nested a hundred levels deep at most", (_, wrap, step) => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : wrap(nested(levels - 1)));
    expect(checkPattern(nested(100))).toEqual([]);
    expect(checkPattern(nested(101))).toEqual([
      { pointer: step.repeat(101), detail: "the pattern is nested deeper than 100 levels", hint: null },
    ]);
  });

  test("in process: what only lives here is fine", () => {
    expect(checkPattern({ a: /x/, b: new Date(iso), c: () => true, d: expect.any(Number), e: undefined })).toEqual([]);
  });
});

describe("patterns that could take for ever", () => {
  const slow = { "@regex": "^(a+)+$" };

  test("are stopped and then hold for nothing", () => {
    expect(checkPattern(slow)).toEqual([]);
    expect(fits(slow, "aaa")).toBe(true);
    expect(fits(slow, `${"a".repeat(60)}b`)).toBe(false);
    expect(fits(slow, "a".repeat(60))).toBe(false);
    expect(fits(slow, "aaa")).toBe(true);
  });

  test.each<[pattern: string, does: boolean]>([
    [".*x.*y.*z", true],
    ["(?:ab)+y", true],
    ["z$", true],
  ])("long texts are searched whole: %s", (pattern, does) => {
    expect(fits({ "@regex": pattern }, `x${"ab".repeat(20_000)}y z`)).toBe(does);
  });
});

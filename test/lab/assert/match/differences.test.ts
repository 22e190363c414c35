import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { differences } from "../../../../src/lab/assert/match/differences.ts";

const iso = "2026-01-05T09:00:00Z";
const ms = Date.parse(iso);
const props = (pattern: unknown) => ({ properties: pattern });

/** One difference: pattern, value, its path, expected, actual, hint. */
type Row = [
  pattern: unknown,
  value: Json | undefined,
  path: string,
  expected: string,
  actual: string | null,
  hint: string | null,
];

const rows: Row[] = [
  [49, "49", "", "49", '"49"', "number as a string"],
  [49, "fifty", "", "49", '"fifty"', null],
  [49, 50, "", "49", "50", null],
  [49, 4900, "", "49", "4900", "100 times as much (cents?)"],
  [4900, 49, "", "4900", "49", "a hundredth (not in cents?)"],
  [0.3, 0.1 + 0.2, "", "0.3", "0.30000000000000004", "rounding (use @closeTo)"],
  ["49", 49, "", '"49"', "49", "number where a string is expected"],
  [true, "true", "", "true", '"true"', "boolean as a string"],
  [false, "No", "", "false", '"No"', "boolean as a string"],
  [true, 1, "", "true", "1", "boolean as a number"],
  ["true", true, "", '"true"', "true", "boolean where a string is expected"],
  ["pro", "Pro", "", '"pro"', '"Pro"', "case differs"],
  ["pro", " pro\n", "", '"pro"', '" pro\\n"', "whitespace around it"],
  ["signup_completed", "Signup Completed", "", '"signup_completed"', '"Signup Completed"', "case or separators differ"],
  ["signup_completed", "signup_complete", "", '"signup_completed"', '"signup_complete"', "1 letter differs"],
  [
    "signup_completed",
    "Sign-Up Complete",
    "",
    '"signup_completed"',
    '"Sign-Up Complete"',
    "similar, apart from case and separators",
  ],
  ["caf\u00e9", "cafe\u0301", "", '"café"', '"cafe\u0301"', "same letters, in another Unicode form"],
  ["pro", "free", "", '"pro"', '"free"', null],
  ["u1", "undefined", "", '"u1"', '"undefined"', 'the string "undefined": a missing value was converted to a string'],
  ["u1", null, "", '"u1"', "null", null],
  [undefined, null, "", "undefined", "null", "null, not absent"],
  [{ "@exists": false }, null, "", "@exists false", "null", "null, not absent"],
  [{ "@exists": false }, 1, "", "@exists false", "1", null],
  [ms, ms / 1000, "", String(ms), String(ms / 1000), "seconds, not milliseconds"],
  [ms / 1000, ms, "", String(ms / 1000), String(ms), "milliseconds, not seconds"],
  [ms, iso, "", String(ms), `"${iso}"`, "ISO time, not epoch"],
  [iso, ms, "", `"${iso}"`, String(ms), "epoch, not ISO time"],
  [
    iso,
    "2026-01-05T09:00:00.000Z",
    "",
    `"${iso}"`,
    '"2026-01-05T09:00:00.000Z"',
    "same time, in another format (use @at)",
  ],
  [new Date(iso), ms, "", "Date 2026-01-05T09:00:00.000Z", String(ms), "epoch, not ISO time"],
  [[1, 2], [2, 1], "", "[1, 2]", "[2, 1]", "another order"],
  [[1, 2], [1], "", "[1, 2]", "[1]", "1 item, not 2"],
  [[1, /a/], [1], "", "[1, /a/]", "[1]", "1 item, not 2"],
  [["a"], "a", "", '["a"]', '"a"', "not in a list"],
  ["a", ["a"], "", '"a"', '["a"]', "in a list"],
  [{ a: 1 }, '{"a":1}', "", "{a: 1}", '"{\\"a\\":1}"', "JSON as a string"],
  [{ a: 1 }, null, "", "{a: 1}", "null", null],
  [{ a: 1 }, undefined, "", "{a: 1}", null, null],
  [{ "@gte": 10 }, "12", "", "@gte 10", '"12"', "number as a string"],
  [{ "@gte": 10 }, 9, "", "@gte 10", "9", null],
  [{ "@gte": 10, "@type": "integer" }, 9, "", "@gte 10", "9", null],
  [{ "@regex": "pro" }, "PRO", "", '@regex "pro"', '"PRO"', "case differs"],
  [{ "@startsWith": "/c" }, " /c", "", '@startsWith "/c"', '" /c"', "whitespace around it"],
  [{ "@eq": 5 }, "5", "", "@eq 5", '"5"', "number as a string"],
  [{ "@ne": 5 }, 5, "", "@ne 5", "5", null],
  [{ "@any": [1, 2] }, "1", "", "@any [1, 2]", '"1"', "number as a string"],
  [{ "@wat": 1 }, 1, "", "@wat 1", "1", "there is no operator @wat"],
  [{ "@each": { sku: "x" } }, [{ sku: "x" }, { sku: "X" }], "[1].sku", '"x"', '"X"', "case differs"],
  [{ "@each": 1 }, 1, "", "@each 1", "1", null],
  [{ "@all": [{ a: 1 }, { b: 2 }] }, { a: 1, b: "2" }, "b", "2", '"2"', "number as a string"],
  [expect.any(Number), "5", "", "Any<Number>", '"5"', "number as a string"],
  [/^\d+$/, 5, "", "/^\\d+$/", "5", "number where a string is expected"],
  [/^pro/, "PRO plan", "", "/^pro/", '"PRO plan"', "case differs"],
  [expect.objectContaining({ a: 1, b: { c: 1 } }), { a: 1, b: { c: "1" } }, "b.c", "1", '"1"', "number as a string"],
  [
    (it: string) => it.startsWith("a"),
    5,
    "",
    '(it) => it.startsWith("a")',
    "5",
    "it threw: it.startsWith is not a function",
  ],
  [async () => true, 5, "", "async () => true", "5", "a predicate must answer at once, not with a promise"],
  [{ a: { b: [1, { c: 2 }] } }, { a: { b: [1, { c: 3 }] } }, "a.b[1].c", "2", "3", null],
  [{ "a b": { "\u001b": 1 } }, { "a b": { "\u001b": 2 } }, '["a b"]["\\u001b"]', "1", "2", null],
  [{ "@@gte": 1 }, { "@gte": 2 }, '["@gte"]', "1", "2", null],
  [{ "@@gte": 1 }, {}, '["@gte"]', "1", null, null],
  [props({ plan: "pro" }), props({ Plan: "free" }) as Json, "properties.plan", '"pro"', null, 'did you mean "Plan"?'],
  [
    props({ plan: "pro" }),
    props({ $set: { plan: "pro" } }) as Json,
    "properties.plan",
    '"pro"',
    null,
    "it is at properties.$set.plan",
  ],
  [
    props({ $set: { plan: "pro" } }),
    props({ $set: {}, plan: "pro" }) as Json,
    "properties.$set.plan",
    '"pro"',
    null,
    "it is at properties.plan",
  ],
  [{ plan: "pro" }, props({ plan: "pro" }) as Json, "plan", '"pro"', null, "it is at properties.plan"],
  [props({ p0: 0, p1: 1 }), props({ p0: 0 }) as Json, "properties.p1", "1", null, null],
  [{ constructor: 1 }, {}, "constructor", "1", null, null],
  [{ constructor: { "@exists": true } }, {}, "constructor", "@exists true", null, null],
  [{ constructor: { "@exists": true } }, { a: {} }, "constructor", "@exists true", null, null],
  [{ plan: "pro" }, { a: { b: { c: { plan: "pro" } } } }, "plan", '"pro"', null, "it is at a.b.c.plan"],
  [{ plan: "pro" }, { a: { b: { c: { d: { plan: "pro" } } } } }, "plan", '"pro"', null, null],
  [{ plan: "pro" }, { a: { plan: "free" } }, "plan", '"pro"', null, null],
  [5, undefined, "", "5", null, null],
  [{ a: /a/ }, '{"a":"a"}', "", "{a: /a/}", '"{\\"a\\":\\"a\\"}"', null],
  [[/a/], "a", "", "[/a/]", '"a"', null],
  [{ "@eq": 5 }, undefined, "", "@eq 5", null, null],
  [{ "@gte": 5 }, undefined, "", "@gte 5", null, null],
  [{ "@eq": 4900 }, 49, "", "@eq 4900", "49", "a hundredth (not in cents?)"],
  [{ "@nin": ["5"] }, "5", "", '@nin ["5"]', '"5"', null],
  [{ "@not": "5" }, "5", "", '@not "5"', '"5"', null],
  [
    { "@regex": "^(a+)+$" },
    `${"a".repeat(60)}!`,
    "",
    '@regex "^(a+)+$"',
    `"${"a".repeat(60)}!"`,
    "the pattern takes too long on such strings",
  ],
  [expect.objectContaining({ a: 1 }), 5, "", "ObjectContaining {a: 1}", "5", null],
  [expect.any(String), {}, "", "Any<String>", "{}", "an object where a string is expected"],
  [expect.any(Number), undefined, "", "Any<Number>", null, null],
  [(it: string) => it.startsWith("a"), undefined, "", '(it) => it.startsWith("a")', null, null],
  [
    new URL("https://x.test/"),
    "https://x.test",
    "",
    '"https://x.test/"',
    '"https://x.test"',
    "case or separators differ",
  ],
  [new Map(), 5, "", "[object Map]", "5", null],
  [new Date(iso), ms / 1000, "", "Date 2026-01-05T09:00:00.000Z", String(ms / 1000), "epoch, not ISO time"],
  [new Date(iso), 5, "", "Date 2026-01-05T09:00:00.000Z", "5", null],
];

test.each(rows)("%j on %j", (pattern, value, path, expected, actual, hint) => {
  expect(differences(pattern, value)).toEqual([{ path, expected, actual, hint }]);
});

describe("differences", () => {
  test.each<[pattern: unknown, value: Json | undefined]>([
    [1, 1],
    [{ a: undefined }, {}],
    [{ "@gte": 1 }, 2],
    [expect.anything(), 0],
    [JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}')],
  ])("%j on %j: none", (pattern, value) => {
    expect(differences(pattern, value)).toEqual([]);
  });

  test("come in the pattern's order, all of them", () => {
    const found = differences({ b: 1, a: { c: 2, d: 3 }, e: { "@gte": 5, "@lt": 0 } }, { a: { c: 1 }, b: 0, e: 2 });
    expect(found.map(({ path, expected }) => `${path} ${expected}`)).toEqual([
      "b 1",
      "a.c 2",
      "a.d 3",
      "e @gte 5",
      "e @lt 0",
    ]);
  });

  test("a matcher that finds more than a subset is reported as a whole", () => {
    const [found] = differences(expect.objectContaining({ a: { b: 1 } }), { a: { b: 1, c: 2 } });
    expect(found).toEqual({
      path: "",
      expected: "ObjectContaining {a: {b: 1}}",
      actual: "{a: {b: 1, c: 2}}",
      hint: null,
    });
  });

  const nested = (levels: number, inside: (it: unknown) => unknown, leaf: unknown): unknown =>
    levels === 0 ? leaf : nested(levels - 1, inside, inside(leaf));
  const same = (it: unknown) => it;
  const inObject = (a: unknown) => ({ a });
  const inList = (it: unknown) => [it];

  test.each<[name: string, pattern: (it: unknown) => unknown, value: (it: unknown) => unknown]>([
    ["objects", inObject, inObject],
    ["lists", inList, inList],
    ["@all", (it) => ({ "@all": [it] }), same],
    ["@each", (it) => ({ "@each": it }), inList],
    ["what stands in", (it) => ({ toJSON: () => it }), same],
  ])("are looked for a hundred levels deep: %s", (_, pattern, value) => {
    const found = (levels: number) =>
      differences(nested(levels, pattern, 1), nested(levels, value, 2) as Json).map((it) => it.expected);
    expect([found(100), found(101)]).toEqual([["1"], []]);
  });

  test("matchers count twice", () => {
    const found = (levels: number) =>
      differences(
        nested(levels, (a) => expect.objectContaining({ a }), 1),
        nested(levels, inObject, 2) as Json,
      );
    expect(found(50)).toEqual([{ path: Array(50).fill("a").join("."), expected: "1", actual: "2", hint: null }]);
    expect(found(60).map((it) => it.path)).toEqual([Array(50).fill("a").join(".")]);
  });

  test("are bounded, whatever is compared", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`k${i}`, i]));
    expect(differences(many, {})).toHaveLength(50);
    const [long] = differences("x".repeat(100_000), "y".repeat(100_000));
    expect((long?.expected.length ?? 0) + (long?.actual?.length ?? 0)).toBeLessThan(250);
  });
});

import { describe, expect, test } from "vitest";
import {
  bothRules,
  createSecretRules,
  RedactionRuleError,
  readRules,
  rulesInHeader,
  tapeRules,
} from "../../../../src/lab/tapes/redact/rules.ts";

/** `path: message` of the error; "" where the rules are accepted. */
function problem(value: unknown): string {
  try {
    readRules(value);
    return "";
  } catch (error) {
    if (!(error instanceof RedactionRuleError)) throw error;
    expect(error.name).toBe("RedactionRuleError");
    return `${error.path}: ${error.message}`;
  }
}
const ofRule = (rule: unknown): string => problem({ rules: [rule] });

describe("rules are checked", () => {
  const example = '{"name": "pin", "field": "pin"}';
  test.each<[value: unknown, expected: string]>([
    [null, ": must be an object with rules, keep or ignore, not null"],
    [[], ": must be an object with rules, keep or ignore, not []"],
    ["x", ': must be an object with rules, keep or ignore, not "x"'],
    [undefined, ": must be an object with rules, keep or ignore, not undefined"],
    [{ rule: [] }, "rule: is not known; there are rules, keep, ignore"],
    [{ rules: {} }, "rules: must be a list, not {}"],
    [{ keep: "a" }, 'keep: must be a list of strings, not "a"'],
    [{ keep: ["a", ""] }, 'keep[1]: must be a string, not ""'],
    [{ keep: ["a", 1] }, "keep[1]: must be a string, not 1"],
    [{ ignore: {} }, "ignore: must be a list of strings, not {}"],
    [{ ignore: ["req.a", "a"] }, 'ignore[1]: must begin with req. or res., not "a"'],
    [{ ignore: ["x.res.a"] }, 'ignore[0]: must begin with req. or res., not "x.res.a"'],
    [{ keep: "k".repeat(90) }, `keep: must be a list of strings, not "${"k".repeat(79)}`],
    [{ rules: [{ name: "a", field: "b" }, 1] }, `rules[1]: must be an object such as ${example}, not 1`],
    [{ rules: [null] }, `rules[0]: must be an object such as ${example}, not null`],
    [{ rules: [[]] }, `rules[0]: must be an object such as ${example}, not []`],
  ])("%j", (value, expected) => {
    expect(problem(value)).toBe(expected);
  });

  test.each<[rule: object, expected: string]>([
    [{ name: "a", feild: "b" }, "rules[0].feild: is not known; there are name, pattern, field, path"],
    [{ field: "b" }, "rules[0].name: must be a name such as order_token, not undefined"],
    [{ name: 1, field: "b" }, "rules[0].name: must be a name such as order_token, not 1"],
    [{ name: "A", field: "b" }, 'rules[0].name: must be a name such as order_token, not "A"'],
    [{ name: "1a", field: "b" }, 'rules[0].name: must be a name such as order_token, not "1a"'],
    [{ name: "a b", field: "b" }, 'rules[0].name: must be a name such as order_token, not "a b"'],
    [
      { name: "a".repeat(41), field: "b" },
      `rules[0].name: must be a name such as order_token, not "${"a".repeat(41)}"`,
    ],
    [{ name: "a".repeat(40), field: "b" }, ""],
    [{ name: "a_1", field: "b" }, ""],
    [{ name: "a" }, "rules[0]: must have one of pattern, field, path"],
    [{ name: "a", field: "b", path: "req.b" }, "rules[0]: must have one of pattern, field, path"],
    [{ name: "a", field: 1 }, "rules[0].field: must be a string, not 1"],
    [{ name: "a", field: "_-$" }, 'rules[0].field: must be a string, not "_-$"'],
    [{ name: "a", path: "body.b" }, 'rules[0].path: must begin with req. or res., not "body.b"'],
    [{ name: "a", path: "x.req.b" }, 'rules[0].path: must begin with req. or res., not "x.req.b"'],
    [{ name: "a", path: "req.b" }, ""],
    [{ name: "a", path: "res.b" }, ""],
    [{ name: "a", field: "req" }, ""],
    [{ name: "a", pattern: 1 }, "rules[0].pattern: must be a regular expression, not 1"],
    [{ name: "a", pattern: "" }, 'rules[0].pattern: must be a regular expression, not ""'],
    [{ name: "a", pattern: "b*" }, 'rules[0].pattern: must not match the empty string: "b*"'],
    [
      { name: "a", pattern: "(" },
      "rules[0].pattern: is no regular expression: Invalid regular expression: /(/: Unterminated group",
    ],
  ])("%j", (rule, expected) => {
    expect(ofRule(rule)).toBe(expected);
  });

  test.each<[pattern: string | RegExp, expected: string]>([
    ["ab", "/ab/"],
    ["/ab/", "/ab/"],
    ["/a/b/i", "/a/b/i"],
    ["/a\nb/s", "/a\nb/s"],
    ["x/ab/i", "/x/ab/i/"],
    ["/ab/x", "//ab/x/"],
    [/ab/, "/ab/"],
    [/ab/giuy, "/ab/iu"],
  ])("the pattern %s", (pattern, expected) => {
    expect(readRules({ rules: [{ name: "a", pattern }] }).rules).toEqual([{ name: "a", pattern: expected }]);
  });

  test("what is missing is empty", () => {
    expect(readRules({})).toEqual({ rules: [], keep: [], ignore: [] });
    const all = { rules: [{ name: "a", path: "res.b" }], keep: ["k"], ignore: ["res.i", "req.i"] };
    expect(readRules(all)).toEqual(all);
  });
});

describe("rules of a tape", () => {
  const rules = [{ name: "a", field: "b" }];

  test("a header has rules only if there are some", () => {
    expect(tapeRules()).toBeUndefined();
    expect(tapeRules({ ignore: ["req.a"] })).toBeUndefined();
    expect(tapeRules({ rules })).toEqual({ rules, keep: [] });
    expect(tapeRules({ keep: ["k"] })).toEqual({ rules: [], keep: ["k"] });
    expect(tapeRules({ rules, keep: ["k"], ignore: ["req.a"] })).toEqual({ rules, keep: ["k"] });
  });

  test("those of a header that cannot be read are none", () => {
    expect(rulesInHeader({ rules, ignore: ["req.a"] })).toEqual({ rules, keep: [] });
    expect(rulesInHeader({ keep: ["k"] })).toEqual({ rules: [], keep: ["k"] });
    for (const it of [undefined, null, "x", { rules: 1 }]) expect(rulesInHeader(it)).toBeUndefined();
  });

  test("both sets together have each rule once", () => {
    const [a, b] = [
      { rules, keep: ["k"] },
      { rules: [{ name: "c", field: "d" }, ...rules], keep: ["l", "k"] },
    ];
    expect(bothRules(undefined, undefined)).toBeUndefined();
    expect(bothRules(a, undefined)).toBe(a);
    expect(bothRules(undefined, b)).toBe(b);
    expect(bothRules(a, b)).toEqual({ rules: [...rules, { name: "c", field: "d" }], keep: ["k", "l"] });
    expect(bothRules({}, a)).toEqual(a);
    expect(bothRules(a, {})).toEqual(a);
  });
});

describe("the rules about secrets", () => {
  test("names of fields, however they are written", () => {
    const it = createSecretRules({ rules: [{ name: "pin_code", field: "Door-Word" }] });
    for (const name of ["door_word", "Door-Word", "$DOOR_WORD"]) {
      expect(it.secrecy(name)).toBe("strong");
      expect(it.headerSecrecy(name)).toBe("strong");
      expect(it.kind(name)).toBe("pin_code");
    }
    expect(it.secrecy("window_word")).toBe(createSecretRules().secrecy("window_word"));
    expect(it.kind("password")).toBe(createSecretRules().kind("password"));
    expect(createSecretRules().kind("password")).toBe("password");
    expect(createSecretRules().secrecy("door_word")).toBeUndefined();
  });

  test.each<[path: string, kind: string | undefined]>([
    ["req.body.items[0].code", "code"],
    ["req.body.items[12].code", "code"],
    ["req.body.items[0].code.part", "code"],
    ["req.body.items[0].code[3]", "code"],
    ['req.body.items[0]["code"]', "code"],
    ["req.body.items[0].codes", undefined],
    ["req.body.items[x].code", undefined],
    ["req.body.items.code", undefined],
    ['req.body["a b"]', undefined],
    ["req.body.list[1]", "list"],
    ["x.req.body.list", undefined],
    ["res.body.list", undefined],
    ['res.body["quo\\"te"]', "quote"],
  ])("the place %s", (path, kind) => {
    const rules = [
      { name: "code", path: "req.body.items[].code" },
      { name: "list", path: "req.body.list" },
      { name: "quote", path: 'res.body.quo\\"te' },
    ];
    expect(createSecretRules({ rules }).kindOfPlace(path)).toBe(kind);
    expect(createSecretRules().kindOfPlace(path)).toBeUndefined();
  });

  test.each<[path: string, keeps: boolean]>([
    ["req.body.deep.Public-Token", true],
    ["req.body.public_token[0][1]", true],
    ["req.body.a[0].public_token_2", false],
    ["req.body.public_token.below", false],
    ["req.body.session.id", true],
    ["req.headers.session", false],
    ["res.body.id", true],
    ["res.body.ids", false],
  ])("what is kept: %s", (path, keeps) => {
    const it = createSecretRules({ keep: ["public_token", "req.body.session", "res.body.id"] });
    expect(it.keeps(path)).toBe(keeps);
    expect(createSecretRules().keeps(path)).toBe(false);
  });

  test("a name that is kept may look like a path", () => {
    const it = createSecretRules({ keep: ["x.req.id"] });
    expect(it.keeps("req.body.id")).toBe(false);
  });

  test("patterns match everywhere, with their flags", () => {
    const all = createSecretRules({
      rules: [
        { name: "a", pattern: "/a\\/b/i" },
        { name: "c", pattern: /c/gy },
        { name: "plain", pattern: "d+" },
        { name: "slash", pattern: "x/y/" },
        { name: "field", field: "f" },
      ],
    }).patterns;
    const text = "A/B c dd x/y/";
    expect(all.map(({ kind, replace }) => [kind, replace(text, () => "*")])).toEqual([
      ["a", "* c dd x/y/"],
      ["c", "A/B * dd x/y/"],
      ["plain", "A/B c * x/y/"],
      ["slash", "A/B c dd *"],
    ]);
  });
});

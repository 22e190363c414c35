import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { HeaderPairs, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";
import { type ComparedAnswer, compareAnswers, createComparison } from "../../../../src/lab/tapes/verify/compare.ts";
import type { AnswerLike } from "../../../../src/lab/tapes/verify/compare-json.ts";

const jsonType: HeaderPairs = [["Content-Type", "application/json"]];
const answer = (body: TapeBody | undefined, status = 200, headers = jsonType): AnswerLike => ({
  status,
  headers,
  body,
});

/** `severity kind path recorded|own` of each difference. */
const reported = (recorded: AnswerLike, own: AnswerLike, noise: readonly string[] = []): string[] =>
  compareAnswers(recorded, own, { route: "r", noise }).map(
    (it) => `${it.severity} ${it.kind} ${it.path} ${it.recorded}|${it.own}`,
  );
const ofJson = (recorded: Json, own: Json, noise?: readonly string[]): string[] =>
  reported(answer({ json: recorded }), answer({ json: own }), noise);

const parsed = (text: string): Json => JSON.parse(text);

describe("shapes", () => {
  test.each<[string, Json, Json, string[]]>([
    ["the same", { a: 1, b: [null, "x"] }, { b: [null, "x"], a: 1 }, []],
    ["a key is missing", { a: 1, b: "x" }, { a: 1 }, ["break missing body.b string|nothing"]],
    ["a key more", { a: 1 }, { a: 1, b: null }, ["additive extra body.b nothing|null"]],
    ["another type", { a: 1 }, { a: "1" }, ["break type body.a number|string"]],
    ["a list for an object", { a: {} }, { a: [] }, ["break type body.a object|list"]],
    ["null for a value", { a: "x" }, { a: null }, ["break null body.a string|null"]],
    ["null for a list", { a: [1] }, { a: null }, ["break null body.a list|null"]],
    ["null for an empty list", { a: [] }, { a: null }, ["break null body.a list|null"]],
    ["null for an object", { a: {} }, { a: null }, ["break null body.a object|null"]],
    ["null for all", [1], null, ["break null body list|null"]],
    ["null for a map", { flags: {} }, { flags: null }, ["break null body.flags object|null"]],
    [
      "null for the list of one element",
      [{ a: [] }, { a: [] }],
      [{ a: [] }, { a: null }],
      ["break null body[].a list|list or null"],
    ],
    [
      "null for the value of one element",
      [{ a: 1 }, { a: 1 }],
      [{ a: 1 }, { a: null }],
      ["additive null body[].a number|number or null"],
    ],
    ["null for a time", { last_used_at: "x" }, { last_used_at: null }, ["additive null body.last_used_at string|null"]],
    ["a list for null", { a: null }, { a: [1] }, ["additive null body.a null|list"]],
    ["a value for null", { a: null }, { a: { b: 1 } }, ["additive null body.a null|object"]],
    [
      "deep inside, once for all elements",
      { results: [{ a: { b: 1 } }, { a: { b: 2 } }] },
      { results: [{ a: {} }, { a: {} }] },
      ["break missing body.results[].a.b number|nothing"],
    ],
    [
      "a key that only some recorded elements have is not promised",
      [{ a: 1, b: 1 }, { a: 1 }],
      [{ a: 1 }, { a: 1 }],
      ["additive missing body[].b number|nothing"],
    ],
    ["a key that another element has is there", [{ a: 1 }, { a: 1, b: 1 }], [{ a: 1, b: 1 }, { a: 1 }], []],
    [
      "a key that one element has lost",
      [
        { a: 1, b: 1 },
        { a: 1, b: 1 },
      ],
      [{ a: 1, b: 1 }, { a: 1 }],
      ["additive missing body[].b number|nothing in 1 of 2"],
    ],
    ["one kind of element more", [1, 2], [1, "x"], ["additive elements body[] number|number or string"]],
    [
      "elements that are null now and then",
      [{ a: 1 }, { a: null }],
      [{ a: 1 }, { a: 1 }],
      ["additive null body[].a number or null|number"],
    ],
    ["nothing can be reported from an empty list", { a: [{ b: 1 }] }, { a: [] }, ["value length body.a 1|0"]],
    ["another root", [1], { a: 1 }, ["break type body list|object"]],
    [
      "keys of a map are data",
      { flags: { a: { on: true } } },
      { flags: { b: { on: true } } },
      ['value missing body.flags.a {"on":true}|nothing', 'value extra body.flags.b nothing|{"on":true}'],
    ],
    [
      "values of a map have one shape",
      { flags: { a: { on: true }, b: { on: true } } },
      { flags: { a: {}, b: {} } },
      ["break missing body.flags.*.on boolean|nothing"],
    ],
    [
      "what users wrote has no shape",
      { filters: { a: 1 } },
      { filters: { b: "x" } },
      ['value value body.filters {"a":1}|{"b":"x"}'],
    ],
    ["its order of keys is nothing", { filters: { a: 1, b: 2 } }, { filters: { b: 2, a: 1 } }, []],
    ["but it has a type", { filters: {} }, { filters: "x" }, ["break type body.filters object|string"]],
    [
      "keys that objects are born with",
      parsed('{"__proto__": {"a": 1}, "constructor": 1}'),
      {},
      ["break missing body.__proto__ object|nothing", "break missing body.constructor number|nothing"],
    ],
  ])("%s", (_, recorded, own, expected) => {
    expect(ofJson(recorded, own)).toEqual(expected);
  });
});

describe("values", () => {
  test.each<[string, Json, Json, string[]]>([
    ["another text", { name: "a" }, { name: "b" }, ['value value body.name "a"|"b"']],
    ["another number", { n: 1 }, { n: 2 }, ["value value body.n 1|2"]],
    [
      "ids, times and links by their names",
      { id: 1, created_at: "x", next: "a" },
      { id: 2, created_at: "y", next: "b" },
      [],
    ],
    ["but not distinct ids", { distinct_id: "a" }, { distinct_id: "b" }, ['value value body.distinct_id "a"|"b"']],
    [
      "UUIDs wherever they stand",
      { who: "525beae1-139a-5afa-9d1c-96fa8e822e9d" },
      { who: "ff871555-ed6b-5fc2-b8c0-c9db061c6f48" },
      [],
    ],
    ["times wherever they stand", { seen: "2026-01-01T00:00:00Z" }, { seen: "2026-02-01T00:00:00Z" }, []],
    ["addresses", { at: "https://a.example/x" }, { at: "http://localhost/x" }, []],
    ["what was taken away", { note: "{{secret:password#1}}" }, { note: "x" }, []],
    ["inside of what users wrote, too", { config: { p: "{{secret:password#1}}" } }, { config: { p: "x" } }, []],
  ])("%s", (_, recorded, own, expected) => {
    expect(ofJson(recorded, own)).toEqual(expected);
  });

  test.each([["res.body.results[].name"], ["body.results[].name"], ["body.results"], ["body.results[0].name"]])(
    "noise: %s",
    (path) => {
      const [recorded, own] = [{ results: [{ name: "a" }] }, { results: [{ name: "b" }] }];
      expect(ofJson(recorded, own)).toHaveLength(1);
      expect(ofJson(recorded, own, [path])).toEqual([]);
    },
  );

  test("noise of another path hides nothing", () => {
    expect(ofJson({ name: "a" }, { name: "b" }, ["res.body.nam", "res.body.name.first"])).toHaveLength(1);
  });

  test("of a receipt the shape counts only", () => {
    const differences = compareAnswers(
      answer({ json: { status: 1, n: 1 } }),
      answer({ json: { status: "Ok", n: 2 } }),
      { route: "capture" },
    );
    expect(differences.map(({ kind, path }) => `${kind} ${path}`)).toEqual(["type body.status"]);
  });

  test("long values are cut", () => {
    const [found = ""] = ofJson({ name: "a".repeat(1e6) }, { name: "b" });
    expect(found.length).toBeLessThan(200);
  });

  test("a hostile depth is reported, not walked", () => {
    const deep = parsed("[".repeat(5000) + "]".repeat(5000));
    expect(ofJson(deep, [])).toEqual(["value too_deep body JSON|JSON"]);
  });

  test("no answer has more than a few differences", () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, i]));
    expect(ofJson(many, {})).toHaveLength(200);
  });
});

describe("status, headers, bodies", () => {
  const text = (type: string): HeaderPairs => [["content-type", type]];
  test.each<[string, AnswerLike, AnswerLike, string[]]>([
    ["another class ends it", answer({ json: { a: 1 } }), answer({ json: {} }, 404), ["break status status 200|404"]],
    [
      "another status of the class does not",
      answer({ json: { a: 1 } }),
      answer({ json: {} }, 201),
      ["break status status 200|201", "break missing body.a number|nothing"],
    ],
    ["the body is missing", answer({ json: {} }), answer(undefined), ["break body_missing body JSON|nothing"]],
    ["a body more", answer(undefined, 200, []), answer({ json: {} }), ["additive body_extra body nothing|JSON"]],
    [
      "text for JSON",
      answer({ json: {} }),
      answer({ text: "no" }, 200, text("text/plain")),
      ["break content_type headers.content-type application/json|text/plain", "break type body JSON|text"],
    ],
    [
      "parameters of a type are nothing",
      answer({ json: 1 }, 200, text("application/json; charset=utf-8")),
      answer({ json: 1 }),
      [],
    ],
    ["other text", answer({ text: "abc" }), answer({ text: "ab" }), ["value value body 3 characters|2 characters"]],
    ["an empty text is no body", answer({ text: "" }), answer(undefined), []],
    ["what was not kept is not known", answer({ omitted: "too_large", bytes: 9 }), answer({ json: {} }), []],
    [
      "CORS is missing",
      answer(undefined, 200, [["Access-Control-Allow-Origin", "*"]]),
      answer(undefined, 200, []),
      ["break header_missing headers.access-control-allow-origin *|nothing"],
    ],
    [
      "an ETag may be another one",
      answer(undefined, 200, [["ETag", "a"]]),
      answer(undefined, 200, [["etag", "b"]]),
      [],
    ],
    [
      "methods in another order",
      answer(undefined, 405, [["Allow", "GET, POST"]]),
      answer(undefined, 405, [["allow", "POST,GET"]]),
      [],
    ],
    [
      "other methods",
      answer(undefined, 405, [["Allow", "GET"]]),
      answer(undefined, 405, [["allow", "POST"]]),
      ["value header_value headers.allow GET|POST"],
    ],
    [
      "headers no one acts on",
      answer(undefined, 200, [["X-Served-By", "a"]]),
      answer(undefined, 200, [
        ["Date", "now"],
        ["CF-Ray", "1"],
        ["X-Envoy-Upstream-Service-Time", "2"],
        ["Vary", "origin"],
      ]),
      [],
    ],
    [
      "headers that appear",
      answer(undefined, 200, []),
      answer(undefined, 200, [
        ["Cache-Control", "max-age=60"],
        ["Deprecation", "true"],
        ["X-RateLimit-Limit", "10"],
      ]),
      [
        "additive header_extra headers.cache-control nothing|max-age=60",
        "additive header_extra headers.deprecation nothing|true",
        "additive header_extra headers.x-ratelimit-limit nothing|10",
      ],
    ],
    [
      "another header that disappears",
      answer(undefined, 200, [["Set-Cookie", "a=1"]]),
      answer(undefined, 200, []),
      ["additive header_missing headers.set-cookie a=1|nothing"],
    ],
    [
      "how long it may be kept",
      answer(undefined, 200, [["Cache-Control", "no-store"]]),
      answer(undefined, 200, [["cache-control", "max-age=60"]]),
      ["value header_value headers.cache-control no-store|max-age=60"],
    ],
  ])("%s", (_, recorded, own, expected) => {
    expect(reported(recorded, own)).toEqual(expected);
  });
});

describe("groups", () => {
  const groupDifferences = (answers: readonly ComparedAnswer[]) => {
    const comparison = createComparison();
    for (const compared of answers) comparison.add({ compared });
    return comparison.result().groups;
  };
  const compared = (route: string, i: number, recorded: Json, own: Json) => ({
    route,
    i,
    differences: compareAnswers(answer({ json: recorded }), answer({ json: own }), { route }),
  });

  test("the same difference of many answers is one, the gravest and most frequent first", () => {
    const groups = groupDifferences([
      compared("flags", 1, { a: 1 }, { a: 2 }),
      compared("flags", 2, { a: 1, id: 1 }, { a: 1 }),
      compared("flags", 3, { a: 1, id: 1 }, { a: 7, id: 1, requestId: "x" }),
      compared("config", 4, { a: 1, id: 1 }, { a: 1 }),
      compared("flags", 5, { a: 1, id: 1 }, { a: 1 }),
      compared("flags", 6, { a: 1 }, { a: 1 }),
    ]);
    expect(groups.map((it) => `${it.route} ${it.path} ${it.count}/${it.of} #${it.first}`)).toEqual([
      "flags body.id 2/5 #2",
      "config body.id 1/1 #4",
      "flags body.requestId 1/5 #3",
      "flags body.a 2/5 #1",
    ]);
    expect(groups[0]).toMatchObject({ severity: "break", detail: "the key is missing", recorded: "number" });
  });

  test("there is an end to kinds", () => {
    const groups = groupDifferences(Array.from({ length: 12_000 }, (_, i) => compared("r", i, {}, { [`k${i}`]: 1 })));
    expect(groups).toHaveLength(10_000);
  });
});

import { describe, expect, test } from "vitest";
import { createMemory } from "../../../../src/lab/tapes/redact/memory.ts";
import {
  decodedPlaceholders,
  fitsPlaceholders,
  isPlaceholder,
  placeholdersIn,
  replacePlaceholders,
  valuesFor,
} from "../../../../src/lab/tapes/redact/placeholders.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith } from "./exchanges.ts";

const body = (json: { [key: string]: string }) => exchangeWith({ body: { json } });

describe("placeholders", () => {
  test("equal secrets get equal placeholders over a tape, different ones different", () => {
    const { redact } = createRedactor();
    const given: { [key: string]: string }[] = [{ password: "one-1" }, { password: "two-2" }, { token: "one-1" }];
    const bodies = given.map((it) => redact(body(it)).req.body);
    expect(bodies).toEqual([
      { json: { password: "{{secret:password#1}}" } },
      { json: { password: "{{secret:password#2}}" } },
      { json: { token: "{{secret:password#1}}" } },
    ]);
  });

  test("project keys get them, too; the scheme of an authorization stays", () => {
    const safe = createRedactor().redact(
      exchangeWith({
        url: "https://us.i.posthog.com/array/phc_abcdef/config?token=phc_abcdef",
        headers: [["Authorization", "Bearer phx_abcdef"]],
      }),
    );
    expect(safe.req).toMatchObject({
      url: "https://us.i.posthog.com/array/%7B%7Bsecret%3Aproject_key%231%7D%7D/config?token=%7B%7Bsecret%3Aproject_key%231%7D%7D",
      headers: [["Authorization", "Bearer {{secret:personal_api_key#1}}"]],
    });
    expect(safe.redacted).toEqual(["req.headers.authorization", "req.path", "req.query.token"]);
  });

  test("cookies keep names and attributes, headers their order, case and duplicates", () => {
    const headers = [
      ["Set-Cookie", "a=secret-1; Path=/; HttpOnly"],
      ["X-A", "1"],
      ["set-cookie", "b=secret-2"],
      ["set-cookie", "a=secret-1"],
    ] as const;
    expect(createRedactor().redact(exchangeWith({ res: { headers } })).res?.headers).toEqual([
      ["Set-Cookie", "a={{secret:cookie#1}}; Path=/; HttpOnly"],
      ["X-A", "1"],
      ["set-cookie", "b={{secret:cookie#2}}"],
      ["set-cookie", "a={{secret:cookie#1}}"],
    ]);
  });

  test("numbers on the tape already are not given again", () => {
    const redactor = createRedactor();
    redactor.reserve('{"a":"{{secret:password#3}}","b":"%7B%7Bsecret%3Atoken%237%7D%7D"}');
    expect(redactor.redact(body({ password: "x-1", token: "y-2" })).req.body).toEqual({
      json: { password: "{{secret:password#4}}", token: "{{secret:token#8}}" },
    });
  });

  test("paths say where; many are reported without their positions", () => {
    const batch = Array.from({ length: 100 }, () => ({ properties: { token: "t-1", "odd name.token": "t-2" } }));
    const few = createRedactor().redact(exchangeWith({ body: { json: { batch: batch.slice(0, 1) } } }));
    expect(few.redacted).toEqual([
      "req.body.batch[0].properties.token",
      'req.body.batch[0].properties["odd name.token"]',
    ]);
    const many = createRedactor().redact(exchangeWith({ body: { json: { batch } } }));
    expect(many.redacted).toEqual([
      "req.body.batch[].properties.token",
      'req.body.batch[].properties["odd name.token"]',
    ]);
  });

  test.each([
    [{ $set: { token: "t-1" } }, "req.body.$set.token"],
    [{ "a b": { token: "t-1" } }, 'req.body["a b"].token'],
    [{ tokens: ["none", "t-1"] }, "req.body.tokens[1]"],
    [[{ token: "t-1" }], "req.body[0].token"],
  ])("the path in %j", (json, path) => {
    expect(createRedactor().redact(exchangeWith({ body: { json } })).redacted).toEqual([path]);
  });

  test("what cannot be read is left out", () => {
    const headers = [["Content-Encoding", "zstd"]] as const;
    const safe = createRedactor().redact(exchangeWith({ headers, body: { b64: "KLUv/QAAAAAA" } }));
    expect(safe.req.body).toEqual({ omitted: "redacted", bytes: 1 });
  });

  test("an exchange that breaks the redactor loses everything that could hold a secret", () => {
    const exchange = exchangeWith({ headers: [["X-A", "phx_abcdef"]], body: { json: { a: 1 } } });
    // @ts-expect-error a header without a value
    const headers: readonly [string, string][] = [["Authorization", null]];
    const safe = createRedactor().redact({ ...exchange, req: { ...exchange.req, headers } });
    expect(safe.req).toMatchObject({ url: "http://redacted.invalid/", headers: [], body: { omitted: "redacted" } });
    expect(safe.redacted).toEqual(["req", "res"]);
  });
});

describe("the text of a placeholder", () => {
  const of = (kind: string, number: string): string => `{{secret:${kind}#${number}}}`;
  test.each<[text: string, is: boolean]>([
    [of("a", "1"), true],
    [of("a_1", "0"), true],
    [of("a".repeat(60), "9".repeat(9)), true],
    [of("a".repeat(61), "1"), false],
    [of("a", "9".repeat(10)), false],
    [of("", "1"), false],
    [of("a", ""), false],
    [of("A", "1"), false],
    [of("a-b", "1"), false],
    [of("a", "x"), false],
    [`x${of("a", "1")}`, false],
    [`${of("a", "1")}x`, false],
  ])("%s: %s", (text, is) => {
    expect(isPlaceholder(text)).toBe(is);
  });

  const encoded = (kind: string, number: string): string => `%7b%7Bsecret%3a${kind}%23${number}%7D%7d`;
  const text = `a ${of("b", "1")}, ${encoded("Cc_1", "22")}, %7B%7Bsecret:d%233%7D%7D ${of("e", "4")}`;

  test("is found, percent-encoded too", () => {
    expect(placeholdersIn(text).map(({ kind, number }) => [kind, number])).toEqual([
      ["b", 1],
      ["d", 3],
      ["e", 4],
    ]);
    expect(placeholdersIn(of("b", "1"))).toEqual([{ text: of("b", "1"), kind: "b", number: 1 }]);
    expect(placeholdersIn("nothing")).toEqual([]);
  });

  test.each([
    ["a".repeat(60), "9".repeat(9), true],
    ["a".repeat(61), "1", false],
    ["a", "9".repeat(10), false],
    ["", "1", false],
    ["a", "", false],
  ])("percent-encoded: %s, %s: %s", (kind, number, is) => {
    expect(replacePlaceholders(encoded(kind, number), () => "mine")).toBe(is ? "mine" : encoded(kind, number));
  });

  test("becomes a value, percent-encoded where it was; without one it stays", () => {
    const seen: string[] = [];
    const after = replacePlaceholders(text, ({ text: it, kind, number }) => {
      seen.push(`${it} ${kind} ${number}`);
      return number === 4 ? "" : `${kind} ${number}`;
    });
    expect(after).toBe(`a b 1, cc_1%2022, d%203 ${of("e", "4")}`);
    expect(seen).toEqual([
      `${of("cc_1", "22")} cc_1 22`,
      `${of("d", "3")} d 3`,
      `${of("b", "1")} b 1`,
      `${of("e", "4")} e 4`,
    ]);
    expect(replacePlaceholders(encoded("a", "1"), () => "")).toBe(encoded("a", "1"));
  });

  test("is decoded in place", () => {
    expect(decodedPlaceholders(`a ${encoded("b", "1")} %7B`)).toBe(`a ${of("b", "1")} %7B`);
  });

  const any = of("a", "1");
  test.each<[recorded: string, text: string, fits: boolean]>([
    [any, "x", true],
    [any, "", true],
    ["a", "a", false],
    [`Bearer ${any}`, "Bearer x", true],
    [`Bearer ${any}`, "Basic x", false],
    [`Bearer ${any}`, "x Bearer ", false],
    [`${any}!`, "x!", true],
    [`${any}!`, "!x", false],
    [`a${any}c`, "ac", true],
    [`a${any}a`, "a", false],
    [`ab${any}b`, "ab", false],
    [`a${any}b${any}c`, "a1b2c", true],
    [`a${any}b${any}c`, "a12c", false],
    [`a${any}b${any}c`, "a1b2", false],
    [`a${any}a${any}`, "a", false],
    [`${any}a${any}a`, "a", false],
    [`${any}a${any}a`, "aa", true],
    [`${any}b${any}`, "b", true],
    [`${any}b${any}`, "ab", true],
    [`${any}b${any}`, "aab", true],
    [`${any}b${any}`, "a", false],
    [`${any}b${any}c${any}`, "1c2b3", false],
    [`a${any}bb${any}b`, "abb", false],
    [`${any}${any}`, "x", true],
    [encoded("a", "1"), "x", true],
    [of("a".repeat(60), "9".repeat(9)), "x", true],
    [of("a_1", "0"), "x", true],
    [of("a".repeat(61), "1"), "x", false],
    [of("a", "9".repeat(10)), "x", false],
    [of("", "1"), "x", false],
    [of("a", ""), "x", false],
    [of("a", "x"), "x", false],
  ])("%s fits %j: %s", (recorded, given, fits) => {
    expect(fitsPlaceholders(recorded, given)).toBe(fits);
  });

  test.each<[recorded: string, text: string, least: number, values: string[] | undefined]>([
    [`a${any}b${any}c`, "a1b22c", 1, ["1", "22"]],
    [`a${any}b${any}c`, "abbb1c", 1, ["b", "b1"]],
    [`a${any}b${any}c`, "abbb1c", 0, ["", "bb1"]],
    [`${any}b${any}`, "b1", 1, undefined],
    [`${any}${any}`, "xyz", 1, ["x", "yz"]],
    [`${any}${any}`, "x", 1, undefined],
    [`${any}${any}`, "x", 0, ["", "x"]],
    [any, "", 1, undefined],
    [any, "", 0, [""]],
    [any, "x\ny", 1, ["x\ny"]],
    [`a${any}c`, "ac", 1, undefined],
    [`a ${encoded("a", "1")}`, "a x", 1, ["x"]],
    [`${of("a".repeat(61), "1")} ${any}`, `${of("a".repeat(61), "1")} x`, 1, ["x"]],
    ["a", "a", 0, undefined],
  ])("%s in %j, each of %s characters or more: %j", (recorded, given, least, values) => {
    expect(valuesFor(recorded, given, least)).toEqual(values);
  });

  test("the search for values takes no longer the more of them there are", () => {
    const lines = (value: (i: number) => string, end: string): string =>
      [...Array.from({ length: 5000 }, (_, i) => `{"token":"${value(i)}"}`), end].join("\n");
    expect(
      valuesFor(
        lines(() => any, "end"),
        lines(() => "x", "another end"),
        1,
      ),
    ).toBeUndefined();
    expect(
      valuesFor(
        lines(() => any, "end"),
        lines((i) => `x${i}`, "end"),
        1,
      )?.slice(-2),
    ).toEqual(["x4998", "x4999"]);
  });
});

describe("a memory of secrets", () => {
  const of = (kind: string, number: number): string => `{{secret:${kind}#${number}}}`;
  const known = (kind: string, secret: string): string => `<${kind}:${secret}>`;
  /** A text without the secrets that a memory has learned. */
  const searched = (secrets: readonly string[], text: string): string => {
    const memory = createMemory();
    for (const it of secrets) memory.placeholder("token", it);
    return memory.replaceKnown(text, known);
  };
  const uuid = "0192a1b2-1234-7E5F-8a9b-0c1d2e3f4a5b";

  test.each<[what: string, secret: string, isLookedFor: boolean]>([
    ["twelve letters and digits", "abcdefghijk1", true],
    ["eleven", "abcdefghij1", false],
    ["512", `a1${"x".repeat(510)}`, true],
    ["513", `a1${"x".repeat(511)}`, false],
    ["no digit", "abcdefghijklmnop", false],
    ["no letter", "1234567890123456", false],
    ["capitals only", "ABCDEFGHIJK1", true],
    ["what a pattern would read as something else", "a.b*c(d[e1\\^$", true],
    ["a UUID", uuid, false],
    ["a UUID of digits", "01234567-0123-4567-8901-012345678901", false],
    ["more than a UUID", `${uuid}0`, true],
    ["a UUID behind something", `0${uuid}`, true],
    ["a placeholder in it", `abc1 ${of("token", 1)}`, false],
  ])("a secret that stands elsewhere, too: %s", (_, secret, isLookedFor) => {
    const found = isLookedFor ? known("token", secret) : secret;
    expect(searched([secret], `it is ${secret}!`)).toBe(`it is ${found}!`);
    expect(searched([secret], secret)).toBe(found);
  });

  const numbered = (i: number): string => `secret-number-${String(i).padStart(3, "0")}`;
  const many = Array.from({ length: 201 }, (_, i) => numbered(i));

  test("the last 200 secrets are looked for", () => {
    expect(searched(many.slice(0, 200), numbered(0))).toBe(known("token", numbered(0)));
    expect(searched(many, numbered(0))).toBe(numbered(0));
    expect(searched(many, numbered(1))).toBe(known("token", numbered(1)));
    expect(searched(many, numbered(200))).toBe(known("token", numbered(200)));
  });

  test("of two that begin alike the longer one is found", () => {
    const [short, long] = ["abcdefghijk1", "abcdefghijk1-2"];
    const expected = `${known("token", long)} ${known("token", short)}`;
    expect(searched([short, long], `${long} ${short}`)).toBe(expected);
    expect(searched([long, short], `${long} ${short}`)).toBe(expected);
  });

  test("what is learned later is found as well, under its own kind", () => {
    const memory = createMemory();
    const text = `${numbered(1)} ${numbered(2)}`;
    expect(memory.replaceKnown(text, known)).toBe(text);
    memory.placeholder("token", numbered(1));
    expect(memory.replaceKnown(text, known)).toBe(`${known("token", numbered(1))} ${numbered(2)}`);
    memory.placeholder("password", numbered(2));
    expect(memory.replaceKnown(text, known)).toBe(`${known("token", numbered(1))} ${known("password", numbered(2))}`);
  });

  test("equal secrets, long ones too, have one placeholder; it counts how many there are", () => {
    const memory = createMemory();
    const long = "x".repeat(300);
    const given = ["a", long, "a", long, `${long}y`].map((it) => memory.placeholder("token", it));
    expect(given).toEqual([1, 2, 1, 2, 3].map((it) => of("token", it)));
    expect(memory.placeholder("password", "a")).toBe(of("token", 1));
    expect(memory.placeholder("password", "b")).toBe(of("password", 1));
    expect(memory.size).toBe(4);
  });

  test.each<[reserved: string, next: number]>([
    ["", 1],
    [of("other", 7), 1],
    [of("token", 0), 1],
    [of("token", 7), 8],
    [of("token", 7) + of("token", 3), 8],
    [of("token", 3) + of("token", 7), 8],
    [of("token", 99_999_999), 100_000_000],
    [of("token", 100_000_000), 1],
    [of("token", 999_999_999), 1],
    [of("token", 100_000_000) + of("token", 3), 4],
  ])("behind %s comes %d", (reserved, next) => {
    const memory = createMemory();
    memory.reserve(reserved);
    expect(memory.placeholder("token", "a")).toBe(of("token", next));
    expect(memory.placeholder("token", "b")).toBe(of("token", next + 1));
  });

  test("numbers that stand in a later text are passed over", () => {
    const memory = createMemory();
    memory.placeholder("token", "a");
    memory.reserve(of("token", 2));
    expect(memory.placeholder("token", "b")).toBe(of("token", 3));
  });

  const keys = ["project_key", "personal_api_key", "secret_api_key", "authorization"];
  const two = (memory: ReturnType<typeof createMemory>, kind: string): string[] =>
    ["a", "b"].map((it) => memory.placeholder(kind, it));

  test.each(keys)("the only %s of a tape is the first one that comes, where keys are reused", (kind) => {
    const memory = createMemory(true);
    memory.reserve(of(kind, 3) + of(kind, 3));
    expect(two(memory, kind)).toEqual([of(kind, 3), of(kind, 4)]);
    memory.reserve(of(kind, 3));
    expect(memory.placeholder(kind, "c")).toBe(of(kind, 5));
  });

  test("of several no one knows which; what is no key, and a new tape, get new numbers", () => {
    const [kind = ""] = keys;
    const several = createMemory(true);
    several.reserve(of(kind, 3));
    several.reserve(of(kind, 5));
    expect(two(several, kind)).toEqual([of(kind, 6), of(kind, 7)]);
    const token = createMemory(true);
    token.reserve(of("token", 3));
    expect(two(token, "token")).toEqual([of("token", 4), of("token", 5)]);
    for (const memory of [createMemory(), createMemory(false)]) {
      memory.reserve(of(kind, 3));
      expect(two(memory, kind)).toEqual([of(kind, 4), of(kind, 5)]);
    }
  });
});

test("a number of nine digits in a request leaves the placeholders readable", () => {
  const headers = [["X-A", "{{secret:password#999999999}}"]] as const;
  const redactor = createRedactor();
  const once = redactor.redact(exchangeWith({ headers, body: { json: { password: "hunter-2" } } }));
  expect(once.req.body).toEqual({ json: { password: "{{secret:password#1}}" } });
  expect(redactor.redact(once).req).toEqual(once.req);
});

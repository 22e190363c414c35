import { describe, expect, test } from "vitest";
import {
  decodedPlaceholders,
  fitsPlaceholders,
  isPlaceholder,
  placeholdersIn,
  replacePlaceholders,
} from "../../../src/tapes/redact/placeholders.ts";
import { createRedactor } from "../../../src/tapes/redact/redactor.ts";
import { exchangeWith } from "./exchanges.ts";

const body = (json: { [key: string]: string }) => exchangeWith({ body: { json } });

describe("placeholders", () => {
  test("equal secrets get equal placeholders over a tape, different ones different", () => {
    const { redact } = createRedactor();
    const given: { [key: string]: string }[] = [
      { password: "one-1" },
      { password: "two-2" },
      { token: "one-1" },
    ];
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

  test("paths say where; many are told without their positions", () => {
    const batch = Array.from({ length: 100 }, () => ({
      properties: { token: "t-1", "odd name.token": "t-2" },
    }));
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
    expect(safe.req).toMatchObject({
      url: "http://redacted.invalid/",
      headers: [],
      body: { omitted: "redacted" },
    });
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
    expect(replacePlaceholders(encoded(kind, number), () => "mine")).toBe(
      is ? "mine" : encoded(kind, number),
    );
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
});

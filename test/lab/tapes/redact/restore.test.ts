import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { Exchange, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";
import type { ReplayRequest } from "../../../../src/lab/tapes/ports.ts";
import { fillBody, fillHeaders, fillText, maskOf, restore, unresolved } from "../../../../src/lab/tapes/redact/bind.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith } from "./exchanges.ts";

const asked = (it: Partial<ReplayRequest> = {}): ReplayRequest => ({
  method: "POST",
  target: "/e/",
  headers: {},
  body: undefined,
  client: "a",
  ...it,
});

const echo = (exchange: Exchange, body: Json): Exchange =>
  createRedactor().redact({ ...exchange, res: exchange.res && { ...exchange.res, body: { json: body } } });

const rows: [where: string, recorded: Exchange, echoed: Json, asked: ReplayRequest, answer: Json][] = [
  [
    "a header",
    exchangeWith({ headers: [["Authorization", "Bearer phx_recorded"]] }),
    { key: "phx_recorded" },
    asked({ headers: { authorization: "Bearer phx_live" } }),
    { key: "phx_live" },
  ],
  [
    "one cookie of several",
    exchangeWith({ headers: [["Cookie", "a=recorded-1; b=recorded-2"]] }),
    { cookie: "recorded-2" },
    asked({ headers: { cookie: "a=live-1; b=live-2" } }),
    { cookie: "live-2" },
  ],
  [
    "a parameter",
    exchangeWith({ url: "https://x.test/flags/?v=2&token=recorded%201" }),
    { token: "recorded 1" },
    asked({ target: "/flags/?token=live%20%7B&v=2" }),
    { token: "live {" },
  ],
  [
    "the path",
    exchangeWith({ url: "https://x.test/array/phc_recorded/config" }),
    { token: "phc_recorded", url: "https://x.test/array/phc_recorded/config.js" },
    asked({ target: "/array/phc_live/config" }),
    { token: "phc_live", url: "https://x.test/array/phc_live/config.js" },
  ],
  [
    "the body",
    exchangeWith({ body: { json: { batch: [{ properties: { token: "phc_recorded" } }], __proto__: 1 } } }),
    { api_token: "phc_recorded", note: "of phc_recorded" },
    asked({ body: { batch: [{ properties: { token: "phc_live" } }] } }),
    { api_token: "phc_live", note: "of phc_live" },
  ],
  [
    "another place, if it is the only key",
    exchangeWith({ body: { json: { api_key: "phc_recorded" } } }),
    { token: "phc_recorded" },
    asked({ body: { token: "phc_live" } }),
    { token: "phc_live" },
  ],
  [
    "nowhere: fakes that no one takes for real",
    exchangeWith({}),
    { token: "phc_recorded", personal_api_key: "phx_recorded", password: "hunter2", other: 1 },
    asked(),
    { token: "phc_redacted_1", personal_api_key: "phx_redacted_1", password: "redacted_password_1", other: 1 },
  ],
  [
    "not the same text around it",
    exchangeWith({ headers: [["Authorization", "Bearer recorded-1"]] }),
    { token: "recorded-1" },
    asked({ headers: { authorization: "Basic live" } }),
    { token: "redacted_authorization_1" },
  ],
];

describe("restore", () => {
  test.each(rows)("%s", (_, exchange, echoed, live, answer) => {
    const recorded = echo(exchange, echoed);
    expect(recorded.res?.body).not.toEqual({ json: echoed });
    expect(restore(recorded, live).res?.body).toEqual({ json: answer });
  });

  test("headers and texts of the answer; URLs stay URLs", () => {
    const recorded = createRedactor().redact(
      exchangeWith({
        headers: [["X-Api-Key", "recorded-1"]],
        res: { headers: [["Location", "/a?token=recorded-1"]], body: { text: "password=recorded-1&a=b" } },
      }),
    );
    const { res } = restore(recorded, asked({ headers: { "x-api-key": "a&b" } }));
    expect(res).toMatchObject({ headers: [["Location", "/a?token=a%26b"]], body: { text: "password=a%26b&a=b" } });
  });

  const of = (kind: string, number = 1): string => `{{secret:${kind}#${number}}}`;
  const secret = of("token");
  /** What `answer` becomes for a caller, recorded with the request `given`. */
  const answered = (
    given: Parameters<typeof exchangeWith>[0],
    live: Partial<ReplayRequest>,
    answer = secret,
  ): unknown => {
    const { res } = restore(exchangeWith({ ...given, res: { body: { json: answer } } }), asked(live));
    return res?.body && "json" in res.body ? res.body.json : undefined;
  };
  const fake = "redacted_token_1";
  const ofBody = (recorded: Json, live?: Json): unknown => answered({ body: { json: recorded } }, { body: live });
  const ofText = (recorded: string, live?: Json): unknown => answered({ body: { text: recorded } }, { body: live });
  const ofTarget = (recorded: string, live: string): unknown =>
    answered({ url: `https://x.test${recorded}` }, { target: live });

  test.each<[recorded: Json, live: Json | undefined, value: string]>([
    [secret, "mine", "mine"],
    [`a ${secret}`, "a mine", "mine"],
    [secret, undefined, fake],
    [secret, null, fake],
    [secret, 7, fake],
    [secret, ["mine"], fake],
    [[1, secret], [1, "mine"], "mine"],
    [[1, secret], [1], fake],
    [[secret], "mine", fake],
    [[secret], { 0: "mine" }, fake],
    [{ a: secret }, { a: "mine" }, "mine"],
    [{ a: secret }, { b: "mine" }, fake],
    [{ a: secret }, ["mine"], fake],
    [{ a: secret }, null, fake],
    [{ a: secret }, undefined, fake],
    [{ constructor: secret }, {}, fake],
    [{ a: null, b: secret }, { a: { c: 1 }, b: "mine" }, "mine"],
    [{ a: { b: [secret] } }, { a: { b: ["mine"] } }, "mine"],
  ])("the body %j, asked with %j", (recorded, live, value) => {
    expect(ofBody(recorded, live)).toBe(value);
  });

  test.each<[recorded: string, live: Json | undefined, value: string]>([
    [`a=${secret}&b=1`, "a=mine&b=1", "mine"],
    [`a=${secret}&b=1`, "a=mine&b=2", fake],
    [`a=${secret}`, "a=", fake],
    [`a=${secret}`, undefined, fake],
    [`a=${secret}`, 7, fake],
    [`a=${secret}`, { a: "mine" }, fake],
    ["a", "a", fake],
  ])("the text %j, asked with %j", (recorded, live, value) => {
    expect(ofText(recorded, live)).toBe(value);
  });

  test("a body of bytes, and none", () => {
    expect(answered({ body: { b64: "AA==" } }, { body: "AA==" })).toBe(fake);
    expect(answered({}, { body: { a: "mine" } })).toBe(fake);
  });

  test.each<[recorded: string, live: string, value: string]>([
    [`/a/${secret}`, "/a/mine", "mine"],
    [`/a/${secret}/b`, "/a/mine/c", "mine"],
    [`/a/${secret}`, "/a/m%20ne", "m ne"],
    [`/a/${secret}`, "/a", fake],
    [`/a/x-${secret}`, "/a/y-mine", fake],
    [`/?token=${secret}`, "/?token=mine", "mine"],
    [`/?t=${secret}`, "/?t=a=b", "a=b"],
    [`/?t=${secret}`, "/?t", fake],
    [`/?t=${secret}`, "/?u=mine", fake],
    [`/?${secret}`, "/?mine", fake],
    [`/?next=/b?c&t=${secret}`, "/?next=/b?c&t=mine", "mine"],
    [`/?t=x${secret}`, "/?t=xm%2Fne%26", "m/ne&"],
    [`?t=${secret}`, "/?t=mine", "mine"],
  ])("the address %s, asked with %s", (recorded, live, value) => {
    expect(ofTarget(recorded, live)).toBe(value);
  });

  test.each<[recorded: string, live: Record<string, string>, value: string]>([
    [secret, { "x-a": "mine" }, "mine"],
    [`Token ${secret}`, { "x-a": "Token mine" }, "mine"],
    [secret, { "x-b": "mine" }, fake],
    [secret, {}, fake],
  ])("the header %s, asked with %j", (recorded, headers, value) => {
    expect(answered({ headers: [["X-A", recorded]] }, { headers })).toBe(value);
  });

  test("the first place of several counts: headers, address, body", () => {
    const given = {
      headers: [["X-A", secret]] as const,
      url: `https://x.test/${secret}?t=${secret}`,
      body: { json: [secret, secret] },
    };
    const live = { headers: { "x-a": "one" }, target: "/two?t=three", body: ["four", "five"] };
    expect(answered(given, live)).toBe("one");
    expect(answered({ ...given, headers: [] }, live)).toBe("two");
    expect(answered({ ...given, headers: [] }, { ...live, target: "/?t=three" })).toBe("three");
    expect(answered({ body: given.body }, live)).toBe("four");
  });

  test("several placeholders in one text each have their own value", () => {
    const both = `${of("key2")}:${of("key2", 2)}`;
    expect(answered({ body: { json: both } }, { body: "a:b" }, `${of("key2", 2)} ${of("key2")}`)).toBe("b a");
  });

  const onlyKey = of("project_key");
  const noKey = "phc_redacted_1";
  const elsewhere = { x: "phc_live1" };
  test.each<[what: string, given: Parameters<typeof exchangeWith>[0], live: Partial<ReplayRequest>, value: string]>([
    ["from the body to a header", { body: { json: onlyKey } }, { headers: elsewhere }, "phc_live1"],
    ["from the body to the address", { body: { json: onlyKey } }, { target: "/phc_live1" }, "phc_live1"],
    ["from the address to the body", { url: `https://x.test/a/${onlyKey}` }, { body: elsewhere }, "phc_live1"],
    ["from a header to the body", { headers: [["X-A", onlyKey]] }, { body: elsewhere }, "phc_live1"],
    [
      "the same in two places",
      { body: { json: [onlyKey, onlyKey] } },
      { body: { a: "phc_live1", b: "phc_live1" } },
      "phc_live1",
    ],
    ["beside another kind", { body: { json: [onlyKey, of("jwt")] } }, { body: elsewhere }, "phc_live1"],
    ["two of the kind on the tape", { body: { json: [onlyKey, of("project_key", 2)] } }, { body: elsewhere }, noKey],
    ["two of the caller", { body: { json: onlyKey } }, { body: { a: "phc_live1", b: "phc_live2" } }, noKey],
    ["none of the caller", { body: { json: onlyKey } }, { body: { a: "phx_live1" } }, noKey],
    [
      "one whose place has a value",
      { headers: [["X-A", onlyKey]] },
      { headers: { "x-a": "dummy" }, body: elsewhere },
      "dummy",
    ],
  ])("the only key of a kind: %s", (_, given, live, value) => {
    expect(answered(given, live, onlyKey)).toBe(value);
  });

  test("a text of many secrets that is another one takes no time", () => {
    const lines = (value: string): string => `{"token":"${value}"}\n`.repeat(500);
    expect(ofText(`${lines(secret)}end`, `${lines("a")}another end`)).toBe(fake);
  });

  test("all else of the exchange stays; an answer without a body has none", () => {
    const recorded = exchangeWith({
      body: { json: secret },
      res: {
        headers: [
          ["X-A", `a ${secret}`],
          ["X-B", "b"],
        ],
      },
    });
    const live = asked({ body: "mine" });
    expect(restore(recorded, live)).toStrictEqual({
      ...recorded,
      res: {
        ...recorded.res,
        headers: [
          ["X-A", "a mine"],
          ["X-B", "b"],
        ],
      },
    });
  });

  test("an exchange without an answer stays as it is", () => {
    const exchange = { ...exchangeWith({}), res: null };
    expect(restore(exchange, asked())).toBe(exchange);
  });
});

test("what must be known before a body can be sent", () => {
  const { body } = createRedactor().redact(
    exchangeWith({ body: { json: { token: "phc_abcdef", list: [{ password: "x-1" }], url: "/?token=phc_abcdef" } } }),
  ).req;
  expect(unresolved(body)).toEqual(["{{secret:project_key#1}}", "{{secret:password#1}}"]);
  expect(unresolved(undefined)).toEqual([]);
  expect(unresolved({ json: "{{secret:}} {{secret:x}}" })).toEqual([]);
  expect(unresolved({ text: "a={{secret:token#1}}&b=%7B%7Bsecret%3Atoken%232%7D%7D" })).toEqual([
    "{{secret:token#1}}",
    "{{secret:token#2}}",
  ]);
});

test.each<TapeBody>([
  { b64: "AA==" },
  { omitted: "redacted", bytes: 1 },
  { file: "0".repeat(64), bytes: 1, as: "json" },
])("in the body %j nothing has to be known", (body) => {
  expect(unresolved(body)).toEqual([]);
});

test.each([
  ["project_key", "phc_redacted_7", "phc_***"],
  ["personal_api_key", "phx_redacted_7", "phx_***"],
  ["secret_api_key", "phs_redacted_7", "phs_***"],
  ["oauth_access_token", "pha_redacted_7", "pha_***"],
  ["oauth_refresh_token", "phr_redacted_7", "phr_***"],
  ["password", "redacted_password_7", "***"],
  ["constructor", "redacted_constructor_7", "***"],
])("an unknown %s becomes %s, in a report %s", (kind, fake, mask) => {
  const text = `{{secret:${kind}#7}}`;
  expect(fillText(`a ${text}`, () => undefined)).toBe(`a ${fake}`);
  expect(maskOf({ text, kind, number: 7 })).toBe(mask);
});

test("a text with one's own values, percent-encoded where the placeholder was", () => {
  const url = "/a?t=%7B%7Bsecret%3Atoken%231%7D%7D&u={{secret:token#2}}";
  expect(fillText(url, ({ number }) => (number === 1 ? "a b" : undefined))).toBe("/a?t=a%20b&u=redacted_token_2");
});

test("bodies and headers with one's own values", () => {
  const value = (): string => "mine";
  expect(fillBody({ json: { a: ["{{secret:token#1}}"], "{{secret:token#1}}": 1 } }, value)).toEqual({
    json: { a: ["mine"], mine: 1 },
  });
  expect(fillBody({ text: "a={{secret:token#1}}" }, value)).toEqual({ text: "a=mine" });
  expect(fillBody({ b64: "AA==" }, value)).toEqual({ b64: "AA==" });
  expect(fillHeaders([["A", "Bearer {{secret:token#1}}"]], value)).toEqual([["A", "Bearer mine"]]);
});

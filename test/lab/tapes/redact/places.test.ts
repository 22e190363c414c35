import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith } from "./exchanges.ts";

const secret = "correct-horse-7";

const jsonOf = (json: object): unknown => {
  const { body } = createRedactor().redact(exchangeWith({ body: { json: JSON.parse(JSON.stringify(json)) } })).req;
  return body !== undefined && "json" in body ? body.json : undefined;
};

const isTaken = (json: object): boolean => !JSON.stringify(jsonOf(json)).includes(secret);

describe("where a value is a secret by what stands around it", () => {
  const destination = (config: object, more: object = {}) => ({ destination: { type: "S3", config, ...more } });
  const rows: [json: object, taken: boolean][] = [
    ...["name", "key", "field", "property"].flatMap((name): [object, boolean][] => [
      [{ [name]: "password", value: secret }, true],
      [{ [name]: "password", content: secret }, true],
      [{ [name]: "colour", value: secret }, false],
      [{ [name]: "password", other: secret }, false],
      [{ [name]: 5, value: secret }, false],
    ]),
    [{ title: "password", value: secret }, false],
    [{ key: "colour", name: "password", value: secret }, true],
    [{ credentials: { value: secret } }, true],
    [{ credentials: { name: "colour", content: secret } }, true],
    [{ credentials: { user: { login: secret } } }, true],
    [{ credentials: [{ login: [secret] }] }, true],
    [{ password: [secret] }, true],
    [{ password: [[secret]] }, true],
    [{ password: { login: secret } }, true],
    [{ password_rules: { hint: secret } }, false],
    [{ password_rules: [secret] }, true],
    [{ login: { hint: secret }, password: null }, false],
    [destination({ user: secret }), true],
    [destination({ USER: secret }), true],
    [destination({ host: secret }), false],
    [{ destination: { config: { user: secret } } }, false],
    [{ destination: { type: 5, config: { user: secret } } }, false],
    [{ type: "S3", settings: { user: secret } }, false],
    [{ type: "S3", config: [{ user: secret }] }, false],
    [destination({}, { user: secret }), false],
    [destination({ deeper: { user: secret } }), false],
    [destination({}, { more: { user: secret } }), false],
    [{ config: { type: "S3", config: { user: secret } } }, false],
    [{ authorization: { hint: secret } }, false],
    [{ authorization: [{ a: { b: secret } }] }, true],
    [{ credentials: { featureFlags: { beta: { colour: secret } } } }, false],
    [{ flags: { "new-password": { variant: secret } } }, false],
    [{ flags: { "new-password": secret } }, true],
    [{ featureFlags: { "new-password": secret } }, false],
    [{ featureFlags: [{ "new-password": secret }] }, true],
    [{ featureFlags: { beta: { password: secret } } }, true],
  ];
  test.each(rows)("%j: %s", (json, taken) => {
    expect(isTaken(json)).toBe(taken);
  });
});

describe("numbers", () => {
  const bodyOf = (text: string): unknown => createRedactor().redact(exchangeWith({ body: { text } })).req.body;

  test("a card's, with more digits than a value can hold", () => {
    expect(bodyOf('{"a": 6212345678901234569, "b": 12345678901234567890}')).toEqual({
      text: '{"a":"{{secret:card_number#1}}","b":12345678901234567890}',
    });
  });

  test("are taken digit by digit", () => {
    const secrets = new Map<string, string>();
    const { redact } = createRedactor({ onSecret: (placeholder, it) => secrets.set(placeholder, it) });
    redact(exchangeWith({ body: { text: '{"password": 12345678901234567890, "otp": {"secret": 1.10}}' } }));
    expect([...secrets.values()]).toEqual(["12345678901234567890", "1.10"]);
  });

  test("fractions and exponents stay, whatever their digits are", () => {
    const text = '{"a": 4111111111111111.0, "b": 1e21, "c": 4.111111111111111e15}';
    expect(bodyOf(text)).toEqual({ text });
    const json = { a: 4111111111111111.5, b: 1e21, c: 41111111.11111111 };
    expect(jsonOf(json)).toEqual(json);
  });

  test("a card's in JSON", () => {
    expect(jsonOf({ a: 4111111111111111, b: 4111111111111112, c: -4111111111111111 })).toEqual({
      a: "{{secret:card_number#1}}",
      b: 4111111111111112,
      c: -4111111111111111,
    });
  });

  test("under a name of a counter", () => {
    const json = { max_tokens: 12, token: 12.5 };
    expect(jsonOf(json)).toEqual(json);
  });
});

describe("other calls get a turn", () => {
  /** How often redaction pauses, and that nothing changes by it. */
  const pauses = (json: Json): number => {
    const exchange = exchangeWith({ body: { json } });
    const work = createRedactor().redactInSteps(exchange);
    for (let count = 0; ; count++) {
      const { done, value } = work.next();
      if (!done) continue;
      expect(value).toEqual(exchange);
      return count;
    }
  };
  const list = (length: number): Json[] => Array.from({ length }, (_, i) => i);
  const object = (length: number): Json => Object.fromEntries(list(length).map((it) => [`n${it}`, it]));

  test.each<[what: string, json: Json, pauses: number]>([
    ["words", "words", 0],
    ["nothing", null, 0],
    ["63 numbers", list(63), 0],
    ["64 numbers", list(64), 1],
    ["128 numbers", list(128), 2],
    ["63 members", object(63), 0],
    ["64 members", object(64), 1],
    ["128 members", object(128), 2],
    ["three objects", [{ a: 1 }, {}, { b: null }], 3],
    ["three lists", [[1], [], [2]], 0],
    ["objects beside numbers", { batch: [{ a: 1 }, 2, { b: 3 }] }, 2],
    ["64 members two objects deep", { a: { b: object(64) } }, 1],
    ["64 members three objects deep", { a: { b: { c: object(64) } } }, 0],
    ["64 numbers two lists deep", [[list(64)]], 1],
    ["64 numbers three lists deep", [[[list(64)]]], 0],
  ])("%s", (_, json, count) => {
    expect(pauses(json)).toBe(count);
  });
});

describe("URLs in headers", () => {
  const headerOf = (name: string, value: string): string | undefined =>
    createRedactor().redact(exchangeWith({ headers: [[name, value]] })).req.headers[0]?.[1];
  const encoded = "%7B%7Bsecret%3Atoken%231%7D%7D";

  test.each(["Location", "Content-Location", "Referer", "Link"])("%s has its placeholders percent-encoded", (name) => {
    for (const start of ["https://x.test/a", "HTTP://x.test/a", "/a"]) {
      expect(headerOf(name, `${start}?token=${secret}`)).toBe(`${start}?token=${encoded}`);
    }
  });

  const token = "%7B%7Bsecret%3Asharing_token%231%7D%7D";
  test.each(["Location", "Content-Location", "Referer", "Link"])("%s is read as a URL", (name) => {
    for (const start of ["https://x.test", "HTTP://x.test", ""]) {
      expect(headerOf(name, `${start}/shared/abcdefgh`)).toBe(`${start}/shared/${token}`);
    }
  });

  test.each([
    ["X-Path", "/shared/abcdefgh"],
    ["Location", "see /shared/abcdefgh"],
    ["Location", "see https://x.test/shared/abcdefgh"],
  ])("%s: %s is not", (name, value) => {
    expect(headerOf(name, value)).toBe(value);
  });

  test.each([
    ["a=horse;b=battery", "a={{secret:cookie#1}};b={{secret:cookie#2}}"],
    ["a= true ; b=none", "a= true ; b=none"],
    ["a=1;  b=2", "a={{secret:cookie#1}};  b={{secret:cookie#2}}"],
    ["a=correct; ; b=", "a={{secret:cookie#1}}; ; b="],
    ["a= spaced", "a={{secret:cookie#1}}"],
    ["horse", "{{secret:cookie#1}}"],
    ["a=true; b=horse=battery", "a=true; b={{secret:cookie#1}}"],
  ])("Cookie: %s", (value, expected) => {
    expect(headerOf("Cookie", value)).toBe(expected);
  });
});

describe("URLs", () => {
  const urlOf = (url: string): string => createRedactor().redact(exchangeWith({ url })).req.url;
  const path = "/a/b?c=1#d";
  const rows: [url: string, safe: string][] = [
    [`https://x.test${path}`, `https://x.test${path}`],
    [`https://@x.test${path}`, `https://@x.test${path}`],
    [`https://me:${secret}@x.test${path}`, `https://%7B%7Bsecret%3Auserinfo%231%7D%7D@x.test${path}`],
    ["s3://me@x.test/a", "s3://%7B%7Bsecret%3Auserinfo%231%7D%7D@x.test/a"],
    ["HTTPS://me@x.test/a", "HTTPS://%7B%7Bsecret%3Auserinfo%231%7D%7D@x.test/a"],
    ["https://x.test/?a=b@c", "https://x.test/?a=b@c"],
    ...["shared", "embedded", "shared_dashboard"].flatMap((part): [string, string][] => [
      [`https://x.test/${part}/abcdefgh`, `https://x.test/${part}/%7B%7Bsecret%3Asharing_token%231%7D%7D`],
      [`https://x.test/${part}/abcdefg`, `https://x.test/${part}/abcdefg`],
    ]),
    ["https://x.test/insights/abcdefgh", "https://x.test/insights/abcdefgh"],
  ];
  test.each(rows)("%s", (url, safe) => {
    expect(urlOf(url)).toBe(safe);
  });
});

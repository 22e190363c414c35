import { describe, expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { scanText } from "../../../../src/lab/tapes/redact/scan.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const secret = "SplxlOBeZQ7QYbYS6WxSbIA";
const short = "x7k2";

/** Parameters with a secret, as they follow `?`, `&` or `#`. */
const secrets: [parameters: string, secret: string][] = [
  [`code=${secret}`, secret],
  [`code=4%2F0A${secret}`, `4/0A${secret}`],
  [`code=${short}&state=abc`, short],
  [`state=abc&code=${short}`, short],
  [`grant_type=authorization_code&code=${short}`, short],
  [`code=${short}&code_verifier=v`, short],
  [`sv=2024-11-04&sig=${secret}%3D`, `${secret}=`],
  [`X-Amz-Date=20260101T000000Z&X-Amz-Signature=${secret}`, secret],
  [`X-Goog-Signature=${secret}`, secret],
  [`Policy=eyJ&Signature=${secret}&Key-Pair-Id=K1`, secret],
  [`ticket=ST-${secret}`, `ST-${secret}`],
  [`access_token=${secret}`, secret],
  [`pin=${short}`, short],
  [`oauth_signature=${secret}`, secret],
  [`url-signature=${secret}`, secret],
  [`oauth_verifier=${short}`, short],
  [`id_token_hint=${secret}`, secret],
  [`auth=${secret}`, secret],
  [`next=https://app.test/?token=${secret}`, secret],
  [`next=${encodeURIComponent(`https://app.test/?a=1&token=${secret}`)}`, secret],
  [`next=${encodeURIComponent(encodeURIComponent(`/b?token=${secret}`))}`, secret],
  [`next=/a?back=/b?password=${short}`, short],
];

/** Parameters that come near to one. */
const plain = [
  "code=404",
  "code=en-US",
  "code=SUMMER20",
  "code=not_found_in_region",
  "code=sold out",
  "zip_code=10115&country_code=DE",
  `error_code=${secret}`,
  "signed=yes&signature_count=2",
  "tickets=2",
  "pinned=true&pin_count=3",
  "auth=google&authors=2",
  "next=https://app.test/?page=2",
];

/** The places in which a URL stands in traffic of an SDK. */
const places: [place: string, make: (url: string) => Parameters<typeof exchangeWith>[0]][] = [
  ["the request's URL", (url) => ({ url })],
  ["Location", (url) => ({ res: { headers: [["Location", url]] } })],
  ["Referer", (url) => ({ headers: [["Referer", url]] })],
  ["$current_url", (url) => ({ body: { json: { properties: { $current_url: url } } } })],
  ["a text in JSON in JSON", (url) => ({ body: { json: { data: JSON.stringify({ note: `see ${url} .` }) } } })],
];

describe.each(places)("%s", (_, make) => {
  test.each(secrets)("?%s", (parameters, value) => {
    for (const mark of ["?", "?a=1&", "?a=1#", "#"]) {
      const exchange = exchangeWith(make(`https://app.test/callback${mark}${parameters}`));
      expect(leaks(exchange, value)).toBe(true);
      expect(leaks(createRedactor().redact(exchange), value)).toBe(false);
    }
  });

  test.each(plain)("?%s stays", (parameters) => {
    const exchange = exchangeWith(make(`https://app.test/callback?a=1&${parameters}`));
    expect(createRedactor().redact(exchange)).toEqual({ ...exchange, redacted: [] });
  });
});

test("a form and a document with the code of a grant", () => {
  const form = `grant_type=authorization_code&code=${short}&redirect_uri=https%3A%2F%2Fapp.test`;
  const json: Json = { grant_type: "authorization_code", code: short };
  for (const body of [{ text: form }, { json }, { text: JSON.stringify(json) }])
    expect(leaks(createRedactor().redact(exchangeWith({ body })), short)).toBe(false);
});

test("a code is a property as any other", () => {
  const json: Json = { code: "SUMMER20", properties: { code: secret, signature: "a(b, c)", sig: "x1", state: "CA" } };
  expect(createRedactor().redact(exchangeWith({ body: { json } })).req.body).toEqual({ json });
});

test("an input in markup, and a setting in XML", () => {
  const value = "correct-horse";
  for (const text of [
    `<input name="password" type="password" value="${value}">`,
    `<input id='user_pin' value='${value}'/>`,
    `<add key="ClearTextPassword" value="${value}" />`,
  ]) {
    expect(leaks(createRedactor().redact(exchangeWith({ body: { json: { html: text } } })), value)).toBe(false);
    expect(scanText(text)).toHaveLength(1);
  }
  expect(scanText(`<input name="email" value="${value}"> <label for="pin">${value}</label>`)).toEqual([]);
});

test("ten thousand parameters are one search for a grant", () => {
  const text = `see https://app.test/?${"code=12&".repeat(10_000)}`;
  expect(scanText(text)).toEqual([]);
});

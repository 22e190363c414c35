import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/base/json.ts";
import type { Exchange } from "../../../src/tapes/format/exchange.ts";
import type { ReplayRequest } from "../../../src/tapes/ports.ts";
import { fillBody, fillHeaders, fillText, restore, unresolved } from "../../../src/tapes/redact/bind.ts";
import { createRedactor } from "../../../src/tapes/redact/redactor.ts";
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
    "nowhere: fakes that nobody takes for real",
    exchangeWith({}),
    { token: "phc_recorded", personal_api_key: "phx_recorded", password: "hunter2", other: 1 },
    asked(),
    {
      token: "phc_redacted_1",
      personal_api_key: "phx_redacted_1",
      password: "redacted_password_1",
      other: 1,
    },
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
    expect(res).toMatchObject({
      headers: [["Location", "/a?token=a%26b"]],
      body: { text: "password=a%26b&a=b" },
    });
  });

  test("an exchange without an answer stays as it is", () => {
    const exchange = { ...exchangeWith({}), res: null };
    expect(restore(exchange, asked())).toBe(exchange);
  });
});

test("what must be known before a body can be sent", () => {
  const { body } = createRedactor().redact(
    exchangeWith({
      body: { json: { token: "phc_abcdef", list: [{ password: "x-1" }], url: "/?token=phc_abcdef" } },
    }),
  ).req;
  expect(unresolved(body)).toEqual(["{{secret:project_key#1}}", "{{secret:password#1}}"]);
  expect(unresolved(undefined)).toEqual([]);
  expect(unresolved({ json: "{{secret:}} {{secret:x}}" })).toEqual([]);
});

test("a text with one's own values, percent-encoded where the placeholder was", () => {
  const url = "/a?t=%7B%7Bsecret%3Atoken%231%7D%7D&u={{secret:token#2}}";
  expect(fillText(url, ({ number }) => (number === 1 ? "a b" : undefined))).toBe(
    "/a?t=a%20b&u=redacted_token_2",
  );
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

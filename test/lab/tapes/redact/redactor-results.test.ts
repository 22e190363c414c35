import { describe, expect, test, vi } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { atOnce } from "../../../../src/kernel/base/work.ts";
import type { Exchange } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import { exchangeWith, leaks } from "./exchanges.ts";

const key = "phx_Zk3vQ7pL0aB9cD2eF4gH6iJ8";
const inBody = (json: Json): Exchange => exchangeWith({ body: { json } });

describe("a redactor", () => {
  const of = (kind: string, number: number): string => `{{secret:${kind}#${number}}}`;
  const listOf = (count: number): Exchange =>
    inBody({ batch: Array.from({ length: count }, (_, i) => ({ token: `t-${i}` })) });

  test("lists up to 64 places with their positions", () => {
    const { redacted } = createRedactor().redact(listOf(64));
    expect(redacted).toHaveLength(64);
    expect(redacted.slice(-1)).toEqual(["req.body.batch[63].token"]);
    expect(createRedactor().redact(listOf(65)).redacted).toEqual(["req.body.batch[].token"]);
  });

  test("lists the places of each exchange by itself, with those that were redacted before", () => {
    const { redact } = createRedactor();
    expect(redact(inBody({ a: { token: "t-1" } })).redacted).toEqual(["req.body.a.token"]);
    const second = { ...inBody({ b: { token: "t-1" } }), redacted: ["req.path"] };
    expect(redact(second).redacted).toEqual(["req.path", "req.body.b.token"]);
    expect(redact(inBody({ c: 1 })).redacted).toEqual([]);
  });

  const first = { json: { token: of("token", 1) } };
  test.each<[where: string, given: Partial<Parameters<typeof exchangeWith>[0]>, number: number]>([
    ["nowhere", {}, 1],
    ["the address", { url: `https://x.test/?token=${of("token", 4)}` }, 5],
    ["a header", { headers: [["X-A", of("token", 4)]] }, 5],
    ["the name of a header", { headers: [[of("token", 4), "1"]] }, 5],
    ["a header of the answer", { res: { headers: [["X-A", of("token", 4)]] } }, 5],
  ])("gives no number that stands in %s", (_, given, number) => {
    const exchange = exchangeWith({ ...given, body: { json: { token: "t-1" } } });
    const expected = { json: { token: of("token", number) } };
    expect(createRedactor().redact(exchange).req.body).toEqual(expected);
  });

  test("redacts an exchange without an answer", () => {
    const exchange = { ...inBody({ token: "t-1" }), res: null };
    expect(createRedactor().redact(exchange)).toEqual({
      ...exchange,
      req: { ...exchange.req, body: first },
      redacted: ["req.body.token"],
    });
  });

  test("finds a secret before the place that names it", () => {
    const secret = "correct-horse-7";
    const given = { body: { text: secret }, res: { body: { json: { token: secret } } } };
    const { req, res, redacted } = createRedactor().redact(exchangeWith(given));
    expect([req.body, res?.body]).toEqual([{ text: of("token", 1) }, first]);
    expect(redacted).toEqual(["res.body.token", "req.body"]);
  });

  test("redacts in steps as at once", () => {
    const exchange = listOf(3);
    expect(atOnce(createRedactor().redactInSteps(exchange))).toEqual(createRedactor().redact(exchange));
  });

  test("has its profile and the rules that it was given", () => {
    const rules = { rules: [{ name: "pin", field: "pin" }], keep: [] };
    expect(createRedactor().profile).toBe("default");
    expect(createRedactor().rules).toBeUndefined();
    expect(createRedactor({ rules }).rules).toBe(rules);
    expect(createRedactor({ rules }).redact(inBody({ pin: "1-2-3" })).req.body).toEqual({
      json: { pin: of("pin", 1) },
    });
  });

  test("reports each secret with its placeholder", () => {
    const onSecret = vi.fn();
    createRedactor({ onSecret }).redact(inBody({ token: "t-1", password: "p-1" }));
    expect(onSecret.mock.calls).toEqual([
      [of("token", 1), "t-1"],
      [of("password", 1), "p-1"],
    ]);
  });

  test.each([
    [undefined, 4],
    [false, 4],
    [true, 3],
  ])("with reusesKeys: %s, the key of a tape gets the number %d", (reusesKeys, number) => {
    const redactor = createRedactor(reusesKeys === undefined ? {} : { reusesKeys });
    redactor.reserve(of("project_key", 3));
    const { body } = redactor.redact(inBody({ api_key: "phc_abcdef" })).req;
    expect(body).toEqual({ json: { api_key: of("project_key", number) } });
  });

  test.each([{ body: { text: "a" } }, {}])(
    "why a body could not be decoded may repeat a secret header: %j",
    (given) => {
      const exchange = exchangeWith(given);
      const why = "not an encoding that can be undone here";
      const wire = { bytes: 7, encodings: ["gzip"], trouble: `${key}: ${why}` };
      const { req, redacted } = createRedactor().redact({ ...exchange, req: { ...exchange.req, wire } });
      expect(req.wire).toEqual({ ...wire, trouble: `${of("personal_api_key", 1)}: ${why}` });
      expect(redacted).toEqual(["req.wire.trouble"]);
    },
  );

  test("leaves nothing that came from outside in an exchange that breaks it", () => {
    // @ts-expect-error a header without a value
    const headers: readonly [string, string][] = [["Authorization", null]];
    const exchange = exchangeWith({ headers, res: { headers: [["X-A", key]], reason: key } });
    const wire = { bytes: 7, encodings: ["gzip"], trouble: `${key}: unknown` };
    const broken: Exchange = {
      ...exchange,
      i: 9,
      route: `GET /${key}`,
      client: key,
      redacted: [key],
      req: { ...exchange.req, url: `https://x.test/${key}`, wire },
    };
    const req = {
      method: "POST",
      url: "http://redacted.invalid/",
      http: "1.1",
      headers: [],
      wire: { bytes: 7, encodings: ["gzip"] },
    };
    const left = { i: 9, at: exchange.at, route: "POST /", redacted: ["req", "res"] };
    const safe = createRedactor().redact(broken);
    expect(safe).toStrictEqual({ ...left, req, res: { ...exchange.res, reason: "", headers: [] }, complete: true });
    expect(leaks(safe, key)).toBe(false);

    const body = { text: key };
    const withBodies: Exchange = {
      ...broken,
      req: { ...broken.req, body },
      res: exchange.res && { ...exchange.res, wire: { ...wire, bytes: 8 }, body },
      complete: false,
      aborted: "client",
    };
    expect(createRedactor().redact(withBodies)).toStrictEqual({
      ...left,
      req: { ...req, body: { omitted: "redacted", bytes: 7 } },
      res: {
        ...exchange.res,
        reason: "",
        headers: [],
        wire: { bytes: 8, encodings: ["gzip"] },
        body: { omitted: "redacted", bytes: 8 },
      },
      complete: false,
      aborted: "client",
    });
    expect(createRedactor().redact({ ...broken, res: null })).toStrictEqual({
      ...left,
      req,
      res: null,
      complete: true,
    });
  });
});

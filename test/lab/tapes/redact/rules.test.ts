import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { startSim } from "../../../../src/index.ts";
import type { Json } from "../../../../src/kernel/base/json.ts";
import type { Exchange, HeaderPairs } from "../../../../src/lab/tapes/format/exchange.ts";
import { createRedactor } from "../../../../src/lab/tapes/redact/redactor.ts";
import type { TapeRules } from "../../../../src/lab/tapes/redact/rules.ts";
import { scanBytes, scanExchange, scanText } from "../../../../src/lab/tapes/redact/scan.ts";
import { newFolder } from "../../../support/folder.ts";
import { exchangeWith } from "./exchanges.ts";

const redacted = (rules: TapeRules, exchange: Exchange): Exchange => createRedactor({ rules }).redact(exchange);
const jsonWith = (rules: TapeRules, json: Json): unknown => redacted(rules, exchangeWith({ body: { json } })).req.body;
const textWith = (rules: TapeRules, text: string): unknown =>
  redacted(rules, exchangeWith({ body: { text } })).req.body;
const headersWith = (rules: TapeRules, headers: HeaderPairs): HeaderPairs =>
  redacted(rules, exchangeWith({ headers })).req.headers;
const urlWith = (rules: TapeRules, url: string): string => redacted(rules, exchangeWith({ url })).req.url;

describe("a rule for a place", () => {
  const balance = { rules: [{ name: "balance", path: "req.body.balance" }] };

  test.each<[what: string, value: Json]>([
    ["words", "two and a half"],
    ["a whole number", 1234],
    ["a fraction", 1234.56],
    ["a number below zero", -5],
    ["a large number", 1e21],
    ["a short text", "abc"],
  ])("takes %s", (_, value) => {
    expect(jsonWith(balance, { balance: value, other: value })).toEqual({
      json: { balance: "{{secret:balance#1}}", other: value },
    });
    expect(textWith(balance, JSON.stringify({ balance: value }))).toEqual({
      text: '{"balance":"{{secret:balance#1}}"}',
    });
  });

  test("takes what is below it, and nothing that says nothing", () => {
    expect(jsonWith(balance, { balance: { a: ["x y", "***", "", true, null] }, balances: "x" })).toEqual({
      json: { balance: { a: ["{{secret:balance#1}}", "***", "", true, null] }, balances: "x" },
    });
  });

  test("takes a header as a whole, whatever it is", () => {
    const of = (name: string) => ({ rules: [{ name: "mine", path: `req.headers.${name}` }] });
    for (const [name, value] of [
      ["cookie", "a=none; b=none"],
      ["location", "https://x.test/a"],
      ["authorization", "Bearer none"],
      ["x-plain", "ab"],
    ] as const) {
      expect(headersWith(of(name), [[name, value]])).toEqual([[name, "{{secret:mine#1}}"]]);
    }
  });

  test("takes the path of a URL and leaves its host, or the other way round", () => {
    const of = (path: string) => ({ rules: [{ name: "mine", path }] });
    const mine = "%7B%7Bsecret%3Amine%231%7D%7D";
    expect(urlWith(of("req.path"), "https://acme.test/a")).toBe(`https://acme.test/${mine}`);
    expect(urlWith(of("req.path"), "/a")).toBe(`/${mine}`);
    expect(urlWith(of("req.path"), "acme/a")).toBe(`${mine}/%7B%7Bsecret%3Amine%232%7D%7D`);
    expect(urlWith(of("req.host"), "https://acme.test/a")).toBe(`https://${mine}/a`);
    expect(urlWith(of("req.host"), "acme/a")).toBe("acme/a");
  });

  test("in JSON in a text, where it stands in there", () => {
    const safe = redacted(
      { rules: [{ name: "pin", path: "req.body.a.pin" }] },
      exchangeWith({ body: { json: { a: '{"pin":"12 34"}' } } }),
    );
    expect(safe.req.body).toEqual({ json: { a: '{"pin":"{{secret:pin#1}}"}' } });
    expect(safe.redacted).toEqual(["req.body.a.pin"]);
  });
});

describe("what is kept", () => {
  test("stays as it is, a number as a number", () => {
    const keep = ["password", "req.body.note"];
    const json = { password: "one two", deep: { password: 5 }, note: "key phx_abcdef" };
    expect(jsonWith({ keep }, json)).toEqual({ json });
    const text = '{"password": 5, "deep": {"password": 1.10}}';
    expect(textWith({ keep }, text)).toEqual({ text });
    expect(jsonWith({ keep }, { token: "one two" })).toEqual({ json: { token: "{{secret:token#1}}" } });
  });
});

describe("a rule for a pattern", () => {
  const order = { rules: [{ name: "order", pattern: "/ord-\\d+/i" }] };

  test("finds what is short, and what is somewhere in words", () => {
    expect(jsonWith(order, { a: "ord-12", b: "paid ORD-13 now", c: "order" })).toEqual({
      json: { a: "{{secret:order#1}}", b: "paid {{secret:order#2}} now", c: "order" },
    });
  });

  test("takes nothing of a placeholder, and what stands around one", () => {
    const all = { rules: [{ name: "all", pattern: "/[a-z].+/" }] };
    const around = "1 {{secret:token#1}} 2, %7B%7Bsecret%3Atoken%232%7D%7D";
    expect(textWith(all, around)).toEqual({ text: around });
    const rest = { rules: [{ name: "order", pattern: "/ord-.*/" }] };
    expect(textWith(rest, "ord-12 token=battery&a=1")).toEqual({
      text: "{{secret:order#1}}%7B%7Bsecret%3Atoken%231%7D%7D&a=1",
    });
  });
});

describe("a scan goes by the same rules", () => {
  const rules = {
    rules: [
      { name: "order", pattern: "/ord-\\d+/" },
      { name: "pin", field: "door" },
    ],
    keep: ["password"],
  };
  const text = '{"door":"12","password":"one two","a":"ord-12","b":"x y"}';
  const found = [
    { path: ".door", kind: "pin", detail: "***" },
    { path: ".a", kind: "order", detail: "***" },
  ];

  test("of a text and of bytes", () => {
    expect(scanText(text, { rules })).toEqual(found);
    expect(scanBytes(Buffer.from(text), { rules })).toEqual(found);
    expect(scanBytes(gzipSync(text), { rules })).toEqual(found);
    expect(scanText(text).map(({ path }) => path)).toEqual([".password"]);
    expect(scanBytes(Buffer.from(text)).map(({ path }) => path)).toEqual([".password"]);
  });

  test("of an exchange, and calls with each place that it looks at", () => {
    const places: string[] = [];
    const exchange = exchangeWith({
      url: "https://x.test/a?token=one",
      headers: [["X-Api-Key", "two"]],
      body: { json: { a: "ord-12", b: { c: "x y" } } },
    });
    const kinds = scanExchange(exchange, { rules, onPlace: (path) => places.push(path) });
    expect(kinds.map(({ path, kind }) => [path, kind])).toEqual([
      ["req.headers.x-api-key", "api_key"],
      ["req.body.a", "order"],
      ["req.query.token", "token"],
    ]);
    expect(new Set(places)).toEqual(
      new Set([
        "req.headers",
        "req.headers.x-api-key",
        "req.body.a",
        "req.body.b.c",
        "res.reason",
        "req.host",
        "req.path",
        "req.query",
        "req.query.token",
        "route",
      ]),
    );
  });
});

test("a rule that takes too long does not stop a recording, and what it was for is not on the tape", async () => {
  const folder = newFolder();
  const hostile = `${"a".repeat(60)}!`;
  await using service = await startSim();
  const tape = join(folder, "slow.tape.ndjson");
  await using recording = await startSim({
    upstream: service.url,
    tape,
    redaction: { rules: [{ name: "order", pattern: "/(a+)+$/" }] },
  });
  const body = JSON.stringify({
    event: "e",
    distinct_id: "u",
    api_key: service.apiKey,
    properties: { hostile, plan: "pro" },
  });
  const response = await fetch(`${recording.url}/e/`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(response.status).toBe(200);
  await recording.close();
  const text = readFileSync(tape, "utf8");
  expect(text).not.toContain(hostile);
  // Once searches have wasted too much time, other texts are given up as well: the number depends on the machine.
  expect(text).toMatch(/"hostile":"\{\{secret:order_search_gave_up#\d+\}\}","plan":"pro"/);
});

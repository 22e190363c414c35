import { expect, test } from "vitest";
import { type Exchange, isSound, wrongField } from "../../../../src/lab/tapes/format/exchange-shape.ts";
import { toExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { fc } from "../../../support/chance.ts";
import { raw } from "./fixture.ts";

const whole: Exchange = toExchange(raw(), { i: 1, bodyLimit: 1024 });

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("GET", "https://a.b/c", "a\r\nb", ""));
const number = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(200, 1000, -0.5, Number.NaN));
const headers = fc.array(fc.tuple(text, text), { maxLength: 2 });
const deep = JSON.parse(`${"[".repeat(200)}${"]".repeat(200)}`);
const body: fc.Arbitrary<Exchange["req"]["body"]> = fc.constantFrom(
  { json: { a: 1 } },
  { json: deep },
  { text: "a" },
  { file: "../a", bytes: 1 },
  undefined,
);

/** Of the right types, as the compiler promises; their values may be wrong. */
const exchange: fc.Arbitrary<Exchange> = fc
  .record(
    { i: number, at: text, method: text, url: text, status: number, reason: text, ttfb: number, headers, body },
    { requiredKeys: [] },
  )
  .map(({ i = 1, at = whole.at, method, url, status, reason, ttfb, headers: pairs, body: sent }) => ({
    ...whole,
    i,
    at,
    req: { ...whole.req, ...(method && { method }), ...(url && { url }), ...(pairs && { headers: pairs }) },
    res: whole.res && {
      ...whole.res,
      ...(status !== undefined && { status }),
      ...(reason !== undefined && { reason }),
      ...(ttfb !== undefined && { ttfb }),
      ...(sent && { body: sent }),
    },
  }));

test("what is sound is an exchange for readers, too", () => {
  expect(isSound(whole)).toBe(true);
  fc.assert(fc.property(exchange, (it) => !isSound(it) || wrongField(it) === undefined));
});

test.each<[string, Exchange]>([
  ["a number from 0", { ...whole, i: 0 }],
  ["no time", { ...whole, at: "soon" }],
  ["a header of two lines", { ...whole, req: { ...whole.req, headers: [["a", "b\r\nc: d"]] } }],
  ["another scheme", { ...whole, req: { ...whole.req, url: "file:///etc/passwd" } }],
  ["a deep body", { ...whole, req: { ...whole.req, body: { json: deep } } }],
])("%s is not sound", (_, it) => {
  expect(isSound(it)).toBe(false);
  expect(wrongField(it)).toBeDefined();
});

import { expect, test } from "vitest";
import type { Json } from "../../../../src/kernel/base/json.ts";
import { isExchange } from "../../../../src/lab/tapes/format/exchange-shape.ts";
import { toExchange } from "../../../../src/lab/tapes/format/raw-exchange.ts";
import { writeEntry } from "../../../../src/lab/tapes/har/export.ts";
import { readEntry } from "../../../../src/lab/tapes/har/read-entry.ts";
import { fc } from "../../../support/chance.ts";

const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.constantFrom("", "__proto__", "\u001f\u008b", "a\r\nb: c"),
);
const odd: fc.Arbitrary<Json> = fc.oneof(
  { weight: 3, arbitrary: text },
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom<Json>(null, -1, 0, 200, 1e308, true, [], {}),
);
const pairs = fc.oneof(
  odd,
  fc.array(
    fc.oneof(
      odd,
      fc.record({ name: fc.oneof(text, fc.constantFrom("content-length", "content-encoding")), value: odd }),
    ),
  ),
);
/** What a file would hold: keys without a value are not there. */
const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value));

const part = (fields: Record<string, fc.Arbitrary<Json>>, requiredKeys: string[] = []): fc.Arbitrary<Json> =>
  fc.oneof({ weight: 9, arbitrary: fc.record(fields, { requiredKeys }).map(asJson) }, odd);

const entry = part({
  startedDateTime: fc.oneof(
    odd,
    fc.date({ noInvalidDate: true }).map((it) => it.toISOString()),
  ),
  time: odd,
  _error: odd,
  timings: part({ blocked: odd, connect: odd, send: odd, wait: odd, receive: odd }),
  request: part(
    {
      method: fc.oneof(fc.constantFrom("GET", "post", "HEAD"), odd),
      url: fc.oneof(
        fc.webUrl({ withQueryParameters: true }),
        text.map((it) => `https://us.posthog.com/${it}`),
        odd,
      ),
      httpVersion: odd,
      headers: pairs,
      bodySize: odd,
      postData: part({ mimeType: odd, text: odd, params: pairs, encoding: fc.constantFrom("base64", "x") }),
      _content: part({ text: odd, encoding: fc.constantFrom("base64", "x") }),
    },
    ["method", "url"],
  ),
  response: part({
    status: fc.oneof(fc.constantFrom(200, 204, 404), odd),
    statusText: odd,
    headers: pairs,
    bodySize: odd,
    content: part({ size: odd, text: odd, encoding: fc.constantFrom("base64", "x"), _file: odd }),
  }),
});

test("whatever an entry says: it is left out, or it can go onto a tape and out again", () => {
  const rules = { i: 1, bodyLimit: 1_000_000, isBodyless: () => false };
  let written = 0;
  fc.assert(
    fc.property(entry, (json) => {
      const read = readEntry(json, { all: true, before: 0 });
      if ("skip" in read) return;
      const exchange = JSON.parse(JSON.stringify(toExchange(read.exchange, rules)));
      written++;
      expect(isExchange(exchange)).toBe(true);
      expect(writeEntry(exchange)).toMatchObject({ request: { method: exchange.req.method } });
    }),
    { numRuns: 1000 },
  );
  expect(written).toBeGreaterThan(100);
});

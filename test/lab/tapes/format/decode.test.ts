import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import lz from "lz-string";
import { describe, expect, test } from "vitest";
import { decodeBody, encodeBody } from "../../../../src/lab/tapes/format/bodies.ts";
import type { HeaderPairs, TapeBody } from "../../../../src/lab/tapes/format/exchange.ts";
import { fc } from "../../../support/chance.ts";

const value = { event: "x", properties: { n: 1, text: "ünï 🦔" } };
const text = JSON.stringify(value);
const base64 = (bytes: Buffer | string): string => Buffer.from(bytes).toString("base64");
const form = (data: string, rest = ""): string => `data=${encodeURIComponent(data)}${rest}`;
const jsonType: HeaderPairs = [["Content-Type", "application/json; charset=utf-8"]];
const encoded = (...values: string[]): HeaderPairs => values.map((it) => ["Content-Encoding", it] as const);

type Row = [
  name: string,
  bytes: Buffer | string,
  headers: HeaderPairs,
  target: string | undefined,
  encodings: string[],
];

const rows: Row[] = [
  ["plain JSON", text, jsonType, "/e", []],
  ["JSON as text/plain", text, [["content-type", "text/plain"]], "/e", []],
  ["gzip by header", gzipSync(text), encoded("gzip"), "/batch", ["gzip"]],
  ["gzip of an answer", gzipSync(text), encoded("GZIP"), undefined, ["gzip"]],
  ["x-gzip", gzipSync(text), encoded("x-gzip"), "/batch", ["gzip"]],
  ["brotli", brotliCompressSync(text), encoded("br"), undefined, ["br"]],
  ["deflate", deflateSync(text), encoded("deflate"), undefined, ["deflate"]],
  ["deflate without its wrapping", deflateRawSync(text), encoded("deflate"), undefined, ["deflate"]],
  ["stacked", gzipSync(brotliCompressSync(text)), encoded("br, gzip"), undefined, ["gzip", "br"]],
  ["stacked in two headers", gzipSync(deflateSync(text)), encoded("deflate", "gzip"), undefined, ["gzip", "deflate"]],
  ["identity", text, encoded("identity"), undefined, []],
  [
    "gzip that no one announces (posthog-js)",
    gzipSync(text),
    [["content-type", "text/plain"]],
    "/e/?compression=gzip-js",
    ["gzip"],
  ],
  ["base64 in a form", form(base64(text), "&compression=base64"), [], "/e/", ["form", "base64"]],
  [
    "base64 in a form, announced by the query",
    form(base64(text)),
    [],
    "/e/?compression=base64&ver=1",
    ["form", "base64"],
  ],
  ["base64 in a form, announced by no one", form(base64(text)), [], "/e/", ["form", "base64"]],
  [
    "base64 whose + became spaces",
    `data=${base64(text).replaceAll("+", "%20").replaceAll("=", "%3D")}`,
    [],
    "/e/?compression=base64",
    ["form", "base64"],
  ],
  ["JSON in a form", form(text, "&ver=1&_=2"), [], "/e/", ["form"]],
  ["base64 alone", base64(text), [], "/e/", ["base64"]],
  ["gzip in base64 in a form", form(base64(gzipSync(text))), [], "/e/", ["form", "base64", "gzip"]],
  ["lz64 in a form", form(lz.compressToBase64(text), "&compression=lz64"), [], "/e/", ["form", "lz64"]],
  ["lz64 alone", lz.compressToBase64(text), [], "/e/?compression=lz64", ["lz64"]],
  ["gzip by header around base64", gzipSync(base64(text)), encoded("gzip"), "/e", ["gzip", "base64"]],
];

const bytesOf = (given: Buffer | string): Buffer => Buffer.from(given);

describe("decodeBody", () => {
  test.each(rows)("%s", (_, given, headers, target, encodings) => {
    const bytes = bytesOf(given);
    expect(decodeBody(bytes, headers, target)).toEqual({
      body: { json: value },
      wire: { bytes: bytes.length, encodings },
    });
  });

  test.each(rows)("%s is sent again with the same content", (_, given, headers, target) => {
    const first = decodeBody(bytesOf(given), headers, target);
    const again = decodeBody(encodeBody(first.body, first.wire), headers, target);
    expect(again.body).toEqual(first.body);
    expect(again.wire.encodings).toEqual(first.wire.encodings);
  });

  const plainRows: [string, Buffer | string, HeaderPairs, string | undefined, TapeBody | undefined][] = [
    ["none", "", jsonType, "/e", undefined],
    ["text", "ok", [], undefined, { text: "ok" }],
    ["a word that could be base64", "test", [], "/x", { text: "test" }],
    ["a number as text", "12", [["content-type", "text/plain"]], undefined, { text: "12" }],
    ["a number as JSON", "12", jsonType, undefined, { json: 12 }],
    ["a JSON type with a suffix", "null", [["content-type", "application/problem+json"]], undefined, { json: null }],
    ["broken JSON", '{"a":', jsonType, "/e", { text: '{"a":' }],
    ["a form that says more than data", "data=e30&api_key=k", [], "/e", { text: "data=e30&api_key=k" }],
    ["bytes", Buffer.from([0, 255, 1]), [], undefined, { b64: "AP8B" }],
    ["gzip of an answer that is a download", gzipSync("x"), [], undefined, { b64: gzipSync("x").toString("base64") }],
    ["an id beyond 2^53", '{"id":9007199254740993}', jsonType, undefined, { text: '{"id":9007199254740993}' }],
    ["minus zero", "[-0]", jsonType, undefined, { text: "[-0]" }],
    ["too many digits", "[3.14159265358979323846]", jsonType, undefined, { text: "[3.14159265358979323846]" }],
    ["beyond a double", "[1e999]", jsonType, undefined, { text: "[1e999]" }],
    ["a float that is whole", "[1.0,1e3,1500.50,0.0]", jsonType, undefined, { json: [1, 1000, 1500.5, 0] }],
    ["the shortest digits of a double", "[0.30000000000000004]", jsonType, undefined, { json: [0.1 + 0.2] }],
    ["digits in a string", '["9007199254740993 \\" -0"]', jsonType, undefined, { json: ['9007199254740993 " -0'] }],
    [
      "deep brackets",
      `${"[".repeat(500)}${"]".repeat(500)}`,
      jsonType,
      undefined,
      { text: `${"[".repeat(500)}${"]".repeat(500)}` },
    ],
    ["a byte order mark", "\ufeff{}", jsonType, undefined, { text: "\ufeff{}" }],
  ];
  test.each(plainRows)("%s", (_, given, headers, target, body) => {
    const bytes = bytesOf(given);
    const decoded = decodeBody(bytes, headers, target);
    expect(decoded.body).toEqual(body);
    expect(encodeBody(decoded.body, decoded.wire).equals(bytes) || (body && "json" in body)).toBe(true);
  });

  test("keys that are special to objects are kept", () => {
    const { body } = decodeBody(Buffer.from('{"__proto__":{"a":1},"constructor":2}'), [], "/e");
    expect(JSON.stringify(body)).toBe('{"json":{"__proto__":{"a":1},"constructor":2}}');
  });

  test.each([
    ["not gzip", Buffer.from("hello"), encoded("gzip"), { text: "hello" }, /^gzip: /, []],
    [
      "cut off",
      gzipSync(text).subarray(0, 20),
      encoded("gzip"),
      { b64: base64(gzipSync(text).subarray(0, 20)) },
      /^gzip: /,
      [],
    ],
    ["an unknown encoding", Buffer.from("abc"), encoded("rot13"), { text: "abc" }, /^rot13: /, []],
    ["unknown below a known one", gzipSync("abc"), encoded("rot13, gzip"), { text: "abc" }, /^rot13: /, ["gzip"]],
    [
      "sniffed and cut off",
      gzipSync(text).subarray(0, 20),
      [],
      { b64: base64(gzipSync(text).subarray(0, 20)) },
      /^gzip: /,
      [],
    ],
    ["a name that objects have", Buffer.from("abc"), encoded("constructor"), { text: "abc" }, /^constructor: /, []],
  ] as const)("%s is kept as it came, and reported", (_, bytes, headers, body, trouble, encodings) => {
    const decoded = decodeBody(bytes, headers, "/e");
    expect(decoded.body).toEqual(body);
    expect(decoded.wire.encodings).toEqual(encodings);
    expect(decoded.wire.trouble).toMatch(trouble);
    expect(decodeBody(encodeBody(decoded.body, decoded.wire), headers, "/e").body).toEqual(body);
  });

  test.each([
    ["a gzip bomb", gzipSync(Buffer.alloc(5_000_000)), encoded("gzip")],
    ["a brotli bomb", brotliCompressSync(Buffer.alloc(5_000_000)), encoded("br")],
    ["a sniffed bomb in a bomb", gzipSync(gzipSync(Buffer.alloc(5_000_000))), []],
    ["an lz64 bomb", Buffer.from(lz.compressToBase64("a".repeat(2_000_000))), []],
    ["a plain body", Buffer.alloc(1_000_001, "a"), []],
  ] as const)("%s beyond the limit is left out", (_, bytes, headers) => {
    const { body } = decodeBody(bytes, headers, "/e?compression=lz64", 1_000_000);
    expect(body).toEqual({ omitted: "too_large", bytes: bytes.length });
  });

  test.each(["/", "=", "====", " ", "A"])("base64 that decodes to nothing stays text: %j", (text) => {
    const { body, wire } = decodeBody(Buffer.from(text), [], "/e?compression=base64");
    expect({ body, encodings: wire.encodings }).toEqual({ body: { text }, encodings: [] });
  });

  test("any bytes under any names decode to something that is sent again with the same content", () => {
    const encoding = fc.constantFrom("gzip", "br", "deflate", "identity", "base64", "x");
    const wrap = fc.constantFrom<((it: Buffer) => Buffer)[]>(
      (it: Buffer) => it,
      (it: Buffer) => gzipSync(it),
      (it: Buffer) => deflateSync(it),
      (it: Buffer) => Buffer.from(it.toString("base64")),
      (it: Buffer) => Buffer.from(form(it.toString("base64"))),
    );
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 64 }).map((it): Buffer => Buffer.from(it)),
      fc.jsonValue().map((it): Buffer => Buffer.from(JSON.stringify(it))),
      fc.string({ unit: "binary", maxLength: 40 }).map((it): Buffer => Buffer.from(it)),
    );
    fc.assert(
      fc.property(
        content,
        fc.array(wrap, { maxLength: 4 }),
        fc.array(encoding, { maxLength: 3 }),
        (inner, wraps, names) => {
          const bytes = wraps.reduce((it, next) => next(it), inner);
          const headers = encoded(...names);
          const first = decodeBody(bytes, headers, "/e?compression=base64");
          const again = decodeBody(encodeBody(first.body, first.wire), headers, "/e?compression=base64");
          expect(again.body).toEqual(first.body);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe("encodeBody", () => {
  test.each([
    [{ omitted: "too_large", bytes: 3 } as const, /not kept/],
    [{ file: "a".repeat(64), bytes: 3 } as const, /side file/],
  ])("refuses %j", (body, message) => {
    expect(() => encodeBody(body, { bytes: 3, encodings: [] })).toThrow(message);
  });

  test("refuses an encoding that it cannot make", () => {
    expect(() => encodeBody({ text: "a" }, { bytes: 1, encodings: ["rot13"] })).toThrow(/rot13/);
  });
});

import { gzipSync } from "node:zlib";
import lz from "lz-string";
import { describe, expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { decodeLegacy } from "../../../src/service/capture/decode.ts";
import type { Packet } from "../../../src/service/capture/packet.ts";
import type { DecodeStep } from "../../../src/state/journal/request-shapes.ts";

const json = '{"event":"e","properties":{"url":"https://x.test/?a=b+c&d=%20","text":"ünïcödé 🦔 >>>???"}}';
const base64 = Buffer.from(json).toString("base64");
const form = "application/x-www-form-urlencoded";
const limit = 64 * 1024;

interface Given {
  query?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

const packetOf = ({ query = "", headers = {}, body = "" }: Given): Packet => ({
  path: "/e",
  query: new URLSearchParams(query),
  headers,
  record: {},
  body: Buffer.from(body),
  peer: "127.0.0.1",
  at: 0,
});

const decode = (given: Given, most = limit) => {
  const steps: DecodeStep[] = [];
  const { text } = atOnce(decodeLegacy(packetOf(given), most, steps, false));
  return { text, steps };
};

const failure = (given: Given, most?: number): [string, string] => {
  try {
    decode(given, most);
  } catch (error) {
    if (error instanceof SimError) return [error.code, error.message];
    throw error;
  }
  return ["none", ""];
};

describe("what decodes", () => {
  const gzipped = gzipSync(json);
  const lz64 = lz.compressToBase64(json);
  const rows: [string, Given, DecodeStep[]][] = [
    ["JSON", { body: json }, []],
    ["JSON as text/plain", { body: json, headers: { "content-type": "text/plain;charset=UTF-8" } }, []],
    ["JSON, unknown compression named", { body: json, query: "compression=brotli" }, []],
    ["JSON, base64 named", { body: json, query: "compression=base64" }, []],
    ["gzip, named in the header", { body: gzipped, headers: { "content-encoding": "gzip" } }, ["gzip"]],
    ["gzip, sniffed, as text/plain", { body: gzipped, headers: { "content-type": "text/plain" } }, ["gzip"]],
    ["gzip, named gzip-js in the query", { body: gzipped, query: "compression=gzip-js&ip=1&ver=1.300.0" }, ["gzip"]],
    ["gzip, named in capitals", { body: gzipped, query: "compression=GZIP-JS" }, ["gzip"]],
    ["gzip with a wrong name", { body: gzipped, query: "compression=nonsense" }, ["gzip"]],
    ["gzip of base64", { body: gzipSync(base64) }, ["gzip", "base64"]],
    ["gzip in gzip", { body: gzipSync(gzipped) }, ["gzip", "gzip"]],
    ["base64", { body: base64 }, ["base64"]],
    ["base64, named", { body: base64, query: "compression=b64" }, ["base64"]],
    ["base64 of gzip, named gzip", { body: gzipped.toString("base64"), query: "compression=gzip" }, ["base64", "gzip"]],
    [
      "base64 with + turned into blanks",
      { body: base64.replaceAll("+", " "), query: "compression=base64" },
      ["base64"],
    ],
    ["base64 without padding, named", { body: base64.replaceAll("=", ""), query: "compression=base64" }, ["base64"]],
    ["lz64", { body: lz64, query: "compression=lz64" }, ["lz64"]],
    ["lz64 by its other name", { body: lz64, query: "compression=lz-string" }, ["lz64"]],
    ["lz64 named in the header", { body: lz64, headers: { "content-encoding": "lz64" } }, ["lz64"]],
    [
      "form, base64, as posthog-js 1.200",
      { body: `data=${encodeURIComponent(base64)}`, query: "compression=base64", headers: { "content-type": form } },
      ["form", "base64"],
    ],
    [
      "form, base64, nothing named, as posthog-js 1.100",
      { body: `data=${encodeURIComponent(base64)}`, headers: { "content-type": form } },
      ["form", "base64"],
    ],
    [
      "form, base64 not percent-encoded",
      { body: `data=${base64}`, query: "compression=base64", headers: { "content-type": form } },
      ["form", "base64"],
    ],
    ["form, JSON", { body: `data=${encodeURIComponent(json)}`, headers: { "content-type": form } }, ["form"]],
    [
      "form, fields before the data",
      { body: `ver=1.2&ip=1&data=${encodeURIComponent(json)}`, headers: { "content-type": form } },
      ["form"],
    ],
    [
      "form that names its compression",
      { body: `compression=lz64&data=${encodeURIComponent(lz64)}`, headers: { "content-type": form } },
      ["form", "lz64"],
    ],
    [
      "form, the query's compression wins",
      {
        body: `compression=lz64&data=${encodeURIComponent(base64)}`,
        query: "compression=base64",
        headers: { "content-type": form },
      },
      ["form", "base64"],
    ],
    [
      "form, as text/plain",
      { body: `data=${encodeURIComponent(base64)}`, headers: { "content-type": "text/plain" } },
      ["form", "base64"],
    ],
    ["gzip of a form", { body: gzipSync(`data=${encodeURIComponent(json)}`) }, ["gzip", "form"]],
    ["query, JSON", { query: `data=${encodeURIComponent(json)}` }, ["query"]],
    ["query, base64", { query: `data=${encodeURIComponent(base64)}` }, ["query", "base64"]],
    ["query, base64 not percent-encoded", { query: `data=${base64}` }, ["query", "base64"]],
    ["query beats body", { query: `data=${encodeURIComponent(json)}`, body: '{"event":"other"}' }, ["query"]],
    ["an empty data parameter is none", { query: "data=", body: json }, []],
  ];
  test.each(rows)("%s", (_, given, steps) => {
    expect(decode(given)).toEqual({ text: json, steps });
  });

  test.each([
    ["line feeds", '{\n  "a": 1\n}', '{"a":1}'],
    ["carriage returns", '{\r"a":1}', '{"a":1}'],
    ["blanks before it", ' \t{"a":1}', ' \t{"a":1}'],
    ["no line breaks: every blank stays", '{ "a" :  1 }', '{ "a" :  1 }'],
    ["escaped line breaks stay", '{"a":"\\n"}', '{"a":"\\n"}'],
    ["numbers keep their spelling", '{"a":1.0,"b":12345678901234567890}', '{"a":1.0,"b":12345678901234567890}'],
  ])("fits on one line of a file: %s", (_, body, text) => {
    expect(decode({ body }).text).toBe(text);
  });
});

describe("what does not decode", () => {
  const bomb = gzipSync(Buffer.alloc(limit + 1, 0x20));
  const nested = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const rows: [string, Given, string, RegExp][] = [
    ["nothing", {}, "missing_payload", /^request missing data payload$/],
    ["empty data parameter, no body", { query: "data=" }, "missing_payload", /^request missing data payload$/],
    ["not JSON", { body: "{event}" }, "unparsable_payload", /^failed to parse request: /],
    ["half of JSON", { body: json.slice(0, 40) }, "unparsable_payload", /^failed to parse request: /],
    ["too deep", { body: nested(129) }, "unparsable_payload", /^failed to parse request: recursion limit exceeded/],
    ["a byte order mark", { body: `\ufeff${json}` }, "unparsable_payload", /^failed to parse request: /],
    ["not UTF-8", { body: Buffer.from([0x7b, 0xff, 0x7d]) }, "undecodable_payload", /invalid UTF8 in request payload$/],
    ["gzip cut off", { body: gzipSync(json).subarray(0, 30) }, "undecodable_payload", /: invalid GZIP data$/],
    ["gzip named, not there", { body: json, query: "compression=gzip" }, "undecodable_payload", /: invalid GZIP data$/],
    ["lz64 named, not there", { body: json, query: "compression=lz64" }, "undecodable_payload", /decompress_lz64: /],
    [
      "base64 of bytes",
      { body: Buffer.from([255, 254, 253]).toString("base64") },
      "undecodable_payload",
      /invalid UTF8/,
    ],
    [
      "JSON that calls itself a form",
      { body: json, headers: { "content-type": form } },
      "undecodable_payload",
      /: expected form data in POST request payload$/,
    ],
    [
      "a form without data",
      { body: "a=1&b=2", headers: { "content-type": form } },
      "undecodable_payload",
      /: expected form data/,
    ],
    [
      "v1 compressions",
      { body: json.slice(1), headers: { "content-encoding": "br" } },
      "unparsable_payload",
      /^failed/,
    ],
    ["a gzip bomb", { body: bomb }, "payload_too_large", /^maximum event size exceeded: /],
    ["a bomb in a bomb", { body: gzipSync(bomb) }, "payload_too_large", /^maximum event size exceeded: /],
    [
      "an lz64 bomb",
      { body: lz.compressToBase64("x".repeat(limit + 1)), query: "compression=lz64" },
      "payload_too_large",
      /./,
    ],
    ["plain, larger than the limit", { body: " ".repeat(limit + 1) }, "payload_too_large", /./],
  ];
  test.each(rows)("%s", (_, given, code, text) => {
    const [found, message] = failure(given);
    expect(found).toBe(code);
    expect(message).toMatch(text);
  });

  test("just as deep as the service reads", () => {
    expect(decode({ body: nested(128) }).text).toBe(nested(128));
  });

  test("exactly the limit", () => {
    const text = `"${"x".repeat(limit - 2)}"`;
    expect(decode({ body: gzipSync(text) }).text).toBe(text);
  });

  test("base64 of base64 of … comes to an end", () => {
    let body = json;
    for (let i = 0; i < 9; i++) body = Buffer.from(body).toString("base64");
    expect(failure({ body })[0]).toBe("unparsable_payload");
  });
});

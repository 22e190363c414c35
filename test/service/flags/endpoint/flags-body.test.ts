import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { SimError } from "../../../../src/kernel/base/errors.ts";
import { flagsBodyOf } from "../../../../src/service/flags/endpoint/flags-request.ts";
import { fc } from "../../../support/chance.ts";
import { type Asked, aCall } from "./flags-desk.ts";

const json = '{"token":"phc_test","distinct_id":"ü+/"}';
const base64 = Buffer.from(json).toString("base64");
const gzip = gzipSync(json);
const form = "application/x-www-form-urlencoded";

const decode = (body: string | Buffer, headers: Asked["headers"] = {}, query = "") =>
  flagsBodyOf(aCall(`/flags${query}`, { method: "POST", body, headers }));

const type = (text: string) => ({ "content-type": text });

describe("body", () => {
  test.each<[string, string | Buffer, Asked["headers"], string, string[]]>([
    ["JSON", json, type("application/json"), "", []],
    ["JSON with a charset", json, type("Application/JSON; charset=utf-8"), "", []],
    ["plain text", json, type("text/plain"), "", []],
    ["no content type", json, {}, "", []],
    ["gzip by its header", gzip, { "content-encoding": "gzip" }, "", ["gzip"]],
    ["gzip by its query", gzip, type("text/plain"), "?compression=gzip-js", ["gzip"]],
    ["gzip, unannounced", gzip, type("text/plain"), "", ["gzip"]],
    ["gzip of base64", gzipSync(base64), {}, "", ["gzip", "base64"]],
    ["base64", base64, type("text/plain"), "", ["base64"]],
    ["base64 by its query", base64, {}, "?compression=base64", ["base64"]],
    ["a form", `data=${encodeURIComponent(base64)}`, type(form), "", ["form", "base64"]],
    [
      "a form, by its query",
      `data=${encodeURIComponent(base64)}`,
      type(form),
      "?compression=base64",
      ["form", "base64"],
    ],
    ["a form whose pluses got lost", `data=${base64}`, type(form), "", ["form", "base64"]],
    ["a form of JSON", `data=${encodeURIComponent(json)}`, type(form), "", ["form"]],
  ])("%s", (_name, body, headers, query, steps) => {
    const { bytes, ...decoded } = decode(body, headers, query);
    expect(decoded).toEqual({ json: JSON.parse(json), text: json, steps });
    const isVerbatim = !steps.includes("base64") && !steps.includes("form");
    expect(bytes?.toString()).toBe(isVerbatim ? json : undefined);
  });

  test.each<[string, string | Buffer]>([
    ["a line break", '{\n"a":1}'],
    ["what JSON5 has on top of JSON", '{"a":1,}'],
    ["a secret key", '{"a":"phx_0123456789"}'],
    ["bytes that are not UTF-8", Buffer.from('{"a":"\xff"}', "latin1")],
  ])("the bytes are not the text: %s", (_name, body) => {
    expect(decode(body).bytes).toBeUndefined();
  });

  test.each<[string, object]>([
    ['{"a":NaN,"b":[-Infinity,+Infinity]}', { a: null, b: [null, null] }],
    ['{"a":"NaN, // Infinity",}', { a: "NaN, // Infinity" }],
    ['{"a":[1,2,], // why\n"b":1/* c */}', { a: [1, 2], b: 1 }],
    ['{"a":"\\"NaN",\n"b":NaN}', { a: '"NaN', b: null }],
    ['{\n"a": 1\r\n}', { a: 1 }],
  ])("tolerated: %j", (text, expected) => {
    const body = decode(text);
    expect(body.json).toEqual(expected);
    expect(JSON.parse(body.text)).toEqual(expected);
    expect(body.text).not.toMatch(/[\r\n]/);
  });

  const invalid = "Failed to decode request: invalid JSON. Please check your request format and try again.";
  test.each<[string, string | Buffer, Asked["headers"], string, number, string]>([
    ["broken JSON", "{", {}, "", 400, invalid],
    ["nothing", "", {}, "", 400, invalid],
    ["a list", "[]", {}, "", 400, invalid],
    ["a string", '"x"', {}, "", 400, invalid],
    ["base64 of something else", "aGVsbG8=", {}, "", 400, invalid],
    ["too deep", `${'{"a":'.repeat(200)}1${"}".repeat(200)}`, {}, "", 400, invalid],
    ["no data in the form", "x=1", type(form), "", 400, "missing data field"],
    ["gzip that is none", json, { "content-encoding": "gzip" }, "", 400, "invalid gzip"],
    ["cut-off gzip", gzip.subarray(0, 20), {}, "", 400, "invalid gzip"],
    ["an unknown compression", json, {}, "?compression=lz64", 400, "unsupported compression type: lz64"],
    [
      "another content type",
      json,
      type("multipart/form-data; boundary=x"),
      "",
      400,
      "unsupported content type: multipart/form-data",
    ],
    ["too much", gzipSync(Buffer.alloc(21 * 1024 * 1024, 32)), {}, "", 413, "too large"],
  ])("%s is refused", (_name, body, headers, query, status, message) => {
    const attempt = () => decode(body, headers, query);
    expect(attempt).toThrow(SimError);
    expect(attempt).toThrow(expect.objectContaining({ status, message: expect.stringContaining(message) }));
    expect(attempt).toThrow(/^Failed to decode request: /);
  });

  test.each([
    ["escaped quotes", `"${'\\"'.repeat(200_000)}`],
    ["open comments", "/*".repeat(200_000)],
    ["commas", ", ".repeat(200_000)],
    ["slashes", "\\".repeat(400_000)],
  ])("hostile text is read once: %s", (_name, text) => {
    expect(() => decode(text)).toThrow(SimError);
  });

  test("whatever comes, it is an object or a SimError", () => {
    const anyText = fc.oneof(
      fc.string(),
      fc.json(),
      fc.json().map((text) => Buffer.from(text).toString("base64")),
    );
    fc.assert(
      fc.property(anyText, fc.constantFrom("", form, "text/plain"), (text, contentType) => {
        try {
          expect(typeof decode(text, type(contentType)).json).toBe("object");
        } catch (error) {
          expect(error).toBeInstanceOf(SimError);
        }
      }),
      { numRuns: 200 },
    );
  });
});

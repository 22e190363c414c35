import lz from "lz-string";
import { describe, expect, test } from "vitest";
import { SimError } from "../../../src/kernel/base/errors.ts";
import { atOnce } from "../../../src/kernel/base/work.ts";
import { unpackLz64 as unpackInSteps } from "../../../src/kernel/codec/lz64.ts";
import { fc } from "../../support/chance.ts";

const limit = 1024 * 1024;
const packed = (text: string): Buffer => Buffer.from(lz.compressToBase64(text));

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    return error instanceof SimError ? error.code : String(error);
  }
  return "no error";
};

const unpackLz64 = (text: Buffer, most: number) => atOnce(unpackInSteps(text, most));

describe("unpackLz64", () => {
  test.each([
    ["empty", ""],
    ["one character", "a"],
    ["a run, whose pieces reach into themselves", "a".repeat(1000)],
    ["JSON", JSON.stringify({ event: "x", properties: { list: [1, 2, 3], text: "ünïcödé 🦔" } })],
    ["16-bit characters", "漢字かな".repeat(40)],
    ["many pieces", Array.from({ length: 3000 }, (_, i) => `k${i}`).join(",")],
  ])("undoes the package's packing: %s", (_, text) => {
    expect(unpackLz64(packed(text), limit).toString()).toBe(text);
  });

  test("undoes the package's packing of any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (text) => {
        expect(unpackLz64(packed(text), limit).toString()).toBe(text);
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["a million times the same", packed("A".repeat(1_000_000)), 1000, "payload_too_large"],
    ["characters that grow in UTF-8", packed("漢".repeat(600)), 1000, "payload_too_large"],
    ["no end", packed(JSON.stringify({ event: "a long enough text" })).subarray(0, 12), limit, "undecodable_payload"],
    ["not base64", Buffer.from("{}{}"), limit, "undecodable_payload"],
    ["a code from the future", Buffer.from("////"), limit, "undecodable_payload"],
    ["half a surrogate pair", packed("\ud83e"), limit, "undecodable_payload"],
  ])("refuses %s", (_, bytes, most, code) => {
    expect(codeOf(() => unpackLz64(bytes, most))).toBe(code);
  });

  test("any text ends in bytes within the limit, or in an error with a code", () => {
    const base64 = fc.string({ unit: fc.constantFrom(..."ABCDwxyz0189+/="), maxLength: 300 });
    fc.assert(
      fc.property(base64, (text) => {
        const code = codeOf(() => expect(unpackLz64(Buffer.from(text), 5000).length).toBeLessThanOrEqual(5000));
        expect(["no error", "undecodable_payload", "payload_too_large"]).toContain(code);
      }),
      { numRuns: 300 },
    );
  });
});

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  bucketOf,
  createBucketMemory,
  holdoutBucketOf,
  isWithin,
} from "../../../../src/service/flags/engine/bucket-hash.ts";
import { fc } from "../../../support/chance.ts";
import { decide } from "./a-flag.ts";
import vectors from "./vectors.json" with { type: "json" };

const saltOf = (text: string) => (text === "variant" ? "variant" : "");

describe("bucket", () => {
  test.each(vectors.hashes)("$key . $id $salt", ({ key, id, salt, hex, value }) => {
    expect(bucketOf(key, id, saltOf(salt))).toBe(value);
    expect(value).toBe(Number.parseInt(hex, 16) / 2 ** 60);
  });

  test.each(vectors.holdouts)("holdout-$id", ({ id, value }) => {
    expect(holdoutBucketOf(id)).toBe(value);
  });

  test("is the first 15 hex digits of SHA-1 for any text", () => {
    const reference = (text: string) =>
      Number.parseInt(createHash("sha1").update(text).digest("hex").slice(0, 15), 16) / 2 ** 60;
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary", minLength: 1 }), (key, id) => {
        expect(bucketOf(key, id, "")).toBe(reference(`${key}.${id}`));
        expect(bucketOf(key, id, "variant")).toBe(reference(`${key}.${id}variant`));
      }),
    );
  });

  test("a memory says the same of all flags and identifiers, also once it has begun anew", () => {
    const remembered = createBucketMemory();
    const differing: string[] = [];
    for (let i = 0; i < 30_000; i++) {
      // Every third identifier comes again, and flags come in different orders.
      const [key, id] = [`flag-${(i * 7) % 11}`, `user-${i % 3 === 0 ? i % 100 : i}`];
      for (const salt of ["", "variant", ""] as const)
        if (remembered(key, id, salt) !== bucketOf(key, id, salt)) differing.push(`${key} ${id} ${salt}`);
    }
    expect(differing).toEqual([]);
    expect(remembered("any", "", "variant")).toBe(0);
  });

  test("an empty identifier is 0 for flags, but hashed for holdouts", () => {
    expect(bucketOf("any", "", "")).toBe(0);
    expect(bucketOf("any", "", "variant")).toBe(0);
    expect(holdoutBucketOf("")).toBeGreaterThan(0);
  });

  test.each([
    [0, 0, true],
    [Number.MIN_VALUE, 0, false],
    [0.45, 45, true],
    [0.4500001, 45, false],
    [1, 100, true],
  ])("bucket %f within %d %% is %s", (bucket, percentage, expected) => {
    expect(isWithin(bucket, percentage)).toBe(expected);
  });
});

describe("test vectors", () => {
  test.each(vectors.people)("distinct_id_$n", ({ n, simple, multi, h1, h2, h3 }) => {
    const distinctId = `distinct_id_${n}`;
    expect(bucketOf("simple-flag", distinctId, "")).toBeCloseTo(h1, 6);
    expect(bucketOf("multivariate-flag", distinctId, "")).toBeCloseTo(h2, 6);
    expect(bucketOf("multivariate-flag", distinctId, "variant")).toBeCloseTo(h3, 6);
    expect(decide(vectors.flags.simple, { distinctId }).value).toBe(simple);
    expect(decide(vectors.flags.multi, { distinctId }).value).toBe(multi);
  });

  test.each(["simple", "multi"] as const)("totals of %s over a thousand people", (name) => {
    const totals: Record<string, number> = {};
    for (let n = 0; n < vectors.totals.people; n++) {
      const value = String(decide(vectors.flags[name], { distinctId: `distinct_id_${n}` }).value);
      totals[value] = (totals[value] ?? 0) + 1;
    }
    expect(totals).toEqual(vectors.totals[name]);
  });
});

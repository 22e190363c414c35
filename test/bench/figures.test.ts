import { describe, expect, test } from "vitest";
import { filledEvent, sameAs } from "./fixture.ts";
import { batchBody, captureBody, gzipped } from "./payload.ts";
import { showReport } from "./report.ts";
import { figure, growthOf, hold, median, pairedRatio, quantile } from "./statistics.ts";

describe("statistics", () => {
  test.each([
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
    [[7], 7],
    [[], Number.NaN],
  ])("median of %j is %d", (values, expected) => expect(median(values)).toBe(expected));

  test.each([
    [0, 1],
    [0.5, 6],
    [0.99, 10],
    [1, 10],
  ])("quantile %d of 1 to 10 is %d", (share, expected) => {
    expect(quantile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], share)).toBe(expected);
  });

  test("ratios are paired by round: a slow round slows both halves", () => {
    expect(pairedRatio([200, 20, 2], [100, 10, 1])).toBe(2);
  });

  test.each([
    ["atLeast", 1.5, 1.5, true],
    ["atLeast", 1.49, 1.5, false],
    ["atMost", 1.5, 1.5, true],
    ["atMost", 1.51, 1.5, false],
    ["atMost", Number.NaN, 1.5, false],
    ["atLeast", Number.NaN, 1.5, false],
  ] as const)("%s: %d against %d", (sense, measured, bar, met) => {
    expect(hold("it", measured, sense, bar).met).toBe(met);
  });

  test.each([
    [Number.NaN, "–"],
    [0.1234, "0.12"],
    [12.34, "12.3"],
    [123_456.7, "123,457"],
  ])("%d is shown as %s", (value, shown) => expect(figure(value)).toBe(shown));
});

describe("growth", () => {
  const sizes = [10_000, 100_000, 1_000_000];

  test.each([
    ["constant", [2, 2, 2], "flat"],
    ["noise", [2, 2.3, 2.1], "flat"],
    ["falling", [9, 4, 3], "flat"],
    ["a part of the start", [50, 50.5, 55], "flat"],
    ["a step for each factor of ten", [1, 2, 3], "logarithmic"],
    ["the same with noise", [1.1, 1.9, 3.2], "logarithmic"],
    ["proportional", [1, 10, 100], "linear"],
    ["proportional beside a constant", [51, 56, 110], "linear"],
    ["proportional with noise", [1.2, 9, 104], "linear"],
    ["steeper", [1, 100, 10_000], "linear"],
    ["a missing figure", [1, Number.NaN, 3], "unknown"],
  ])("%s: %j is %s", (_, costs, expected) => expect(growthOf(sizes, costs)).toBe(expected));

  test("two sizes do not show it", () => expect(growthOf([1, 10], [1, 10])).toBe("unknown"));

  test("sizes need not be powers of ten", () =>
    expect(growthOf([10_000, 100_000, 1_000_000, 5_000_000], [1, 10, 100, 500])).toBe("linear"));
});

describe("payloads", () => {
  const key = "phc_some_project_key";

  test("a captured event has 417 bytes, whatever its name and key", () => {
    const sizes = ["a", "a_much_longer_name"].map((event) => captureBody(key, { event, distinct_id: "u" }));
    expect(sizes.map((it) => it.length)).toEqual([417, 417]);
    expect(JSON.parse(String(sizes[0]))).toMatchObject({ api_key: key, event: "a", distinct_id: "u" });
  });

  test("a batch holds its events, none with a uuid", () => {
    const items = [0, 1, 2].map((i) => filledEvent(i, 2));
    const { batch } = JSON.parse(String(batchBody(key, items)));
    expect(batch).toMatchObject(items.map(({ event, distinct_id }) => ({ event, distinct_id })));
    expect(new Set(batch.map((it: { timestamp: string }) => it.timestamp)).size).toBe(3);
    expect(batch.every((it: object) => !("uuid" in it))).toBe(true);
  });

  test("gzipped bodies are smaller and marked as gzip", () => {
    const body = batchBody(key, [filledEvent(0, 1)]);
    expect(gzipped(body).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(gzipped(body).length).toBeLessThan(body.length);
  });

  test.each([
    [40_000, 1000],
    [400_000, 1000],
    [40_000, 40_000],
  ])("of %d events of %d users as many are alike as foretold", (events, ids) => {
    const { event, distinct_id } = filledEvent(12_345, ids);
    const all = Array.from({ length: events }, (_, i) => filledEvent(i, ids));
    const alike = all.filter((it) => it.event === event && it.distinct_id === distinct_id);
    expect(alike.length).toBe(sameAs(events, ids));
  });
});

test("a missed bar is said in plain sight", () => {
  const verdicts = [hold("speed", 1, "atLeast", 2), hold("memory", 1, "atMost", 2)];
  const text = showReport({ tables: [{ title: "t", columns: ["", "x"], rows: [["sim", "1"]] }], verdicts, notes: [] });
  expect(text).toMatch(/speed +≥ 2 × +1\.00 × +MISSED/);
  expect(text).toMatch(/memory +≤ 2 × +1\.00 × +met/);
});

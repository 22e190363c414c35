import { describe, expect, test } from "vitest";
import { fairBand, verdictOf } from "../../../src/service/flags/seen.ts";

/** Binomial coefficient. */
const choose = (n: number, k: number): number => (k === 0 ? 1 : (choose(n, k - 1) * (n - k + 1)) / k);

describe("the band of fair splits", () => {
  test.each([
    [10, 0.5],
    [40, 0.1],
    [100, 0.5],
    [100, 0.03],
  ])("%i draws of share %d: at least 95 %% end within, and less than 2.5 %% on each side", (count, share) => {
    const { low, high } = fairBand(count, share);
    const chance = (k: number) => choose(count, k) * share ** k * (1 - share) ** (count - k);
    let [below, above] = [0, 0];
    for (let k = 0; k <= count; k++) {
      if (k < low) below += chance(k);
      if (k > high) above += chance(k);
    }
    expect(below).toBeLessThan(0.025);
    expect(above).toBeLessThanOrEqual(0.025);
  });

  test("stays exact for ten thousand draws", () => {
    const { expected, low, high } = fairBand(10_000, 0.5);
    expect([expected, low, high]).toEqual([5_000, 4_902, 5_098]);
    expect(fairBand(10_000, 0.0001)).toEqual({ expected: 1, low: 0, high: 3 });
  });

  test("no draws, and shares of nothing or everything, have no band", () => {
    expect(fairBand(0, 0.5)).toEqual({ expected: 0, low: 0, high: 0 });
    expect(fairBand(20, 0)).toEqual({ expected: 0, low: 0, high: 0 });
    expect(fairBand(20, 1)).toEqual({ expected: 20, low: 20, high: 20 });
  });

  test.each([
    [412, 0.5, 214, "as_expected"],
    [412, 0.5, 250, "unlikely"],
    [8, 0.5, 8, "too_few"],
    [100, 0.01, 0, "too_few"],
  ] as const)("of %i with share %d, %i are %s", (count, share, seen, verdict) => {
    expect(verdictOf(count, share, seen, fairBand(count, share))).toBe(verdict);
  });
});

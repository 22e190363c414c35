import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHashIndex } from "../../src/store/hash-index.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** An index over a list of hashes, which counts how often a hash is looked at. */
function indexOver(hashes: number[]) {
  const looks = { count: 0 };
  const index = createHashIndex(
    (row) => {
      looks.count++;
      return hashes[row] ?? 0;
    },
    hashes.length,
    (hash, from, to) => {
      const found = hashes.slice(0, to).indexOf(hash, from);
      return found;
    },
  );
  return { index, looks };
}

const any = () => true;

describe("a hash index", () => {
  test("finds what was added, the first that passes the test", () => {
    const { index } = indexOver([]);
    const hashes = [7, 7, 7];
    const filled = createHashIndex((row) => hashes[row] ?? 0);
    hashes.forEach((hash, row) => {
      filled.add(hash, row);
    });
    expect([filled.find(7, any), filled.find(7, (row) => row === 2), filled.find(8, any)]).toEqual([
      0, 2, -1,
    ]);
    expect(index.find(7, any)).toBe(-1);
  });

  test("grows, and still finds every row", () => {
    const hashes = Array.from({ length: 20_000 }, (_, row) => Math.imul(row + 1, 0x9e3779b1) >>> 0 || 1);
    const index = createHashIndex((row) => hashes[row] ?? 0);
    hashes.forEach((hash, row) => {
      index.add(hash, row);
    });
    expect(hashes.every((hash, row) => index.find(hash, (it) => it === row) === row)).toBe(true);
  });

  test("existing rows are found at once, and after they were indexed", () => {
    const hashes = Array.from({ length: 30_000 }, (_, row) => row + 1);
    const { index } = indexOver(hashes);
    expect(index.find(29_999, any)).toBe(29_998);
    vi.runAllTimers();
    expect([index.find(1, any), index.find(30_000, any), index.find(30_001, any)]).toEqual([0, 29_999, -1]);
  });

  test("rows without a hash cost nothing", () => {
    const hashes = Array.from({ length: 30_000 }, (_, row) => (row === 25_000 ? 64 : 0));
    const { index, looks } = indexOver(hashes);
    vi.runAllTimers();
    looks.count = 0;
    expect(index.find(64, any)).toBe(25_000);
    expect(index.find(128, any)).toBe(-1);
    expect(looks.count).toBeLessThan(10);
  });

  test("clear forgets, also what was still to be indexed", () => {
    const { index } = indexOver([5, 6]);
    index.clear();
    vi.runAllTimers();
    expect(index.find(5, any)).toBe(-1);
  });
});

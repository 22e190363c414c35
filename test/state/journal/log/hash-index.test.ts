import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHashIndex } from "../../../../src/state/journal/log/hash-index.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** An index over a list of hashes, which notes what it looks at. A look that never ends fails. */
function indexOver(hashes: readonly number[], existing = 0) {
  const looks = { count: 0, scanned: [] as number[] };
  const spend = () => {
    if (++looks.count > 1_000_000) throw new Error("endless");
  };
  const index = createHashIndex(
    (row) => {
      spend();
      return hashes[row] ?? 0;
    },
    existing,
    (hash, from, to) => {
      spend();
      looks.scanned.push(to - from);
      return hashes.slice(0, to).indexOf(hash, from);
    },
  );
  for (let row = existing; row < hashes.length; row++) index.add(hashes[row] ?? 0, row);
  return { index, looks };
}

const any = () => true;
const only = (row: number) => (it: number) => it === row;

/** Hashes that go to one of the 64 parts of the index, and to one place in it while that part is small. */
const inOnePlace = (count: number) => Array.from({ length: count }, (_, i) => 7 + i * 64 * 4096);

describe("a hash index", () => {
  test.each([
    ["that were added", 0],
    ["that were there", 3],
  ])("finds rows %s: the first that passes the test", (_, existing) => {
    const { index } = indexOver([7, 7, 7], existing);
    const tests = [any, only(0), only(1), only(2), only(3)];
    expect(tests.map((it) => index.find(7, it))).toEqual([0, 0, 1, 2, -1]);
    expect(index.find(8, any)).toBe(-1);
    vi.runAllTimers();
    expect(tests.map((it) => index.find(7, it))).toEqual([0, 0, 1, 2, -1]);
  });

  test("distinguishes hashes that have the same place", () => {
    const hashes = inOnePlace(40);
    const { index } = indexOver(hashes.slice(0, 39));
    expect(hashes.map((hash) => index.find(hash, any))).toEqual([...hashes.keys()].slice(0, 39).concat(-1));
  });

  test("a part grows when three quarters of its 64 places are taken", () => {
    const hashes = Array.from({ length: 64 }, (_, i) => 7 + i * 64);
    const { index, looks } = indexOver(hashes.slice(0, 48));
    expect(looks.count).toBe(0);
    index.add(hashes[48] ?? 0, 48);
    expect(looks.count).toBe(48);
  });

  test("a part is never full, so that a look for what does not exist ends", () => {
    for (const count of [47, 48, 49, 63, 64, 65, 95, 96, 97, 127, 128, 129]) {
      const { index } = indexOver(inOnePlace(count));
      expect([count, index.find(7 + 64 * 4096 * count, any)]).toEqual([count, -1]);
    }
  });

  test("grows, and still finds every row", () => {
    const hashes = Array.from({ length: 20_000 }, (_, row) => Math.imul(row + 1, 0x9e3779b1) >>> 0 || 1);
    const { index } = indexOver(hashes);
    expect(hashes.every((hash, row) => index.find(hash, only(row)) === row)).toBe(true);
  });

  test("existing rows are found at once, and after they were indexed", () => {
    const hashes = Array.from({ length: 30_000 }, (_, row) => row + 1);
    const { index, looks } = indexOver(hashes, hashes.length);
    const found = () => [1, 2, 29_999, 30_000, 30_001].map((hash) => index.find(hash, any));
    expect(found()).toEqual([0, 1, 29_998, 29_999, -1]);
    expect(looks.scanned).toEqual([30_000, 30_000, 30_000, 30_000, 30_000]);
    vi.advanceTimersToNextTimer();
    expect(found()).toEqual([0, 1, 29_998, 29_999, -1]);
    expect(looks.scanned.slice(5)).toEqual([20_000, 20_000, 20_000]);
    vi.runAllTimers();
    looks.scanned.length = 0;
    expect(found()).toEqual([0, 1, 29_998, 29_999, -1]);
    expect(looks.scanned).toEqual([0]);
  });

  test("without existing rows nothing is done later", () => {
    indexOver([5, 6]);
    expect(vi.getTimerCount()).toBe(0);
    indexOver([5], 1);
    expect(vi.getTimerCount()).toBe(1);
  });

  test("rows without a hash cost nothing", () => {
    const hashes = Array.from({ length: 30_000 }, (_, row) => (row === 25_000 ? 64 : 0));
    const { index, looks } = indexOver(hashes, hashes.length);
    vi.runAllTimers();
    looks.count = 0;
    expect(index.find(64, any)).toBe(25_000);
    expect(index.find(128, any)).toBe(-1);
    expect(looks.count).toBeLessThan(10);
  });

  test.each([
    ["what was added", 0, false],
    ["what was still to be indexed", 2, false],
    ["what was indexed later", 2, true],
  ])("clear forgets %s", (_, existing, isIndexed) => {
    const { index } = indexOver([5, 6], existing);
    if (isIndexed) vi.runAllTimers();
    index.clear();
    expect(index.find(5, any)).toBe(-1);
    vi.runAllTimers();
    expect(index.find(5, any)).toBe(-1);
    index.add(6, 1);
    expect(index.find(6, any)).toBe(1);
  });
});

import { describe, expect, test } from "vitest";
import { holdEntry, Ring } from "../../../../src/state/journal/feed/recent.ts";
import { eventRow, requestRow } from "../../../support/rows.ts";

const held = (n: number, events = 1) =>
  holdEntry({ n, project: 1, request: requestRow(n), events: Array.from({ length: events }, () => eventRow(n)) });
const large = { events: 1_000_000, bytes: 1e9 };

describe("the ring", () => {
  test("finds what it holds", () => {
    const ring = new Ring(large, 10);
    expect([ring.begun, ring.first, ring.last]).toEqual([11, 11, 10]);
    for (let n = 11; n <= 15; n++) ring.push(held(n));
    expect([ring.first, ring.last, ring.events]).toEqual([11, 15, 5]);
    expect([10, 11, 15, 16].map((n) => ring.at(n)?.n)).toEqual([undefined, 11, 15, undefined]);
  });

  test("lets go of the oldest where there are too many events", () => {
    const ring = new Ring({ ...large, events: 100 }, 0);
    for (let n = 1; n <= 10_000; n++) ring.push(held(n));
    expect([ring.begun, ring.first, ring.last, ring.events]).toEqual([1, 9_901, 10_000, 100]);
    expect([9_900, 9_901, 10_000].map((n) => ring.at(n)?.n)).toEqual([undefined, 9_901, 10_000]);
  });

  test("lets go of the oldest where they take too much room", () => {
    const ring = new Ring({ ...large, bytes: 100_000 }, 0);
    for (let n = 1; n <= 5_000; n++) ring.push(held(n));
    expect(ring.bytes).toBeLessThanOrEqual(100_000);
    expect(ring.last - ring.first).toBeGreaterThan(10);
  });

  test("holds a request alone that is larger than the limit, until the next", () => {
    const ring = new Ring({ ...large, events: 100 }, 0);
    ring.push(held(1));
    ring.push(held(2, 500));
    expect([ring.first, ring.last, ring.events]).toEqual([2, 2, 500]);
    ring.push(held(3));
    expect([ring.first, ring.last, ring.events]).toEqual([3, 3, 1]);
  });

  test("begins anew where numbers were left out", () => {
    const ring = new Ring(large, 0);
    ring.push(held(1));
    ring.push(held(7));
    expect([ring.begun, ring.first, ring.last, ring.events]).toEqual([7, 7, 7, 1]);
    ring.begin(20);
    expect([ring.begun, ring.first, ring.last, ring.events, ring.bytes]).toEqual([21, 21, 20, 0, 0]);
  });
});

import { describe, expect, test } from "vitest";
import { readEventFilter } from "../../../src/state/journal/filter/read.ts";
import {
  axisOf,
  edgeAt,
  edgesBetween,
  movedEdges,
  plotOf,
  spanIn,
  timeAt,
  withoutSpan,
  withSpan,
} from "../../../ui/views/events/brush.ts";

const span = { from: Date.parse("2026-01-01T12:00:00.250Z"), to: Date.parse("2026-01-01T12:05:00Z") };
const term = "time:2026-01-01T12:00:00.250Z..2026-01-01T12:05:00.000Z";

describe("the range of a filter", () => {
  test.each([
    ["", term],
    ["event:a -is:dropped", `event:a -is:dropped ${term}`],
    ["a OR b", `(a OR b) ${term}`],
    ["time:2025-01-01T00:00:00Z..2025-01-02T00:00:00Z event:a", `event:a ${term}`],
  ])("is added to %j", (filter, expected) => {
    const made = withSpan(filter, span);
    expect(made).toBe(expected);
    expect(spanIn(made)).toEqual(span);
    expect("filter" in readEventFilter(made)).toBe(true);
    expect(withoutSpan(made)).toBe(expected.replace(term, "").trim());
  });

  test.each([
    "",
    "event:a",
    `-${term}`,
    `a OR ${term}`,
    "time:x..y",
    `time:2026-01-02T00:00:00Z..2026-01-01T00:00:00Z`,
  ])("is not in %j", (filter) => {
    expect(spanIn(filter)).toBeUndefined();
  });
});

describe("the plot", () => {
  const plot = plotOf({ from: 1_000, step: 10, kept: new Array<number>(100).fill(1) });

  test("has room before few buckets", () => {
    expect(plot).toEqual({ from: 1_000, to: 2_000, step: 10, count: 100, lead: 0 });
    expect(plotOf({ from: 1_000, step: 10, kept: [1] })).toEqual({
      from: 610,
      to: 1_010,
      step: 10,
      count: 40,
      lead: 39,
    });
  });

  test.each<[number, number, [number, number]]>([
    [0.1, 0.2, [10, 20]],
    [0.2, 0.1, [10, 20]],
    [0.105, 0.198, [10, 20]],
    [0.5, 0.5, [50, 51]],
    [-3, 7, [0, 100]],
    [1, 1, [99, 100]],
  ])("a drag from %d to %d selects %j", (a, b, expected) => {
    expect(edgesBetween(plot, a, b)).toEqual(expected);
  });

  test("edges are times, and times edges", () => {
    expect([timeAt(plot, 20), edgeAt(plot, 1_200), edgeAt(plot, 0), edgeAt(plot, 1e9)]).toEqual([1_200, 20, 0, 100]);
  });

  test.each<["from" | "to", string, [number, number] | undefined]>([
    ["from", "ArrowRight", [11, 20]],
    ["from", "PageUp", [19, 20]],
    ["from", "Home", [0, 20]],
    ["to", "ArrowLeft", [10, 19]],
    ["to", "PageDown", [10, 11]],
    ["to", "End", [10, 100]],
    ["to", "x", undefined],
    ["to", "constructor", undefined],
  ])("the edge %s moves by %s to %j", (which, key, expected) => {
    expect(movedEdges([10, 20], which, key, 100)).toEqual(expected);
  });

  test.each([1, 1_000, 60_000, 3_600_000, 86_400_000, 400 * 86_400_000, 1e15])(
    "the axis of %d ms has few labels",
    (length) => {
      const from = Date.parse("2026-03-01T00:00:00Z");
      const labels = axisOf({ from, to: from + length }, 8);
      expect(labels.length).toBeLessThanOrEqual(8);
      for (const { share } of labels) expect(share >= 0 && share < 1).toBe(true);
    },
  );
});

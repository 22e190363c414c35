import { describe, expect, test } from "vitest";
import { countIntervals, intervalsBetween, lastBoundary } from "../../../src/service/batch-exports/schedules.ts";
import { wireTime } from "../../../src/state/documents/time.ts";

const at = (text: string): number => Date.parse(text);

describe("the end of the last whole interval", () => {
  // 2026-03-04 is a Wednesday.
  test.each([
    ["every 5 minutes", "2026-03-04T05:09:59.999Z", "2026-03-04T05:05:00Z"],
    ["every 15 minutes", "2026-03-04T05:29:00Z", "2026-03-04T05:15:00Z"],
    ["hour", "2026-03-04T05:06:07Z", "2026-03-04T05:00:00Z"],
    ["hour", "2026-03-04T05:00:00Z", "2026-03-04T05:00:00Z"],
    ["day", "2026-03-04T05:06:07Z", "2026-03-04T00:00:00Z"],
    ["week", "2026-03-04T05:06:07Z", "2026-02-26T00:00:00Z"],
    ["week", "2026-03-05T00:00:00Z", "2026-03-05T00:00:00Z"],
    ["day", "1969-12-31T12:00:00Z", "1969-12-31T00:00:00Z"],
  ] as const)("%s at %s is %s", (interval, now, boundary) => {
    expect(wireTime(lastBoundary(interval, at(now)))).toBe(boundary);
  });
});

describe("whole intervals of a range", () => {
  test.each([
    ["hour", "2026-03-04T00:00Z", "2026-03-04T03:00Z", 3],
    ["hour", "2026-03-04T00:30Z", "2026-03-04T03:00Z", 2],
    ["hour", "2026-03-04T00:00Z", "2026-03-04T00:59:59.999Z", 0],
    ["hour", "2026-03-04T01:00Z", "2026-03-04T00:00Z", 0],
    ["day", "2024-02-28T00:00Z", "2024-03-01T00:00Z", 2],
    ["week", "2026-02-26T00:00Z", "2026-03-05T00:00Z", 1],
    ["every 5 minutes", "2026-03-04T00:00Z", "2026-03-05T00:00Z", 288],
    ["every 15 minutes", "2026-03-04T00:00Z", "2026-03-05T00:00Z", 96],
  ] as const)("%s from %s to %s: %i", (interval, start, end, count) => {
    expect(countIntervals(interval, at(start), at(end))).toBe(count);
    const intervals = intervalsBetween(interval, at(start), at(end));
    expect(intervals).toHaveLength(count);
    expect(intervals.slice(1).map((it) => it.data_interval_start)).toEqual(
      intervals.slice(0, -1).map((it) => it.data_interval_end),
    );
  });

  test("the first begins at the start, and what is left at the end is not run", () => {
    expect(intervalsBetween("hour", at("2026-03-04T00:30Z"), at("2026-03-04T03:00Z"))).toEqual([
      { data_interval_start: "2026-03-04T00:30:00Z", data_interval_end: "2026-03-04T01:30:00Z" },
      { data_interval_start: "2026-03-04T01:30:00Z", data_interval_end: "2026-03-04T02:30:00Z" },
    ]);
  });
});

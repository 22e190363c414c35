import { describe, expect, test } from "vitest";
import type { FlagInForce, JourneyMoment } from "../../../src/lab/journeys/shapes.ts";
import {
  axisOf,
  damageIn,
  flagBars,
  idBars,
  inForceAt,
  isTelling,
  labelsOf,
  nearest,
  pageBars,
  placed,
  sessionsIn,
  ticksOf,
  xOf,
} from "../../../ui/views/people/journey-layout.ts";

const start = Date.UTC(2026, 0, 1, 12);
const timeOf = (seconds: number): string => new Date(start + seconds * 1_000).toISOString();

let count = 0;
const moment = (seconds: number, more: Partial<JourneyMoment> = {}): JourneyMoment => ({
  lane: "own",
  at: timeOf(seconds),
  clock: null,
  seq: ++count,
  request: 1,
  name: "bought",
  text: "",
  session: null,
  distinct_id: "ines",
  outcome: "kept",
  reason: null,
  status: null,
  events: null,
  ...more,
});

describe("the axis", () => {
  test("gives each time a place, in order, and folds long silence", () => {
    const moments = placed([0, 60, 4_000, 4_030, 4_060].map((it) => moment(it)));
    const axis = axisOf(moments, 1_000);
    expect(axis.stretches).toHaveLength(2);
    expect(axis.folds).toMatchObject([{ from: start + 60_000, to: start + 4_000_000 }]);
    const places = moments.map((it) => xOf(axis, it.ms));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(axis.width).toBeCloseTo(1_000);
    // a time within a fold is at the nearer end of what it bounds
    const [fold] = axis.folds;
    expect(xOf(axis, start + 2_000_000)).toBe((fold?.x ?? 0) + (fold?.width ?? 0));
    expect(xOf(axis, start + 2_000_000, "end")).toBe(fold?.x);
  });

  test("folds shorter silence between sessions", () => {
    const parts = (session: string) =>
      axisOf(placed([moment(0, { session: "a" }), moment(60, { session })]), 900).stretches.length;
    expect([parts("a"), parts("b")]).toEqual([1, 2]);
  });

  test("one moment, many at the same time, and none have an axis", () => {
    expect(axisOf([], 500)).toEqual({ width: 500, stretches: [], folds: [] });
    for (const moments of [[moment(0)], [moment(0), moment(0)]]) {
      const axis = axisOf(placed(moments), 500);
      expect(Number.isFinite(xOf(axis, start))).toBe(true);
      expect(ticksOf(axis)).toHaveLength(1);
    }
  });

  test("hundreds of sessions each stay visible", () => {
    const moments = placed(Array.from({ length: 300 }, (_, i) => moment(i * 1_000)));
    const axis = axisOf(moments, 1_000);
    expect(axis.stretches).toHaveLength(300);
    expect(Math.min(...axis.stretches.map((it) => it.width))).toBeGreaterThan(50);
  });

  test("the nearest moment is found by its place", () => {
    const moments = placed([0, 10, 20].map((it) => moment(it)));
    const axis = axisOf(moments, 500);
    expect(nearest(axis, moments, xOf(axis, start + 11_000))?.id).toBe(moments[1]?.id);
    expect(nearest(axis, [], 5)).toBeUndefined();
  });
});

describe("bars", () => {
  test("a page ends with the next one, or with the break", () => {
    const pages = placed([0, 30, 9_000].map((it) => moment(it, { lane: "page", text: `/${it}` })));
    const axis = axisOf(pages, 1_000);
    const [first, second] = pageBars(axis, pages);
    expect((first?.x ?? 0) + (first?.width ?? 0)).toBeCloseTo(second?.x ?? 0);
    expect((second?.x ?? 0) + (second?.width ?? 0)).toBeLessThanOrEqual((axis.folds[0]?.x ?? 0) + 3);
  });

  test("ids follow each other", () => {
    const moments = placed(["anon", "anon", "ines"].map((it, i) => moment(i * 10, { distinct_id: it })));
    expect(idBars(axisOf(moments, 500), moments).map((it) => it.text)).toEqual(["anon", "ines"]);
  });

  const flag: FlagInForce = {
    key: "gold",
    used: 0,
    spans: [
      { value: false, from: timeOf(0), to: timeOf(50), why: null, request: 1 },
      { value: "test", from: timeOf(50), to: null, why: "set 1", request: 2 },
    ],
  };

  test("flag values are bars, and in force at a time", () => {
    const axis = axisOf(placed([moment(0), moment(100)]), 500);
    const bars = flagBars(axis, flag, [start, start + 100_000]);
    expect(bars.map((it) => it.text)).toEqual(["false", "test · set 1"]);
    expect(inForceAt([flag], start + 10_000)).toMatchObject([
      { span: { value: false }, since: 10_000, next: { value: "test" } },
    ]);
    expect(inForceAt([flag], start + 60_000)).toMatchObject([{ span: { value: "test" }, next: undefined }]);
    expect(inForceAt([flag], start - 1)).toEqual([]);
    expect(isTelling(flag)).toBe(true);
    expect(isTelling({ ...flag, spans: flag.spans.slice(0, 1) })).toBe(false);
  });
});

test("names take two rows, and give way where there is no room", () => {
  const moments = placed([0, 1, 2, 100].map((it) => moment(it)));
  const axis = axisOf(moments, 800);
  const labels = labelsOf(
    axis,
    moments,
    (it) => it.name.repeat(3),
    () => "",
  );
  expect(labels.map((it) => it.row)).toEqual([0, 1, 0]);
});

test("sessions have a length and a number of events", () => {
  const moments = placed([
    moment(0, { session: "a" }),
    moment(5, { session: "a" }),
    moment(6),
    moment(9, { session: "b" }),
  ]);
  expect(sessionsIn(moments)).toMatchObject([
    { id: "a", from: start, to: start + 5_000, events: 2 },
    { id: "b", events: 1 },
  ]);
});

test("damaged times are named", () => {
  const late = { ...moment(0), seq: 9_000 };
  expect(damageIn(placed([moment(0, { clock: "ahead" }), moment(1, { clock: "behind" })]))).toEqual([
    "1 event with a time in the future, shown at arrival",
    "1 event with a time before 2000, shown at arrival",
  ]);
  expect(damageIn(placed([late, moment(1), moment(2)]))).toEqual([
    "2 events arrived before an earlier one; they are in the order of their own times",
  ]);
});

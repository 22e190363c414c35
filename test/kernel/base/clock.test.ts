import { describe, expect, test } from "vitest";
import { fixedClock, isoOf, realTime, SimClock, timeRange } from "../../../src/kernel/base/clock.ts";
import { durationText, readClockStart, readDuration, readMoment } from "../../../src/kernel/base/time-text.ts";

/** A machine whose time passes when the test says so. */
function machine(now = 1_000_000) {
  const it = { now, tell: () => it.now };
  return it;
}

describe("the clock", () => {
  test("shows the machine's time until reported otherwise", () => {
    const { tell, ...of } = machine();
    const clock = new SimClock(realTime, tell);
    expect([clock.now(), clock.isReal, clock.isFrozen]).toEqual([of.now, true, false]);
  });

  test("runs on from where it was set", () => {
    const of = machine();
    const clock = new SimClock({ at: 5_000, frozen: false }, of.tell);
    of.now += 250;
    expect([clock.now(), clock.isReal, clock.isFrozen]).toEqual([5_250, false, false]);
  });

  test("stands still while frozen, also where it is set then, and runs on from there", () => {
    const of = machine();
    const clock = new SimClock({ at: 5_000, frozen: true }, of.tell);
    of.now += 250;
    expect([clock.now(), clock.isFrozen]).toEqual([5_000, true]);
    clock.set(7_000);
    of.now += 250;
    expect(clock.now()).toBe(7_000);
    clock.run();
    of.now += 250;
    expect([clock.now(), clock.isFrozen]).toEqual([7_250, false]);
  });

  test("stands at the very time it is started at, however slow the machine", () => {
    let now = 1_000_000;
    const clock = new SimClock({ at: 5_000, frozen: true }, () => ++now);
    expect(clock.now()).toBe(5_000);
  });

  test("starts over", () => {
    const of = machine();
    const clock = new SimClock({ at: 5_000, frozen: true }, of.tell);
    clock.start(realTime);
    expect([clock.now(), clock.isReal]).toEqual([of.now, true]);
  });

  test("a frozen clock is resumed where it stood, at any time of the machine", () => {
    const of = machine();
    const clock = new SimClock({ at: 5_000, frozen: true }, of.tell);
    const { setting } = clock;
    expect(setting).toEqual({ stands: 5_000 });
    of.now += 250;
    for (const it of [clock, new SimClock({ at: 9_000, frozen: false }, of.tell)]) {
      it.set(8_000);
      it.resume(setting);
      expect([it.now(), it.isReal, it.isFrozen]).toEqual([5_000, false, true]);
      it.run();
      of.now += 250;
      expect(it.now()).toBe(5_250);
    }
  });

  test("a shifted clock is resumed as far ahead as it was, and a real one as real", () => {
    const of = machine();
    const clock = new SimClock({ at: 1_500_000, frozen: false }, of.tell);
    const { setting } = clock;
    expect(setting).toEqual({ ahead: 500_000 });
    const later = new SimClock({ at: 9_000, frozen: true }, of.tell);
    of.now += 250;
    later.resume(setting);
    expect([later.now(), later.isReal, later.isFrozen]).toEqual([1_500_250, false, false]);
    later.resume(new SimClock(realTime, of.tell).setting);
    expect([later.now(), later.isReal, later.isFrozen]).toEqual([of.now, true, false]);
    later.resume({ stands: of.now });
    expect([later.isReal, later.isFrozen]).toEqual([false, true]);
    later.resume({ stands: 1 });
    later.run();
    later.start(realTime);
    expect([later.now(), later.isReal]).toEqual([of.now, true]);
  });

  test("a fixed clock shows what it is set to", () => {
    const clock = fixedClock(1);
    clock.set(2);
    expect(clock.now()).toBe(2);
  });

  test("the last time is that of the year 9999", () => {
    expect(isoOf(timeRange.last)).toBe("9999-12-31T23:59:59.999Z");
  });

  test("freezing twice and running twice change nothing", () => {
    const of = machine();
    const clock = new SimClock(realTime, of.tell);
    clock.run();
    expect(clock.isReal).toBe(true);
    clock.freeze();
    of.now += 10;
    clock.freeze();
    expect(clock.now()).toBe(1_000_000);
  });

  test.each([-1, timeRange.last + 1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("cannot show %d", (time) => {
    expect(() => new SimClock().set(time)).toThrow(RangeError);
  });

  test("does not run past the end of the year 9999", () => {
    const of = machine();
    const clock = new SimClock({ at: timeRange.last, frozen: false }, of.tell);
    of.now += 1;
    expect(clock.now()).toBe(timeRange.last);
  });
});

describe("moments", () => {
  const rows: [text: string, iso: string | undefined][] = [
    ["2025-06-01", "2025-06-01T00:00:00.000Z"],
    ["2025-06-01T12:30", "2025-06-01T12:30:00.000Z"],
    ["2025-06-01 12:30:15", "2025-06-01T12:30:15.000Z"],
    ["2025-06-01T12:30:15.5Z", "2025-06-01T12:30:15.500Z"],
    ["2025-06-01T12:30:15.123456z", "2025-06-01T12:30:15.123Z"],
    ["2025-06-01T12:30:15+02:00", "2025-06-01T10:30:15.000Z"],
    ["2025-06-01T12:30:15-0530", "2025-06-01T18:00:15.000Z"],
    ["2024-02-29", "2024-02-29T00:00:00.000Z"],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
    ["1970-01-01T00:00:00+00:01", undefined],
    ["9999-12-31T23:59:59-00:01", undefined],
    ["1969-12-31", undefined],
    ["10000-01-01", undefined],
    ["2025-02-29", undefined],
    ["2025-13-01", undefined],
    ["2025-00-10", undefined],
    ["2025-06-01T24:00", undefined],
    ["2025-06-01T12:60", undefined],
    ["2025-06-01T12:30:61", undefined],
    ["2025-06-01Z", undefined],
    ["yesterday", undefined],
    ["", undefined],
  ];
  test.each(rows)("%j is %j", (text, iso) => {
    const moment = readMoment(text);
    expect(moment === undefined ? undefined : new Date(moment).toISOString()).toBe(iso);
  });
});

test.each<[text: string, ms: number | undefined]>([
  ["250ms", 250],
  ["90s", 90_000],
  ["1.5h", 5_400_000],
  ["1d12h", 129_600_000],
  ["2w", 1_209_600_000],
  ["0s", 0],
  ["1h 30m", undefined],
  ["-1h", undefined],
  ["1H", undefined],
  ["1y", undefined],
  ["1", undefined],
  ["h", undefined],
  ["", undefined],
  ["999999999999999w", undefined],
])("the duration %j is %j ms", (text, ms) => {
  expect(readDuration(text)).toBe(ms);
});

test.each<[value: unknown, start: unknown]>([
  ["real", { at: "real", frozen: false }],
  ["1970-01-02", { at: 86_400_000, frozen: false }],
  [
    { now: "1970-01-02", frozen: true },
    { at: 86_400_000, frozen: true },
  ],
  [{ frozen: true }, { at: "real", frozen: true }],
  [{}, { at: "real", frozen: false }],
  ["soon", undefined],
  [true, undefined],
  [{ now: "1970-01-02", frozen: "yes" }, undefined],
  [{ at: "1970-01-02" }, undefined],
  [null, undefined],
])("a clock that is to start at %j", (value, start) => {
  expect(readClockStart(value)).toEqual(start);
});

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [1000, "1 s"],
  [-90_000, "-1 min 30 s"],
  [3_600_000, "1 h"],
  [3_601_000, "1 h"],
  [12.5 * 86_400_000, "12 d 12 h"],
  [28_070_434_121, "324 d 21 h"],
])("%d ms are %j", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

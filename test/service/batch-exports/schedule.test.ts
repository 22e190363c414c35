import { describe, expect, test } from "vitest";
import {
  countIntervals,
  intervalsBetween,
  lastBoundary,
  nextDue,
} from "../../../src/service/batch-exports/schedules.ts";
import { wireTime } from "../../../src/state/documents/time.ts";
import type { BatchExport } from "../../../src/state/documents/world.ts";
import { aBatchExport } from "../../support/documents.ts";
import { hour, minute, stage, start } from "./stage.ts";

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

describe("due times", () => {
  test.each<[string, Partial<BatchExport>, string, string, string[]]>([
    ["each hour", {}, "09:30", "12:00", ["10:00", "11:00", "12:00"]],
    ["not the boundary it stands on", {}, "10:00", "11:00", ["11:00"]],
    ["none within an interval", {}, "10:01", "10:59", []],
    ["none backwards", {}, "12:00", "10:00", []],
    ["five minutes", { interval: "every 5 minutes" }, "09:58", "10:06", ["10:00", "10:05"]],
    ["a quarter", { interval: "every 15 minutes" }, "09:58", "10:31", ["10:00", "10:15", "10:30"]],
    ["paused", { paused: true }, "09:30", "12:00", []],
    ["deleted", { deleted: true }, "09:30", "12:00", []],
    ["from start_at on", { start_at: "2026-03-04T11:00:00Z" }, "09:30", "12:00", ["11:00", "12:00"]],
    ["the boundary after start_at", { start_at: "2026-03-04T10:10:00Z" }, "09:30", "12:00", ["11:00", "12:00"]],
    ["up to end_at", { end_at: "2026-03-04T11:00:00Z" }, "09:30", "12:00", ["10:00", "11:00"]],
    ["after end_at", { end_at: "2026-03-04T09:00:00Z" }, "09:30", "12:00", []],
  ])("%s", (_, more, from, to, times) => {
    const day = (time: string) => at(`2026-03-04T${time}:00Z`);
    const due = (after: number) => nextDue(aBatchExport(more), after);
    const found: number[] = [];
    for (let next = due(day(from)); next !== undefined && next <= day(to); next = due(next)) found.push(next);
    expect(found).toEqual(times.map(day));
  });

  test("of a week, on a Thursday", () => {
    expect(nextDue(aBatchExport({ interval: "week" }), at("2026-03-05T00:00Z"))).toBe(at("2026-03-12T00:00Z"));
  });
});

describe("the schedule of an engine", () => {
  test("runs one interval after the other, each at its boundary", async () => {
    const { advance, runs, engine } = await stage();
    expect(engine.nextDue()).toBe(start + 30 * minute);
    const performed = await advance(3 * hour);
    expect(runs()).toMatchObject(
      [10, 11, 12].map((end) => ({
        backfill: null,
        status: "Completed",
        data_interval_start: wireTime(start + (end - 10.5) * hour),
        data_interval_end: wireTime(start + (end - 9.5) * hour),
        created_at: wireTime(start + (end - 9.5) * hour),
        finished_at: wireTime(start + (end - 9.5) * hour),
      })),
    );
    expect(performed.map(({ at, kind, run }) => [at, kind, run])).toEqual(
      runs().flatMap((it) => [
        [it.created_at, "run_started", it.id],
        [it.created_at, "run_completed", it.id],
      ]),
    );
    expect(engine.nextDue()).toBe(start + 3.5 * hour);
  });

  test("does nothing before the next boundary, and nothing twice", async () => {
    const { advance, engine, clock } = await stage();
    expect(await advance(29 * minute)).toEqual([]);
    expect(await advance(minute)).toHaveLength(2);
    expect(await engine.tick(clock.now())).toEqual([]);
  });

  test("ticks at the same time perform everything once", async () => {
    const { engine, clock, runs } = await stage();
    clock.set(start + 3 * hour);
    const reported = await Promise.all([engine.tick(clock.now()), engine.tick(clock.now())]);
    expect(reported.map((it) => it.length)).toEqual([6, 0]);
    expect(runs()).toHaveLength(3);
  });

  test("the intervals of a pause are not run", async () => {
    const { advance, change, runs, engine } = await stage();
    await advance(hour);
    change({ paused: true });
    expect(engine.nextDue()).toBeUndefined();
    await advance(3 * hour);
    change({ paused: false });
    await advance(hour);
    expect(runs().map((it) => it.data_interval_end)).toEqual(["2026-03-04T10:00:00Z", "2026-03-04T14:00:00Z"]);
  });

  test("a new export waits for its next boundary; one that lost its name loses no interval", async () => {
    const { advance, worlds, engine, runs, clock, change } = await stage({ world: { batch_exports: [] } });
    await advance(5 * hour + 10 * minute);
    worlds.change((draft) => draft.put("batch_exports", aBatchExport({ created_at: wireTime(clock.now()) })));
    engine.scheduled(worlds.get("batch_exports", aBatchExport().id) ?? aBatchExport());
    await advance(30 * minute);
    clock.set(clock.now() + hour);
    change({ name: "Renamed" });
    await engine.tick(clock.now());
    expect(runs().map((it) => it.data_interval_end)).toEqual(["2026-03-04T15:00:00Z", "2026-03-04T16:00:00Z"]);
  });

  test("an export that came without a word, as by a reload, is followed", async () => {
    const { advance, worlds, runs } = await stage({ world: { batch_exports: [] } });
    await advance(hour);
    worlds.change((draft) => draft.put("batch_exports", aBatchExport()));
    await advance(hour);
    expect(runs().map((it) => it.data_interval_end)).toEqual(["2026-03-04T11:00:00Z"]);
  });

  test("another interval counts from the change", async () => {
    const { advance, change, runs } = await stage();
    await advance(hour);
    change({ interval: "day" });
    await advance(24 * hour);
    expect(runs().map((it) => it.data_interval_start)).toEqual(["2026-03-04T09:00:00Z", "2026-03-04T00:00:00Z"]);
  });

  test("a clock that was set back runs on from there", async () => {
    const { advance, engine, runs } = await stage();
    await advance(2 * hour);
    await advance(-24 * hour);
    expect(engine.nextDue()).toBe(start - 21.5 * hour);
    await advance(hour);
    expect(runs().at(-1)).toMatchObject({ data_interval_end: "2026-03-03T12:00:00Z" });
  });

  test("what was due before it was made is not run, unless a start is given", async () => {
    const { runs, engine, clock } = await stage({ ports: { since: start - 2 * hour } });
    await engine.tick(clock.now());
    expect(runs().map((it) => it.data_interval_end)).toEqual(["2026-03-04T08:00:00Z", "2026-03-04T09:00:00Z"]);
  });

  test("of a very long time the last intervals are run", async () => {
    const { advance, runs, logs, clock } = await stage({
      batchExport: { interval: "every 5 minutes", destination: { type: "NoOp", config: {} } },
    });
    await advance(10_003 * 5 * minute);
    expect(runs()).toHaveLength(10_000);
    expect(runs().at(-1)?.data_interval_end).toBe(wireTime(clock.now()));
    expect(logs("")).toMatchObject([{ level: "WARNING", message: expect.stringContaining("left out") }]);
  });
});

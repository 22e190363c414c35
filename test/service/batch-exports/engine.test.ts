import { describe, expect, test } from "vitest";
import { fixedClock } from "../../../src/kernel/base/clock.ts";
import { randomIds } from "../../../src/kernel/base/ids.ts";
import { ExportEngine } from "../../../src/service/batch-exports/engine.ts";
import { openWorld } from "../../../src/state/documents/world-store.ts";
import { aBatchExport, aProject, aRun, aWorld } from "../../support/documents.ts";

const now = Date.UTC(2026, 2, 4, 5, 6, 7);

async function engineFor(interval: "hour" | "day" = "hour") {
  const batchExport = aBatchExport({ interval });
  const worlds = await openWorld({ seedWorld: () => aWorld({ projects: [aProject()], batch_exports: [batchExport] }) });
  const clock = fixedClock(now);
  const engine = new ExportEngine({ worlds, clock, ids: randomIds(clock) });
  const { current } = worlds;
  return {
    engine,
    batchExport,
    worlds,
    clock,
    runs: () => current.batch_export_runs,
    messages: () => current.batch_export_logs.map(({ run, message }) => ({ run, message })),
  };
}

describe("a backfill", () => {
  test("has a run in Starting for each interval, and a line for each", async () => {
    const { engine, batchExport, runs, messages, worlds } = await engineFor();
    const range = { start_at: "2026-03-04T00:00:00Z", end_at: "2026-03-04T03:00:00Z" };
    const backfill = engine.backfill(batchExport, range);
    expect(worlds.get("batch_export_backfills", backfill.id)).toEqual({
      id: backfill.id,
      batch_export: batchExport.id,
      ...range,
      status: "Starting",
      total_runs: 3,
      created_at: "2026-03-04T05:06:07Z",
      finished_at: null,
      last_updated_at: "2026-03-04T05:06:07Z",
    });
    expect(runs().map((it) => [it.data_interval_start, it.data_interval_end])).toEqual([
      ["2026-03-04T00:00:00Z", "2026-03-04T01:00:00Z"],
      ["2026-03-04T01:00:00Z", "2026-03-04T02:00:00Z"],
      ["2026-03-04T02:00:00Z", "2026-03-04T03:00:00Z"],
    ]);
    for (const run of runs()) {
      expect(run).toMatchObject({ backfill: backfill.id, status: "Starting", records_completed: null });
    }
    expect(messages()).toEqual([
      { run: "", message: expect.stringContaining("no engine picks runs up yet") },
      ...runs().map((it) => ({ run: it.id, message: expect.stringMatching(/^Batch export for range .* queued$/) })),
    ]);
    expect(worlds.current.batch_export_logs.map((it) => it.id)).toEqual([1, 2, 3, 4]);
  });

  test.each([
    ["without a start: one run", { start_at: null, end_at: "2026-03-04T03:10:00Z" }, [[null, "2026-03-04T03:10:00Z"]]],
    ["without any bound: up to the last boundary", { start_at: null, end_at: null }, [[null, "2026-03-04T05:00:00Z"]]],
    [
      "without an end: up to now",
      { start_at: "2026-03-04T03:30:00Z", end_at: null },
      [["2026-03-04T03:30:00Z", "2026-03-04T04:30:00Z"]],
    ],
    ["shorter than an interval: none", { start_at: "2026-03-04T03:30:00Z", end_at: "2026-03-04T04:00:00Z" }, []],
  ])("%s", async (_, range, intervals) => {
    const { engine, batchExport, runs } = await engineFor();
    const { status, finished_at, total_runs } = engine.backfill(batchExport, range);
    expect(runs().map((it) => [it.data_interval_start, it.data_interval_end])).toEqual(intervals);
    expect({ status, total_runs }).toEqual({
      status: intervals.length === 0 ? "Completed" : "Starting",
      total_runs: intervals.length,
    });
    expect(finished_at === null).toBe(intervals.length > 0);
  });

  test("of more than 10,000 runs is refused, and nothing is made", async () => {
    const { engine, batchExport, runs, messages } = await engineFor();
    const range = { start_at: "2020-01-01T00:00:00Z", end_at: "2026-03-04T03:00:00Z" };
    expect(() => engine.backfill(batchExport, range)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringContaining("54099 runs") }),
    );
    expect(runs()).toEqual([]);
    expect(messages()).toEqual([]);
  });
});

test("a retry runs the interval of the run again, whatever the export's interval is", async () => {
  const { engine, batchExport, runs } = await engineFor("day");
  const run = aRun({ data_interval_start: "2026-03-01T10:00:00.5Z", data_interval_end: "2026-03-01T11:00:00Z" });
  const backfill = engine.retry(batchExport, run);
  expect(backfill).toMatchObject({ start_at: "2026-03-01T10:00:00.5Z", total_runs: 1, status: "Starting" });
  expect(runs()).toMatchObject([
    { backfill: backfill.id, data_interval_start: "2026-03-01T10:00:00.5Z", status: "Starting" },
  ]);
});

test("a cancelled run has ended", async () => {
  const { engine, batchExport, clock, runs, messages } = await engineFor();
  engine.backfill(batchExport, { start_at: null, end_at: "2026-03-04T03:00:00Z" });
  clock.set(now + 1_500);
  const [run] = runs();
  if (!run) throw new Error("no run");
  engine.cancel(run);
  expect(runs()).toMatchObject([
    {
      status: "Cancelled",
      created_at: "2026-03-04T05:06:07Z",
      finished_at: "2026-03-04T05:06:08.500000Z",
      last_updated_at: "2026-03-04T05:06:08.500000Z",
    },
  ]);
  expect(messages().slice(-2)).toEqual([
    { run: run.id, message: "Batch export for range the beginning - 2026-03-04T03:00:00Z cancelled" },
    { run: "", message: "Backfill of the beginning - 2026-03-04T03:00:00Z finished" },
  ]);
});

test("a cancelled backfill ends its open runs, and no others", async () => {
  const { engine, batchExport, worlds, runs, messages } = await engineFor();
  const range = { start_at: "2026-03-04T00:00:00Z", end_at: "2026-03-04T03:00:00Z" };
  const backfill = engine.backfill(batchExport, range);
  engine.backfill(batchExport, range);
  const [done, running] = runs();
  if (!done || !running) throw new Error("no runs");
  worlds.change((draft) => {
    draft.put("batch_export_runs", { ...done, status: "Completed" });
    draft.put("batch_export_runs", { ...running, status: "Running" });
  });
  engine.cancelBackfill(backfill);
  expect(runs().map((it) => it.status)).toEqual([
    "Completed",
    "Cancelled",
    "Cancelled",
    "Starting",
    "Starting",
    "Starting",
  ]);
  expect(worlds.get("batch_export_backfills", backfill.id)).toMatchObject({
    status: "Cancelled",
    finished_at: "2026-03-04T05:06:07Z",
  });
  expect(messages().at(-1)).toEqual({ run: "", message: "Backfill cancelled" });
});

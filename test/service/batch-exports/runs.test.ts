import { describe, expect, test, vi } from "vitest";
import { ExportEngine } from "../../../src/service/batch-exports/engine.ts";
import type { ScriptedOutcome } from "../../../src/service/batch-exports/ports.ts";
import { wireTime } from "../../../src/state/documents/time.ts";
import { aRun, uuidFor } from "../../support/documents.ts";
import { anEvent, anS3, aPerson, first, hour, linesIn, minute, sourceOf, stage, start } from "./stage.ts";

const range = { start_at: "2026-03-04T00:00:00Z", end_at: "2026-03-04T03:00:00Z" };

describe("a run", () => {
  test("exports the events that came in its interval, and counts them", async () => {
    const boundary = start + 30 * minute;
    const events = [
      anEvent(1, boundary - hour),
      anEvent(2, boundary - 1),
      anEvent(3, boundary),
      anEvent(4, boundary + minute, { timestamp: "2026-01-01T00:00:00.000Z" }),
      anEvent(5, boundary - 1, { project: 2 }),
    ];
    const { advance, runs, keysOf, contentOf, logs } = await stage({ events });
    await advance(2 * hour);
    const [early, late] = runs();
    if (!early || !late) throw new Error("two runs are due");
    expect(await keysOf(early.id)).toEqual(["2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00.jsonl"]);
    const content = await contentOf(early.id, first(await keysOf(early.id)));
    expect(early).toMatchObject({
      status: "Completed",
      records_completed: 2,
      records_total_count: 2,
      bytes_exported: content.length,
      cursor: "2",
      latest_error: null,
    });
    expect(linesIn(content)).toMatchObject([{ uuid: uuidFor(1, "e") }, { uuid: uuidFor(2, "e") }]);
    // A late event is exported with those that came with it.
    expect(late).toMatchObject({ records_completed: 2, cursor: "4" });
    expect(logs(early.id).map(({ level, message }) => `${level} ${message}`)).toEqual([
      "INFO Batch export for range 2026-03-04T09:00:00Z - 2026-03-04T10:00:00Z started",
      "INFO The destination S3 is not contacted: phx-sim writes files of its own",
      expect.stringMatching(/^DEBUG File 2026.*\.jsonl written, records: 2, bytes: \d+$/),
      expect.stringMatching(/^INFO Batch export for range .* finished, records: 2, bytes: \d+$/),
    ]);
  });

  test("without events has no file", async () => {
    const { advance, runs, keysOf } = await stage();
    await advance(hour);
    expect(runs()).toMatchObject([{ status: "Completed", records_completed: 0, bytes_exported: 0, cursor: null }]);
    expect(await keysOf(first(runs()).id)).toEqual([]);
  });

  test("to nowhere counts, and writes nothing", async () => {
    const { advance, runs, keysOf } = await stage({
      events: [anEvent(1, start)],
      batchExport: { destination: { type: "NoOp", config: {} } },
    });
    await advance(hour);
    expect(runs()).toMatchObject([{ status: "Completed", records_completed: 1, bytes_exported: 0 }]);
    expect(await keysOf(first(runs()).id)).toEqual([]);
  });

  test("to a database writes lines, states that it contacts no server, and reports no secret", async () => {
    const config = { user: "ann", password: "hunter2", host: "db.example.com", database: "d" };
    const { advance, runs, logs, keysOf } = await stage({
      events: [anEvent(1, start)],
      batchExport: { destination: { type: "Postgres", config } },
    });
    await advance(hour);
    expect(await keysOf(first(runs()).id)).toHaveLength(1);
    expect(logs().map((it) => it.message)).toContain(
      "The destination Postgres is not contacted: phx-sim writes files of its own",
    );
    expect(JSON.stringify([logs(), runs()])).not.toMatch(/hunter2|db\.example/);
  });

  test("of persons has a row for each distinct id", async () => {
    const late = aPerson({ uuid: uuidFor(2, "f"), created_at: start + 2 * hour, distinct_ids: ["bob"] });
    const { advance, runs, keysOf, contentOf, logs } = await stage({
      persons: [aPerson(), late],
      batchExport: { model: "persons", filters: [{ key: "a", value: "b" }] },
    });
    await advance(hour);
    const { id } = first(runs());
    expect(linesIn(await contentOf(id, first(await keysOf(id))))).toEqual(
      ["ann", "ann-phone"].map((distinct_id) => ({
        team_id: 1,
        distinct_id,
        person_id: uuidFor(1, "f"),
        properties: { email: "ann@example.com" },
        person_distinct_id_version: 0,
        person_version: 3,
        created_at: "2026-03-04T08:30:00+00:00",
        _inserted_at: "2026-03-04T08:30:00+00:00",
        is_deleted: false,
      })),
    );
    expect(logs(id).map((it) => it.level)).toContain("WARNING");
  });

  test.each([
    ["a compression", anS3({ compression: "lz4", file_format: "Parquet" }), {}, "lz4 is not emulated"],
    ["a format", anS3({ file_format: "CSV" }), {}, "CSV is not emulated"],
    ["a variable", anS3({ prefix: "{colour}/" }), {}, "no such variable: {colour}"],
    ["an operator", anS3(), { filters: [{ key: "a", operator: "sounds_like", value: "b" }] }, "sounds_like are not"],
    ["a query", anS3(), { schema: { fields: [{ expression: "count()", alias: "n" }] } }, '"count()" of the query'],
  ])("fails for good when %s is not emulated", async (_, destination, more, error) => {
    const { advance, runs, logs, keysOf } = await stage({
      events: [anEvent(1, start)],
      batchExport: { destination, ...more },
    });
    const performed = await advance(hour);
    const run = first(runs());
    expect(run).toMatchObject({ status: "Failed", records_completed: null, bytes_exported: null });
    expect(run.latest_error).toContain(error);
    expect(logs(run.id).at(-1)).toMatchObject({ level: "ERROR", message: expect.stringContaining(error) });
    expect(performed.map((it) => it.kind)).toEqual(["run_started", "run_failed"]);
    expect(await keysOf(run.id)).toEqual([]);
  });

  test("that cannot write may be tried again", async () => {
    const files = {
      begin: () => Promise.reject(new Error("ENOSPC: no space left on device")),
      list: async () => [],
      read: async () => undefined,
      clear: async () => {},
    };
    const { advance, runs } = await stage({ events: [anEvent(1, start)], ports: { files } });
    await advance(hour);
    expect(runs()).toMatchObject([{ status: "FailedRetryable", latest_error: "ENOSPC: no space left on device" }]);
  });

  test("that a scenario wrote stays as it is", async () => {
    const written = (["Starting", "Running", "TimedOut"] as const).map((status, i) =>
      aRun({ id: uuidFor(i + 1, "9"), status }),
    );
    const { advance, runs } = await stage({ batchExport: { paused: true }, world: { batch_export_runs: written } });
    expect(await advance(24 * hour)).toEqual([]);
    expect(runs()).toEqual(written);
  });
});

describe("a backfill", () => {
  test("exports what happened in each interval, and reports its progress", async () => {
    const events = [0, 1, 2, 3].map((i) => anEvent(i + 1, start, { timestamp: wireTime(Date.UTC(2026, 2, 4, i, 59)) }));
    const wake = vi.fn();
    const { engine, current, clock, runs, backfills } = await stage({ events, ports: { wake } });
    const backfill = engine.backfill(current(), range);
    expect(wake).toHaveBeenCalled();
    expect(engine.nextDue()).toBe(start);
    const performed = await engine.tick(clock.now());
    expect(runs()).toMatchObject(
      ["1", "2", "3"].map((cursor) => ({ backfill: backfill.id, status: "Completed", records_completed: 1, cursor })),
    );
    expect(backfills()).toMatchObject([{ status: "Completed", finished_at: wireTime(start) }]);
    expect(performed.map((it) => it.kind)).toEqual([
      ...Array.from({ length: 3 }, () => ["run_started", "run_completed"]).flat(),
      "backfill_completed",
    ]);
  });

  test("runs one after the other: what is scripted to last is waited for", async () => {
    const script = (): ScriptedOutcome => ({ after: 10 * minute, status: "Completed" });
    const { engine, current, advance, runs, backfills } = await stage({
      batchExport: { paused: true },
      ports: { script },
    });
    engine.backfill(current(), range);
    const seen: string[][] = [];
    for (let i = 0; i < 4; i++) {
      await advance(i === 0 ? 0 : 10 * minute);
      seen.push([...runs().map((it) => it.status), ...backfills().map((it) => it.status)]);
    }
    expect(seen).toEqual([
      ["Running", "Starting", "Starting", "Running"],
      ["Completed", "Running", "Starting", "Running"],
      ["Completed", "Completed", "Running", "Running"],
      ["Completed", "Completed", "Completed", "Completed"],
    ]);
  });

  test("is completed even if a run of it failed; the run can be retried", async () => {
    const outcomes = new Map<string, ScriptedOutcome>();
    const { engine, current, advance, runs, backfills } = await stage({
      batchExport: { paused: true },
      ports: { script: (run) => outcomes.get(run.data_interval_start ?? "") },
    });
    outcomes.set("2026-03-04T01:00:00Z", { after: 0, status: "Failed", latest_error: "NoSuchBucket" });
    engine.backfill(current(), range);
    await advance(0);
    expect(runs().map((it) => it.status)).toEqual(["Completed", "Failed", "Completed"]);
    expect(runs()[1]).toMatchObject({ latest_error: "NoSuchBucket", records_completed: null });
    outcomes.clear();
    engine.retry(current(), first(runs().filter((it) => it.status === "Failed")));
    await advance(0);
    expect(runs().at(-1)).toMatchObject({ status: "Completed", data_interval_start: "2026-03-04T01:00:00Z" });
    expect(backfills().map((it) => it.status)).toEqual(["Completed", "Completed"]);
  });

  test("that is cancelled starts no further run", async () => {
    const { engine, current, advance, runs, backfills } = await stage({
      batchExport: { paused: true },
      ports: { script: () => ({ after: hour, status: "Completed" }) },
    });
    const backfill = engine.backfill(current(), range);
    await advance(0);
    engine.cancelBackfill(backfill);
    expect(await advance(24 * hour)).toEqual([]);
    expect(runs().map((it) => it.status)).toEqual(["Cancelled", "Cancelled", "Cancelled"]);
    expect(backfills()).toMatchObject([{ status: "Cancelled" }]);
  });

  test("of an export that was deleted is cancelled", async () => {
    const { engine, current, advance, runs, worlds } = await stage({ batchExport: { paused: true } });
    engine.backfill(current(), range);
    worlds.change((draft) => draft.put("batch_exports", { ...current(), deleted: true }));
    await advance(0);
    expect(runs().map((it) => it.status)).toEqual(["Cancelled", "Cancelled", "Cancelled"]);
  });
});

describe("cancelling", () => {
  test("stops a run between records, and leaves no file", async () => {
    const seen: number[] = [];
    let cancel = () => {};
    const { engine, advance, runs, keysOf } = await stage({
      ports: {
        source: sourceOf(
          (function* () {
            for (let i = 1; i <= 10_000; i++) {
              seen.push(i);
              if (i === 1_000) cancel();
              yield anEvent(i, start);
            }
          })(),
        ),
      },
    });
    cancel = () => engine.cancel(first(runs()));
    const performed = await advance(hour);
    expect(runs()).toMatchObject([{ status: "Cancelled", records_completed: null }]);
    expect(seen.length).toBeLessThan(2_000);
    expect(performed.map((it) => it.kind)).toEqual(["run_started", "run_cancelled"]);
    expect(await keysOf(first(runs()).id)).toEqual([]);
  });

  test("a run that waits for its scripted end", async () => {
    const { engine, advance, runs } = await stage({
      ports: {
        script: (run) => (run.data_interval_end < "2026-03-04T10:30" ? { after: hour, status: "Failed" } : undefined),
      },
    });
    await advance(40 * minute);
    engine.cancel(first(runs()));
    await advance(2 * hour);
    expect(runs().map((it) => it.status)).toEqual(["Cancelled", "Completed", "Completed"]);
  });
});

describe("scripted outcomes", () => {
  test.each(["Failed", "FailedRetryable", "FailedBilling", "Cancelled", "TimedOut", "Terminated"] as const)(
    "a run stays Running, then ends as %s",
    async (status) => {
      const { advance, runs, engine, logs } = await stage({
        ports: { script: () => ({ after: 30_000, status, latest_error: "as scripted" }) },
      });
      await advance(30 * minute);
      expect(runs()).toMatchObject([{ status: "Running", finished_at: null }]);
      expect(engine.nextDue()).toBe(start + 30 * minute + 30_000);
      await advance(29_000);
      expect(runs()).toMatchObject([{ status: "Running" }]);
      await advance(minute);
      expect(runs()).toMatchObject([
        { status, latest_error: "as scripted", finished_at: "2026-03-04T10:00:30Z", records_completed: null },
      ]);
      expect(logs(first(runs()).id).at(-1)?.message).toContain("as scripted");
    },
  );

  test("one that is to be completed exports its data at its end", async () => {
    const { advance, runs } = await stage({
      events: [anEvent(1, start)],
      ports: { script: () => ({ after: 30_000, status: "Completed" }) },
    });
    await advance(hour);
    expect(runs()).toMatchObject([{ status: "Completed", records_completed: 1, finished_at: "2026-03-04T10:00:30Z" }]);
  });

  test("can be said of any open run, a scenario's too, and of none that has ended", async () => {
    const running = aRun({ status: "Running", finished_at: null });
    const { engine, advance, runs } = await stage({
      batchExport: { paused: true },
      world: { batch_export_runs: [running] },
    });
    engine.script(running, { after: minute, status: "TimedOut" });
    await advance(hour);
    expect(runs()).toMatchObject([{ status: "TimedOut", finished_at: "2026-03-04T09:31:00Z" }]);
    expect(() => engine.script(running, { after: 0, status: "Failed" })).toThrow(
      expect.objectContaining({ code: "invalid_input" }),
    );
  });

  test("can be said of a run that waits to be started", async () => {
    const { engine, current, advance, runs } = await stage({ batchExport: { paused: true } });
    engine.backfill(current(), { start_at: null, end_at: range.end_at });
    engine.script(first(runs()), { after: 0, status: "Failed", latest_error: "said" });
    await advance(0);
    expect(runs()).toMatchObject([{ status: "Failed", latest_error: "said" }]);
  });
});

describe("an export that keeps failing", () => {
  test("is paused after ten failures; its backfills are cancelled", async () => {
    const { engine, advance, runs, current, backfills, logs } = await stage({
      batchExport: { interval: "every 5 minutes" },
      ports: {
        script: (run) =>
          run.backfill
            ? { after: 24 * hour, status: "Completed" }
            : { after: 1_000, status: "Failed", latest_error: "no" },
      },
    });
    engine.backfill(current(), range);
    const performed = await advance(3 * hour);
    const scheduled = runs().filter((it) => it.backfill === null);
    expect(scheduled.map((it) => it.status)).toEqual(Array.from({ length: 10 }, () => "Failed"));
    const pausedAt = wireTime(start + 50 * minute + 1_000);
    expect(current()).toMatchObject({ paused: true, last_paused_at: pausedAt });
    expect(backfills()).toMatchObject([{ status: "Cancelled", finished_at: pausedAt }]);
    expect(performed.at(-1)).toMatchObject({ kind: "batch_export_paused", run: null });
    expect(logs("").map((it) => it.message)).toContain("Batch export paused: 10 of its last 50 runs failed");
  });

  test("is not paused by failures that lie further back", async () => {
    const past = Array.from({ length: 60 }, (_, i) =>
      aRun({
        id: uuidFor(i + 1, "9"),
        status: i < 15 ? "Failed" : "Completed",
        last_updated_at: wireTime(Date.UTC(2025, 0, 1) + i * hour),
      }),
    );
    const { advance, current } = await stage({
      world: { batch_export_runs: past },
      ports: { script: () => ({ after: 0, status: "Failed" }) },
    });
    await advance(hour);
    expect(current().paused).toBe(false);
  });
});

describe("an engine that ends in the middle", () => {
  test("leaves the run to the next one, which starts it again", async () => {
    const events = Array.from({ length: 5_000 }, (_, i) => anEvent(i + 1, start));
    let close = () => {};
    const setting = await stage({
      ports: {
        source: sourceOf(
          (function* () {
            for (const [i, it] of events.entries()) {
              if (i === 1_000) close();
              yield it;
            }
          })(),
        ),
      },
    });
    close = () => void setting.engine.close();
    await setting.advance(hour);
    const { id } = first(setting.runs());
    expect(setting.runs()).toMatchObject([{ status: "Running", finished_at: null }]);
    expect(await setting.keysOf(id)).toEqual([]);
    expect(await setting.engine.tick(start + 24 * hour)).toEqual([]);

    const next = new ExportEngine(setting.desk, { source: sourceOf(events), files: setting.files });
    await next.tick(setting.clock.now());
    expect(setting.runs()).toMatchObject([{ id, status: "Completed", records_completed: 5_000 }]);
    expect(setting.logs(id).map((it) => [it.level, it.message])).toContainEqual([
      "WARNING",
      expect.stringContaining("was interrupted; it starts again"),
    ]);
  });

  test("a world that was replaced meanwhile is left alone", async () => {
    let replace = () => {};
    const setting = await stage({
      ports: {
        source: sourceOf(
          (function* () {
            for (let i = 1; i <= 2_000; i++) {
              if (i === 600) replace();
              yield anEvent(i, start);
            }
          })(),
        ),
      },
    });
    replace = () => setting.worlds.change((draft) => draft.remove("batch_export_runs", first(setting.runs()).id));
    await setting.advance(hour);
    expect(setting.runs()).toEqual([]);
  });
});

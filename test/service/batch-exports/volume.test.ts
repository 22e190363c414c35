import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { folderFiles } from "../../../src/service/batch-exports/files.ts";
import { type EventLog, ExportEvents } from "../../../src/service/batch-exports/open-exports.ts";
import type { StoredEvent } from "../../../src/state/journal/event.ts";
import type { TrafficLine } from "../../../src/state/journal/traffic.ts";
import { uuidFor } from "../../support/documents.ts";
import { anEvent, anS3, first, hour, iso, stage, start } from "./stage.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "phx-exports-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const count = 100_000;
const filler = "x".repeat(1_000);

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Bytes that are in use once all garbage is gone. */
function used(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test.each(["JSONLines", "Parquet"])(
  "100,000 events pass through %s in bounded memory, while other work has its turns",
  async (file_format) => {
    const before = used();
    let most = 0;
    // Made one by one: nothing of them is at hand before it is asked for.
    const events: Iterable<StoredEvent> = {
      *[Symbol.iterator]() {
        for (let i = 1; i <= count; i++) {
          if (i % 9_999 === 0) most = Math.max(most, used() - before);
          yield anEvent(i, start, { properties: { i, filler } });
        }
      },
    };
    const files = folderFiles(folder);
    const setting = await stage({ events, batchExport: { destination: anS3({ file_format }) }, ports: { files } });
    let turns = 0;
    let isRunning = true;
    const watching = (async () => {
      for (; isRunning; turns++) await new Promise((resolve) => setImmediate(resolve));
    })();
    await setting.advance(hour);
    isRunning = false;
    await watching;
    const run = first(setting.runs());
    expect(run).toMatchObject({ status: "Completed", records_completed: count, cursor: String(count) });
    const key = first(await setting.keysOf(run.id));
    expect((await stat(join(folder, run.batch_export, run.id, key))).size).toBe(run.bytes_exported);
    expect(turns).toBeGreaterThan(count / 1_000);
    // The text of the events alone is more than 100 MB.
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(48 * 1024 * 1024);
  },
);

/** A log of requests with two events each. */
function aLog(times: readonly [came: number, happened: number][]) {
  const reads: number[] = [];
  const lines = times.map(([at, time], i): TrafficLine => {
    const facts = (n: number) => ({ uuid: uuidFor(n, "e"), time, person: null });
    const seq = 2 * i + 1;
    return {
      n: i + 1,
      at,
      method: "POST",
      target: "/batch/",
      peer: "127.0.0.1",
      status: 200,
      us: 1,
      project: (i % 2) + 1,
      seq,
      events: [facts(seq), facts(seq + 1)],
      headers: [],
    };
  });
  const log: EventLog = {
    *scanInSteps({ project, since = 0, until = Number.POSITIVE_INFINITY }) {
      for (const line of lines) {
        for (const index of [0, 1]) {
          const seq = (line.seq ?? 0) + index;
          if (line.project !== project || seq <= since || seq > until) continue;
          reads.push(seq);
          yield { seq, line, index };
        }
      }
    },
  };
  const show = (line: TrafficLine, index: number) =>
    anEvent((line.seq ?? 0) + index, line.at, { timestamp: iso(line.events?.[index]?.time ?? 0) });
  return { reads, lines, source: new ExportEvents(log, show) };
}

async function seqsOf(events: AsyncIterable<StoredEvent> | Iterable<StoredEvent>): Promise<number[]> {
  const seqs: number[] = [];
  for await (const { seq } of events) seqs.push(seq);
  return seqs;
}

test("events of a log are found by either of their times, and each line is read once to know them", async () => {
  const { source, reads, lines } = aLog([
    [100, 50],
    [100, 50],
    [200, 60],
    [300, 299],
  ]);
  const span = { project: 1, start: 100, end: 200 };
  expect(await seqsOf(source.events({ ...span, by: "received_at" }))).toEqual([1, 2]);
  expect(await seqsOf(source.events({ ...span, by: "timestamp", start: 50, end: 61 }))).toEqual([1, 2, 5, 6]);
  expect(await seqsOf(source.events({ ...span, by: "received_at", start: null, end: 201 }))).toEqual([1, 2, 5, 6]);
  expect(await seqsOf(source.events({ ...span, project: 2, by: "timestamp", start: 299, end: 300 }))).toEqual([7, 8]);
  reads.length = 0;
  expect(await seqsOf(source.events({ ...span, by: "received_at", start: 500, end: 600 }))).toEqual([]);
  expect(reads).toEqual([]);
  lines.length = 0;
  expect(await seqsOf(source.events({ ...span, by: "received_at" }))).toEqual([]);
});

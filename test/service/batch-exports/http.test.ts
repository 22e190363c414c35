import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type ExportRun, type Sim, startSim } from "../../../src/index.ts";
import { runStatuses } from "../../../src/state/documents/run-statuses.ts";
import { uuidFor } from "../../support/documents.ts";
import { newFolder } from "../../support/folder.ts";

const start = "2026-03-04T09:30:00Z";

let sim: Sim;
beforeEach(async () => {
  sim = await startSim({ clock: { now: start, frozen: true } });
});
afterEach(() => sim.close());

const folder = newFolder();

type Answer = Record<string, unknown>;

async function ask(method: string, path: string, body?: unknown): Promise<Response> {
  const init: RequestInit = { method, headers: { authorization: `Bearer ${sim.personalApiKey}` } };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { ...init.headers, "content-type": "application/json" };
  }
  return sim.handle(new Request(sim.url + path, init));
}

async function call(method: string, path: string, body?: unknown) {
  const response = await ask(method, path, body);
  return { status: response.status, answer: (await response.json()) as Answer };
}

const control = (method: string, path: string, body?: unknown) => call(method, `/__sim/exports${path}`, body);

const project = (path: string) => `/api/projects/${sim.projectId}/${path}`;

const secrets = { aws_access_key_id: "AKIA-hidden", aws_secret_access_key: "hidden-too" };

/** Creates an export and returns its id. */
async function createExport(name: string, more: Answer = {}, config: Answer = {}): Promise<string> {
  const destination = { type: "S3", config: { bucket_name: "b", region: "r", prefix: "", ...secrets, ...config } };
  const body = { name, interval: "hour", destination, ...more };
  const { status, answer } = await call("POST", project("batch_exports/"), body);
  expect(status).toBe(201);
  return String(answer.id);
}

const capture = (batch: readonly Answer[]) => call("POST", "/batch/", { api_key: sim.apiKey, batch });

const seen = (event: string) => ({ event, distinct_id: "u", properties: {} });

/** An hourly export with one completed run of one event. */
async function oneRun(config: Answer = {}): Promise<ExportRun> {
  await createExport("Hourly", {}, config);
  await capture([seen("signed_up")]);
  await sim.clock.advance("1h");
  const [run] = await sim.exports.runs();
  if (!run) throw new Error("nothing ran");
  return run;
}

/** A run that waits to be started. */
async function waitingRun(): Promise<ExportRun> {
  const { id, batch_export } = await oneRun();
  await call("POST", project(`batch_exports/${batch_export}/runs/${id}/retry/`));
  const [waiting] = await sim.exports.runs({ status: "Starting" });
  if (!waiting) throw new Error("nothing waits");
  return waiting;
}

describe("GET /__sim/exports", () => {
  test("reports the next run and the last ones, and no secret", async () => {
    const { id, batch_export } = await oneRun();
    const response = await ask("GET", "/__sim/exports");
    const text = await response.text();
    expect(JSON.parse(text)).toEqual({
      exports: [
        {
          id: batch_export,
          project: sim.projectId,
          name: "Hourly",
          model: "events",
          interval: "hour",
          destination: "S3",
          paused: false,
          next_run: "2026-03-04T11:00:00Z",
          last_runs: [
            {
              id,
              status: "Completed",
              data_interval_end: "2026-03-04T10:00:00Z",
              records_completed: 1,
              latest_error: null,
            },
          ],
        },
      ],
    });
    expect(text).not.toContain("hidden");
  });

  test("the last five runs, newest first", async () => {
    await createExport("Hourly");
    await sim.clock.advance("7h");
    const [it] = await sim.exports.list();
    expect(it?.last_runs.map((run) => run.data_interval_end.slice(11, 13))).toEqual(["16", "15", "14", "13", "12"]);
  });

  test("a paused export has no next run; a deleted one is not reported, its runs are", async () => {
    const { batch_export } = await oneRun();
    await createExport("Paused", { paused: true });
    await call("PATCH", project(`batch_exports/${batch_export}/`), { paused: true });
    expect((await sim.exports.list()).map((it) => [it.name, it.next_run])).toEqual([
      ["Hourly", null],
      ["Paused", null],
    ]);
    await ask("DELETE", project(`batch_exports/${batch_export}/`));
    expect((await sim.exports.list()).map((it) => it.name)).toEqual(["Paused"]);
    expect(await sim.exports.runs()).toHaveLength(1);
  });

  test("of one project", async () => {
    await createExport("Hourly");
    expect(await sim.exports.list({ project: sim.projectId })).toHaveLength(1);
    expect(await sim.exports.list({ project: sim.projectId + 1 })).toEqual([]);
  });
});

describe("GET /__sim/exports/runs", () => {
  test("a run", async () => {
    const run = await oneRun({ prefix: "events/daily" });
    const name = "events/daily/2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00.jsonl";
    expect(run).toEqual({
      id: expect.any(String),
      batch_export: expect.any(String),
      name: "Hourly",
      project: sim.projectId,
      interval: "hour",
      data_interval_start: "2026-03-04T09:00:00Z",
      data_interval_end: "2026-03-04T10:00:00Z",
      status: "Completed",
      records_completed: 1,
      bytes_exported: expect.any(Number),
      latest_error: null,
      backfill: null,
      created_at: "2026-03-04T10:00:00Z",
      finished_at: "2026-03-04T10:00:00Z",
      files: [
        {
          name,
          bytes: run.bytes_exported,
          url: `/__sim/exports/files/${run.batch_export}/${run.id}/${encodeURIComponent(name)}`,
        },
      ],
    });
  });

  test("newest first, also of one time, and as many as are wanted", async () => {
    await createExport("One");
    await createExport("Two");
    await sim.clock.advance("3h");
    const { answer } = await control("GET", "/runs?limit=5");
    expect(answer.more).toBe(true);
    expect((answer.runs as ExportRun[]).map((it) => [it.name, it.created_at.slice(11, 13)])).toEqual([
      ["Two", "12"],
      ["One", "12"],
      ["Two", "11"],
      ["One", "11"],
      ["Two", "10"],
    ]);
    expect((await control("GET", "/runs?limit=6")).answer.more).toBe(false);
  });

  test("page after page, each from the last run of the one before, whatever comes meanwhile", async () => {
    const one = await createExport("One");
    await createExport("Two");
    await sim.clock.advance("3h");
    const all = await sim.exports.runs();
    await sim.clock.advance("1h");
    const paged: ExportRun[] = [];
    for (let before = all[0]?.id; before !== undefined; ) {
      const page = await sim.exports.runs({ before, limit: 2 });
      paged.push(...page);
      before = page.at(-1)?.id;
    }
    expect(paged).toEqual(all.slice(1));
    const ofOne = await sim.exports.runs({ batch_export: one, before: String(all[2]?.id) });
    expect(ofOne).toEqual(all.slice(3).filter((it) => it.batch_export === one));
    const { status, answer } = await control("GET", "/runs?before=none");
    expect([status, answer.code, answer.detail]).toEqual([404, "not_found", "there is no run none"]);
  });

  test("by export, status and project", async () => {
    const one = await createExport("One");
    await createExport("Two");
    await sim.clock.advance("1h");
    const namesOf = async (query: Parameters<typeof sim.exports.runs>[0]) =>
      (await sim.exports.runs(query)).map((it) => it.name);
    expect(await namesOf({ batch_export: one })).toEqual(["One"]);
    expect(await namesOf({ batch_export: "Two" })).toEqual(["Two"]);
    expect(await namesOf({ batch_export: "Three" })).toEqual([]);
    expect(await namesOf({ status: "Completed" })).toEqual(["Two", "One"]);
    expect(await namesOf({ status: "Failed" })).toEqual([]);
    expect(await namesOf({ project: sim.projectId })).toHaveLength(2);
    expect(await namesOf({ project: 99 })).toEqual([]);
  });

  const bad: [query: string, pointer: string][] = [
    ["limit=0", "?limit"],
    ["limit=many", "?limit"],
    ["status=failed", "?status"],
    ["project=-1", "?project"],
  ];
  test.each(bad)("%s is refused", async (query, pointer) => {
    const { status, answer } = await control("GET", `/runs?${query}`);
    expect([status, answer.code, answer.pointer]).toEqual([400, "invalid_input", pointer]);
  });

  test("runs in every status, as a scenario has them", async () => {
    await using gallery = await startSim({ scenario: "exports" });
    const statuses = new Set((await gallery.exports.runs()).map((it) => it.status));
    expect([...statuses].sort()).toEqual([...runStatuses].sort());
  });
});

describe("GET /__sim/exports/runs/:id", () => {
  test("with its log", async () => {
    const { logs, ...run } = await sim.exports.run((await oneRun()).id);
    expect([run]).toEqual(await sim.exports.runs());
    expect(logs.at(0)).toMatchObject({ timestamp: "2026-03-04T10:00:00Z", level: "INFO" });
    expect(logs.map((it) => it.message).join("\n")).toMatch(/ started\n.* finished, records: 1, bytes: \d+$/s);
  });

  test.each(["GET", "PUT"])("%s of one that does not exist", async (method) => {
    const body = method === "PUT" ? { status: "Failed" } : undefined;
    const { status, answer } = await control(method, "/runs/none", body);
    expect([status, answer]).toEqual([
      404,
      { code: "not_found", detail: "there is no run none", hint: "GET /__sim/exports/runs lists them", pointer: null },
    ]);
  });
});

describe("PUT /__sim/exports/runs/:id", () => {
  test("a run that waits is Running for a while, and ends as it was said", async () => {
    const { id } = await waitingRun();
    const said = await sim.exports.script(id, { after: "30s", status: "Failed", latest_error: "Access denied" });
    expect(said).toMatchObject({ status: "Starting", ends_at: null });
    expect(said.hint).toMatch(/POST \/__sim\/exports\/tick/);
    expect((await sim.exports.tick()).map((it) => it.kind)).toEqual(["run_started"]);
    expect(await sim.exports.run(id)).toMatchObject({ status: "Running", files: [] });
    await sim.clock.advance("29s");
    expect(await sim.exports.run(id)).toMatchObject({ status: "Running" });
    await sim.clock.advance("1s");
    expect(await sim.exports.run(id)).toMatchObject({
      status: "Failed",
      latest_error: "Access denied",
      finished_at: "2026-03-04T10:30:30Z",
      files: [],
    });
  });

  test("said again while it is Running, it counts from then", async () => {
    const { id } = await waitingRun();
    await sim.exports.script(id, { after: "1h", status: "Failed" });
    await sim.exports.tick();
    await sim.clock.advance("10s");
    const said = await sim.exports.script(id, { after: 5_000, status: "Completed" });
    expect(said).toMatchObject({ status: "Running", ends_at: "2026-03-04T10:30:15Z" });
    expect(said.hint).toMatch(/POST \/__sim\/clock\/advance/);
    await sim.clock.advance("5s");
    expect(await sim.exports.run(id)).toMatchObject({ status: "Completed", records_completed: 1 });
  });

  test.each(runStatuses.filter((it) => it !== "Starting" && it !== "Running"))("ends as %s", async (status) => {
    const { id } = await waitingRun();
    await sim.exports.script(id, { status });
    await sim.exports.tick();
    expect((await sim.exports.run(id)).status).toBe(status);
  });

  test("a clock that runs needs no hint", async () => {
    const { id } = await waitingRun();
    await sim.exports.script(id, { after: "1h", status: "Failed" });
    await sim.exports.tick();
    await sim.clock.resume();
    expect(await sim.exports.script(id, { status: "Cancelled" })).toMatchObject({ hint: null });
    // A tick waits for what is being performed.
    await sim.exports.tick();
    expect((await sim.exports.run(id)).status).toBe("Cancelled");
  });

  test("a run of a scenario that is Running", async () => {
    await using gallery = await startSim({ scenario: "exports" });
    const [open] = await gallery.exports.runs({ status: "Running" });
    await gallery.exports.script(open?.id ?? "", { after: "1m", status: "TimedOut" });
    await gallery.clock.advance("1m");
    expect((await gallery.exports.run(open?.id ?? "")).status).toBe("TimedOut");
  });

  test("one that has ended stays as it is", async () => {
    const run = await oneRun();
    const { status, answer } = await control("PUT", `/runs/${run.id}`, { status: "Failed" });
    expect([status, answer]).toEqual([
      400,
      {
        code: "invalid_input",
        detail: `run ${run.id} has ended: it is Completed`,
        hint: "an ended run cannot change; a retry or a backfill makes new runs",
        pointer: null,
      },
    ]);
    expect((await sim.exports.runs()).at(0)).toEqual(run);
  });

  const bad: [body: unknown, pointer: string | null, message?: RegExp][] = [
    [{}, "/status"],
    [{ status: "Starting" }, "/status"],
    [{ status: "Fialed" }, "/status", /Failed/],
    [{ status: 3 }, "/status"],
    [{ status: "Failed", after: "soon" }, "/after", /string such as 30s/],
    [{ status: "Failed", after: -1 }, "/after"],
    [{ status: "Failed", after: 0.5 }, "/after"],
    [{ status: "Failed", after: "53w" }, "/after"],
    [{ status: "Failed", latest_error: 5 }, "/latest_error"],
    [{ status: "Failed", latest_error: "x".repeat(10_001) }, "/latest_error"],
    [{ status: "Completed", latest_error: "no" }, "/latest_error", /expected no error of a Completed run/],
    [{ status: "Failed", error: "no" }, "/error", /known keys: after, status, latest_error/],
    [[], ""],
    ["{", null],
  ];
  test.each(bad)("%j is refused, and nothing changes", async (body, pointer, message = /^/) => {
    const { id } = await waitingRun();
    const { status, answer } = await control("PUT", `/runs/${id}`, body);
    expect([status, answer.pointer]).toEqual([400, pointer]);
    expect(`${answer.detail}; ${answer.hint}`).toMatch(message);
    await sim.exports.tick();
    expect((await sim.exports.run(id)).status).toBe("Completed");
  });

  test("not beyond the end of time", async () => {
    const { id } = await waitingRun();
    await sim.clock.set("9999-12-31T23:59:00Z");
    const { status, answer } = await control("PUT", `/runs/${id}`, { status: "Failed", after: "1h" });
    expect([status, answer.pointer]).toEqual([400, "/after"]);
    expect((await call("GET", "/__sim/clock")).status).toBe(200);
  });
});

describe("POST /__sim/exports/tick", () => {
  test("performs what is due, once, and leaves the clock", async () => {
    const { batch_export } = await oneRun();
    const range = { start_at: "2026-03-04T08:00:00Z", end_at: "2026-03-04T10:00:00Z" };
    await call("POST", project(`batch_exports/${batch_export}/backfills/`), range);
    const { status, answer } = await control("POST", "/tick", {});
    expect(status).toBe(200);
    const happened = answer.happened as { kind: string; at: string; batch_export: string }[];
    expect(happened.map((it) => it.kind)).toEqual([
      ...["run_started", "run_completed", "run_started", "run_completed"],
      "backfill_completed",
    ]);
    expect(new Set(happened.map((it) => it.at))).toEqual(new Set(["2026-03-04T10:30:00Z"]));
    expect(await sim.exports.tick()).toEqual([]);
    expect(await sim.clock.get()).toMatchObject({ now: "2026-03-04T10:30:00.000Z", frozen: true });
  });

  test("what was set past is due", async () => {
    await createExport("Hourly");
    await sim.clock.set("2026-03-04T12:10:00Z");
    expect((await sim.exports.tick()).filter((it) => it.kind === "run_completed")).toHaveLength(3);
  });

  test("a clock that is the machine's stays the machine's", async () => {
    await sim.clock.set("real");
    expect(await sim.exports.tick()).toEqual([]);
    expect((await sim.clock.get()).real).toBe(true);
  });

  test("other keys are refused", async () => {
    const { status, answer } = await control("POST", "/tick", { now: true });
    expect([status, answer.pointer]).toEqual([400, "/now"]);
  });
});

describe("GET /__sim/exports/files", () => {
  const types: [config: Answer, type: string, end: string][] = [
    [{}, "application/x-ndjson", ".jsonl"],
    [{ compression: "gzip" }, "application/gzip", ".jsonl.gz"],
    [{ compression: "brotli" }, "application/octet-stream", ".jsonl.br"],
    [{ file_format: "Parquet" }, "application/vnd.apache.parquet", ".parquet"],
    [{ file_format: "Parquet", compression: "gzip" }, "application/vnd.apache.parquet", ".parquet.gz"],
  ];
  test.each(types)("%j is an attachment of the type %s", async (config, type, end) => {
    const run = await oneRun({ prefix: "it's (a) key", ...config });
    const response = await ask("GET", run.files[0]?.url ?? "");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe(type);
    expect(response.headers.get("content-encoding")).toBe(null);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
    const [, name] = /^attachment; filename\*=UTF-8''([\w.%-]+)$/.exec(
      response.headers.get("content-disposition") ?? "",
    ) ?? ["", ""];
    expect(decodeURIComponent(name ?? "")).toBe(`2026-03-04T09:00:00+00:00-2026-03-04T10:00:00+00:00${end}`);
    expect((await response.arrayBuffer()).byteLength).toBe(run.bytes_exported);
  });

  test("over a socket", async () => {
    const run = await oneRun();
    const response = await fetch(sim.url + run.files[0]?.url);
    expect(await response.text()).toBe(new TextDecoder().decode(await sim.exports.file(run.id)));
  });

  test("one of several is named", async () => {
    const run = await oneRun({ max_file_size_mb: 1 });
    const names = run.files.map((it) => it.name);
    expect(names.map((it) => it.slice(it.lastIndexOf("00:00") + 5)).sort()).toEqual(["-0.jsonl", "_manifest.json"]);
    await expect(sim.exports.file(run.id)).rejects.toThrow(names[0]);
    await expect(sim.exports.file(run.id, "other")).rejects.toThrow("has no file other");
    const manifest = names.find((it) => it.endsWith(".json")) ?? "";
    const { files } = JSON.parse(new TextDecoder().decode(await sim.exports.file(run.id, manifest)));
    expect(files).toEqual(names.filter((it) => it !== manifest));
  });

  test("a run without files says so", async () => {
    const { id } = await waitingRun();
    await expect(sim.exports.file(id)).rejects.toThrow("it is Starting and has no files");
  });

  describe("nothing else is served", () => {
    const rows: [name: string, path: (run: ExportRun) => string][] = [
      ["another name", ({ batch_export, id }) => `${batch_export}/${id}/other.jsonl`],
      ["a folder above", ({ batch_export, id }) => `${batch_export}/${id}/..%2F..%2F..%2Fworld.json`],
      ["a folder above as the run", ({ batch_export }) => `${batch_export}/%2E%2E/world.json`],
      ["a folder above as the export", () => "%2E%2E/%2E%2E/world.json"],
      ["an absolute path", ({ batch_export, id }) => `${batch_export}/${id}/%2Fetc%2Fpasswd`],
      ["a NUL", ({ batch_export, id }) => `${batch_export}/${id}/a%00.jsonl`],
      ["another export's name", ({ id, files }) => `x/${id}/${encodeURIComponent(files[0]?.name ?? "")}`],
    ];
    test.each(rows)("%s", async (_, path) => {
      await using there = await startSim({
        data: mkdtempSync(join(folder, "data-")),
        clock: { now: start, frozen: true },
      });
      await sim.close();
      sim = there;
      const run = await oneRun();
      const { status, answer } = await control("GET", `/files/${path(run)}`);
      expect([status, answer.code]).toEqual([404, "not_found"]);
    });
  });

  test("it is guarded like the rest", async () => {
    const run = await oneRun();
    const headers = { origin: "http://evil.test" };
    const response = await fetch(sim.url + run.files[0]?.url, { headers });
    expect([response.status, await response.json()]).toMatchObject([403, { code: "forbidden_origin" }]);
  });

  test("files are gone after a reset, and stay when only events are", async () => {
    const run = await oneRun();
    await sim.reset({ what: ["events"] });
    expect((await ask("GET", run.files[0]?.url ?? "")).status).toBe(200);
    await sim.reset();
    expect((await ask("GET", run.files[0]?.url ?? "")).status).toBe(404);
    expect(await sim.exports.runs()).toEqual([]);
  });
});

test("runs and their files are there after a restart", async () => {
  const data = join(folder, "kept");
  await using first = await startSim({ data, clock: { now: start, frozen: true } });
  await sim.close();
  sim = first;
  const { id } = await waitingRun();
  await sim.exports.script(id, { status: "Failed" });
  await sim.exports.tick();
  await first.close();
  await using second = await startSim({ data, clock: { now: start, frozen: true } });
  expect((await second.exports.run(id)).status).toBe("Failed");
  const [, completed] = await second.exports.runs();
  expect(await second.exports.file(completed?.id ?? "")).toHaveLength(completed?.bytes_exported ?? -1);
});

test.each([
  ["running", {}],
  ["standing", { frozen: true }],
])("a %s clock goes on after a restart: no interval is run twice", async (name, setting) => {
  const data = join(folder, `clock-${name}`);
  await using first = await startSim({ data });
  await sim.close();
  sim = first;
  await first.clock.set(start, setting);
  await createExport("Hourly", { interval: "hour" });
  await first.clock.advance("3h");
  const before = await first.exports.runs();
  const shown = await first.clock.now();
  await first.close();
  await using second = await startSim({ data });
  sim = second;
  expect((await second.clock.now()).getTime() - shown.getTime()).toBeLessThan(60 * 60 * 1000);
  expect((await second.clock.now()) >= shown).toBe(true);
  await second.clock.advance("1h");
  const intervals = (await second.exports.runs()).map((it) => it.data_interval_end);
  expect([before.length, intervals.length, new Set(intervals).size]).toEqual([3, 4, 4]);
});

test("a week is filled in, a run for each day", async () => {
  const id = await createExport("Daily", { interval: "day" });
  const days = Array.from({ length: 7 }, (_, i) => `2026-02-2${i + 1}`);
  await capture(
    days.flatMap((day) => [1, 2, 3].map((hour) => ({ ...seen("e"), timestamp: `${day}T0${hour}:00:00Z` }))),
  );
  const range = { start_at: "2026-02-21T00:00:00Z", end_at: "2026-02-28T00:00:00Z" };
  await call("POST", project(`batch_exports/${id}/backfills/`), range);
  await sim.exports.tick();
  const runs = await sim.exports.runs();
  expect(runs.map((it) => [it.data_interval_start?.slice(0, 10), it.records_completed]).toReversed()).toEqual(
    days.map((day) => [day, 3]),
  );
});

const hours = 24;
const total = 100_000;
const batch = 500;

/** Captures the events with the numbers from `from` up to `to`. */
async function captureNumbered(from: number, to: number): Promise<void> {
  for (let first = from; first < to; first += batch) {
    const count = Math.min(batch, to - first);
    const events = Array.from({ length: count }, (_, i) => ({ ...seen("seen"), uuid: uuidFor(first + i, "e") }));
    expect((await capture(events)).status).toBe(200);
  }
}

const readers: Record<string, (bytes: Uint8Array) => Promise<string[]>> = {
  JSONLines: async (bytes) =>
    new TextDecoder()
      .decode(bytes)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).uuid),
  Parquet: async (bytes) => {
    const rows = await parquetReadObjects({ file: new Uint8Array(bytes).buffer, columns: ["uuid"] });
    return rows.map(({ uuid }) => String(uuid));
  },
};

test("a day of 100,000 events: each is in one file of each export, once", async () => {
  const midnight = Date.UTC(2026, 2, 4);
  await using day = await startSim({
    data: join(folder, "day"),
    clock: { now: new Date(midnight).toISOString(), frozen: true },
  });
  await sim.close();
  sim = day;
  for (const file_format of Object.keys(readers)) await createExport(file_format, {}, { file_format });

  const firstOf = (hour: number) => Math.floor((total * hour) / hours);
  for (let hour = 0; hour < hours; hour++) {
    const [from, to] = [firstOf(hour), firstOf(hour + 1)];
    // The first events of an hour come exactly with its beginning.
    await sim.clock.set(midnight + hour * 3_600_000);
    await captureNumbered(from, from + batch);
    await sim.clock.set(midnight + hour * 3_600_000 + 3_599_999);
    await captureNumbered(from + batch, to);
  }
  await sim.clock.set(midnight);

  const happened = await sim.clock.advance("1d");
  expect(happened.filter((it) => it.kind === "run_completed")).toHaveLength(2 * hours);
  const wanted = Array.from({ length: total }, (_, i) => uuidFor(i, "e")).sort();
  for (const [name, read] of Object.entries(readers)) {
    const runs = (await sim.exports.runs({ batch_export: name })).toReversed();
    expect(runs.map((it) => [it.data_interval_end, it.records_completed])).toEqual(
      Array.from({ length: hours }, (_, hour) => [
        new Date(midnight + (hour + 1) * 3_600_000).toISOString().replace(".000", ""),
        firstOf(hour + 1) - firstOf(hour),
      ]),
    );
    const uuids: string[] = [];
    for (const run of runs) for (const it of await read(await sim.exports.file(run.id))) uuids.push(it);
    expect(uuids.length).toBe(total);
    expect(uuids.sort().findIndex((it, i) => it !== wanted[i])).toBe(-1);
  }
});

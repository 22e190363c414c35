import { describe, expect, test } from "vitest";
import { uuidFor } from "../../../support/documents.ts";
import { manage } from "../../management/manage.ts";
import { acme } from "../../management/world.ts";
import { backfillId, foreign, hourly, runId, worldWithExports } from "./batch-exports-world.ts";

const open = (world = worldWithExports()) => manage({ world });
const at = `/api/projects/1/batch_exports/${hourly}`;
const inAcme = `/api/organizations/${acme}/batch_exports/${hourly}`;
const runs = `${at}/runs`;

const idsOf = (json: { results: { id: string }[] }): string[] => json.results.map((it) => it.id);
const down = (from: number, to: number): string[] => Array.from({ length: from - to + 1 }, (_, i) => runId(from - i));

describe("runs", () => {
  test("one, whole", async () => {
    const { get } = open();
    expect((await get(`${runs}/${runId(12)}/`)).json).toEqual({
      id: runId(12),
      status: "Failed",
      records_completed: 10,
      latest_error: "Access denied",
      data_interval_start: "2026-03-03T12:00:00Z",
      data_interval_end: "2026-03-03T13:00:00Z",
      cursor: null,
      created_at: "2026-03-03T13:00:00Z",
      finished_at: "2026-03-03T13:00:00Z",
      last_updated_at: "2026-03-03T13:00:00Z",
      records_total_count: 10,
      bytes_exported: 1000,
      batch_export: hourly,
      backfill: backfillId(2),
    });
  });

  test.each([
    ["of the last seven days, newest first", "", down(13, 0)],
    ["at an environment", "env", down(13, 0)],
    ["after a time, included", "?after=2026-03-03T11:00:00Z", down(13, 10)],
    ["after a time in a zone", "?after=2026-03-03T13:00:00%2B02:00", down(13, 10)],
    ["before a time, included", "?before=2026-03-03T02:00:00Z", down(1, 0)],
    ["between two", "?after=2026-03-03T04:00&before=2026-03-03T05:00", down(4, 3)],
    ["after a day", "?after=2026-03-04", []],
    ["of the last hours", "?after=-16h", down(13, 13)],
    ["of the last 90 days", "?after=-90d", [...down(13, 0), runId(99)]],
    ["of the last weeks", "?after=-13w", [...down(13, 0), runId(99)]],
    ["of the last two months", "?after=-2m", [...down(13, 0), runId(99)]],
    ["of the last month", "?after=-1m", down(13, 0)],
    ["of the last quarter", "?after=-1q", [...down(13, 0), runId(99)]],
    ["of the last year", "?after=-1y", [...down(13, 0), runId(99)]],
    ["after what cannot be read, which is now", "?after=soon", []],
    ["by creation", "?ordering=created_at&before=2026-03-03T03:00:00Z", down(2, 0).reverse()],
    ["by interval", "?ordering=data_interval_start&end=2026-03-03T03:00:00Z", down(2, 0).reverse()],
    ["by interval, the last first", "?ordering=-data_interval_start&start=2026-03-03T10:00:00Z", down(13, 10)],
    ["in an order that is not known", "?ordering=status&after=-16h", down(13, 13)],
    ["with other parameters empty", "?after=&before=&cursor=&ordering=", down(13, 0)],
  ])("%s: %s", async (_, query, ids) => {
    const { get } = open();
    const { status, json } = await get(query === "env" ? runs.replace("projects", "environments") : `${runs}${query}`);
    expect(status).toBe(200);
    expect(idsOf(json)).toEqual(ids);
    expect(json).toMatchObject({ next: null, previous: null });
  });

  test("a run without a start is in no list by interval", async () => {
    const { get, post } = open();
    await post(`${at}/backfills`, { end_at: "2026-03-03T00:30:00Z" });
    const [newest] = (await get(runs)).json.results;
    expect(newest).toMatchObject({ data_interval_start: null, status: "Starting" });
    const { json } = await get(`${runs}?ordering=data_interval_start`);
    expect(idsOf(json)).toEqual(down(13, 0).reverse());
  });

  test("a retry is a backfill of the run's interval", async () => {
    const { post, get, worlds } = open();
    const { status, json } = await post(`${runs}/${runId(12)}/retry/`);
    expect({ status, json }).toEqual({
      status: 200,
      json: { backfill_id: `${hourly}-Backfill-2026-03-03T12:00:00+00:00-2026-03-03T13:00:00+00:00` },
    });
    const backfill = worlds.current.batch_export_backfills.at(-1);
    const [newest] = (await get(at)).json.latest_runs;
    expect(newest).toMatchObject({
      status: "Starting",
      backfill: backfill?.id,
      data_interval_start: "2026-03-03T12:00:00Z",
      data_interval_end: "2026-03-03T13:00:00Z",
      records_completed: null,
    });
  });

  test("a run that has not ended can be cancelled, once", async () => {
    const { post, get } = open();
    const path = `${runs}/${runId(13)}`;
    expect(await post(`${path}/cancel`)).toMatchObject({ status: 200, json: { cancelled: true } });
    expect((await get(path)).json).toMatchObject({ status: "Cancelled", finished_at: "2026-03-04T05:06:07.089000Z" });
    expect(await post(`${path}/cancel`)).toMatchObject({
      status: 400,
      json: { code: "invalid_input", detail: "Cannot cancel a run that is in 'Cancelled' status", attr: null },
    });
    expect((await post(`${runs}/${runId(1)}/cancel`)).json.detail).toBe(
      "Cannot cancel a run that is in 'Completed' status",
    );
  });

  test.each([runId(100), uuidFor(1), "7", "constructor"])("there is no run %s", async (id) => {
    const { get, post } = open();
    expect(await get(`${runs}/${id}`)).toMatchObject({ status: 404, json: { detail: "Not found." } });
    expect((await get(`${runs}/${id}/logs`)).status).toBe(404);
    expect((await post(`${runs}/${id}/retry`)).status).toBe(404);
    expect((await post(`${runs}/${id}/cancel`)).status).toBe(404);
  });
});

describe("pages with a cursor", () => {
  /** Three pages of runs; 50 at once were created by each of five backfills. */
  async function many() {
    const world = worldWithExports();
    world.batch_export_runs = [];
    const it = open(world);
    for (let i = 0; i < 5; i++) {
      await it.post(`${at}/backfills`, { start_at: "2026-03-01T00:00:00Z", end_at: "2026-03-03T02:00:00Z" });
      it.clock.set(it.clock.now() + 1_000);
    }
    return it;
  }

  test.each(["", "?ordering=created_at", "?ordering=-data_interval_start", "?ordering=data_interval_start"])(
    "forth and back, each run once: %s",
    async (query) => {
      const { get, worlds } = await many();
      const pages: string[][] = [];
      let target: string | null = `http://sim.test${runs}/${query}`;
      let last = target;
      while (target !== null) {
        const { json } = await get(target.replace("http://sim.test", ""));
        pages.push(idsOf(json));
        last = target;
        target = json.next;
      }
      expect(pages.map((it) => it.length)).toEqual([100, 100, 50]);
      expect(new Set(pages.flat()).size).toBe(250);
      const created = new Map(worlds.current.batch_export_runs.map((it) => [it.id, it.created_at]));
      if (query === "") {
        const times = pages.flat().map((id) => created.get(id) ?? "");
        expect(times).toEqual(times.toSorted().reverse());
      }

      let back: string | null = (await get(last.replace("http://sim.test", ""))).json.previous;
      for (const page of pages.slice(0, -1).reverse()) {
        expect(back).toContain("cursor=");
        const { json } = await get((back ?? "").replace("http://sim.test", ""));
        expect(idsOf(json)).toEqual(page);
        back = json.previous;
      }
      expect(back).toBeNull();
    },
  );

  test("a page stays where it is while runs are added", async () => {
    const { get, post } = await many();
    const { json: first } = await get(runs);
    const next = first.next.replace("http://sim.test", "");
    const before = idsOf((await get(next)).json);
    await post(`${runs}/${first.results[0].id}/retry`);
    expect(idsOf((await get(next)).json)).toEqual(before);
  });

  test("links keep the other parameters", async () => {
    const { get } = await many();
    const { json } = await get(`${runs}/?after=-1d&a=b`);
    expect(json.next).toMatch(/^http:\/\/sim\.test\/api\/projects\/1\/.*\/runs\/\?a=b&after=-1d&cursor=/);
  });

  test.each(["x", "%%%", "bz0x", Buffer.from("p=a&o=-1").toString("base64")])(
    "the cursor %s is none",
    async (cursor) => {
      const { get } = open();
      expect(await get(`${runs}?cursor=${encodeURIComponent(cursor)}`)).toMatchObject({
        status: 404,
        json: { type: "invalid_request", code: "not_found", detail: "Invalid cursor", attr: null },
      });
    },
  );
});

describe("backfills", () => {
  const range = { start_at: "2026-03-03T00:00:00Z", end_at: "2026-03-04T00:00:00+00:00" };

  test.each([
    ["newest first", "", [2, 3, 1, 4]],
    ["by start; those without are last", "?ordering=start_at", [1, 4, 2, 3]],
    ["by start, the last first", "?ordering=-start_at", [3, 2, 4, 1]],
    ["by creation", "?ordering=created_at", [4, 1, 3, 2]],
  ])("are listed %s", async (_, query, order) => {
    const { get } = open();
    const { json } = await get(`${at}/backfills/${query}`);
    expect(idsOf(json)).toEqual(order.map(backfillId));
    expect(json).toMatchObject({ next: null, previous: null });
    expect(json).not.toHaveProperty("count");
  });

  test.each([
    [1, { status: "Completed", progress: { total_runs: 24, finished_runs: 24, progress: 1 } }],
    [2, { status: "Running", progress: { total_runs: 3, finished_runs: 1, progress: 0.3 } }],
    [3, { status: "Starting", start_at: null, progress: null }],
    [4, { status: "Failed", progress: null }],
  ])("the progress of number %i", async (n, expected) => {
    const { get } = open();
    expect((await get(`${at}/backfills/${backfillId(n)}`)).json).toMatchObject(expected);
  });

  test("one, whole", async () => {
    const { get } = open();
    expect((await get(`${at}/backfills/${backfillId(1)}/`)).json).toEqual({
      id: backfillId(1),
      progress: { total_runs: 24, finished_runs: 24, progress: 1 },
      start_at: "2025-02-01T00:00:00Z",
      end_at: "2025-02-02T00:00:00Z",
      status: "Completed",
      created_at: "2026-03-01T00:00:00Z",
      finished_at: "2025-03-01T09:30:00Z",
      last_updated_at: "2025-03-01T09:30:00Z",
      team: 1,
      batch_export: hourly,
    });
  });

  test("a new one makes a run for each interval", async () => {
    const { post, get } = open();
    const { status, json } = await post(`${at}/backfills/`, range);
    expect({ status, json }).toEqual({
      status: 200,
      json: { backfill_id: `${hourly}-Backfill-2026-03-03T00:00:00+00:00-2026-03-04T00:00:00+00:00` },
    });
    const [newest] = (await get(`${at}/backfills`)).json.results;
    expect(newest).toMatchObject({
      status: "Starting",
      start_at: "2026-03-03T00:00:00Z",
      end_at: "2026-03-04T00:00:00Z",
      progress: { total_runs: 24, finished_runs: 0, progress: 0 },
    });
    expect((await get(runs)).json.results[0]).toMatchObject({ backfill: newest.id, status: "Starting" });
  });

  test("without a start there is one run", async () => {
    const { post, worlds } = open();
    const { json } = await post(`${at}/backfills`, { start_at: null, end_at: "2026-03-03T00:30:00.5Z" });
    expect(json.backfill_id).toBe(`${hourly}-Backfill-START-2026-03-03T00:30:00.500000+00:00`);
    expect(worlds.current.batch_export_runs.at(-1)).toMatchObject({
      data_interval_start: null,
      data_interval_end: "2026-03-03T00:30:00.500000Z",
    });
  });

  test.each(["HTTP", "NoOp"])("%s may go on without an end", async (type) => {
    const world = worldWithExports();
    world.batch_exports = world.batch_exports.map((it) => ({ ...it, destination: { type, config: {} } }));
    const { post, worlds } = open(world);
    const { json } = await post(`${at}/backfills`, { start_at: "2026-03-04T00:00:00Z" });
    expect(json.backfill_id).toBe(`${hourly}-Backfill-2026-03-04T00:00:00+00:00-END`);
    expect(worlds.current.batch_export_backfills.at(-1)).toMatchObject({ end_at: null, total_runs: 5 });
  });

  const notIso = (it: string) => `Input ${it} is not a valid ISO formatted datetime.`;
  test.each<[unknown, string]>([
    [{ ...range, start_at: "yesterday" }, notIso("yesterday")],
    [{ ...range, start_at: "" }, notIso("")],
    [{ ...range, start_at: 5 }, notIso("5")],
    [{ ...range, end_at: "2026-02-30T00:00:00Z" }, notIso("2026-02-30T00:00:00Z")],
    [{ ...range, end_at: "2026-3-1T00:00:00Z" }, notIso("2026-3-1T00:00:00Z")],
    [{ ...range, start_at: "2026-03-01T00:00:00" }, "Input 2026-03-01T00:00:00 is naive."],
    [{ ...range, end_at: "2026-03-01" }, "Input 2026-03-01 is naive."],
    [{}, "Backfilling a BatchExport with no end date is not allowed"],
    [{ start_at: range.start_at, end_at: null }, "Backfilling a BatchExport with no end date is not allowed"],
    [
      { start_at: range.end_at, end_at: range.start_at },
      "The initial backfill datetime 'start_at' happens after 'end_at'",
    ],
    [
      { start_at: range.start_at, end_at: "2026-03-03T01:00:00+01:00" },
      "The initial backfill datetime 'start_at' happens after 'end_at'",
    ],
    [
      { ...range, end_at: "2026-03-04T06:06:07.500+00:00" },
      "The provided 'end_at' (2026-03-04T06:06:07.500000+00:00) is in the future",
    ],
    [
      { ...range, start_at: "2020-01-01T00:00:00Z" },
      "The range makes 54096 runs; phx-sim makes at most 10000 at once. Ask for a shorter range.",
    ],
  ])("%o is refused", async (body, detail) => {
    const { post, worlds } = open();
    for (const path of [`${at}/backfills`, `${at}/backfill`, `${inAcme}/backfill`]) {
      expect(await post(path, body)).toMatchObject({
        status: 400,
        json: { type: "validation_error", code: "invalid_input", attr: null, detail },
      });
    }
    expect(worlds.current.batch_export_backfills).toHaveLength(5);
  });

  test("one that has not ended can be cancelled with its runs, once", async () => {
    const { post, get } = open();
    const path = `${at}/backfills/${backfillId(2)}`;
    expect(await post(`${path}/cancel/`)).toMatchObject({ status: 200, json: { cancelled: true } });
    expect((await get(path)).json).toMatchObject({ status: "Cancelled", progress: null });
    expect((await get(`${runs}/${runId(12)}`)).json.status).toBe("Failed");
    expect((await get(`${runs}/${runId(13)}`)).json.status).toBe("Cancelled");
    expect(await post(`${path}/cancel`)).toMatchObject({
      status: 400,
      json: { detail: "Cannot cancel a backfill that is in 'Cancelled' status", attr: null },
    });
  });

  test.each([backfillId(5), uuidFor(1), "7"])("there is no backfill %s", async (id) => {
    const { get, post } = open();
    expect((await get(`${at}/backfills/${id}`)).status).toBe(404);
    expect((await post(`${at}/backfills/${id}/cancel`)).status).toBe(404);
  });
});

describe("logs", () => {
  const messagesOf = (json: { results: { message: string }[] }) => json.results.map((it) => it.message);

  test("a line, whole", async () => {
    const { get } = open();
    expect((await get(`${runs}/${runId(12)}/logs/`)).json).toEqual({
      count: 2,
      next: null,
      previous: null,
      results: [
        {
          log_source_id: hourly,
          instance_id: runId(12),
          timestamp: "2026-03-03T13:00:00.250000Z",
          level: "ERROR",
          message: "Access denied",
        },
        {
          log_source_id: hourly,
          instance_id: runId(12),
          timestamp: "2026-03-03T13:00:00Z",
          level: "INFO",
          message: "Started",
        },
      ],
    });
  });

  const all = ["STARTED again", "Access denied", "Started", "Created"];
  test.each([
    ["", all],
    ["?limit=2", all.slice(0, 2)],
    ["?limit=3&offset=1", all.slice(1, 3)],
    ["?level=ERROR", ["Access denied"]],
    ["?level=error&level=debug", ["STARTED again", "Access denied"]],
    ["?level=error,%20info", ["Access denied", "Started", "Created"]],
    ["?level=WARNING", []],
    ["?search=started", ["STARTED again", "Started"]],
    ["?search=.*", []],
    ["?after=2026-03-03T13:00:00Z", ["STARTED again", "Access denied"]],
    ["?before=2026-03-03T13:00:00.250Z", ["Started", "Created"]],
    [`?instance_id=${runId(13)}`, ["STARTED again"]],
    ["?instance_id=x", []],
    ["?limit=&after=&level=&search=&instance_id=", all],
  ])("%s", async (query, messages) => {
    const { get } = open();
    for (const path of [at, inAcme]) {
      const { status, json } = await get(`${path}/logs${query}`);
      expect(status).toBe(200);
      expect(messagesOf(json)).toEqual(messages);
    }
  });

  test("the count is of the lines that were read, not of all", async () => {
    const { get } = open();
    expect((await get(`${at}/logs?limit=2`)).json).toMatchObject({ count: 2, next: null });
  });

  test("fifty lines are read by default", async () => {
    const { get, post } = open();
    const range = { start_at: "2026-03-01T00:00:00Z", end_at: "2026-03-04T00:00:00Z" };
    await post(`${at}/backfills`, range);
    expect((await get(`${at}/logs`)).json.count).toBe(50);
    expect((await get(`${at}/logs?limit=500`)).json.count).toBe(4 + 1 + 72);
  });

  const time =
    "Datetime has wrong format. Use one of these formats instead: YYYY-MM-DDThh:mm[:ss[.uuuuuu]][+HH:MM|-HH:MM|Z].";
  test.each([
    ["?limit=0", "min_value", "limit", "Ensure this value is greater than or equal to 1."],
    ["?limit=501", "max_value", "limit", "Ensure this value is less than or equal to 500."],
    ["?limit=many", "invalid_input", "limit", "A valid integer is required."],
    ["?after=-7d", "invalid_input", "after", time],
    ["?before=x", "invalid_input", "before", time],
  ])("%s is refused", async (query, code, attr, detail) => {
    const { get } = open();
    for (const path of [`${at}/logs`, `${inAcme}/logs`, `${runs}/${runId(12)}/logs`]) {
      expect(await get(`${path}${query}`)).toMatchObject({ status: 400, json: { code, attr, detail } });
    }
  });

  test("another export's lines are not in it", async () => {
    const { get } = open();
    const theirs = `/api/projects/3/batch_exports/${foreign}/logs`;
    expect(messagesOf((await get(theirs, { key: "phx_eve" })).json)).toEqual(["Secret of Globex"]);
    expect((await get(theirs)).status).toBe(403);
  });
});

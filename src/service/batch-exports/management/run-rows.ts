import { z } from "zod";
import type { Call } from "../../../kernel/http/call.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { datetime, integer, text } from "../../../state/documents/lenient-fields.ts";
import { RunShape } from "../../../state/documents/schemas/batch-export.ts";
import { compareTimes } from "../../../state/documents/time.ts";
import type { BatchExport, BatchExportLog, BatchExportRun } from "../../../state/documents/world.ts";
import { firstInvalid, invalid } from "../../api-frame/fields.ts";
import { pageOf, pageSchema, readMoment } from "../../api-frame/lists.ts";
import { inProject, managementRow } from "../../api-frame/row.ts";
import type { ExportDesk } from "../engine.ts";
import { isOpen } from "../ports.ts";
import { Begun, begun, Cancelled } from "./backfill-rows.ts";
import { LogShape, showLog, showRun } from "./batch-export-shapes.ts";
import { cursorPage, cursorPageSchema, cursorQuery, orderOf, orderQuery } from "./cursor-pages.ts";
import { everywhere, type Records, requireProject } from "./records.ts";

const path = "/api/projects/:project_id/batch_exports/:id/runs";
const pageSize = 100;

/** Which two parameters bound the list, and which times of a run they bound; both ends are included. */
const windows = {
  created_at: {
    from: "after",
    to: "before",
    first: (run: BatchExportRun) => run.created_at,
    last: (run: BatchExportRun) => run.created_at,
  },
  data_interval_start: {
    from: "start",
    to: "end",
    first: (run: BatchExportRun) => run.data_interval_start ?? "",
    last: (run: BatchExportRun) => run.data_interval_end,
  },
} as const;

const listQuery = cursorQuery.extend({
  ...orderQuery(Object.keys(windows)),
  after: z
    .string()
    .describe("Created at or after this time, which may be relative like -30d (default: seven days ago)"),
  before: z.string().describe("Created at or before this time"),
  start: z.string().describe("When ordered by data_interval_start: instead of after"),
  end: z.string().describe("When ordered by data_interval_start: instead of before"),
});

function runsAskedFor(call: Call, runs: readonly BatchExportRun[], now: number) {
  const { by, order, sorted } = orderOf<BatchExportRun, keyof typeof windows>(call, runs, {
    created_at: windows.created_at.first,
    data_interval_start: windows.data_interval_start.first,
  });
  const { from, to, first, last } = windows[by];
  const earliest = readMoment(call.query.get(from) || "-7d", now);
  const latest = readMoment(call.query.get(to) || "-0d", now);
  const asked = sorted.filter(
    (run) => first(run) !== "" && compareTimes(first(run), earliest) >= 0 && compareTimes(last(run), latest) <= 0,
  );
  return { order, asked };
}

export const runRows = (desk: ExportDesk, records: Records): Endpoint[] => [
  ...managementRow(desk, {
    method: "GET",
    path,
    summary: "Runs of a batch export, the newest first (default: of the last seven days)",
    access: inProject("batch_export:read"),
    query: listQuery,
    reply: cursorPageSchema(RunShape),
    handle(request) {
      const runs = records.runsOf(records.exportOf(request));
      const { order, asked } = runsAskedFor(request.call, runs, desk.clock.now());
      return cursorPage(request.call, asked, order, { size: pageSize, show: showRun });
    },
  }),
  ...managementRow(desk, {
    method: "GET",
    path: `${path}/:run_id`,
    summary: "One run",
    access: inProject("batch_export:read"),
    reply: RunShape,
    handle: (request) => showRun(records.runOf(request, records.exportOf(request))),
  }),
];

export function runActionRows(desk: ExportDesk, records: Records): Endpoint[] {
  function retry(it: BatchExport, run: BatchExportRun) {
    desk.exports.retry(it, run);
    return begun(it, { start_at: run.data_interval_start, end_at: run.data_interval_end });
  }
  return [
    ...managementRow(desk, {
      method: "POST",
      path: `${path}/:run_id/retry`,
      summary: "Runs the interval of a run again",
      access: inProject("batch_export:write"),
      reply: Begun,
      handle(request) {
        const it = records.exportOf(request);
        return retry(it, records.runOf(request, it));
      },
    }),
    ...managementRow(desk, {
      method: "POST",
      path: `${path}/:run_id/cancel`,
      summary: "Cancels a run that has not ended",
      access: inProject("batch_export:write"),
      reply: Cancelled,
      handle(request) {
        const run = records.runOf(request, records.exportOf(request));
        if (!isOpen(run)) throw invalid(`Cannot cancel a run that is in '${run.status}' status`);
        desk.exports.cancel(run);
        return { cancelled: true };
      },
    }),
  ];
}

/** Parameters of a log. Upstream PostHog/posthog posthog/api/log_entries.py. */
const runLogQuery = z.object({
  limit: integer({ min: 1, max: 500 }).describe("Number of lines (default: 50)"),
  offset: z.int().describe("Index of the first of those lines"),
  after: datetime().describe("Written after this time"),
  before: datetime().describe("Written before this time"),
  level: z.string().describe("Levels, comma-separated or repeated"),
  search: text({ blank: true }).describe("Part of the message, in upper or lower case"),
});
const logQuery = runLogQuery.extend({ instance_id: text({ blank: true }).describe("Id of a run") });

/** What is read of them; pages read `offset`. */
const LogQuery = logQuery.omit({ offset: true, level: true }).partial();
type LogQuery = z.infer<typeof LogQuery> & { levels: ReadonlySet<string> };

function readLogQuery({ query }: Call): LogQuery {
  // A parameter without a value is none.
  const values = Object.keys(LogQuery.shape).map((name) => [name, query.get(name) || undefined]);
  const result = LogQuery.safeParse(Object.fromEntries(values), { reportInput: true });
  if (!result.success) throw firstInvalid(result.error);
  const levels = query.getAll("level").flatMap((it) => it.split(","));
  return { ...result.data, levels: new Set(levels.map((it) => it.trim().toUpperCase()).filter(Boolean)) };
}

/** The matching lines, at most `limit` of them; as upstream, the answer's count is theirs, not the total. */
function linesOf(logs: readonly BatchExportLog[], query: LogQuery, run: string | undefined): BatchExportLog[] {
  const { after, before, levels, search = "" } = query;
  const wanted = search.toLowerCase();
  const matches = (line: BatchExportLog): boolean =>
    (run === undefined || line.run === run) &&
    (after === undefined || compareTimes(line.timestamp, after) > 0) &&
    (before === undefined || compareTimes(line.timestamp, before) < 0) &&
    (levels.size === 0 || levels.has(line.level)) &&
    line.message.toLowerCase().includes(wanted);
  return logs.filter(matches).slice(0, query.limit ?? 50);
}

export function logRows(desk: ExportDesk, records: Records): Endpoint[] {
  return [
    ...everywhere(desk, {
      method: "GET",
      path: "/batch_exports/:id/logs",
      contract: true,
      summary: "What an export and its runs logged, the newest first",
      scope: "batch_export:read",
      query: logQuery,
      reply: pageSchema(LogShape),
      handle(request) {
        const it = records.exportOf(request);
        const query = readLogQuery(request.call);
        requireProject(desk, request);
        const lines = linesOf(records.logsOf(it), query, query.instance_id?.toLowerCase());
        return pageOf(request.call, lines, showLog);
      },
    }),
    ...managementRow(desk, {
      method: "GET",
      path: "/api/projects/:project_id/batch_exports/:id/runs/:run_id/logs",
      summary: "What a run logged, the newest first",
      access: inProject("batch_export:read"),
      query: runLogQuery,
      reply: pageSchema(LogShape),
      handle(request) {
        const it = records.exportOf(request);
        const run = records.runOf(request, it);
        const lines = linesOf(records.logsOf(it), readLogQuery(request.call), run.id);
        return pageOf(request.call, lines, showLog);
      },
    }),
  ];
}

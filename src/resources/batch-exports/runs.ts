import type { Call } from "../../http/call.ts";
import type { Endpoint, QueryParameter } from "../../http/endpoint.ts";
import { isOpen } from "../../model/export-engine.ts";
import { compareTimes } from "../../model/time.ts";
import type { BatchExport, BatchExportRun } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { invalid } from "../invalid.ts";
import { readMoment } from "../moments.ts";
import { projectEndpoints } from "../row.ts";
import { Begun, begun, Cancelled } from "./backfills.ts";
import { cursorPage, cursorPageSchema, cursorQuery } from "./cursor-page.ts";
import { orderOf, orderQuery } from "./order.ts";
import type { Records } from "./records.ts";
import { RunShape, showRun } from "./shapes.ts";

const path = "/batch_exports/:id/runs";
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

const moment = (name: string, description: string): QueryParameter => ({
  name,
  description,
  schema: { type: "string" },
});

const listQuery = [
  cursorQuery,
  orderQuery(Object.keys(windows)),
  moment("after", "Created at or after this time; relative like -30d, too; seven days ago unless told"),
  moment("before", "Created at or before this time"),
  moment("start", "When ordered by data_interval_start: instead of after"),
  moment("end", "When ordered by data_interval_start: instead of before"),
];

/** The runs that a call asks for, in its order. */
function runsAskedFor(call: Call, runs: readonly BatchExportRun[], now: number) {
  const { by, order, sorted } = orderOf<BatchExportRun, keyof typeof windows>(call, runs, {
    created_at: windows.created_at.first,
    data_interval_start: windows.data_interval_start.first,
  });
  const { from, to, first, last } = windows[by];
  const earliest = readMoment(call.query.get(from) || "-7d", now);
  const latest = readMoment(call.query.get(to) || "-0d", now);
  const asked = sorted.filter(
    (run) =>
      first(run) !== "" && compareTimes(first(run), earliest) >= 0 && compareTimes(last(run), latest) <= 0,
  );
  return { order, asked };
}

/** The runs of an export. */
export const runRows = (desk: ResourceDesk, records: Records): Endpoint[] => [
  ...projectEndpoints(desk, {
    methods: ["GET"],
    path,
    summary: "Runs of a batch export, the newest first, of the last seven days unless told",
    scope: "batch_export:read",
    query: listQuery,
    reply: cursorPageSchema(RunShape),
    handle(request) {
      const runs = records.runsOf(records.exportOf(request));
      const { order, asked } = runsAskedFor(request.call, runs, desk.clock.now());
      return cursorPage(request.call, asked, order, { size: pageSize, show: showRun });
    },
  }),
  ...projectEndpoints(desk, {
    methods: ["GET"],
    path: `${path}/:run_id`,
    summary: "One run",
    scope: "batch_export:read",
    reply: RunShape,
    handle: (request) => showRun(records.runOf(request, records.exportOf(request))),
  }),
];

/** Running an interval again, and ending a run early. */
export function runActionRows(desk: ResourceDesk, records: Records): Endpoint[] {
  function retry(it: BatchExport, run: BatchExportRun) {
    desk.exports.retry(it, run);
    return begun(it, { start_at: run.data_interval_start, end_at: run.data_interval_end });
  }
  return [
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: `${path}/:run_id/retry`,
      summary: "Runs the interval of a run again",
      scope: "batch_export:write",
      reply: Begun,
      handle(request) {
        const it = records.exportOf(request);
        return retry(it, records.runOf(request, it));
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: `${path}/:run_id/cancel`,
      summary: "Cancels a run that has not ended",
      scope: "batch_export:write",
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

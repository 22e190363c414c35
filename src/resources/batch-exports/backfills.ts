import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { type BackfillRange, isOpen } from "../../model/export-engine.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExport, BatchExportBackfill } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { invalid } from "../invalid.ts";
import { projectEndpoints } from "../row.ts";
import { backfillName, readRange } from "./backfill-range.ts";
import { BackfillBody } from "./body.ts";
import { cursorPage, cursorPageSchema, cursorQuery } from "./cursor-page.ts";
import { everywhere, requireProject } from "./everywhere.ts";
import { orderOf, orderQuery } from "./order.ts";
import type { Records } from "./records.ts";
import { BackfillShape, showBackfill } from "./shapes.ts";

const path = "/batch_exports/:id/backfills";
const pageSize = 50;

/** Names a backfill as the service does: not by the id of its document. */
export const Begun = z.object({ backfill_id: z.string() }).meta({ title: "BatchExportBackfillBegun" });
export const Cancelled = z.object({ cancelled: z.boolean() }).meta({ title: "BatchExportCancelled" });

export const begun = ({ id }: BatchExport, range: BackfillRange): z.infer<typeof Begun> => ({
  backfill_id: backfillName(id, range),
});

/** Starting backfills. */
export function startingRows(desk: ResourceDesk, records: Records): Endpoint[] {
  function begin(it: BatchExport, body: BackfillBody): z.infer<typeof Begun> {
    const range = readRange(body, it.destination, wireTime(desk.clock.now()));
    desk.exports.backfill(it, range);
    return begun(it, range);
  }
  return [
    ...everywhere<BackfillBody>(desk, {
      methods: ["POST"],
      path: "/batch_exports/:id/backfill",
      contract: "POST /api/organizations/:organization_id/batch_exports/:id/backfill",
      summary: "Starts a backfill of start_at to end_at",
      scope: "batch_export:write",
      body: BackfillBody,
      ...(desk.dialect === "production" && { reply: Begun }),
      handle(request) {
        const it = records.exportOf(request);
        const body = request.body();
        requireProject(desk, request);
        const answer = begin(it, body);
        return desk.dialect === "production" ? answer : undefined;
      },
    }),
    ...projectEndpoints<BackfillBody>(desk, {
      methods: ["POST"],
      path,
      summary: "Starts a backfill of start_at to end_at",
      scope: "batch_export:write",
      body: BackfillBody,
      reply: Begun,
      handle: (request) => begin(records.exportOf(request, "BatchExport"), request.body()),
    }),
  ];
}

/** Watching and cancelling backfills. */
export function backfillRows(desk: ResourceDesk, records: Records): Endpoint[] {
  const show = (it: BatchExportBackfill, { project }: BatchExport) =>
    showBackfill(it, project, () => records.runsOfBackfill(it).filter((run) => !isOpen(run)).length);
  return [
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path,
      summary: "Backfills of a batch export, the newest first",
      scope: "batch_export:read",
      query: [cursorQuery, orderQuery(["created_at", "start_at"])],
      reply: cursorPageSchema(BackfillShape),
      handle(request) {
        const it = records.exportOf(request);
        const { order, sorted } = orderOf(request.call, records.backfillsOf(it), {
          created_at: (one) => one.created_at,
          start_at: (one) => one.start_at ?? "",
        });
        return cursorPage(request.call, sorted, order, { size: pageSize, show: (one) => show(one, it) });
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["GET"],
      path: `${path}/:backfill_id`,
      summary: "One backfill",
      scope: "batch_export:read",
      reply: BackfillShape,
      handle(request) {
        const it = records.exportOf(request);
        return show(records.backfillOf(request, it), it);
      },
    }),
    ...projectEndpoints(desk, {
      methods: ["POST"],
      path: `${path}/:backfill_id/cancel`,
      summary: "Cancels a backfill and its runs that have not ended",
      scope: "batch_export:write",
      reply: Cancelled,
      handle(request) {
        const it = records.backfillOf(request, records.exportOf(request));
        if (!isOpen(it)) throw invalid(`Cannot cancel a backfill that is in '${it.status}' status`);
        desk.exports.cancelBackfill(it);
        return { cancelled: true };
      },
    }),
  ];
}

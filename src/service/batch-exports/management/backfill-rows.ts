import { z } from "zod";
import type { Json } from "../../../kernel/base/json.ts";
import type { Endpoint } from "../../../kernel/http/endpoint.ts";
import { hasZone, readWireTime } from "../../../state/documents/lenient-fields.ts";
import { compareTimes, wireTime } from "../../../state/documents/time.ts";
import type { BatchExport, BatchExportBackfill } from "../../../state/documents/world.ts";
import { invalid } from "../../api-frame/fields.ts";
import { inProject, managementRow } from "../../api-frame/row.ts";
import type { ExportDesk } from "../engine.ts";
import { type BackfillRange, isOpen } from "../ports.ts";
import { BackfillBody, BackfillShape, showBackfill } from "./batch-export-shapes.ts";
import { cursorPage, cursorPageSchema, cursorQuery, orderOf, orderQuery } from "./cursor-pages.ts";
import { everywhere, type Records, requireProject } from "./records.ts";

/** `2025-03-01`, with or without a time behind it. */
const isoDate = /^\d{4}-\d{2}-\d{2}(?=$|[T ])/;

/** One bound as a wire time; null is open. @throws SimError invalid_input */
function readBound(input: Json | undefined): string | null {
  if (input === undefined || input === null) return null;
  const text = typeof input === "string" ? input : JSON.stringify(input);
  const isDate = isoDate.exec(text)?.[0] === text;
  const time = isoDate.test(text) ? readWireTime(isDate ? `${text}T00:00` : text) : undefined;
  if (time === undefined) throw invalid(`Input ${text} is not a valid ISO formatted datetime.`);
  if (!hasZone(text)) throw invalid(`Input ${text} is naive.`);
  return time;
}

const isoformat = (time: string): string => time.replace("Z", "+00:00");

/** The destinations that may be kept up to date by a backfill without an end. */
const endless = ["HTTP", "NoOp"];

/**
 * The range of a requested backfill. Upstream PostHog/posthog posthog/batch_exports/http.py, without
 * its look-up of the first event: a range without data gives runs without data.
 * @param now wire time
 * @throws SimError invalid_input
 */
function readRange(body: BackfillBody, { type }: BatchExport["destination"], now: string): BackfillRange {
  const start_at = readBound(body.start_at);
  const end_at = readBound(body.end_at);
  if (end_at === null && !endless.includes(type)) {
    throw invalid("Backfilling a BatchExport with no end date is not allowed");
  }
  if (start_at !== null && end_at !== null) {
    if (compareTimes(start_at, end_at) >= 0) {
      throw invalid("The initial backfill datetime 'start_at' happens after 'end_at'");
    }
    if (compareTimes(end_at, now) > 0) {
      throw invalid(`The provided 'end_at' (${isoformat(end_at)}) is in the future`);
    }
  }
  return { start_at, end_at };
}

/** The name under which the service runs a backfill; it is what callers get to see. */
const backfillName = (batchExport: string, { start_at, end_at }: BackfillRange): string =>
  `${batchExport}-Backfill-${start_at === null ? "START" : isoformat(start_at)}-${end_at === null ? "END" : isoformat(end_at)}`;

const path = "/api/projects/:project_id/batch_exports/:id/backfills";
const pageSize = 50;

/** Names a backfill as the service does: not by the id of its document. */
export const Begun = z.object({ backfill_id: z.string() }).meta({ title: "BatchExportBackfillBegun" });
export const Cancelled = z.object({ cancelled: z.boolean() }).meta({ title: "BatchExportCancelled" });

export const begun = ({ id }: BatchExport, range: BackfillRange): z.infer<typeof Begun> => ({
  backfill_id: backfillName(id, range),
});

export function startingRows(desk: ExportDesk, records: Records): Endpoint[] {
  function begin(it: BatchExport, body: BackfillBody): z.infer<typeof Begun> {
    const range = readRange(body, it.destination, wireTime(desk.clock.now()));
    desk.exports.backfill(it, range);
    return begun(it, range);
  }
  return [
    ...everywhere<BackfillBody>(desk, {
      method: "POST",
      path: "/batch_exports/:id/backfill",
      contract: true,
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
    ...managementRow(desk, {
      method: "POST",
      path,
      summary: "Starts a backfill of start_at to end_at",
      access: inProject("batch_export:write"),
      body: BackfillBody,
      reply: Begun,
      handle: (request) => begin(records.exportOf(request, "BatchExport"), request.body()),
    }),
  ];
}

export function backfillRows(desk: ExportDesk, records: Records): Endpoint[] {
  const show = (it: BatchExportBackfill, { project }: BatchExport) =>
    showBackfill(it, project, () => records.runsOfBackfill(it).filter((run) => !isOpen(run)).length);
  return [
    ...managementRow(desk, {
      method: "GET",
      path,
      summary: "Backfills of a batch export, the newest first",
      access: inProject("batch_export:read"),
      query: cursorQuery.extend(orderQuery(["created_at", "start_at"])),
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
    ...managementRow(desk, {
      method: "GET",
      path: `${path}/:backfill_id`,
      summary: "One backfill",
      access: inProject("batch_export:read"),
      reply: BackfillShape,
      handle(request) {
        const it = records.exportOf(request);
        return show(records.backfillOf(request, it), it);
      },
    }),
    ...managementRow(desk, {
      method: "POST",
      path: `${path}/:backfill_id/cancel`,
      summary: "Cancels a backfill and its runs that have not ended",
      access: inProject("batch_export:write"),
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

import type { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { isOpen } from "../../model/export-engine.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExport } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { pageOf, pageQuery, pageSchema } from "../page.ts";
import type { Request } from "../row.ts";
import { ExportChanges, NewExport } from "./body.ts";
import { everywhere } from "./everywhere.ts";
import type { Home, Records } from "./records.ts";
import { exportShape, showExport } from "./shapes.ts";
import { createExport, save, updateExport } from "./write.ts";

const list = "/batch_exports";
const one = "/batch_exports/:id";
const contracted = (method: string, path: string) => `${method} /api/organizations/:organization_id${path}`;

const showWith = (desk: ResourceDesk, records: Records) => (it: BatchExport) =>
  showExport(it, records.runsOf(it), desk.dialect);

/** Listing exports and looking at one. */
export function readingRows(desk: ResourceDesk, records: Records): Endpoint[] {
  const shape = exportShape(desk.dialect);
  const show = showWith(desk, records);
  return [
    ...everywhere(desk, {
      methods: ["GET"],
      path: list,
      contract: contracted("GET", list),
      summary: "Batch exports, the newest first",
      scope: "batch_export:read",
      query: pageQuery,
      reply: pageSchema(shape),
      handle: (request) => pageOf(request.call, records.exportsAt(request), show),
    }),
    ...everywhere(desk, {
      methods: ["GET"],
      path: one,
      contract: contracted("GET", one),
      summary: "One batch export",
      scope: "batch_export:read",
      reply: shape,
      handle: (request) => show(records.exportOf(request)),
    }),
  ];
}

/** Making and changing exports. */
export function writingRows(desk: ResourceDesk, records: Records): Endpoint[] {
  const reply = exportShape(desk.dialect);
  const show = showWith(desk, records);
  const update = (request: Request<z.infer<typeof ExportChanges>> & Home) => {
    const stored = records.exportOf(request);
    return show(updateExport(desk, stored, request.body()));
  };
  return [
    ...everywhere<z.infer<typeof NewExport>>(desk, {
      methods: ["POST"],
      path: list,
      contract: contracted("POST", list),
      summary: "A new batch export",
      scope: "batch_export:write",
      status: 201,
      body: NewExport,
      reply,
      handle: (request) => show(createExport(desk, request)),
    }),
    ...everywhere<z.infer<typeof ExportChanges>>(desk, {
      methods: ["PATCH"],
      path: one,
      contract: contracted("PATCH", one),
      summary: "Changes a batch export; its configuration is merged, secrets that are not sent stay",
      scope: "batch_export:write",
      body: ExportChanges,
      reply,
      handle: update,
    }),
    ...everywhere<z.infer<typeof NewExport>>(desk, {
      methods: ["PUT"],
      path: one,
      summary: "Changes a batch export; name, destination and interval are required",
      scope: "batch_export:write",
      body: NewExport,
      reply,
      handle: update,
    }),
  ];
}

/** Deleting exports: they are hidden, and nothing of theirs runs on. */
export const deletingRows = (desk: ResourceDesk, records: Records): Endpoint[] =>
  everywhere(desk, {
    methods: ["DELETE"],
    path: one,
    contract: contracted("DELETE", one),
    summary: "Deletes a batch export and cancels its backfills",
    scope: "batch_export:write",
    status: 204,
    handle(request) {
      const it = records.exportOf(request);
      for (const backfill of records.backfillsOf(it).filter(isOpen)) desk.exports.cancelBackfill(backfill);
      save(desk, { ...it, deleted: true, last_updated_at: wireTime(desk.clock.now()) });
      return undefined;
    },
  });

import { z } from "zod";
import type { Endpoint } from "../../http/endpoint.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExport } from "../../model/world.ts";
import type { ResourceDesk } from "../desk.ts";
import { UnpauseBody } from "./body.ts";
import { everywhere } from "./everywhere.ts";
import type { Records } from "./records.ts";
import { save } from "./write.ts";

const Paused = z.object({ paused: z.boolean() }).meta({ title: "BatchExportPaused" });

function pause(desk: ResourceDesk, it: BatchExport): void {
  const now = wireTime(desk.clock.now());
  save(desk, { ...it, paused: true, last_paused_at: now, last_updated_at: now });
}

/** The backfill comes first: when the pause was too long to be filled, all stays as it was. */
function unpause(desk: ResourceDesk, it: BatchExport, isFilled: boolean): void {
  const now = wireTime(desk.clock.now());
  if (isFilled) desk.exports.backfill(it, { start_at: it.last_paused_at, end_at: now });
  save(desk, { ...it, paused: false, last_updated_at: now });
}

/** Pausing exports and letting them go on. */
export const pausingRows = (desk: ResourceDesk, records: Records): Endpoint[] => [
  ...everywhere(desk, {
    methods: ["POST"],
    path: "/batch_exports/:id/pause",
    summary: "Pauses a batch export",
    scope: "batch_export:write",
    reply: Paused,
    handle(request) {
      const it = records.exportOf(request);
      if (!it.paused) pause(desk, it);
      return { paused: true };
    },
  }),
  ...everywhere<z.infer<typeof UnpauseBody>>(desk, {
    methods: ["POST"],
    path: "/batch_exports/:id/unpause",
    summary: "Unpauses a batch export, and backfills what was missed if asked to",
    scope: "batch_export:write",
    body: UnpauseBody,
    reply: Paused,
    handle(request) {
      const it = records.exportOf(request);
      const { backfill = false } = request.body();
      if (it.paused) unpause(desk, it, backfill);
      return { paused: false };
    },
  }),
];

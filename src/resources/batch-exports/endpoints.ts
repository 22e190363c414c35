import type { Endpoint } from "../../http/endpoint.ts";
import type { ResourceDesk } from "../desk.ts";
import { backfillRows, startingRows } from "./backfills.ts";
import { deletingRows, readingRows, writingRows } from "./exports.ts";
import { logRows } from "./logs.ts";
import { pausingRows } from "./pausing.ts";
import { openRecords, type Records } from "./records.ts";
import { runActionRows, runRows } from "./runs.ts";

const rooms: readonly ((desk: ResourceDesk, records: Records) => Endpoint[])[] = [
  readingRows,
  writingRows,
  deletingRows,
  pausingRows,
  runRows,
  runActionRows,
  startingRows,
  backfillRows,
  logRows,
];

/** Batch exports at projects' and organizations' URLs; their runs and backfills at projects' only. */
export function batchExportEndpoints(desk: ResourceDesk): Endpoint[] {
  const records = openRecords(desk);
  return rooms.flatMap((rows) => rows(desk, records));
}

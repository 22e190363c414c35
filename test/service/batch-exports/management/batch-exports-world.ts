import type { World } from "../../../../src/state/documents/world.ts";
import { aBackfill, aBatchExport, aLog, aRun } from "../../../support/documents.ts";
import { globex, twoOrganizations, uuidOf } from "../../management/world.ts";

/** Batch exports of `twoOrganizations`; `hourly`, of project 1, is the one with a past. */

export const hourly: string = uuidOf("batch export hourly");
export const weekly: string = uuidOf("batch export weekly");
export const foreign: string = uuidOf("batch export of globex");
const gone: string = uuidOf("batch export that was deleted");

export const runId = (n: number): string => uuidOf(`run ${n}`);
export const backfillId = (n: number): string => uuidOf(`backfill ${n}`);

const s3 = {
  type: "S3",
  config: {
    bucket_name: "bucket",
    region: "eu-west-1",
    prefix: "events/",
    aws_access_key_id: "***",
    aws_secret_access_key: "***",
  },
};

/** The run of one hour of 2026-03-03, created when the hour was over. */
const runOf = (hour: number) => {
  const at = (it: number) => `2026-03-03T${String(it).padStart(2, "0")}:00:00Z`;
  return aRun({
    id: runId(hour),
    batch_export: hourly,
    data_interval_start: at(hour),
    data_interval_end: at(hour + 1),
    created_at: at(hour + 1),
    finished_at: at(hour + 1),
    last_updated_at: at(hour + 1),
  });
};

export function worldWithExports(): World {
  const world = twoOrganizations();
  world.batch_exports = [
    aBatchExport({ id: hourly, project: 1, name: "Hourly", destination: s3 }),
    aBatchExport({
      id: weekly,
      project: 2,
      name: "Weekly",
      interval: "week",
      paused: true,
      last_paused_at: "2026-02-20T00:00:00Z",
      created_at: "2025-03-01T09:30:00.500000Z",
    }),
    aBatchExport({ id: gone, project: 1, name: "Gone", deleted: true }),
    aBatchExport({ id: foreign, project: 3, name: `Of ${globex}`, created_at: "2026-01-01T00:00:00Z" }),
  ];
  world.batch_export_runs = [
    ...Array.from({ length: 12 }, (_, hour) => runOf(hour)),
    { ...runOf(12), status: "Failed", latest_error: "Access denied", backfill: backfillId(2) },
    { ...runOf(13), status: "Running", finished_at: null, backfill: backfillId(2) },
    aRun({ id: runId(99), batch_export: hourly, created_at: "2026-01-05T00:00:00Z" }),
    aRun({ id: runId(100), batch_export: foreign, created_at: "2026-03-03T00:00:00Z" }),
  ];
  world.batch_export_backfills = [
    aBackfill({ id: backfillId(1), batch_export: hourly, created_at: "2026-03-01T00:00:00Z" }),
    aBackfill({
      id: backfillId(2),
      batch_export: hourly,
      status: "Running",
      start_at: "2026-03-03T12:00:00Z",
      end_at: "2026-03-03T15:00:00Z",
      total_runs: 3,
      created_at: "2026-03-03T13:00:00Z",
      finished_at: null,
    }),
    aBackfill({
      id: backfillId(3),
      batch_export: hourly,
      status: "Starting",
      start_at: null,
      total_runs: 1,
      created_at: "2026-03-03T12:30:00Z",
      finished_at: null,
    }),
    aBackfill({
      id: backfillId(4),
      batch_export: hourly,
      status: "Failed",
      start_at: "2026-02-01T00:00:00Z",
      created_at: "2026-02-28T00:00:00Z",
    }),
    aBackfill({ id: backfillId(5), batch_export: foreign }),
  ];
  world.batch_export_logs = [
    aLog({ id: 1, batch_export: hourly, timestamp: "2026-03-03T01:00:00Z", message: "Created" }),
    aLog({
      id: 2,
      batch_export: hourly,
      run: runId(12),
      timestamp: "2026-03-03T13:00:00.250000Z",
      level: "ERROR",
      message: "Access denied",
    }),
    aLog({ id: 3, batch_export: hourly, run: runId(12), timestamp: "2026-03-03T13:00:00Z", message: "Started" }),
    aLog({
      id: 4,
      batch_export: hourly,
      run: runId(13),
      timestamp: "2026-03-03T14:00:00Z",
      level: "DEBUG",
      message: "STARTED again",
    }),
    aLog({ id: 5, batch_export: foreign, message: "Secret of Globex" }),
  ];
  return world;
}

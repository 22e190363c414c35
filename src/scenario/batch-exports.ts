import type { Path } from "../base/json-pointer.ts";
import { readDuration } from "../base/time-text.ts";
import { maskSecrets } from "../world/batch-export-secrets.ts";
import { blankBatchExport } from "../world/blank.ts";
import type { BatchExport, BatchExportBackfill, BatchExportRun, Project } from "../world/world.ts";
import type { Building } from "./building.ts";
import { createNames, type Names } from "./names.ts";
import type {
  AuthoredBackfill,
  AuthoredBatchExport,
  AuthoredLogs,
  AuthoredOutcome,
  AuthoredRun,
} from "./schemas/batch-export.ts";
import { beginning, timeOr } from "./times.ts";

/** Adds a batch export with its past: backfills, runs and what they logged. */
export function addBatchExport(
  building: Building,
  project: Project,
  authored: AuthoredBatchExport,
  at: Path,
): void {
  const { runs = [], backfills = [], logs = [], scripted_runs: scripted, ...given } = authored;
  const created = timeOr(given.created_at, beginning);
  const id = building.uuid(`batch_export:${project.api_key}/${given.name}`, given.id, [...at, "id"]);
  const batchExport = blankBatchExport(
    {
      ...given,
      ...(scripted && { scripted_runs: scripted.map(outcomeOf) }),
      id,
      project: project.id,
      destination: maskSecrets(given.destination),
      created_at: created,
      last_updated_at: created,
      last_paused_at: timeOr(given.last_paused_at, null),
      start_at: timeOr(given.start_at, null),
      end_at: timeOr(given.end_at, null),
    },
    beginning,
  );
  building.world.batch_exports.push(batchExport);
  addLogs(building, id, "", created, logs, at);
  const names = addBackfills(building, batchExport, backfills, [...at, "backfills"]);
  for (const [i, run] of runs.entries()) addRun(building, batchExport, names, run, [...at, "runs", i]);
}

const outcomeOf = ({ status, after = 0, latest_error: error }: AuthoredOutcome) => ({
  status,
  after: typeof after === "string" ? (readDuration(after) ?? 0) : after,
  latest_error: error ?? null,
});

/** Ended with its creation unless a time is given or it has not ended. */
const endOf = (
  { status, finished_at: given }: Pick<AuthoredRun, "status" | "finished_at">,
  created: string,
): string | null =>
  given === undefined
    ? status === "Starting" || status === "Running"
      ? null
      : created
    : timeOr(given, null);

function addBackfills(
  building: Building,
  { id: batchExport, created_at }: BatchExport,
  authored: readonly AuthoredBackfill[],
  at: Path,
): Names<BatchExportBackfill> {
  const names = createNames<BatchExportBackfill>("backfill", building.problems);
  for (const [i, one] of authored.entries()) {
    const created = timeOr(one.created_at, created_at);
    const finished = endOf(one, created);
    const backfill: BatchExportBackfill = {
      id: building.uuid(`backfill:${batchExport}/${i}`, one.id, [...at, i, "id"]),
      batch_export: batchExport,
      start_at: timeOr(one.start_at, null),
      end_at: timeOr(one.end_at, null),
      status: one.status,
      total_runs: one.total_runs ?? null,
      created_at: created,
      finished_at: finished,
      last_updated_at: finished ?? created,
    };
    building.world.batch_export_backfills.push(backfill);
    names.add(backfill, { id: backfill.id });
  }
  return names;
}

function addRun(
  building: Building,
  { id: batchExport }: BatchExport,
  backfills: Names<BatchExportBackfill>,
  authored: AuthoredRun,
  at: Path,
): void {
  const end = timeOr(authored.data_interval_end, beginning);
  const created = timeOr(authored.created_at, end);
  const finished = endOf(authored, created);
  const { logs = [], backfill, ...given } = authored;
  const name = `batch_export_run:${batchExport}/${at.at(-1)}`;
  const run: BatchExportRun = {
    records_completed: null,
    records_total_count: null,
    bytes_exported: null,
    latest_error: null,
    cursor: null,
    ...given,
    id: building.uuid(name, given.id, [...at, "id"]),
    batch_export: batchExport,
    backfill:
      backfill === undefined
        ? null
        : (backfills.find(backfill.toLowerCase(), [...at, "backfill"])?.id ?? null),
    data_interval_start: timeOr(given.data_interval_start, null),
    data_interval_end: end,
    created_at: created,
    finished_at: finished,
    last_updated_at: finished ?? created,
  };
  building.world.batch_export_runs.push(run);
  addLogs(building, batchExport, run.id, created, logs, at);
}

function addLogs(
  building: Building,
  batchExport: string,
  run: string,
  time: string,
  authored: AuthoredLogs,
  at: Path,
): void {
  for (const { level, message, timestamp } of authored) {
    building.world.batch_export_logs.push({
      id: building.number("batch_export_logs", undefined, at),
      batch_export: batchExport,
      run,
      timestamp: timeOr(timestamp, time),
      level,
      message,
    });
  }
}

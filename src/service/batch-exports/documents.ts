import { SimError } from "../../kernel/base/errors.ts";
import { wireTime } from "../../state/documents/time.ts";
import type {
  BatchExport,
  BatchExportBackfill,
  BatchExportLog,
  BatchExportRun,
  Draft,
  ReadonlyWorld,
} from "../../state/documents/world.ts";
import { type BackfillRange, isOpen } from "./ports.ts";
import { countIntervals, type DataInterval, intervalsBetween, lastBoundary } from "./schedules.ts";

/** More runs than this are not made at once: each is a document. */
export const mostRuns = 10_000;

function tooMany(count: number): SimError {
  return new SimError(
    "invalid_input",
    `The range makes ${count} runs; phx-sim makes at most ${mostRuns} at once. Ask for a shorter range.`,
  );
}

/** What a backfill of the range runs. @throws SimError invalid_input when it is too much */
export function intervalsOf({ interval }: BatchExport, { start_at, end_at }: BackfillRange, now: number) {
  if (start_at === null) {
    const end = end_at ?? wireTime(lastBoundary(interval, now));
    return [{ data_interval_start: null, data_interval_end: end }];
  }
  const start = Date.parse(start_at);
  const end = end_at === null ? now : Date.parse(end_at);
  const count = countIntervals(interval, start, end);
  if (count > mostRuns) throw tooMany(count);
  return intervalsBetween(interval, start, end);
}

export const rangeText = ({ data_interval_start, data_interval_end }: DataInterval): string =>
  `${data_interval_start ?? "the beginning"} - ${data_interval_end}`;

interface Line extends Partial<Pick<BatchExportLog, "run" | "level">> {
  batch_export: string;
  message: string;
}

export function log(draft: Draft, now: string, line: Line): void {
  const id = draft.nextId("batch_export_logs");
  draft.put("batch_export_logs", { run: "", level: "INFO", ...line, id, timestamp: now });
}

/** A backfill's document; one without anything to run is done at once. */
export const backfillOf = (
  id: string,
  batchExport: BatchExport,
  range: BackfillRange,
  total_runs: number,
  now: string,
): BatchExportBackfill => ({
  id,
  batch_export: batchExport.id,
  start_at: range.start_at,
  end_at: range.end_at,
  status: total_runs === 0 ? "Completed" : "Starting",
  total_runs,
  created_at: now,
  finished_at: total_runs === 0 ? now : null,
  last_updated_at: now,
});

export const runOf = (
  id: string,
  about: { batch_export: string; backfill: string | null },
  interval: DataInterval,
  now: string,
): BatchExportRun => ({
  id,
  ...about,
  status: "Starting",
  records_completed: null,
  records_total_count: null,
  bytes_exported: null,
  latest_error: null,
  ...interval,
  cursor: null,
  created_at: now,
  finished_at: null,
  last_updated_at: now,
  driven: true,
});

export const ended = <T extends BatchExportRun | BatchExportBackfill>(
  document: T,
  status: T["status"],
  now: string,
): T => ({ ...document, status, finished_at: now, last_updated_at: now });

export function cancelRun(draft: Draft, run: BatchExportRun, now: string): void {
  draft.put("batch_export_runs", ended(run, "Cancelled", now));
  const message = `Batch export for range ${rangeText(run)} cancelled`;
  log(draft, now, { batch_export: run.batch_export, run: run.id, level: "WARNING", message });
}

export function cancelBackfill(draft: Draft, world: ReadonlyWorld, backfill: BatchExportBackfill, now: string): void {
  const open = world.batch_export_runs.filter((it) => it.backfill === backfill.id && isOpen(it));
  for (const run of open) cancelRun(draft, run, now);
  draft.put("batch_export_backfills", ended(backfill, "Cancelled", now));
  log(draft, now, { batch_export: backfill.batch_export, level: "WARNING", message: "Backfill cancelled" });
}

/**
 * Ends an open backfill none of whose runs is open; how they ended does not matter (upstream waits until none
 * is running, no more). Returns whether it did.
 */
export function completeBackfill(
  draft: Draft,
  world: ReadonlyWorld,
  backfill: BatchExportBackfill | undefined,
  now: string,
): boolean {
  if (!backfill || !isOpen(backfill)) return false;
  if (world.batch_export_runs.some((it) => it.backfill === backfill.id && isOpen(it))) return false;
  draft.put("batch_export_backfills", ended(backfill, "Completed", now));
  const { batch_export, start_at, end_at } = backfill;
  const message = `Backfill of ${start_at ?? "the beginning"} - ${end_at ?? "now"} finished`;
  log(draft, now, { batch_export, message });
  return true;
}

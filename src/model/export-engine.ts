import type { BatchExport, BatchExportBackfill, BatchExportRun } from "./world.ts";

/** The time that a backfill covers, as wire times; null is open. */
export interface BackfillRange {
  start_at: string | null;
  end_at: string | null;
}

/** Makes runs of batch exports happen. The documents are its callers'; what runs is its own. */
export interface ExportEngine {
  /** Starts a backfill: its document, and one run for each interval of the range (one in all when the start is open). */
  backfill(batchExport: BatchExport, range: BackfillRange): BatchExportBackfill;
  /** Runs an interval again. */
  retry(batchExport: BatchExport, run: BatchExportRun): BatchExportBackfill;
  /** Ends a run that has not ended. */
  cancel(run: BatchExportRun): void;
  /** Ends a backfill and its runs that have not ended. */
  cancelBackfill(backfill: BatchExportBackfill): void;
  /** Told after an export was created, changed, paused or deleted: its schedule may be another now. */
  scheduled(batchExport: BatchExport): void;
}

/** Has the run or backfill not ended? */
export const isOpen = ({ status }: Pick<BatchExportRun, "status">): boolean =>
  status === "Starting" || status === "Running";

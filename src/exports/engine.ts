import { SimError } from "../kernel/errors.ts";
import type { Desk } from "../model/desk.ts";
import { type BackfillRange, type ExportEngine, isOpen } from "../model/export-engine.ts";
import { wireTime } from "../model/time.ts";
import type { BatchExport, BatchExportBackfill, BatchExportRun, Draft } from "../model/world.ts";
import { countIntervals, type DataInterval, intervalsBetween, lastBoundary } from "./intervals.ts";

type EngineDesk = Pick<Desk, "worlds" | "clock" | "ids">;

/** A backfill of more runs is refused: each run is a document. */
const mostRuns = 10_000;

const cancelled = <T extends BatchExportRun | BatchExportBackfill>(document: T, now: string): T => ({
  ...document,
  status: "Cancelled",
  finished_at: now,
  last_updated_at: now,
});

function tooMany(count: number): SimError {
  return new SimError(
    "invalid_input",
    `The range makes ${count} runs; phx-sim makes at most ${mostRuns} at once. Ask for a shorter range.`,
  );
}

/** What a backfill of the range runs. @throws SimError invalid_input when it is too much */
function intervalsOf({ interval }: BatchExport, { start_at, end_at }: BackfillRange, now: number) {
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

const told = ({ data_interval_start, data_interval_end }: DataInterval): string =>
  `${data_interval_start ?? "the beginning"} - ${data_interval_end}`;

/** What is written into the log of an export, or of one of its runs. */
function log(draft: Draft, about: { batch_export: string; run?: string }, now: string, message: string) {
  const id = draft.nextId("batch_export_logs");
  draft.put("batch_export_logs", { run: "", ...about, id, timestamp: now, level: "INFO", message });
}

/** A backfill's document; one without anything to run is done at once. */
const backfillOf = (
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

const runOf = (id: string, backfill: BatchExportBackfill, interval: DataInterval): BatchExportRun => ({
  id,
  batch_export: backfill.batch_export,
  backfill: backfill.id,
  status: "Starting",
  records_completed: null,
  records_total_count: null,
  bytes_exported: null,
  latest_error: null,
  ...interval,
  cursor: null,
  created_at: backfill.created_at,
  finished_at: null,
  last_updated_at: backfill.created_at,
});

const created = ({ total_runs }: BatchExportBackfill): string =>
  total_runs === 0
    ? "Backfill created: its range is shorter than one interval, so that there is nothing to run"
    : `Backfill created, runs: ${total_runs}. They stay in Starting: no engine picks runs up yet`;

/** The engine behind batch exports. It makes the documents of what is to run; nothing runs yet. */
export function createExportEngine({ worlds, clock, ids }: EngineDesk): ExportEngine {
  const now = () => wireTime(clock.now());

  function begin(
    batchExport: BatchExport,
    range: BackfillRange,
    intervals: readonly DataInterval[],
  ): BatchExportBackfill {
    const at = now();
    const backfill = backfillOf(ids.uuid(), batchExport, range, intervals.length, at);
    return worlds.change((draft) => {
      log(draft, { batch_export: batchExport.id }, at, created(backfill));
      for (const interval of intervals) {
        const { id, batch_export } = draft.put("batch_export_runs", runOf(ids.uuid(), backfill, interval));
        log(draft, { batch_export, run: id }, at, `Batch export for range ${told(interval)} queued`);
      }
      return draft.put("batch_export_backfills", backfill);
    });
  }

  function cancelRun(draft: Draft, run: BatchExportRun, at: string): void {
    draft.put("batch_export_runs", cancelled(run, at));
    const message = `Batch export for range ${told(run)} cancelled`;
    log(draft, { batch_export: run.batch_export, run: run.id }, at, message);
  }

  return {
    backfill: (batchExport, range) => begin(batchExport, range, intervalsOf(batchExport, range, clock.now())),
    retry: (batchExport, run) =>
      begin(batchExport, { start_at: run.data_interval_start, end_at: run.data_interval_end }, [
        { data_interval_start: run.data_interval_start, data_interval_end: run.data_interval_end },
      ]),
    cancel(run) {
      worlds.change((draft) => cancelRun(draft, run, now()));
    },
    cancelBackfill(backfill) {
      const at = now();
      const open = worlds.current.batch_export_runs.filter((it) => it.backfill === backfill.id && isOpen(it));
      worlds.change((draft) => {
        for (const run of open) cancelRun(draft, run, at);
        draft.put("batch_export_backfills", cancelled(backfill, at));
        log(draft, { batch_export: backfill.batch_export }, at, "Backfill cancelled");
      });
    },
    // Nothing is scheduled before there is something that runs.
    scheduled() {},
  };
}

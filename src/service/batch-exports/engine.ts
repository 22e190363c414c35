import { SimError } from "../../kernel/base/errors.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportBackfill } from "../../state/documents/world.ts";
import type { Desk } from "../capture/desk.ts";
import {
  backfillOf,
  cancelBackfill,
  cancelRun,
  completeBackfill,
  intervalsOf,
  log,
  rangeText,
  runOf,
} from "./documents.ts";
import { type BackfillRange, type DrivenExportEngine, type ExportPorts, isOpen } from "./ports.ts";
import type { DataInterval } from "./schedules.ts";
import { createTicker } from "./ticker.ts";

type EngineDesk = Pick<Desk, "worlds" | "clock" | "ids">;

/**
 * The engine behind batch exports. Without ports it makes the documents of what is to run, and runs nothing.
 */
export function createExportEngine(desk: EngineDesk, ports?: ExportPorts): DrivenExportEngine {
  const { worlds, clock, ids } = desk;
  const now = () => wireTime(clock.now());
  const ticker = ports && createTicker(desk, ports);
  const wake = () => ports?.wake?.();

  function created({ total_runs }: BatchExportBackfill): string {
    if (total_runs === 0) {
      return "Backfill created: its range is shorter than one interval, so that there is nothing to run";
    }
    const hint = ports ? "" : ". They stay in Starting: no engine picks runs up yet";
    return `Backfill created, runs: ${total_runs}${hint}`;
  }

  function begin(
    batchExport: BatchExport,
    range: BackfillRange,
    intervals: readonly DataInterval[],
  ): BatchExportBackfill {
    const at = now();
    const backfill = backfillOf(ids.uuid(), batchExport, range, intervals.length, at);
    const about = { batch_export: batchExport.id, backfill: backfill.id };
    worlds.change((draft) => {
      log(draft, at, { batch_export: batchExport.id, message: created(backfill) });
      for (const interval of intervals) {
        const { id, batch_export } = draft.put("batch_export_runs", runOf(ids.uuid(), about, interval, at));
        log(draft, at, { batch_export, run: id, message: `Batch export for range ${rangeText(interval)} queued` });
      }
      draft.put("batch_export_backfills", backfill);
    });
    wake();
    return backfill;
  }

  return {
    backfill: (batchExport, range) => begin(batchExport, range, intervalsOf(batchExport, range, clock.now())),
    retry: (batchExport, run) =>
      begin(batchExport, { start_at: run.data_interval_start, end_at: run.data_interval_end }, [
        { data_interval_start: run.data_interval_start, data_interval_end: run.data_interval_end },
      ]),
    cancel(run) {
      const at = now();
      worlds.change((draft) => {
        const current = worlds.get("batch_export_runs", run.id) ?? run;
        cancelRun(draft, current, at);
        const backfill = current.backfill && worlds.get("batch_export_backfills", current.backfill);
        completeBackfill(draft, worlds.current, backfill || undefined, at);
      });
      wake();
    },
    cancelBackfill(backfill) {
      const at = now();
      worlds.change((draft) => cancelBackfill(draft, worlds.current, backfill, at));
    },
    scheduled(batchExport) {
      ticker?.scheduled(batchExport, clock.now());
      wake();
    },
    script(run, outcome) {
      const current = worlds.get("batch_export_runs", run.id);
      if (!current || !isOpen(current)) throw new SimError("invalid_input", `Run ${run.id} has ended.`);
      ticker?.script(current, outcome, clock.now());
      wake();
    },
    follow() {
      ticker?.follow(clock.now());
      wake();
    },
    tick: async (until) => (await ticker?.tick(until)) ?? [],
    nextDue: () => ticker?.nextDue(clock.now()),
    close: async () => ticker?.close(),
  };
}

import { SimError } from "../../kernel/base/errors.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportBackfill, BatchExportRun } from "../../state/documents/world.ts";
import type { ResourceDesk } from "../api-frame/desk.ts";
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
import { type BackfillRange, type ExportPorts, isOpen, type ScriptedOutcome } from "./ports.ts";
import type { EngineDesk } from "./runs.ts";
import type { DataInterval } from "./schedules.ts";
import type { ExportPerformed } from "./shapes.ts";
import { Ticker } from "./ticker.ts";

/**
 * The engine behind batch exports. It has no timers: nothing happens outside of `tick`. Without ports it makes the
 * documents of what is to run, and runs nothing.
 */
export class ExportEngine {
  readonly #desk: EngineDesk;
  readonly #ticker: Ticker | undefined;
  readonly #wake: () => void;

  constructor(desk: EngineDesk, ports?: ExportPorts) {
    this.#desk = desk;
    this.#ticker = ports && new Ticker(desk, ports);
    this.#wake = () => ports?.wake?.();
  }

  /** Starts a backfill: its document, and one run for each interval of the range (one in all when the start is open). */
  backfill(batchExport: BatchExport, range: BackfillRange): BatchExportBackfill {
    return this.#begin(batchExport, range, intervalsOf(batchExport, range, this.#desk.clock.now()));
  }

  retry(batchExport: BatchExport, run: BatchExportRun): BatchExportBackfill {
    const { data_interval_start, data_interval_end } = run;
    const range = { start_at: data_interval_start, end_at: data_interval_end };
    return this.#begin(batchExport, range, [{ data_interval_start, data_interval_end }]);
  }

  cancel(run: BatchExportRun): void {
    const { worlds } = this.#desk;
    const at = this.#now();
    worlds.change((draft) => {
      const current = worlds.get("batch_export_runs", run.id) ?? run;
      cancelRun(draft, current, at);
      const backfill = current.backfill && worlds.get("batch_export_backfills", current.backfill);
      completeBackfill(draft, worlds.current, backfill || undefined, at);
    });
    this.#wake();
  }

  cancelBackfill(backfill: BatchExportBackfill): void {
    const { worlds } = this.#desk;
    worlds.change((draft) => cancelBackfill(draft, worlds.current, backfill, this.#now()));
  }

  /** To be called after an export was created, changed, paused or deleted: its schedule may have changed. */
  scheduled(batchExport: BatchExport): void {
    this.#ticker?.scheduled(batchExport, this.#desk.clock.now());
    this.#wake();
  }

  /** Sets how an open run ends. @throws SimError invalid_input if it has ended */
  script(run: BatchExportRun, outcome: ScriptedOutcome): void {
    const current = this.#desk.worlds.get("batch_export_runs", run.id);
    if (!current || !isOpen(current)) throw new SimError("invalid_input", `Run ${run.id} has ended.`);
    this.#ticker?.script(current, outcome, this.#desk.clock.now());
    this.#wake();
  }

  /** To be called after documents were replaced: what is new begins its schedule. */
  follow(): void {
    this.#ticker?.follow(this.#desk.clock.now());
    this.#wake();
  }

  /**
   * Performs all that is due up to `now` (ms), in order, and answers with what it did. Ticks wait for each other.
   * @throws the system's error when documents cannot be kept; what was not done is still due
   */
  async tick(now: number): Promise<ExportPerformed[]> {
    return (await this.#ticker?.tick(now)) ?? [];
  }

  /** When (ms) the next tick has something to do; times that are over mean now. undefined: nothing is planned. */
  nextDue(): number | undefined {
    return this.#ticker?.nextDue(this.#desk.clock.now());
  }

  /** Stops what is being written and waits for it; the next engine of the same world starts it again. */
  async close(): Promise<void> {
    await this.#ticker?.close();
  }

  #now(): string {
    return wireTime(this.#desk.clock.now());
  }

  #begin(batchExport: BatchExport, range: BackfillRange, intervals: readonly DataInterval[]): BatchExportBackfill {
    const { worlds, ids } = this.#desk;
    const at = this.#now();
    const backfill = backfillOf(ids.uuid(), batchExport, range, intervals.length, at);
    const about = { batch_export: batchExport.id, backfill: backfill.id };
    worlds.change((draft) => {
      log(draft, at, { batch_export: batchExport.id, message: this.#created(backfill) });
      for (const interval of intervals) {
        const { id, batch_export } = draft.put("batch_export_runs", runOf(ids.uuid(), about, interval, at));
        log(draft, at, { batch_export, run: id, message: `Batch export for range ${rangeText(interval)} queued` });
      }
      draft.put("batch_export_backfills", backfill);
    });
    this.#wake();
    return backfill;
  }

  #created({ total_runs }: BatchExportBackfill): string {
    if (total_runs === 0) {
      return "Backfill created: its range is shorter than one interval, so that there is nothing to run";
    }
    const hint = this.#ticker ? "" : ". They stay in Starting: no engine picks runs up yet";
    return `Backfill created, runs: ${total_runs}${hint}`;
  }
}

export interface ExportDesk extends ResourceDesk {
  readonly exports: Pick<ExportEngine, "backfill" | "retry" | "cancel" | "cancelBackfill" | "scheduled">;
}

import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun, Draft } from "../../state/documents/world.ts";
import type { Desk } from "../capture/desk.ts";
import { cancelBackfill, cancelRun, completeBackfill, ended, log, rangeText } from "./documents.ts";
import type { Exported, Note } from "./export-run.ts";
import { type ExportPorts, isOpen, type ScriptedOutcome } from "./ports.ts";
import type { ExportPerformed } from "./shapes.ts";

export type EngineDesk = Pick<Desk, "worlds" | "clock" | "ids">;

interface Ending extends Partial<Exported> {
  status: BatchExportRun["status"];
  latest_error: string | null;
  notes?: readonly Note[];
}

type Kind = ExportPerformed["kind"];

/** Statuses with an own kind; `failed` ones count towards the pause of their export by their exact status. */
const kinds: Partial<Record<BatchExportRun["status"], Kind>> = {
  Completed: "run_completed",
  Failed: "run_failed",
  FailedRetryable: "run_failed",
  FailedBilling: "run_failed",
  Cancelled: "run_cancelled",
};

/** Upstream: an export is paused when `most` of its last `of` runs failed. */
const failures = { of: 50, most: 10 };

const endings: Partial<Record<BatchExportRun["status"], Pick<Note, "level"> & { text: string }>> = {
  Completed: { level: "INFO", text: "finished" },
  Cancelled: { level: "WARNING", text: "cancelled" },
};

function lastLine(run: BatchExportRun, { status, latest_error, records, bytes }: Ending): Note {
  const { level, text } = endings[status] ?? { level: "ERROR", text: `ended as ${status}` };
  const counts = records === undefined ? "" : `, records: ${records}, bytes: ${bytes ?? 0}`;
  const reason = latest_error === null ? "" : `: ${latest_error}`;
  return { level, message: `Batch export for range ${rangeText(run)} ${text}${counts}${reason}` };
}

/** How many of the export's last runs failed: those that changed last; of one time, those that came last. */
function failedLately(runs: readonly BatchExportRun[], batchExport: string): number {
  const mine = runs.filter((it) => it.batch_export === batchExport).toReversed();
  mine.sort((a, b) => Date.parse(b.last_updated_at) - Date.parse(a.last_updated_at));
  return mine.slice(0, failures.of).filter(({ status }) => status === "Failed").length;
}

/** Starts and ends the runs of a world. An unscripted run takes no time on the sim's clock. */
export class Runs {
  readonly #worlds: EngineDesk["worlds"];
  readonly #ports: ExportPorts;
  /** Runs that continue until a time, and how they end then. */
  readonly #scripted = new Map<string, { end: number; outcome: ScriptedOutcome }>();
  readonly #announced = new Map<string, ScriptedOutcome>();
  #performed: ExportPerformed[] = [];
  isClosed = false;

  constructor({ worlds }: Pick<EngineDesk, "worlds">, ports: ExportPorts) {
    this.#worlds = worlds;
    this.#ports = ports;
  }

  takePerformed(): ExportPerformed[] {
    const performed = this.#performed;
    this.#performed = [];
    return performed;
  }

  scriptedEnd(run: string): number | undefined {
    return this.#scripted.get(run)?.end;
  }

  script(run: BatchExportRun, outcome: ScriptedOutcome, now: number): void {
    // First what the disk may refuse.
    if (!run.driven) this.#worlds.change((draft) => draft.put("batch_export_runs", { ...run, driven: true }));
    if (run.status === "Starting") this.#announced.set(run.id, outcome);
    else this.#endLater(run.id, outcome, now);
  }

  /**
   * Starts a run and performs it, or ends one that continues by script. false when it has not ended: its time has not
   * come, or it was stopped by closing.
   */
  async advance(run: BatchExportRun, at: number): Promise<boolean> {
    const script = this.#scripted.get(run.id);
    if (!script) return this.#start(run, at);
    if (script.end > at) return false;
    this.#scripted.delete(run.id);
    const { status, latest_error = null } = script.outcome;
    const batchExport = this.#worlds.get("batch_exports", run.batch_export);
    // A run that is to be completed is: its data is exported now.
    if (status === "Completed" && batchExport) return this.#carryOut(run, batchExport, at);
    this.#finish(run, { status, latest_error }, at);
    return true;
  }

  settle(run: BatchExportRun, at: number): void {
    const backfill = run.backfill === null ? undefined : this.#worlds.get("batch_export_backfills", run.backfill);
    if (!backfill || !isOpen(backfill)) return;
    const now = wireTime(at);
    const isComplete = this.#worlds.change((draft) => completeBackfill(draft, this.#worlds.current, backfill, now));
    if (isComplete) this.#report("backfill_completed", run.batch_export, null, now);
  }

  #report(kind: Kind, batch_export: string, run: string | null, at: string): void {
    this.#performed.push({ at, kind, batch_export, run });
  }

  #endLater(run: string, outcome: ScriptedOutcome, now: number): void {
    this.#scripted.set(run, { end: now + Math.max(0, outcome.after), outcome });
  }

  async #start(run: BatchExportRun, at: number): Promise<boolean> {
    const now = wireTime(at);
    const batchExport = this.#worlds.get("batch_exports", run.batch_export);
    if (!batchExport || batchExport.deleted) {
      this.#worlds.change((draft) => cancelRun(draft, run, now));
      this.#report("run_cancelled", run.batch_export, run.id, now);
      return true;
    }
    const running = this.#putRunning(run, now);
    this.#report("run_started", run.batch_export, run.id, now);
    const announced = this.#announced.get(run.id);
    this.#announced.delete(run.id);
    const outcome = announced ?? this.#ports.script?.(running, batchExport);
    if (!outcome) return this.#carryOut(running, batchExport, at);
    this.#endLater(run.id, outcome, at);
    return false;
  }

  #putRunning(run: BatchExportRun, now: string): BatchExportRun {
    const isAgain = run.status === "Running";
    return this.#worlds.change((draft) => {
      const backfill = run.backfill && this.#worlds.get("batch_export_backfills", run.backfill);
      if (backfill && backfill.status === "Starting") {
        draft.put("batch_export_backfills", { ...backfill, status: "Running", last_updated_at: now });
      }
      log(draft, now, {
        batch_export: run.batch_export,
        run: run.id,
        level: isAgain ? "WARNING" : "INFO",
        message: `Batch export for range ${rangeText(run)} ${isAgain ? "was interrupted; it starts again" : "started"}`,
      });
      return draft.put("batch_export_runs", { ...run, status: "Running", last_updated_at: now });
    });
  }

  /** Exports the data of a run that is Running. false when it has not ended. */
  async #carryOut(run: BatchExportRun, batchExport: BatchExport, at: number): Promise<boolean> {
    const currentOf = () => this.#worlds.get("batch_export_runs", run.id);
    const isWanted = () => !this.isClosed && !this.#scripted.has(run.id) && currentOf()?.status === "Running";
    const notes: Note[] = [];
    const note = (level: Note["level"], message: string) => void notes.push({ level, message });
    const { exportRun } = await import("./export-run.ts");
    const { result, failure } = await exportRun({ run, batchExport, ports: this.#ports, isWanted, note });
    if (failure || result) {
      this.#finish(
        run,
        failure ? { ...failure, notes } : { status: "Completed", latest_error: null, ...result, notes },
        at,
      );
      return true;
    }
    const current = currentOf();
    if (current?.status === "Cancelled") {
      this.#report("run_cancelled", current.batch_export, run.id, current.finished_at ?? wireTime(at));
    }
    return current === undefined || !isOpen(current);
  }

  #finish(run: BatchExportRun, ending: Ending, at: number): void {
    const current = this.#worlds.get("batch_export_runs", run.id);
    // Meanwhile the world may be another.
    if (!current || !isOpen(current)) return;
    const now = wireTime(at);
    const { status, latest_error, records = null, bytes = null, cursor = null, notes = [] } = ending;
    const counts = { records_completed: records, records_total_count: records, bytes_exported: bytes };
    this.#worlds.change((draft) => {
      for (const line of [...notes, lastLine(run, ending)])
        log(draft, now, { batch_export: run.batch_export, run: run.id, ...line });
      draft.put("batch_export_runs", { ...ended(current, status, now), ...counts, cursor, latest_error });
      this.#report(kinds[status] ?? "run_ended", run.batch_export, run.id, now);
      if (status === "Failed") this.#pauseIfFailing(draft, run.batch_export, now);
    });
  }

  /** Upstream counts the runs that changed last, whatever made them. */
  #pauseIfFailing(draft: Draft, id: string, now: string): void {
    const { batch_export_runs, batch_export_backfills } = this.#worlds.current;
    const batchExport = this.#worlds.get("batch_exports", id);
    if (!batchExport || failedLately(batch_export_runs, id) < failures.most) return;
    if (!batchExport.paused) {
      draft.put("batch_exports", { ...batchExport, paused: true, last_paused_at: now, last_updated_at: now });
      const message = `Batch export paused: ${failures.most} of its last ${failures.of} runs failed`;
      log(draft, now, { batch_export: id, level: "WARNING", message });
      this.#report("batch_export_paused", id, null, now);
    }
    const open = batch_export_backfills.filter((it) => it.batch_export === id && isOpen(it));
    for (const backfill of open) cancelBackfill(draft, this.#worlds.current, backfill, now);
  }
}

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

/** Makes what starts and ends the runs of a world. An unscripted run takes no time on the sim's clock. */
export function createRuns({ worlds }: EngineDesk, ports: ExportPorts) {
  /** Runs that continue until a time, and how they end then. */
  const scripted = new Map<string, { end: number; outcome: ScriptedOutcome }>();
  /** Outcomes of runs that have not started. */
  const announced = new Map<string, ScriptedOutcome>();
  let isClosed = false;

  const currentOf = (id: string) => worlds.get("batch_export_runs", id);

  function outcomeOf(run: BatchExportRun, batchExport: BatchExport): ScriptedOutcome | undefined {
    const outcome = announced.get(run.id);
    announced.delete(run.id);
    return outcome ?? ports.script?.(run, batchExport);
  }

  function putRunning(run: BatchExportRun, now: string): BatchExportRun {
    const isAgain = run.status === "Running";
    const about = { batch_export: run.batch_export, run: run.id };
    return worlds.change((draft) => {
      const backfill = run.backfill && worlds.get("batch_export_backfills", run.backfill);
      if (backfill && backfill.status === "Starting") {
        draft.put("batch_export_backfills", { ...backfill, status: "Running", last_updated_at: now });
      }
      const message = isAgain
        ? `Batch export for range ${rangeText(run)} was interrupted; it starts again`
        : `Batch export for range ${rangeText(run)} started`;
      log(draft, now, { ...about, level: isAgain ? "WARNING" : "INFO", message });
      return draft.put("batch_export_runs", { ...run, status: "Running", last_updated_at: now });
    });
  }

  function abandon(run: BatchExportRun, now: string, performed: ExportPerformed[]): boolean {
    worlds.change((draft) => cancelRun(draft, run, now));
    performed.push({ at: now, kind: "run_cancelled", batch_export: run.batch_export, run: run.id });
    return true;
  }

  async function start(run: BatchExportRun, at: number, performed: ExportPerformed[]): Promise<boolean> {
    const now = wireTime(at);
    const batchExport = worlds.get("batch_exports", run.batch_export);
    if (!batchExport || batchExport.deleted) return abandon(run, now, performed);
    const running = putRunning(run, now);
    performed.push({ at: now, kind: "run_started", batch_export: run.batch_export, run: run.id });
    const outcome = outcomeOf(running, batchExport);
    if (outcome) {
      scripted.set(run.id, { end: at + Math.max(0, outcome.after), outcome });
      return false;
    }
    return carryOut(running, batchExport, at, performed);
  }

  /** Exports the data of a run that is Running. false when it has not ended. */
  async function carryOut(run: BatchExportRun, batchExport: BatchExport, at: number, performed: ExportPerformed[]) {
    const isWanted = () => !isClosed && !scripted.has(run.id) && currentOf(run.id)?.status === "Running";
    const ending = await exported(run, batchExport, isWanted);
    if (ending) {
      finish(run, ending, at, performed);
      return true;
    }
    const current = currentOf(run.id);
    if (current?.status === "Cancelled") {
      const { batch_export, finished_at } = current;
      performed.push({ at: finished_at ?? wireTime(at), kind: "run_cancelled", batch_export, run: run.id });
    }
    return current === undefined || !isOpen(current);
  }

  /** Writes the data; undefined when it was stopped. What goes wrong is the run's failure. */
  async function exported(run: BatchExportRun, batchExport: BatchExport, isWanted: () => boolean) {
    const { exportRun } = await import("./export-run.ts");
    const notes: Note[] = [];
    const note = (level: Note["level"], message: string) => void notes.push({ level, message });
    const { result, failure } = await exportRun({ run, batchExport, ports, isWanted, note });
    if (failure) return { ...failure, notes };
    if (!result) return undefined;
    return { status: "Completed" as const, latest_error: null, ...result, notes };
  }

  async function endScripted(run: BatchExportRun, at: number, performed: ExportPerformed[]): Promise<boolean> {
    const script = scripted.get(run.id);
    if (!script) return !isOpen(run);
    if (script.end > at) return false;
    scripted.delete(run.id);
    const { status, latest_error = null } = script.outcome;
    const batchExport = worlds.get("batch_exports", run.batch_export);
    // A run that is to be completed is: its data is exported now.
    if (status === "Completed" && batchExport) return carryOut(run, batchExport, at, performed);
    finish(run, { status, latest_error }, at, performed);
    return true;
  }

  function finish(run: BatchExportRun, ending: Ending, at: number, performed: ExportPerformed[]): void {
    const current = currentOf(run.id);
    // Meanwhile the world may be another.
    if (!current || !isOpen(current)) return;
    const now = wireTime(at);
    const { status, latest_error, records, bytes, cursor = null, notes = [] } = ending;
    const about = { batch_export: run.batch_export, run: run.id };
    const counts = {
      records_completed: records ?? null,
      records_total_count: records ?? null,
      bytes_exported: bytes ?? null,
    };
    worlds.change((draft) => {
      for (const line of [...notes, lastLine(run, ending)]) log(draft, now, { ...about, ...line });
      draft.put("batch_export_runs", { ...ended(current, status, now), ...counts, cursor, latest_error });
      performed.push({ at: now, kind: kinds[status] ?? "run_ended", ...about });
      if (status === "Failed") pauseIfFailing(draft, run.batch_export, now, performed);
    });
  }

  function settle(run: BatchExportRun, at: number, performed: ExportPerformed[]): void {
    const backfill = run.backfill === null ? undefined : worlds.get("batch_export_backfills", run.backfill);
    if (!backfill || !isOpen(backfill)) return;
    const now = wireTime(at);
    const isComplete = worlds.change((draft) => completeBackfill(draft, worlds.current, backfill, now));
    if (!isComplete) return;
    performed.push({ at: now, kind: "backfill_completed", batch_export: run.batch_export, run: null });
  }

  /** Upstream counts the runs that changed last, whatever made them. */
  function pauseIfFailing(draft: Draft, id: string, now: string, performed: ExportPerformed[]): void {
    const batchExport = worlds.get("batch_exports", id);
    if (!batchExport || failedLately(worlds.current.batch_export_runs, id) < failures.most) return;
    if (!batchExport.paused) {
      const changes = { paused: true, last_paused_at: now, last_updated_at: now };
      draft.put("batch_exports", { ...batchExport, ...changes });
      const message = `Batch export paused: ${failures.most} of its last ${failures.of} runs failed`;
      log(draft, now, { batch_export: id, level: "WARNING", message });
      performed.push({ at: now, kind: "batch_export_paused", batch_export: id, run: null });
    }
    const open = worlds.current.batch_export_backfills.filter((it) => it.batch_export === id && isOpen(it));
    for (const backfill of open) cancelBackfill(draft, worlds.current, backfill, now);
  }

  return {
    /** Starts a run, and performs it. false when it has not ended: it continues by script, or was stopped by `close`. */
    start,
    endScripted,
    /** Ends the backfill of a run if none of its runs is open. */
    settle,
    /** When (ms) a run ends by script. */
    scriptedEnd: (run: string) => scripted.get(run)?.end,
    script(run: BatchExportRun, outcome: ScriptedOutcome, now: number) {
      // First what the disk may refuse.
      if (!run.driven) worlds.change((draft) => draft.put("batch_export_runs", { ...run, driven: true }));
      if (run.status === "Starting") announced.set(run.id, outcome);
      else scripted.set(run.id, { end: now + Math.max(0, outcome.after), outcome });
    },
    isClosed: () => isClosed,
    close() {
      isClosed = true;
    },
  };
}

/** How many of the export's last runs failed: those that changed last; of one time, those that came last. */
function failedLately(runs: readonly BatchExportRun[], batchExport: string): number {
  const mine = runs.filter((it) => it.batch_export === batchExport);
  const timed = mine.map((it, i) => ({ it, i, time: Date.parse(it.last_updated_at) }));
  timed.sort((a, b) => b.time - a.time || b.i - a.i);
  return timed.slice(0, failures.of).filter(({ it }) => it.status === "Failed").length;
}

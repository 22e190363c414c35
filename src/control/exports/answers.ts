import type { Performed, ScriptedOutcome } from "../../exports/ports.ts";
import type { BatchExport, BatchExportLog, BatchExportRun } from "../../model/world.ts";

/** What the export endpoints of the control API answer; the TypeScript API hands it on. */

/** A file that a run wrote. */
export interface ShownExportFile {
  /** Its key, with `/` between the parts; on disk it stands below `exports/<export>/<run>/` of the data folder. */
  readonly name: string;
  readonly bytes: number;
  /** Where it is served: a path of the control API. */
  readonly url: string;
}

/** A run. */
export interface ShownExportRun {
  readonly id: string;
  /** Id of its export. */
  readonly batch_export: string;
  /** The export's name; null when the export is gone. */
  readonly name: string | null;
  readonly project: number | null;
  /** The interval's length; null when the export is gone. */
  readonly interval: BatchExport["interval"] | null;
  /** null: from the beginning. */
  readonly data_interval_start: string | null;
  readonly data_interval_end: string;
  readonly status: BatchExportRun["status"];
  readonly records_completed: number | null;
  readonly bytes_exported: number | null;
  readonly latest_error: string | null;
  /** Id of the backfill that made it; null: it was scheduled. */
  readonly backfill: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  /** Only a completed run has files. */
  readonly files: readonly ShownExportFile[];
}

export type ShownExportLog = Pick<BatchExportLog, "timestamp" | "level" | "message">;

/** A run with its log, oldest line first. */
export interface ShownExportRunWithLogs extends ShownExportRun {
  readonly logs: readonly ShownExportLog[];
}

/** A run whose end was just written down. */
export interface ShownScriptedRun extends ShownExportRunWithLogs {
  /** When it ends, if nothing stops it; null: it is still to start, and its time counts from then. */
  readonly ends_at: string | null;
  /** What has to be done for it to end. */
  readonly hint: string | null;
}

/** How a run is to end instead of as it would. */
export interface ExportOutcome {
  /** How long it is Running before: a duration such as `30s`, or ms. Default 0. */
  readonly after?: string | number;
  /** `Completed` exports the data when the time has come. */
  readonly status: ScriptedOutcome["status"];
  readonly latest_error?: string | null;
}

/** An export with its last runs. Its destination's config is not told. */
export interface ShownExport {
  readonly id: string;
  readonly project: number;
  readonly name: string;
  readonly model: BatchExport["model"];
  readonly interval: BatchExport["interval"];
  readonly destination: string;
  readonly paused: boolean;
  /** The next boundary of its schedule by the sim's clock; null when there is none. */
  readonly next_run: string | null;
  /** The last five, newest first. */
  readonly last_runs: readonly Pick<
    ShownExportRun,
    "id" | "status" | "data_interval_end" | "records_completed" | "latest_error"
  >[];
}

/** Something that came about. */
export type ShownPerformed = Performed;

/** What the control API says of exports and of the clock (src/control/exports/answers.ts). */

type RunStatus = string;

export interface Run {
  readonly id: string;
  readonly batch_export: string;
  readonly name: string | null;
  readonly project: number | null;
  readonly interval: string | null;
  readonly data_interval_start: string | null;
  readonly data_interval_end: string;
  readonly status: RunStatus;
  readonly records_completed: number | null;
  readonly bytes_exported: number | null;
  readonly latest_error: string | null;
  readonly backfill: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly files: readonly { readonly name: string; readonly bytes: number; readonly url: string }[];
}

export interface RunWithLogs extends Run {
  readonly logs: readonly { readonly timestamp: string; readonly level: string; readonly message: string }[];
}

export interface ShownExport {
  readonly id: string;
  readonly project: number;
  readonly name: string;
  readonly model: string;
  readonly interval: string;
  readonly destination: string;
  readonly paused: boolean;
  readonly next_run: string | null;
  readonly last_runs: readonly Pick<
    Run,
    "id" | "status" | "data_interval_end" | "records_completed" | "latest_error"
  >[];
}

/** Something that came about when the clock moved. */
export interface Happened {
  readonly at: string;
  readonly kind: string;
  readonly batch_export?: string;
  readonly run?: string | null;
}

export interface Clock {
  readonly now: string;
  readonly frozen: boolean;
  readonly real: boolean;
  readonly next_due: string | null;
}

import type {
  ExportOutcome,
  ShownExport,
  ShownExportFile,
  ShownExportLog,
  ShownExportRun,
  ShownExportRunWithLogs,
  ShownPerformed,
  ShownScriptedRun,
} from "../control/exports/answers.ts";
import type { ControlCall, ControlFetch } from "./call.ts";

export type { ExportOutcome };
/** A batch export with its next run and its last ones. */
export type Export = ShownExport;
/** A file that a run wrote. */
export type ExportFile = ShownExportFile;
/** A run, with its interval, counts and files. */
export type ExportRun = ShownExportRun;
export type ExportLog = ShownExportLog;
export type ExportRunWithLogs = ShownExportRunWithLogs;
/** A run whose end was just written down. */
export type ScriptedRun = ShownScriptedRun;
/** Something that exports did. */
export type ExportPerformed = ShownPerformed;

/** Which runs; absent keys do not restrict. */
export interface ExportRunQuery {
  project?: number;
  /** Id or name of an export. */
  batch_export?: string;
  status?: ExportRun["status"];
  /** Id of a run: only those before it. */
  before?: string;
  /** All unless told, 10,000 at most. */
  limit?: number;
}

/**
 * What batch exports did. They run by themselves as the sim's clock goes on; one that stands still is advanced
 * (`sim.clock.advance`), or `tick` performs what is due.
 */
export interface Exports {
  /** The exports of a project or of all. */
  list(query?: { project?: number }): Promise<Export[]>;
  /** Runs, newest first. @throws ControlError; not_found of `before` */
  runs(query?: ExportRunQuery): Promise<ExportRun[]>;
  /** One run with its log. @throws ControlError not_found */
  run(id: string): Promise<ExportRunWithLogs>;
  /**
   * Says how a run that has not ended ends: `script(id, { after: "30s", status: "Failed", latest_error: "…" })`.
   * @throws ControlError invalid_input when it has ended; not_found
   */
  script(id: string, outcome: ExportOutcome): Promise<ScriptedRun>;
  /** Performs what is due now, without moving the clock; returns what came about, in order. */
  tick(): Promise<ExportPerformed[]>;
  /**
   * Content of a completed run's file, by default of its only one. In memory the oldest files are let go
   * when all of them are too many. @throws ControlError not_found; Error when there are several, or none
   */
  file(run: string, name?: string): Promise<Uint8Array>;
}

/** The file with the name, or the only one. @throws Error that names what there is */
function chosen({ id, status, files }: ExportRun, name: string | undefined): ExportFile {
  const found = files.filter((it) => name === undefined || it.name === name);
  const [file] = found;
  if (file && found.length === 1) return file;
  const names = files.map((it) => it.name).join(", ");
  const there = names === "" ? `it is ${status} and has no files` : `its files: ${names}`;
  throw new Error(name === undefined ? `run ${id}: ${there}` : `run ${id} has no file ${name}; ${there}`);
}

/** The exports' part of the client. */
export function exportsBy(call: ControlCall, fetched: ControlFetch): Exports {
  const at = (id: string) => `exports/runs/${encodeURIComponent(id)}`;
  const run = (id: string) => call<ExportRunWithLogs>("GET", at(id));
  return {
    list: async ({ project } = {}) => {
      const query = project === undefined ? "" : `?project=${project}`;
      return (await call<{ exports: Export[] }>("GET", `exports${query}`)).exports;
    },
    runs: async (query = {}) => {
      const search = new URLSearchParams();
      for (const [key, value] of Object.entries({ limit: 10_000, ...query }))
        if (value !== undefined) search.set(key, String(value));
      return (await call<{ runs: ExportRun[] }>("GET", `exports/runs?${search}`)).runs;
    },
    run,
    script: (id, outcome) => call("PUT", at(id), outcome),
    tick: async () => (await call<{ happened: ExportPerformed[] }>("POST", "exports/tick", {})).happened,
    file: async (id, name) => fetched(chosen(await run(id), name).url),
  };
}

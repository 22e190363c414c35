import { type ControlCall, type ControlFetch, queryText } from "../../kernel/call/call.ts";
import { knownOptions } from "../../kernel/call/option-keys.ts";
import type {
  Export,
  ExportFile,
  ExportListQuery,
  ExportLog,
  ExportOutcome,
  ExportPerformed,
  ExportRun,
  ExportRunPage,
  ExportRunQuery,
  ExportRunWithLogs,
  ScriptedRun,
} from "./shapes.ts";

export type {
  Export,
  ExportFile,
  ExportLog,
  ExportOutcome,
  ExportPerformed,
  ExportRun,
  ExportRunQuery,
  ExportRunWithLogs,
  ScriptedRun,
};

/**
 * Batch exports and their runs. They run by themselves as the sim's clock runs; while it is frozen, advance it
 * (`sim.clock.advance`), or perform what is due with `tick`.
 */
export interface Exports {
  /** The exports of a project or of all. */
  list(query?: ExportListQuery): Promise<Export[]>;
  /** Runs, newest first. @throws ControlError; not_found of `before` */
  runs(query?: ExportRunQuery): Promise<ExportRun[]>;
  /** One run with its log. @throws ControlError not_found */
  run(id: string): Promise<ExportRunWithLogs>;
  /**
   * Sets how a run that has not ended ends: `script(id, { after: "30s", status: "Failed", latest_error: "…" })`.
   * @throws ControlError invalid_input if it has ended; not_found
   */
  script(id: string, outcome: ExportOutcome): Promise<ScriptedRun>;
  /** Performs what is due now, without moving the clock; returns what happened, in order. */
  tick(): Promise<ExportPerformed[]>;
  /**
   * Content of a completed run's file (default: its only one). A sim in memory drops the oldest files when all
   * of them exceed its limit. @throws ControlError not_found; Error if there are several files, or none
   */
  file(run: string, name?: string): Promise<Uint8Array>;
}

function chosen({ id, status, files }: ExportRun, name: string | undefined): ExportFile {
  const found = files.filter((it) => name === undefined || it.name === name);
  const [file] = found;
  if (file && found.length === 1) return file;
  const names = files.map((it) => it.name).join(", ");
  const there = names === "" ? `it is ${status} and has no files` : `its files: ${names}`;
  throw new Error(name === undefined ? `run ${id}: ${there}` : `run ${id} has no file ${name}; ${there}`);
}

export function exportsBy(call: ControlCall, fetched: ControlFetch): Exports {
  const at = (id: string) => `exports/runs/${encodeURIComponent(id)}`;
  const run = (id: string) => call<ExportRunWithLogs>("GET", at(id));
  return withOptions({
    list: async (query = {}) => (await call<{ exports: Export[] }>("GET", `exports${queryText(query)}`)).exports,
    runs: async (query = {}) =>
      (await call<ExportRunPage>("GET", `exports/runs${queryText({ limit: 10_000, ...query })}`)).runs,
    run,
    script: (id, outcome) => call("PUT", at(id), outcome),
    tick: async () => (await call<{ happened: ExportPerformed[] }>("POST", "exports/tick", {})).happened,
    file: async (id, name) => fetched(chosen(await run(id), name).url),
  });
}

const withOptions = knownOptions<Exports>("exports", { list: [{ except: [] }], runs: [{ except: [] }] });

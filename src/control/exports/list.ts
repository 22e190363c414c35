import { nextDue } from "../../exports/intervals.ts";
import { SimError } from "../../kernel/errors.ts";
import { wireTime } from "../../model/time.ts";
import type { BatchExport, BatchExportRun } from "../../model/world.ts";
import type { ControlDesk } from "../desk.ts";
import type { ShownExport, ShownExportRun, ShownExportRunWithLogs } from "./answers.ts";
import { filesOf } from "./files.ts";

type ListDesk = Pick<ControlDesk, "worlds" | "exports">;

/** Newest first; of one time, those that came last. */
const newestFirst = (runs: readonly BatchExportRun[]): BatchExportRun[] =>
  runs.toReversed().sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));

/** Which runs; absent keys do not restrict. */
export interface RunFilter {
  readonly project?: number | undefined;
  /** Id or name of an export. */
  readonly batchExport?: string | undefined;
  readonly status?: BatchExportRun["status"] | undefined;
  /** Id of a run: only those before it. */
  readonly before?: string | undefined;
}

/** Newest first, those after the run with the id; of all where none is given. @throws SimError not_found */
function runsBefore(desk: ListDesk, id: string | undefined): BatchExportRun[] {
  const runs = newestFirst(desk.worlds.current.batch_export_runs);
  return id === undefined ? runs : runs.slice(runs.indexOf(runOf(desk, id)) + 1);
}

/** The runs that fit, newest first. @throws SimError not_found */
export function runsIn(desk: ListDesk, filter: RunFilter): BatchExportRun[] {
  const { batch_exports } = desk.worlds.current;
  const exports = new Map(batch_exports.map((it) => [it.id, it]));
  const isWanted = (run: BatchExportRun): boolean => {
    const its = exports.get(run.batch_export);
    const named = filter.batchExport;
    return (
      (filter.project === undefined || its?.project === filter.project) &&
      (named === undefined || run.batch_export === named || its?.name === named) &&
      (filter.status === undefined || run.status === filter.status)
    );
  };
  return runsBefore(desk, filter.before).filter(isWanted);
}

/** The run with the id. @throws SimError not_found */
export function runOf({ worlds }: Pick<ControlDesk, "worlds">, id: string): BatchExportRun {
  const run = worlds.get("batch_export_runs", id);
  if (run) return run;
  throw new SimError("not_found", `there is no run ${id}`, { hint: "GET /__sim/exports/runs lists them" });
}

/** What is told of a run. */
export async function shownRun(desk: ListDesk, run: BatchExportRun): Promise<ShownExportRun> {
  const batchExport = desk.worlds.get("batch_exports", run.batch_export);
  return {
    id: run.id,
    batch_export: run.batch_export,
    name: batchExport?.name ?? null,
    project: batchExport?.project ?? null,
    interval: batchExport?.interval ?? null,
    data_interval_start: run.data_interval_start,
    data_interval_end: run.data_interval_end,
    status: run.status,
    records_completed: run.records_completed,
    bytes_exported: run.bytes_exported,
    latest_error: run.latest_error,
    backfill: run.backfill,
    created_at: run.created_at,
    finished_at: run.finished_at,
    files: await filesOf(desk.exports.files, run),
  };
}

/** The same with its log. */
export async function shownRunWithLogs(desk: ListDesk, run: BatchExportRun): Promise<ShownExportRunWithLogs> {
  const logs = desk.worlds.current.batch_export_logs.filter((it) => it.run === run.id);
  return {
    ...(await shownRun(desk, run)),
    logs: logs.map(({ timestamp, level, message }) => ({ timestamp, level, message })),
  };
}

const lastRuns = 5;

/** The exports of a project or of all that are not deleted. */
export function exportsIn(
  { worlds, clock }: Pick<ControlDesk, "worlds" | "clock">,
  project: number | undefined,
): ShownExport[] {
  const { batch_exports, batch_export_runs } = worlds.current;
  return batch_exports
    .filter((it) => !it.deleted && (project === undefined || it.project === project))
    .map((it) => {
      const runs = batch_export_runs.filter((run) => run.batch_export === it.id);
      return shownExport(it, runs, clock.now());
    });
}

function shownExport(it: BatchExport, runs: readonly BatchExportRun[], now: number): ShownExport {
  const next = nextDue(it, now);
  return {
    id: it.id,
    project: it.project,
    name: it.name,
    model: it.model,
    interval: it.interval,
    destination: it.destination.type,
    paused: it.paused,
    next_run: next === undefined ? null : wireTime(next),
    last_runs: newestFirst(runs)
      .slice(0, lastRuns)
      .map(({ id, status, data_interval_end, records_completed, latest_error }) => ({
        id,
        status,
        data_interval_end,
        records_completed,
        latest_error,
      })),
  };
}

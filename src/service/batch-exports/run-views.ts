import { SimError } from "../../kernel/base/errors.ts";
import { wireTime } from "../../state/documents/time.ts";
import type { BatchExport, BatchExportRun, Worlds } from "../../state/documents/world.ts";
import { shownAs } from "../api-frame/fields.ts";
import type { ExportFiles } from "./ports.ts";
import { nextDue } from "./schedules.ts";
import { Export, type ExportFile, ExportRun, ExportRunSummary, type ExportRunWithLogs } from "./shapes.ts";

interface Stored {
  readonly worlds: Pick<Worlds, "current" | "get">;
  readonly exports: { readonly files: ExportFiles };
}

/** Newest first; of one time, the last added first. */
const newestFirst = (runs: readonly BatchExportRun[]): BatchExportRun[] =>
  runs.toReversed().sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at));

/** Absent keys do not restrict. */
interface RunFilter {
  readonly project?: number | undefined;
  /** Id or name of an export. */
  readonly batch_export?: string | undefined;
  readonly status?: BatchExportRun["status"] | undefined;
  /** Id of a run: only runs before it. */
  readonly before?: string | undefined;
}

/** The runs that match, newest first. @throws SimError not_found of `before` */
export function runsIn(worlds: Stored["worlds"], filter: RunFilter): BatchExportRun[] {
  const { batch_exports, batch_export_runs } = worlds.current;
  const exports = new Map(batch_exports.map((it) => [it.id, it]));
  const matches = (run: BatchExportRun): boolean => {
    const its = exports.get(run.batch_export);
    const named = filter.batch_export;
    return (
      (filter.project === undefined || its?.project === filter.project) &&
      (!named || run.batch_export === named || its?.name === named) &&
      (filter.status === undefined || run.status === filter.status)
    );
  };
  const runs = newestFirst(batch_export_runs);
  const first = filter.before ? runs.indexOf(runOf(worlds, filter.before)) + 1 : 0;
  return runs.slice(first).filter(matches);
}

/** The run with the id. @throws SimError not_found */
export function runOf(worlds: Stored["worlds"], id: string): BatchExportRun {
  const run = worlds.get("batch_export_runs", id);
  if (run) return run;
  throw new SimError("not_found", `there is no run ${id}`, { hint: "GET /__sim/exports/runs lists them" });
}

export async function shownRun({ worlds, exports }: Stored, run: BatchExportRun): Promise<ExportRun> {
  const batchExport = worlds.get("batch_exports", run.batch_export);
  return shownAs(ExportRun, {
    ...run,
    name: batchExport?.name ?? null,
    project: batchExport?.project ?? null,
    interval: batchExport?.interval ?? null,
    files: (await filesOf(exports.files, run)).map(({ name, bytes, url }) => ({ name, bytes, url })),
  });
}

export async function shownRunWithLogs(stored: Stored, run: BatchExportRun): Promise<ExportRunWithLogs> {
  const logs = stored.worlds.current.batch_export_logs.filter((it) => it.run === run.id);
  return {
    ...(await shownRun(stored, run)),
    logs: logs.map(({ timestamp, level, message }) => ({ timestamp, level, message })),
  };
}

const lastRuns = 5;

/** The exports of a project, or of all, that are not deleted. */
export function exportsIn(worlds: Stored["worlds"], project: number | undefined, now: number): Export[] {
  const { batch_exports, batch_export_runs } = worlds.current;
  return batch_exports
    .filter((it) => !it.deleted && (project === undefined || it.project === project))
    .map((it) => {
      const runs = batch_export_runs.filter((run) => run.batch_export === it.id);
      return shownExport(it, runs, now);
    });
}

function shownExport(it: BatchExport, runs: readonly BatchExportRun[], now: number): Export {
  const next = nextDue(it, now);
  return shownAs(Export, {
    ...it,
    destination: it.destination.type,
    next_run: next === undefined ? null : wireTime(next),
    last_runs: newestFirst(runs)
      .slice(0, lastRuns)
      .map((run) => shownAs(ExportRunSummary, run)),
  });
}

export const filesRoot = "/__sim/exports/files";

/** Files of a completed run; an unfinished run may leave files behind, which its next start removes. */
export async function filesOf(
  files: ExportFiles,
  run: BatchExportRun,
): Promise<(ExportFile & { readonly path: string })[]> {
  if (run.status !== "Completed") return [];
  const folder = `${run.batch_export}/${run.id}/`;
  return (await files.list(run.batch_export, run.id)).map(({ path, bytes }) => {
    const name = path.slice(folder.length);
    return { name, bytes, url: `${filesRoot}/${folder}${encodeURIComponent(name)}`, path };
  });
}

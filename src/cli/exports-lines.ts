import type { Export, ExportPerformed, ExportRun, ExportRunWithLogs, ScriptedRun } from "../index.ts";
import { counted } from "../kernel/counted.ts";
import { clean } from "./clean-text.ts";
import type { Style } from "./style.ts";

type Told = Pick<ExportRun, "status" | "records_completed" | "latest_error">;

/** `Completed, 3 records`, `Failed: no such bucket`. */
function outcomeOf({ status, records_completed, latest_error }: Told, style: Style): string {
  const shown = latest_error === null ? style.good(status) : style.bad(status);
  const records = records_completed === null ? "" : `, ${counted(records_completed, "record")}`;
  return `${shown}${records}${latest_error === null ? "" : `: ${clean(latest_error, 120)}`}`;
}

const intervalOf = ({ data_interval_start: start, data_interval_end: end }: ExportRun): string =>
  `${start ?? "the beginning"} - ${end}`;

/** An export: what it is, when it runs next, its last runs. */
function exportLines(it: Export, style: Style): string[] {
  const next = it.paused ? "paused" : it.next_run === null ? "no further run" : `next run ${it.next_run}`;
  const what = clean(`${it.model} to ${it.destination}, ${it.interval}, project ${it.project}`);
  return [
    `${style.bold(clean(it.name, 60))}  ${what}  ${next}  ${style.dim(clean(it.id))}`,
    ...it.last_runs.map(
      (run) => `  ${run.data_interval_end}  ${outcomeOf(run, style)}  ${style.dim(run.id)}`,
    ),
  ];
}

/** Every export, or that there is none. */
export const exportListLines = (exports: readonly Export[], style: Style): string[] =>
  exports.length === 0 ? ["no batch exports"] : exports.flatMap((it) => exportLines(it, style));

/** A run on a line. */
const runLine = (run: ExportRun, style: Style): string => {
  const name = style.bold(clean(run.name ?? "an export that is gone", 60));
  const files = run.files.length === 0 ? "" : `, ${counted(run.files.length, "file")}`;
  return `${name}  ${clean(intervalOf(run))}  ${outcomeOf(run, style)}${files}  ${style.dim(clean(run.id))}`;
};

/** Runs, newest first, or that there is none. */
export function runLines(runs: readonly ExportRun[], more: boolean, style: Style): string[] {
  if (runs.length === 0) return ["no runs"];
  const lines = runs.map((run) => runLine(run, style));
  return more ? [...lines, style.dim(`… and older ones: --before ${clean(runs.at(-1)?.id ?? "")}`)] : lines;
}

/** A run with its files and its log. */
export const runWithLogLines = (run: ExportRunWithLogs, style: Style): string[] => [
  runLine(run, style),
  ...run.files.map(({ name, bytes }) => `  file  ${clean(name)}  ${counted(bytes, "byte")}`),
  ...run.logs.map((it) => `  ${style.dim(it.timestamp)}  ${it.level}  ${clean(it.message, 1000)}`),
];

/** What came about, or that nothing was due. */
export const performedLines = (happened: readonly ExportPerformed[]): string[] =>
  happened.length === 0
    ? ["nothing was due"]
    : happened.map(({ at, kind, batch_export, run }) =>
        clean([at, kind, `export ${batch_export}`, ...(run === null ? [] : [`run ${run}`])].join("  ")),
      );

/** What a run will do. */
export const scriptedLine = ({ id, ends_at, name }: ScriptedRun): string =>
  `${clean(name ?? "", 60)}  run ${clean(id)} ${ends_at === null ? "will be ended when it has started" : `ends at ${ends_at}`}`;

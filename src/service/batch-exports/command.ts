import { counted } from "../../kernel/base/text.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Command } from "../../kernel/command/command.ts";
import { optionsOf } from "../../kernel/command/shape-options.ts";
import type { Style } from "../../kernel/command/style.ts";
import { thinCommand } from "../../kernel/command/thin-command.ts";
import {
  type Export,
  ExportListQuery,
  ExportOutcome,
  type ExportPerformed,
  type ExportRun,
  ExportRunQuery,
  type ExportRunWithLogs,
  type ScriptedRun,
} from "./shapes.ts";

type RunEnd = Pick<ExportRun, "status" | "records_completed" | "latest_error">;

/** `Completed, 3 records`, `Failed: no such bucket`. */
function outcomeOf({ status, records_completed, latest_error }: RunEnd, style: Style): string {
  const shown = latest_error === null ? style.good(status) : style.bad(status);
  const records = records_completed === null ? "" : `, ${counted(records_completed, "record")}`;
  return `${shown}${records}${latest_error === null ? "" : `: ${clean(latest_error, 120)}`}`;
}

const intervalOf = ({ data_interval_start: start, data_interval_end: end }: ExportRun): string =>
  `${start ?? "the beginning"} - ${end}`;

function exportLines(it: Export, style: Style): string[] {
  const next = it.paused ? "paused" : it.next_run === null ? "no further run" : `next run ${it.next_run}`;
  const what = clean(`${it.model} to ${it.destination}, ${it.interval}, project ${it.project}`);
  return [
    `${style.bold(clean(it.name, 60))}  ${what}  ${next}  ${style.dim(clean(it.id))}`,
    ...it.last_runs.map((run) => `  ${run.data_interval_end}  ${outcomeOf(run, style)}  ${style.dim(run.id)}`),
  ];
}

const exportListLines = (exports: readonly Export[], style: Style): string[] =>
  exports.length === 0 ? ["no batch exports"] : exports.flatMap((it) => exportLines(it, style));

const runLine = (run: ExportRun, style: Style): string => {
  const name = style.bold(clean(run.name ?? "an export that is gone", 60));
  const files = run.files.length === 0 ? "" : `, ${counted(run.files.length, "file")}`;
  return `${name}  ${clean(intervalOf(run))}  ${outcomeOf(run, style)}${files}  ${style.dim(clean(run.id))}`;
};

function runLines(runs: readonly ExportRun[], more: boolean, style: Style): string[] {
  if (runs.length === 0) return ["no runs"];
  const lines = runs.map((run) => runLine(run, style));
  return more ? [...lines, style.dim(`… and older ones: --before ${clean(runs.at(-1)?.id ?? "")}`)] : lines;
}

const runWithLogLines = (run: ExportRunWithLogs, style: Style): string[] => [
  runLine(run, style),
  ...run.files.map(({ name, bytes }) => `  file  ${clean(name)}  ${counted(bytes, "byte")}`),
  ...run.logs.map((it) => `  ${style.dim(it.timestamp)}  ${it.level}  ${clean(it.message, 1000)}`),
];

const performedLines = (happened: readonly ExportPerformed[]): string[] =>
  happened.length === 0
    ? ["nothing was due"]
    : happened.map(({ at, kind, batch_export, run }) =>
        clean([at, kind, `export ${batch_export}`, ...(run === null ? [] : [`run ${run}`])].join("  ")),
      );

const scriptedLine = ({ id, ends_at, name }: ScriptedRun): string =>
  `${clean(name ?? "", 60)}  run ${clean(id)} ${ends_at === null ? "will be ended when it has started" : `ends at ${ends_at}`}`;

const { "batch-export": ofExport, ...runOptions } = optionsOf(ExportRunQuery);
const { status, "latest-error": error, ...outcome } = optionsOf(ExportOutcome);
const run = { describe: "Id of the run", place: 1 } as const;

/** Exports may be large; no answer is waited for longer than this, ms. */
const tickMs = 300_000;

export const exportCommands: readonly Command[] = [
  thinCommand({
    name: "exports list",
    describe: "List the exports with their next and last runs",
    options: optionsOf(ExportListQuery),
    examples: [["phx-sim exports list --project 1", "those of one project"]],
    call: "GET exports",
    lines: ({ exports }: { exports: Export[] }, style) => exportListLines(exports, style),
  }),
  thinCommand({
    name: "exports runs",
    describe: "List the runs, newest first",
    options: { ...runOptions, export: { ...ofExport, parameter: "batch_export" } },
    examples: [["phx-sim exports runs --status Failed", "with what went wrong"]],
    call: "GET exports/runs",
    lines: ({ runs, more }: { runs: ExportRun[]; more: boolean }, style) => runLines(runs, more, style),
  }),
  thinCommand({
    name: "exports show",
    describe: "Show a run with its files and its log",
    options: { run },
    examples: [["phx-sim exports show RUN --json", "also where its files are served"]],
    call: "GET exports/runs/:run",
    lines: runWithLogLines,
  }),
  thinCommand({
    name: "exports tick",
    describe: "Perform the runs that are due now; the clock stays as it is",
    examples: [["phx-sim exports tick", "performs due runs while the clock is frozen"]],
    call: "POST exports/tick",
    timeoutMs: tickMs,
    lines: ({ happened }: { happened: ExportPerformed[] }) => performedLines(happened),
  }),
  thinCommand({
    name: "exports script",
    describe: "Set how an unfinished run ends",
    options: {
      run,
      ...outcome,
      status: { ...status, default: "Failed" },
      error: { ...error, parameter: "latest_error" },
    },
    examples: [
      ["phx-sim exports script RUN --after 30s --error 'Access denied'", "fails half a minute later"],
      ["phx-sim exports script RUN --after 5m --status Completed", "takes five minutes, then exports"],
    ],
    call: "PUT exports/runs/:run",
    lines: (answer: ScriptedRun) => [scriptedLine(answer)],
  }),
];

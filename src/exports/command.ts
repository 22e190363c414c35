import { counted } from "../base/counted.ts";
import { callSim } from "../cli/ask-sim.ts";
import { clean } from "../cli/clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "../cli/command.ts";
import { findRunning, whereOptions } from "../cli/running-sim.ts";
import type { Settings } from "../cli/settings.ts";
import type { Style } from "../cli/style.ts";
import type { Export, ExportPerformed, ExportRun, ExportRunWithLogs, ScriptedRun } from "../index.ts";
import { endStatuses } from "../world/run-statuses.ts";

type RunEnd = Pick<ExportRun, "status" | "records_completed" | "latest_error">;

/** `Completed, 3 records`, `Failed: no such bucket`. */
function outcomeOf({ status, records_completed, latest_error }: RunEnd, style: Style): string {
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

/** Lines of all exports. */
const exportListLines = (exports: readonly Export[], style: Style): string[] =>
  exports.length === 0 ? ["no batch exports"] : exports.flatMap((it) => exportLines(it, style));

/** A run on a line. */
const runLine = (run: ExportRun, style: Style): string => {
  const name = style.bold(clean(run.name ?? "an export that is gone", 60));
  const files = run.files.length === 0 ? "" : `, ${counted(run.files.length, "file")}`;
  return `${name}  ${clean(intervalOf(run))}  ${outcomeOf(run, style)}${files}  ${style.dim(clean(run.id))}`;
};

/** Lines of runs, newest first. */
function runLines(runs: readonly ExportRun[], more: boolean, style: Style): string[] {
  if (runs.length === 0) return ["no runs"];
  const lines = runs.map((run) => runLine(run, style));
  return more ? [...lines, style.dim(`… and older ones: --before ${clean(runs.at(-1)?.id ?? "")}`)] : lines;
}

/** A run with its files and its log. */
const runWithLogLines = (run: ExportRunWithLogs, style: Style): string[] => [
  runLine(run, style),
  ...run.files.map(({ name, bytes }) => `  file  ${clean(name)}  ${counted(bytes, "byte")}`),
  ...run.logs.map((it) => `  ${style.dim(it.timestamp)}  ${it.level}  ${clean(it.message, 1000)}`),
];

/** What came about, or that nothing was due. */
const performedLines = (happened: readonly ExportPerformed[]): string[] =>
  happened.length === 0
    ? ["nothing was due"]
    : happened.map(({ at, kind, batch_export, run }) =>
        clean([at, kind, `export ${batch_export}`, ...(run === null ? [] : [`run ${run}`])].join("  ")),
      );

/** What a run will do. */
const scriptedLine = ({ id, ends_at, name }: ScriptedRun): string =>
  `${clean(name ?? "", 60)}  run ${clean(id)} ${ends_at === null ? "will be ended when it has started" : `ends at ${ends_at}`}`;

const group: CommandGroup = { name: "exports", describe: "Batch exports: past and coming runs" };

const json = { kind: "switch", describe: "Print the control API's answer", flagOnly: true } as const;
const common = { ...whereOptions, json } as const;

const project = { kind: "count", describe: "Only the project with this number", flagOnly: true } as const;
const run = { kind: "text", describe: "Id of the run", flagOnly: true, place: 1, suggests: "runs" } as const;

const listOptions = { project, ...common } as const;
const runOptions = { run, ...common } as const;

const runsOptions = {
  project,
  export: { kind: "text", describe: "Only this export: its id or its name", flagOnly: true },
  status: { kind: "text", describe: "Only runs in this status, e.g. Failed", flagOnly: true },
  before: { kind: "text", describe: "Only runs before the one with this id", flagOnly: true },
  limit: { kind: "count", describe: "At most N runs (default: 100)", flagOnly: true },
  ...common,
} as const;

type RunsOptions = Settings<typeof runsOptions>["values"];

const scriptOptions = {
  run,
  after: {
    kind: "text",
    describe: "How long the run takes, by the sim's clock, e.g. 30s",
    flagOnly: true,
  },
  status: { kind: "text", describe: "How it ends", choices: endStatuses, default: "Failed", flagOnly: true },
  error: { kind: "text", describe: "The run's latest error", flagOnly: true },
  ...common,
} as const;

/** Exports may be large; no answer is waited for longer than this, ms. */
const tickMs = 300_000;

interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs?: number;
}

/** Calls the sim and prints its answer, as JSON or in lines. */
async function callAndPrint<T>(
  settings: Settings<typeof common>,
  shell: Shell,
  { method, path, body, timeoutMs }: ControlRequest,
  lines: (answer: T) => readonly string[],
): Promise<"ok"> {
  const running = await findRunning(settings, shell.cwd);
  const answer = await callSim<T>(running, method, path, body, timeoutMs);
  shell.out.say(...(settings.values.json ? [JSON.stringify(answer, null, 2)] : lines(answer)));
  return "ok";
}

/** The path with what is given of these. */
function get(path: string, given: Readonly<Record<string, string | number | undefined>>): ControlRequest {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  return { method: "GET", path: query.size === 0 ? path : `${path}?${query}` };
}

const pathOf = (id: string): string => `exports/runs/${encodeURIComponent(id)}`;

function runsRequest({ export: batch_export, project, status, before, limit }: RunsOptions) {
  return get("exports/runs", { project, batch_export, status, before, limit });
}

function script(settings: Settings<typeof scriptOptions>, shell: Shell): Promise<"ok"> {
  const { run, after, status, error } = settings.values;
  const request = { method: "PUT", path: pathOf(run), body: { after, status, latest_error: error } };
  return callAndPrint<ScriptedRun>(settings, shell, request, (answer) => {
    if (answer.hint !== null) shell.err.say(`phx-sim: ${clean(answer.hint)}`);
    return [scriptedLine(answer)];
  });
}

/** The commands `phx-sim exports …`. */
export const exportCommands: readonly Command[] = [
  command({
    name: "exports list",
    group,
    describe: "List the exports with their next and last runs",
    options: listOptions,
    examples: [["phx-sim exports list --project 1", "those of one project"]],
    run: (settings, shell) =>
      callAndPrint<{ exports: Export[] }>(
        settings,
        shell,
        get("exports", { project: settings.values.project }),
        (it) => exportListLines(it.exports, shell.outStyle),
      ),
  }),
  command({
    name: "exports runs",
    group,
    describe: "List the runs, newest first",
    options: runsOptions,
    examples: [["phx-sim exports runs --status Failed", "with what went wrong"]],
    run: (settings, shell) =>
      callAndPrint<{ runs: ExportRun[]; more: boolean }>(
        settings,
        shell,
        runsRequest(settings.values),
        (it) => runLines(it.runs, it.more, shell.outStyle),
      ),
  }),
  command({
    name: "exports show",
    group,
    describe: "Show a run with its files and its log",
    options: runOptions,
    examples: [["phx-sim exports show RUN --json", "also where its files are served"]],
    run: (settings, shell) =>
      callAndPrint<ExportRunWithLogs>(settings, shell, get(pathOf(settings.values.run), {}), (it) =>
        runWithLogLines(it, shell.outStyle),
      ),
  }),
  command({
    name: "exports tick",
    group,
    describe: "Perform the runs that are due now; the clock stays as it is",
    options: common,
    examples: [["phx-sim exports tick", "performs due runs while the clock is frozen"]],
    confirms: true,
    run: (settings, shell) =>
      callAndPrint<{ happened: ExportPerformed[] }>(
        settings,
        shell,
        { method: "POST", path: "exports/tick", body: {}, timeoutMs: tickMs },
        (it) => performedLines(it.happened),
      ),
  }),
  command({
    name: "exports script",
    group,
    describe: "Set how an unfinished run ends",
    options: scriptOptions,
    examples: [
      ["phx-sim exports script RUN --after 30s --error 'Access denied'", "fails half a minute later"],
      ["phx-sim exports script RUN --after 5m --status Completed", "takes five minutes, then exports"],
    ],
    confirms: true,
    run: script,
  }),
];

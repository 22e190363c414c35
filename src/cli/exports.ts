import type {
  Export,
  ExportOutcome,
  ExportPerformed,
  ExportRun,
  ExportRunWithLogs,
  ScriptedRun,
} from "../index.ts";
import { callSim } from "./ask-sim.ts";
import { clean } from "./clean-text.ts";
import { type Command, type CommandGroup, command, type Shell } from "./command.ts";
import { exportListLines, performedLines, runLines, runWithLogLines, scriptedLine } from "./exports-lines.ts";
import { findRunning, whereOptions } from "./running-sim.ts";
import type { Settings } from "./settings.ts";

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

type RunsWanted = Settings<typeof runsOptions>["values"];

const ends = [
  "Completed",
  "Failed",
  "FailedRetryable",
  "FailedBilling",
  "Cancelled",
  "Terminated",
  "TimedOut",
  "ContinuedAsNew",
] as const satisfies readonly ExportOutcome["status"][];

const scriptOptions = {
  run,
  after: {
    kind: "text",
    describe: "How long the run takes, by the sim's clock, e.g. 30s",
    flagOnly: true,
  },
  status: { kind: "text", describe: "How it ends", choices: ends, default: "Failed", flagOnly: true },
  error: { kind: "text", describe: "The run's latest error", flagOnly: true },
  ...common,
} as const;

/** Exports may be large; no answer is waited for longer than this, ms. */
const tickMs = 300_000;

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly timeoutMs?: number;
}

/** Asks the sim, and says what it answers: as JSON, or in lines. */
async function tell<T>(
  settings: Settings<typeof common>,
  shell: Shell,
  { method, path, body, timeoutMs }: Asked,
  lines: (answer: T) => readonly string[],
): Promise<"ok"> {
  const running = await findRunning(settings, shell.cwd);
  const answer = await callSim<T>(running, method, path, body, timeoutMs);
  shell.out.say(...(settings.values.json ? [JSON.stringify(answer, null, 2)] : lines(answer)));
  return "ok";
}

/** The path with what is given of these. */
function asking(path: string, given: Readonly<Record<string, string | number | undefined>>): Asked {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, String(value));
  return { method: "GET", path: query.size === 0 ? path : `${path}?${query}` };
}

const pathOf = (id: string): string => `exports/runs/${encodeURIComponent(id)}`;

function runsAsked({ export: batch_export, project, status, before, limit }: RunsWanted) {
  return asking("exports/runs", { project, batch_export, status, before, limit });
}

function script(settings: Settings<typeof scriptOptions>, shell: Shell): Promise<"ok"> {
  const { run, after, status, error } = settings.values;
  const asked = { method: "PUT", path: pathOf(run), body: { after, status, latest_error: error } };
  return tell<ScriptedRun>(settings, shell, asked, (answer) => {
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
      tell<{ exports: Export[] }>(
        settings,
        shell,
        asking("exports", { project: settings.values.project }),
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
      tell<{ runs: ExportRun[]; more: boolean }>(settings, shell, runsAsked(settings.values), (it) =>
        runLines(it.runs, it.more, shell.outStyle),
      ),
  }),
  command({
    name: "exports show",
    group,
    describe: "Show a run with its files and its log",
    options: runOptions,
    examples: [["phx-sim exports show RUN --json", "also where its files are served"]],
    run: (settings, shell) =>
      tell<ExportRunWithLogs>(settings, shell, asking(pathOf(settings.values.run), {}), (it) =>
        runWithLogLines(it, shell.outStyle),
      ),
  }),
  command({
    name: "exports tick",
    group,
    describe: "Perform the runs that are due now; the clock stays as it is",
    options: common,
    examples: [["phx-sim exports tick", "runs what waits for a clock that stands still"]],
    confirms: true,
    run: (settings, shell) =>
      tell<{ happened: ExportPerformed[] }>(
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

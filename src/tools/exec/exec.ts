import { dirname, join } from "node:path";
import type { ScenarioSource, Sim } from "../../index.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { type CommandEnd, command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { writeResult } from "../../kernel/command/result-file.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import type { Signal } from "../../kernel/command/signals.ts";
import type { ChildGuard } from "../../lab/egress/child-guard.ts";
import type { Plan } from "../../lab/plan/plan.ts";
import { replayed } from "../../lab/tapes/commands/tape-summary.ts";
import { readyLine } from "../../sim/command/banner.ts";
import { closesWithin, missUpstreamOf, openSim, settles } from "../../sim/command/open-sim.ts";
import type { FailReason } from "../../testing/run-report/fail-rules.ts";
import { type RunFacts, verdictOf } from "../../testing/run-report/run-report.ts";
import type { RunFailure, RunVerdict, VerdictSection } from "../../testing/run-report/shapes.ts";
import type { Tally } from "../../testing/run-report/tally.ts";
import type { BaselineOutcome, BaselineRun } from "../baseline/command-run.ts";
import {
  announceVariables,
  blockedBy,
  checkReroute,
  childVariables,
  isRerouting,
  openEgressGuard,
  rerouteVariables,
} from "./child-environment.ts";
import type { ChildEnd, SignalRelay } from "./child-process.ts";
import { type ExecSettings, runOptions } from "./exec-options.ts";
import type { ExitCheck } from "./kill-after-response.ts";
import { appendStepSummary, junitOf, makeResultFolder, reportPaths, verdictText, writeReport } from "./report-files.ts";
import {
  baselineFor,
  comparedWith,
  coverageOf,
  failReasonsOf,
  planFor,
  readersOf,
  resultsOf,
  tallyOf,
  tapeResult,
} from "./run-findings.ts";
import { summaryLines, summaryMarkdown } from "./summary-text.ts";

export const exec = command({
  name: "exec",
  describe: "Run a command against a sim of its own, and report what it sent",
  options: runOptions,
  examples: [
    ["phx-sim exec -- npm test", "with POSTHOG_HOST, POSTHOG_API_KEY … set"],
    ["phx-sim exec --fail-on dropped,rejected -- npx vitest run", "in CI: no event may get lost"],
    ["phx-sim exec scenarios/shop.json -- sh -c 'npm run seed && npm test'", "with a world, and a shell"],
  ],
  run,
});

async function run(settings: Settings<typeof runOptions>, shell: Shell): Promise<CommandEnd> {
  const openBaseline = (isNeeded: boolean) => baselineFor(settings.values, isNeeded, shell);
  const { coverage, "min-coverage": min } = settings.values;
  if (min !== undefined && coverage === undefined)
    throw new Failure("usage", "--min-coverage needs --coverage: the folder with the source");
  const path = settings.values["response-path"];
  if (path !== undefined && !settings.values["kill-after-response"])
    throw new Failure("usage", "--response-path needs --kill-after-response");
  const inspect = coverage === undefined ? undefined : await coverageOf(coverage, min, shell);
  if (!settings.values["kill-after-response"]) return runExec(settings, shell, openBaseline, { inspect });
  const { openExitCheck } = await import("./kill-after-response.ts");
  const exit = openExitCheck(path, shell.cwd);
  try {
    return await runExec(settings, shell, openBaseline, { inspect, exit });
  } finally {
    exit.close();
  }
}

interface RunParts {
  readonly failOn: readonly FailReason[];
  readonly plan: Plan | undefined;
  readonly relay: SignalRelay;
  readonly baseline: BaselineRun | undefined;
  /** Makes a further section of the verdict, after the run. */
  readonly inspect?: ((sim: Sim) => Promise<VerdictSection>) | undefined;
  /** Ends the app after its response, and reports what was lost. */
  readonly exit?: ExitCheck | undefined;
}

/**
 * Runs the command with a sim of its own. Mistakes are reported before anything runs.
 * @param openBaseline Opens the record of the run; `isNeeded` with `--fail-on baseline`
 * @throws Failure usage
 */
export async function runExec(
  settings: ExecSettings,
  shell: Shell,
  openBaseline: (isNeeded: boolean) => Promise<BaselineRun | undefined>,
  further: Pick<RunParts, "inspect" | "exit"> = {},
): Promise<CommandEnd> {
  const { values, origins } = settings;
  const failOn = failReasonsOf(values["fail-on"] ?? [], origins["fail-on"].where);
  const plan = await planFor(values.plan, failOn.includes("plan"), shell);
  await checkReroute(values);
  if (values.report !== undefined) makeResultFolder(values.report);
  if (values.junit !== undefined) makeResultFolder(dirname(values.junit), "--junit");
  // Loaded here: a start of the sim does not need it.
  const { hasTerminal, relaySignals } = await import("./child-process.ts");
  const relay = relaySignals(process, hasTerminal());
  const baseline = await openBaseline(failOn.includes("baseline"));
  const verdict = await runWithSim({ failOn, plan, relay, baseline, ...further }, settings, shell);
  if (typeof verdict === "string") return verdict;
  await appendStepSummary(summaryMarkdown(verdict), shell);
  if (values.json) shell.out.say(verdictText(verdict));
  shell.out.flush();
  return verdict.exit_code;
}

/** Prints the summary. Returns a signal that came before the command started. */
async function runWithSim(parts: RunParts, settings: ExecSettings, shell: Shell): Promise<RunVerdict | Signal> {
  const { failOn, relay, baseline, inspect, exit } = parts;
  const { values } = settings;
  const scenario = scenarioOf(settings);
  const sim = await openSim(values, { ...missUpstreamOf(settings), port: values.port, scenario }, shell);
  let guard: ChildGuard | undefined;
  try {
    if (values["block-egress"] || failOn.includes("egress")) guard = await openEgressGuard(sim.url, shell);
    const routes = await rerouteVariables(sim, values, shell);
    if (relay.first) return relay.first;
    const tally = tallyOf(sim, shell.config?.redaction);
    baseline?.watch(sim);
    const started = Date.now();
    const variables = childVariables(readyLine(sim));
    if (!values.quiet) announceVariables(sim, values.command, variables, shell);
    const before = { ...variables, ...guard?.env, ...routes };
    const exiting = exit?.env(before.NODE_OPTIONS ?? shell.env.NODE_OPTIONS);
    const ended = await runPointed(settings, shell, relay, { ...before, ...exiting });
    const end = exit?.endOf(ended) ?? ended;
    if (end.problem !== undefined) shell.err.say(`phx-sim: ${end.problem}`);
    await settles(sim);
    const recorded = await baseline?.finish(sim, end.code);
    const sections = [
      ...[recorded?.section, await resultsOf(sim, tally), await inspect?.(sim), await exit?.section(sim)],
    ].filter((it) => it !== undefined);
    const facts = await factsOf({ ...parts, sim, settings, guard, tally, started, end, recorded, sections });
    return await conclude(facts, sim, settings, shell, recorded);
  } finally {
    await guard?.close();
    await closesWithin(sim, closeMs);
  }
}

interface EndedRun extends Pick<RunParts, "failOn" | "plan"> {
  readonly sim: Sim;
  readonly settings: ExecSettings;
  readonly guard: ChildGuard | undefined;
  readonly tally: Tally;
  readonly started: number;
  readonly end: ChildEnd;
  readonly recorded: BaselineOutcome | undefined;
  readonly sections: readonly VerdictSection[];
}

/** What the verdict is made of. The results of further options are its `sections`. */
async function factsOf({ sim, settings, failOn, plan, guard, tally, ...run }: EndedRun): Promise<RunFacts> {
  const { values } = settings;
  const [program = ""] = values.command;
  const { code, problem } = run.end;
  const isWhole = values.json || values.report !== undefined;
  return {
    title: clean(program, 200),
    command: { program: clean(program, 200), exit_code: code },
    started: run.started,
    ended: Date.now(),
    failOn,
    traffic: tally,
    blocked: await blockedBy(guard),
    plan: await comparedWith(plan, sim),
    lint: (await sim.lint()).findings,
    ...(await readersOf(sim, isWhole)),
    tape: tapeResult(await replayed(sim, isRerouting(values))),
    sections: run.sections,
    problems: problem === undefined ? [] : [{ code: "command_not_run", text: problem, count: 1 }],
    files: [
      ...(values.report === undefined ? [] : reportPaths(values.report, run.recorded?.record)),
      ...(values.junit === undefined ? [] : [values.junit]),
    ],
  };
}

/** The positional scenarios, over that of --scenario; else the setting alone. */
function scenarioOf({ values, origins }: ExecSettings): ScenarioSource {
  const [only, ...more] = values.scenarios;
  if (only === undefined) return values.scenario;
  if (origins.scenario.source === "flag") return [values.scenario, only, ...more];
  return more.length === 0 ? only : [only, ...more];
}

/** Runs the command. @param variables Those that point it at the sim, and others that it gets */
async function runPointed(
  { values }: ExecSettings,
  shell: Shell,
  relay: SignalRelay,
  variables: Readonly<Record<string, string>>,
): Promise<ChildEnd> {
  shell.err.flush();
  const { runChild } = await import("./child-process.ts");
  // fixtures put the reports of failed tests beside that of the run
  const reports = values.report === undefined ? {} : { PHX_SIM_TEST_REPORTS: join(values.report, "tests") };
  const env = { ...reports, ...shell.env, ...variables };
  return runChild(values.command, env, relay, { isStdoutOurs: values.json });
}

/** Writes the files of the verdict, prints its summary, and returns it. */
async function conclude(
  facts: RunFacts,
  sim: Sim,
  { values }: ExecSettings,
  shell: Shell,
  recorded: BaselineOutcome | undefined,
): Promise<RunVerdict> {
  const whole = verdictOf(facts);
  const unwritten = await writeFiles(whole, sim, values, recorded?.record);
  const verdict =
    unwritten.length === 0 ? whole : verdictOf({ ...facts, problems: [...facts.problems, ...unwritten], files: [] });
  const isRun = facts.problems.length === 0;
  if (isRun && !values.quiet) shell.err.say(...summaryLines(verdict, shell.errStyle));
  shell.err.say(...reasonLines(verdict));
  return verdict;
}

/** Why the run failed although its command passed; the summary has the details. */
function reasonLines({ failures, fail_on, sections }: RunVerdict): string[] {
  const ofRules = failures.filter(({ code }) => fail_on.includes(code)).map(({ text }) => text);
  const others = failures.filter(
    ({ code }) => code === "not_written" || (!fail_on.includes(code) && sections.some(({ name }) => name === code)),
  );
  return [
    ...(ofRules.length > 0 ? [`phx-sim: --fail-on: ${ofRules.join(", ")}`] : []),
    ...others.map(({ code, text }) => `phx-sim: ${code === "not_written" ? "" : `${code}: `}${clean(text)}`),
  ];
}

/** Writes the files that are requested. A file that cannot be written must not hide the command's exit code. */
async function writeFiles(
  verdict: RunVerdict,
  sim: Sim,
  { report, junit }: ExecSettings["values"],
  record: string | undefined,
): Promise<RunFailure[]> {
  const writes = [
    ...(report === undefined ? [] : [() => writeReport(report, sim, verdict, record)]),
    ...(junit === undefined ? [] : [() => writeResult(junit, junitOf(verdict), "--junit")]),
  ];
  const failures: RunFailure[] = [];
  for (const write of writes) {
    try {
      await write();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failures.push({ code: "not_written", text: error.message, count: 1 });
    }
  }
  return failures;
}

const closeMs = 1500;

import { dirname, join } from "node:path";
import type { ChildGuard } from "../../egress/child-guard.ts";
import type { ScenarioSource, Sim } from "../../index.ts";
import type { Plan } from "../../plan/plan.ts";
import { replayed } from "../../tapes/commands/tape-summary.ts";
import { type FailReason, failReasons } from "../../verdict/fail-rules.ts";
import type { RunFailure, RunVerdict, VerdictSection } from "../../verdict/shapes.ts";
import type { Tally } from "../../verdict/tally.ts";
import { type RunFacts, verdictOf } from "../../verdict/verdict.ts";
import { readyLine } from "../banner.ts";
import { clean } from "../clean-text.ts";
import { type CommandEnd, command, type Shell } from "../command.ts";
import { Failure } from "../failure.ts";
import { closesWithin, missUpstreamOf, openSim, settles, simOptions } from "../open-sim.ts";
import type { Settings } from "../settings.ts";
import type { Signal } from "../signals.ts";
import {
  announceVariables,
  blockedBy,
  checkReroute,
  childVariables,
  isRerouting,
  openEgressGuard,
  rerouteOptions,
  rerouteVariables,
} from "./child-environment.ts";
import type { ChildEnd, SignalRelay } from "./child-process.ts";
import {
  appendStepSummary,
  makeResultFolder,
  reportPaths,
  verdictText,
  writeReport,
  writeResult,
} from "./report-files.ts";
import { comparedWith, failReasonsOf, planFor, readersOf, tallyOf, tapeResult } from "./run-findings.ts";
import { summaryLines, summaryMarkdown } from "./summary-text.ts";

const options = {
  scenarios: {
    kind: "scenario",
    describe: "Scenarios to start with, each over the one before: files, or names of shipped ones",
    flagOnly: true,
    place: 1,
    optional: true,
    many: true,
  },
  ...simOptions,
  port: { kind: "port", describe: "Port to listen on; 0 takes any free one", default: "0", flagOnly: true },
  "fail-on": {
    kind: "names",
    describe: `Exit 1 although the command passed if one of these occurred: ${failReasons.join(",")}`,
  },
  "block-egress": {
    kind: "switch",
    describe: "Block the command's requests to the real service; on with --fail-on egress",
  },
  ...rerouteOptions,
  plan: {
    kind: "file",
    describe:
      "Tracking plan to compare with; with --fail-on plan the default is events.plan.json here or above",
  },
  report: {
    kind: "folder",
    describe: "Folder for report.html, events.ndjson, requests.har, summary.md and summary.json",
  },
  junit: {
    kind: "file",
    describe: "File to write the result to as JUnit XML, a case for each rule and each test",
    flagOnly: true,
  },
  matrix: {
    kind: "names",
    describe:
      "Run the command with combinations of these flags, KEY or KEY=a|b, each with a sim of its own; default values: all",
    flagOnly: true,
    excludes: "tape",
  },
  strength: {
    kind: "count",
    describe:
      "With --matrix: every choice of values of N flags occurs in a run; 2, every pair (1 for one flag), is the default",
    flagOnly: true,
  },
  quiet: { kind: "switch", describe: "Print neither the variables nor the summary" },
  json: {
    kind: "switch",
    describe: "Print the result as one JSON document; the command's own stdout goes to stderr",
    flagOnly: true,
  },
  command: {
    kind: "word",
    describe: "The command and its arguments; no shell interprets them",
    flagOnly: true,
    many: true,
    rest: true,
  },
} as const;

export type ExecSettings = Settings<typeof options>;

export const exec = command({
  name: "exec",
  describe: "Run a command against a sim of its own, and report what it sent",
  options,
  examples: [
    ["phx-sim exec -- npm test", "with POSTHOG_HOST, POSTHOG_API_KEY … set"],
    ["phx-sim exec --fail-on dropped,rejected -- npx vitest run", "in CI: no event may get lost"],
    ["phx-sim exec scenarios/shop.json -- sh -c 'npm run seed && npm test'", "with a world, and a shell"],
    ["phx-sim exec --matrix new-checkout,beta --strength 2 -- npm test", "every pair of flag values"],
  ],
  run,
});

/** Where and with what a command runs. */
export interface RunPlace {
  readonly scenario: ScenarioSource;
  /** Sections of the verdict that are known before the run; the summary on the terminal omits them. */
  readonly sections: readonly VerdictSection[];
  /** The variables of the command are printed. */
  readonly isAnnounced: boolean;
  /** The verdict is needed with all its parts, also without --json and --report. */
  readonly isWhole: boolean;
}

/** Runs the command once, with a sim of its own, and prints the summary. A signal that came before it ends all. */
export type RunOnce = (settings: ExecSettings, place: RunPlace) => Promise<RunVerdict | Signal>;

async function run(settings: ExecSettings, shell: Shell): Promise<CommandEnd> {
  const { values, origins } = settings;
  const failOn = failReasonsOf(values["fail-on"] ?? [], origins["fail-on"].where);
  const plan = await planFor(values.plan, failOn.includes("plan"), shell);
  await checkReroute(values);
  if (values.report !== undefined) makeResultFolder(values.report);
  if (values.junit !== undefined) makeResultFolder(dirname(values.junit), "--junit");
  // Loaded here: a start of the sim does not need it.
  const { hasTerminal, relaySignals } = await import("./child-process.ts");
  const relay = relaySignals(process, hasTerminal());
  const scenario = scenarioOf(settings);
  const runOnce: RunOnce = (its, place) => runWithSim({ failOn, plan, relay, shell }, its, place);
  if (values.matrix !== undefined) {
    const { runMatrix } = await import("./matrix-runs.ts");
    return runMatrix({ settings, shell, scenario, keys: values.matrix, relay, runOnce });
  }
  if (values.strength !== undefined)
    throw new Failure("usage", "--strength needs --matrix: the flags to combine");
  const place = { scenario, sections: [], isAnnounced: true, isWhole: false };
  const verdict = await runOnce(settings, place);
  if (typeof verdict === "string") return verdict;
  await appendStepSummary(summaryMarkdown(verdict), shell);
  if (values.json) shell.out.say(verdictText(verdict));
  shell.out.flush();
  return verdict.exit_code;
}

/** What all runs of a command share. */
interface RunParts {
  readonly failOn: readonly FailReason[];
  readonly plan: Plan | undefined;
  readonly relay: SignalRelay;
  readonly shell: Shell;
}

async function runWithSim(parts: RunParts, settings: ExecSettings, place: RunPlace) {
  const { failOn, relay, shell } = parts;
  const { values } = settings;
  const where = { ...missUpstreamOf(settings), port: values.port, scenario: place.scenario };
  const sim = await openSim(values, where, shell);
  let guard: ChildGuard | undefined;
  try {
    if (values["block-egress"] || failOn.includes("egress")) guard = await openEgressGuard(sim.url, shell);
    const routes = await rerouteVariables(sim, values, shell);
    if (relay.first) return relay.first;
    const tally = tallyOf(sim);
    const started = Date.now();
    if (place.isAnnounced && !values.quiet)
      announceVariables(sim, values.command, childVariables(readyLine(sim)), shell);
    const end = await runPointed(sim, settings, shell, relay, { ...guard?.env, ...routes });
    if (end.problem !== undefined) shell.err.say(`phx-sim: ${end.problem}`);
    await settles(sim);
    const facts = await factsOf({ ...parts, ...place, sim, settings, guard, tally, started, end });
    return await conclude(facts, sim, settings, shell, place.sections);
  } finally {
    await guard?.close();
    await closesWithin(sim, closeMs);
  }
}

/** A run that has ended. */
interface EndedRun extends Pick<RunParts, "failOn" | "plan">, RunPlace {
  readonly sim: Sim;
  readonly settings: ExecSettings;
  readonly guard: ChildGuard | undefined;
  readonly tally: Tally;
  readonly started: number;
  readonly end: ChildEnd;
}

/** What the verdict is made of. The results of further options are its `sections`. */
async function factsOf({ sim, settings, failOn, plan, guard, tally, ...run }: EndedRun): Promise<RunFacts> {
  const { values } = settings;
  const [program = ""] = values.command;
  const { code, problem } = run.end;
  const isWhole = run.isWhole || values.json || values.report !== undefined;
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
      ...(values.report === undefined ? [] : reportPaths(values.report)),
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

/** Runs the command with the variables that point it at the sim. @param more Others that it gets */
async function runPointed(
  sim: Sim,
  { values }: ExecSettings,
  shell: Shell,
  relay: SignalRelay,
  more: Readonly<Record<string, string>> = {},
): Promise<ChildEnd> {
  const variables = childVariables(readyLine(sim));
  shell.err.flush();
  const { runChild } = await import("./child-process.ts");
  // fixtures put the reports of failed tests beside that of the run
  const reports = values.report === undefined ? {} : { PHX_SIM_TEST_REPORTS: join(values.report, "tests") };
  const env = { ...reports, ...shell.env, ...variables, ...more };
  return runChild(values.command, env, relay, { isStdoutOurs: values.json });
}

/** Writes the files of the verdict, prints its summary, and returns it. */
async function conclude(
  facts: RunFacts,
  sim: Sim,
  { values }: ExecSettings,
  shell: Shell,
  known: RunPlace["sections"],
): Promise<RunVerdict> {
  const whole = verdictOf(facts);
  const unwritten = await writeFiles(whole, sim, values);
  const verdict =
    unwritten.length === 0
      ? whole
      : verdictOf({ ...facts, problems: [...facts.problems, ...unwritten], files: [] });
  const isRun = facts.problems.length === 0;
  const news = { ...verdict, sections: verdict.sections.filter((it) => !known.includes(it)) };
  if (isRun && !values.quiet) shell.err.say(...summaryLines(news, shell.errStyle));
  shell.err.say(...reasonLines(verdict));
  return verdict;
}

/** Why the run failed although its command passed; the summary has the details. */
function reasonLines({ failures, fail_on, sections }: RunVerdict): string[] {
  const ofRules = failures.filter(({ code }) => fail_on.includes(code)).map(({ text }) => text);
  const others = failures.filter(
    ({ code }) => code === "not_written" || sections.some(({ name }) => name === code),
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
): Promise<RunFailure[]> {
  const writes = [
    ...(report === undefined ? [] : [() => writeReport(report, sim, verdict)]),
    ...(junit === undefined ? [] : [() => writeJunit(junit, verdict)]),
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

async function writeJunit(file: string, verdict: RunVerdict): Promise<void> {
  const { junitOf } = await import("./verdict-junit.ts");
  await writeResult(file, junitOf(verdict), "--junit");
}

const closeMs = 1500;

import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeWhole } from "../../base/whole-file.ts";
import type { ChildGuard } from "../../egress/child-guard.ts";
import type { ScenarioSource, Sim } from "../../index.ts";
import type { Plan } from "../../plan/plan.ts";
import { replayed } from "../../tapes/commands/tape-summary.ts";
import { type FailReason, failReasons } from "../../verdict/fail-rules.ts";
import type { RunFailure, RunVerdict } from "../../verdict/shapes.ts";
import type { Tally } from "../../verdict/tally.ts";
import { type RunFacts, verdictOf } from "../../verdict/verdict.ts";
import { readyLine } from "../banner.ts";
import { clean } from "../clean-text.ts";
import { type CommandEnd, command, type Shell } from "../command.ts";
import { Failure } from "../failure.ts";
import { closesWithin, missUpstreamOf, openSim, settles, simOptions } from "../open-sim.ts";
import type { Settings } from "../settings.ts";
import { reasonOf } from "../system-reason.ts";
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
import { makeResultFolder, reportPaths, verdictText, writeReport } from "./report-files.ts";
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

type ExecSettings = Settings<typeof options>;

export const exec = command({
  name: "exec",
  describe: "Run a command against a sim of its own, and report what it sent",
  options,
  examples: [
    ["phx-sim exec -- npm test", "with POSTHOG_HOST, POSTHOG_API_KEY … set"],
    ["phx-sim exec --fail-on dropped,rejected -- npx vitest run", "in CI: no event may get lost"],
    ["phx-sim exec scenarios/shop.json -- sh -c 'npm run seed && npm test'", "with a world, and a shell"],
  ],
  run,
});

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
  const where = { ...missUpstreamOf(settings), port: values.port, scenario: scenarioOf(settings) };
  const sim = await openSim(values, where, shell);
  let guard: ChildGuard | undefined;
  try {
    if (values["block-egress"] || failOn.includes("egress")) guard = await openEgressGuard(sim.url, shell);
    const routes = await rerouteVariables(sim, values, shell);
    if (relay.first) return relay.first;
    const tally = tallyOf(sim);
    const started = Date.now();
    const end = await runPointed(sim, settings, shell, relay, { ...guard?.env, ...routes });
    if (end.problem !== undefined) shell.err.say(`phx-sim: ${end.problem}`);
    await settles(sim);
    const facts = await factsOf({ sim, settings, failOn, plan, guard, tally, started, end });
    return await conclude(facts, sim, settings, shell);
  } finally {
    await guard?.close();
    await closesWithin(sim, closeMs);
  }
}

/** A run that has ended. */
interface EndedRun {
  readonly sim: Sim;
  readonly settings: ExecSettings;
  readonly failOn: readonly FailReason[];
  readonly plan: Plan | undefined;
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
    sections: [],
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
  if (!values.quiet) announceVariables(sim, values.command, variables, shell);
  shell.err.flush();
  const { runChild } = await import("./child-process.ts");
  // fixtures put the reports of failed tests beside that of the run
  const reports = values.report === undefined ? {} : { PHX_SIM_TEST_REPORTS: join(values.report, "tests") };
  const env = { ...reports, ...shell.env, ...variables, ...more };
  return runChild(values.command, env, relay, { isStdoutOurs: values.json });
}

/** Writes and prints the verdict and returns the exit code: the command's own, or 1 if something else failed. */
async function conclude(facts: RunFacts, sim: Sim, { values }: ExecSettings, shell: Shell): Promise<number> {
  const whole = verdictOf(facts);
  const unwritten = await writeFiles(whole, sim, values);
  const verdict =
    unwritten.length === 0
      ? whole
      : verdictOf({ ...facts, problems: [...facts.problems, ...unwritten], files: [] });
  const isRun = facts.problems.length === 0;
  if (isRun && !values.quiet) shell.err.say(...summaryLines(verdict, shell.errStyle));
  shell.err.say(...reasonLines(verdict));
  await appendStepSummary(verdict, shell);
  if (values.json) shell.out.say(verdictText(verdict));
  shell.out.flush();
  return verdict.exit_code;
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

/** Shows the summary on the page of a GitHub Actions job, which names a file for it. */
async function appendStepSummary(verdict: RunVerdict, shell: Shell): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = shell.env;
  if (!file) return;
  try {
    await appendFile(file, summaryMarkdown(verdict));
  } catch (error) {
    shell.err.say(`phx-sim: the step summary cannot be written to ${clean(file)}: ${reasonOf(error)}`);
  }
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
  try {
    await writeWhole(file, [junitOf(verdict)], 0o666);
  } catch (error) {
    throw new Failure("failed", `--junit ${clean(file)} cannot be written: ${reasonOf(error)}`, error);
  }
}

const closeMs = 1500;

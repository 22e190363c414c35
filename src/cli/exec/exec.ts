import { appendFile } from "node:fs/promises";
import type { ChildGuard } from "../../egress/child-guard.ts";
import type { RequestSummary, ScenarioSource, Sim } from "../../index.ts";
import { missedOf, replayed, tapeFacts } from "../../tapes/commands/tape-summary.ts";
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
import {
  type BaselineRun,
  baselineFor,
  comparedWith,
  createTally,
  failReasons,
  failReasonsOf,
  planFor,
  tripped,
} from "./run-findings.ts";
import { type ExecRun, makeReportFolder, summaryLines, summaryMarkdown, writeReport } from "./run-report.ts";

export const execOptions = {
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
  baseline: {
    kind: "file",
    describe:
      "Analytics baseline to compare with; with --fail-on baseline the default is analytics.baseline.ndjson",
  },
  "baseline-complete": {
    kind: "switch",
    describe: "A test of the baseline that did not run is a change, too",
    flagOnly: true,
  },
  report: {
    kind: "folder",
    describe: "Folder for events.ndjson, requests.har, summary.md and analytics.baseline.ndjson",
  },
  quiet: { kind: "switch", describe: "Print neither the variables nor the summary" },
  json: {
    kind: "switch",
    describe: "Print the result as JSON, as the last line of stdout",
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

type ExecSettings = Settings<Omit<typeof execOptions, "baseline-complete">>;

export const exec = command({
  name: "exec",
  describe: "Run a command against a sim of its own, and report what it sent",
  options: execOptions,
  examples: [
    ["phx-sim exec -- npm test", "with POSTHOG_HOST, POSTHOG_API_KEY … set"],
    ["phx-sim exec --fail-on dropped,rejected -- npx vitest run", "in CI: no event may get lost"],
    ["phx-sim exec scenarios/shop.json -- sh -c 'npm run seed && npm test'", "with a world, and a shell"],
  ],
  run: (settings, shell) =>
    runExec(settings, shell, (isNeeded) => baselineFor(settings.values, isNeeded, shell)),
});

/** @param openBaseline Opens the record of the run; `isNeeded` with `--fail-on baseline` */
export async function runExec(
  settings: ExecSettings,
  shell: Shell,
  openBaseline: (isNeeded: boolean) => Promise<BaselineRun | undefined>,
): Promise<CommandEnd> {
  const { values, origins } = settings;
  const failOn = failReasonsOf(values["fail-on"] ?? [], origins["fail-on"].where);
  const plan = await planFor(values.plan, failOn.includes("plan"), shell);
  const baseline = await openBaseline(failOn.includes("baseline"));
  await checkReroute(values);
  if (values.report !== undefined) makeReportFolder(values.report);
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
    const tally = createTally(sim.apiKey);
    sim.onRequest((request: RequestSummary) => tally.add(request));
    baseline?.watch(sim);
    const end = await runPointed(sim, settings, shell, relay, { ...guard?.env, ...routes });
    if (end.problem !== undefined) {
      shell.err.say(`phx-sim: ${end.problem}`);
      return end.code;
    }
    await settles(sim);
    const { findings: lint } = await sim.lint();
    const findings = {
      tally,
      blocked: await blockedBy(guard),
      plan: await comparedWith(plan, sim),
      lint,
      baseline: await baseline?.finish(sim, end.code),
    };
    const result = {
      ...findings,
      tape: await replayed(sim, isRerouting(values)),
      code: end.code,
      failures: tripped(failOn, findings),
    };
    return await conclude(result, sim, settings, shell);
  } finally {
    await guard?.close();
    await closesWithin(sim, closeMs);
  }
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
  return runChild(values.command, { ...shell.env, ...variables, ...more }, relay);
}

/** Prints the result and returns the exit code: the command's own, or 1 if it passed and something else failed. */
async function conclude(result: ExecRun, sim: Sim, { values }: ExecSettings, shell: Shell): Promise<number> {
  if (!values.quiet) shell.err.say(...summaryLines(result, shell.errStyle));
  if (values.json) shell.out.say(JSON.stringify(outcomeOf(result)));
  shell.out.flush();
  if (result.failures.length > 0) shell.err.say(`phx-sim: --fail-on: ${result.failures.join(", ")}`);
  await appendStepSummary(result, shell);
  const problem = await reported(result, sim, values.report);
  if (problem !== undefined) shell.err.say(`phx-sim: ${problem}`);
  const isFailed = result.failures.length > 0 || missedOf(result.tape) > 0 || problem !== undefined;
  return result.code === 0 && isFailed ? 1 : result.code;
}

/** The result for machines. `code` is the command's own. */
const outcomeOf = ({ tally, tape, code, failures, baseline }: ExecRun) => ({
  code,
  counts: tally.counts,
  failures,
  tape: tapeFacts(tape),
  ...(baseline?.diff && { baseline: baseline.diff }),
});

/** Shows the summary on the page of a GitHub Actions job, which names a file for it. */
async function appendStepSummary(result: ExecRun, shell: Shell): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = shell.env;
  if (!file) return;
  try {
    await appendFile(file, summaryMarkdown(result));
  } catch (error) {
    shell.err.say(`phx-sim: the step summary cannot be written to ${clean(file)}: ${reasonOf(error)}`);
  }
}

/** Writes the report, if one is requested; returns the error message: it must not hide the command's exit code. */
async function reported(result: ExecRun, sim: Sim, folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  try {
    await writeReport(folder, sim, result);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const closeMs = 1500;

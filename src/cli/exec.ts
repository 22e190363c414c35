import { appendFile } from "node:fs/promises";
import type { ChildGuard } from "../guard/open-guard.ts";
import type { RequestSummary, ScenarioSource, Sim } from "../index.ts";
import { readyLine } from "./banner.ts";
import { clean } from "./clean-text.ts";
import { command, type Ending, type Shell } from "./command.ts";
import type { ChildEnd, SignalRelay } from "./exec-child.ts";
import { blockedBy, openEgressGuard } from "./exec-egress.ts";
import { childVariables, variableLines } from "./exec-env.ts";
import { heldAgainst, planFor } from "./exec-plan.ts";
import { makeReportFolder, writeReport } from "./exec-report.ts";
import { checkReroute, isRerouting, rerouteOptions, rerouteVariables } from "./exec-reroute.ts";
import { type Run, summaryLines, summaryMarkdown } from "./exec-summary.ts";
import { createTally } from "./exec-tally.ts";
import { failReasons, failReasonsOf, tripped } from "./fail-on.ts";
import { Failure } from "./failure.ts";
import { closesWithin, missUpstreamOf, openSim, simOptions } from "./open-sim.ts";
import type { Settings } from "./settings.ts";
import { reasonOf } from "./system-reason.ts";
import { missedOf, replayed, tapeFacts } from "./tape-summary.ts";

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
  report: { kind: "folder", describe: "Folder for events.ndjson, requests.har and summary.md" },
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

async function run(settings: ExecSettings, shell: Shell): Promise<Ending> {
  const { values, origins } = settings;
  const failOn = failReasonsOf(values["fail-on"] ?? [], origins["fail-on"].where);
  const plan = await planFor(values.plan, failOn.includes("plan"), shell);
  await checkReroute(values);
  if (values.report !== undefined) makeReportFolder(values.report);
  // On demand: starting programs is no part of starting a sim.
  const { hasTerminal, relaySignals } = await import("./exec-child.ts");
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
    const end = await runPointed(sim, settings, shell, relay, { ...guard?.env, ...routes });
    if (end.problem !== undefined) {
      shell.err.say(`phx-sim: ${end.problem}`);
      return end.code;
    }
    await settle(sim);
    const { findings: lint } = await sim.lint();
    const findings = { tally, blocked: await blockedBy(guard), plan: await heldAgainst(plan, sim), lint };
    const told = {
      ...findings,
      tape: await replayed(sim, isRerouting(values)),
      code: end.code,
      failures: tripped(failOn, findings),
    };
    return await conclude(told, sim, settings, shell);
  } finally {
    await guard?.close();
    await closesWithin(sim, closeMs);
  }
}

/** What is given by place, over what --scenario says; else the setting alone. */
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
  const access = readyLine(sim);
  const variables = childVariables(access);
  if (!values.quiet) {
    const [program = ""] = values.command;
    shell.err.say(
      `phx-sim: ready at ${sim.url}; ${clean(program, 80)} gets`,
      ...variableLines(variables, access),
    );
  }
  shell.err.flush();
  const { runChild } = await import("./exec-child.ts");
  return runChild(values.command, { ...shell.env, ...variables, ...more }, relay);
}

/** What was sent without waiting for the answer has this time to arrive, ms. */
const settleMs = 1000;
const idleMs = 100;

/** Waits for the last requests, but not for a program that was left behind and goes on sending. */
const settle = (sim: Sim): Promise<void> => sim.settle({ idleMs, timeoutMs: settleMs }).catch(() => {});

/** Tells how it went and gives the exit code: the command's own, or 1 when it passed and something else did not. */
async function conclude(told: Run, sim: Sim, { values }: ExecSettings, shell: Shell): Promise<number> {
  if (!values.quiet) shell.err.say(...summaryLines(told, shell.errStyle));
  if (values.json) shell.out.say(JSON.stringify(outcomeOf(told)));
  shell.out.flush();
  if (told.failures.length > 0) shell.err.say(`phx-sim: --fail-on: ${told.failures.join(", ")}`);
  await appendStepSummary(told, shell);
  const problem = await reported(told, sim, values.report);
  if (problem !== undefined) shell.err.say(`phx-sim: ${problem}`);
  const isFailed = told.failures.length > 0 || missedOf(told.tape) > 0 || problem !== undefined;
  return told.code === 0 && isFailed ? 1 : told.code;
}

/** How it went, for machines. `code` is the command's own. */
const outcomeOf = ({ tally, tape, code, failures }: Run) => ({
  code,
  counts: tally.counts,
  failures,
  tape: tapeFacts(tape),
});

/** Shows the summary on the page of a GitHub Actions job, which names a file for it. */
async function appendStepSummary(told: Run, shell: Shell): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = shell.env;
  if (!file) return;
  try {
    await appendFile(file, summaryMarkdown(told));
  } catch (error) {
    shell.err.say(`phx-sim: the step summary cannot be written to ${clean(file)}: ${reasonOf(error)}`);
  }
}

/** Writes the report, if one is asked for; the complaint when that fails: it must not hide the command's exit code. */
async function reported(told: Run, sim: Sim, folder: string | undefined): Promise<string | undefined> {
  if (folder === undefined) return undefined;
  try {
    await writeReport(folder, sim, summaryMarkdown(told));
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error.message;
    throw error;
  }
}

const closeMs = 1500;

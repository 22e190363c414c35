import type { RequestSummary, Sim, StoredEvent } from "../../index.ts";
import { didYouMean } from "../../kernel/base/nearest.ts";
import { wholeCount } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { plain } from "../../kernel/command/style.ts";
import type { Plan } from "../../lab/plan/plan.ts";
import { type Played, tapeFacts, tapeLines } from "../../lab/tapes/commands/tape-summary.ts";
import type { TapeRules } from "../../lab/tapes/redact/rules.ts";
import { createMask, type Mask } from "../../lab/tapes/redact/scan.ts";
import type { FlagTotals } from "../../service/flags/decision-shapes.ts";
import type { SdkTotals } from "../../state/journal/sdk-shapes.ts";
import { type FailReason, failReasons, isFailReason } from "../../testing/run-report/fail-rules.ts";
import { resultCounts, resultSection } from "../../testing/run-report/results.ts";
import { firstOf, noTests, type RunFacts } from "../../testing/run-report/run-report.ts";
import type { RunVerdict, VerdictSection } from "../../testing/run-report/shapes.ts";
import { type CountedRequest, Tally } from "../../testing/run-report/tally.ts";
import type { BaselineRun } from "../baseline/command-run.ts";

/** Counts a sim's requests as they come. */
export function tallyOf({ apiKey, onRequest }: Pick<Sim, "apiKey" | "onRequest">, rules?: TapeRules): Tally {
  const mask = createMask(rules);
  const tally = new Tally({ projectKey: apiKey, maskPath: mask.target });
  onRequest((request) => tally.add(countedOf(request, mask)));
  return tally;
}

const countedOf = (
  { names, project_name, scripted, unmatched, ...request }: RequestSummary,
  mask: Mask,
): CountedRequest => ({
  ...request,
  dropped: request.dropped.map((it) => ({ ...it, event: mask.text(it.event) })),
  kept: names.map(mask.text),
  projectName: project_name,
  scripted: scripted === true,
  unmatched: unmatched === true,
});

const page = 1000;

/** All events, kept and dropped, in order of arrival. */
export async function* allEvents(sim: Sim): AsyncGenerator<StoredEvent> {
  let since = 0;
  for (;;) {
    const events = await sim.events.list({ since, limit: page });
    yield* events;
    if (events.length < page) return;
    since = events.at(-1)?.seq ?? since;
  }
}

/**
 * The tracking plan of a run: the given file, or, if one is needed, the one that is found. Read before the run, so that
 * its mistakes are reported first. @throws Failure usage
 */
export async function planFor(named: string | undefined, isNeeded: boolean, shell: Shell): Promise<Plan | undefined> {
  if (named === undefined && !isNeeded) return undefined;
  const { findPlan, planName, readPlan } = await import("../../lab/plan/read-plan.ts");
  const { PlanError, planProblemLines } = await import("../../lab/plan/plan.ts");
  const file = named ?? (await findPlan(shell.cwd));
  if (file === undefined)
    throw new Failure("usage", `--fail-on plan: there is no ${planName} in this folder or above; give --plan FILE`);
  try {
    return await readPlan(file);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    const [first = "", ...more] = planProblemLines(error.problems, shell.cwd).map((line) => clean(line, 1000));
    throw new Failure("usage", [first, ...more].join("\n"), error);
  }
}

const mostViolations = 100;

/** Compares the captured events with the plan; null without one. */
export async function comparedWith(plan: Plan | undefined, sim: Sim): Promise<RunVerdict["plan"]> {
  if (!plan) return null;
  const { checkPlan, groupedByEvent, sentenceOf } = await import("../../lab/plan/check-plan.ts");
  const { total, checked, unseen, violations, text } = await checkPlan(plan, allEvents(sim));
  const rows = groupedByEvent(violations).flatMap(([what, rows]) =>
    rows.map(({ first, count }) => ({
      code: first.kind,
      what,
      sentence: sentenceOf(first),
      fix: "",
      count,
      tests: noTests,
    })),
  );
  return { ...{ violations: total, checked, unseen, text }, ...firstOf(rows, mostViolations) };
}

/**
 * Records the run if it is to be compared with a baseline, or reported. The baseline is read before the run.
 * @throws Failure usage
 */
export async function baselineFor(
  values: {
    readonly baseline: string | undefined;
    readonly "baseline-complete": boolean;
    readonly report: string | undefined;
    readonly command: readonly string[];
  },
  isNeeded: boolean,
  shell: Shell,
): Promise<BaselineRun | undefined> {
  const { baseline, "baseline-complete": complete, report, command: commandLine } = values;
  const isCompared = baseline !== undefined || isNeeded;
  if (!isCompared && report === undefined) return undefined;
  const { comparingRun, fileOf } = await import("../baseline/command-run.ts");
  return comparingRun(isCompared ? fileOf(baseline, shell) : undefined, { complete, commandLine }, shell);
}

/** The rules that a list names. @param where Its source, e.g. `--fail-on`. @throws Failure usage */
export function failReasonsOf(names: readonly string[], where: string): FailReason[] {
  return names.map((name) => {
    if (isFailReason(name)) return name;
    const known = failReasons.join(", ");
    const hint = didYouMean(name, failReasons);
    throw new Failure("usage", `${where} must be one or more of ${known}, not "${clean(name)}"${hint}`);
  });
}

export function tapeResult(played: Played): RunVerdict["tape"] {
  const facts = tapeFacts(played);
  if (played === null || facts === null) return null;
  return { ...facts, on_miss: played.on_miss, text: tapeLines(played, plain).join("\n") };
}

const counted = <Totals extends { readonly counting: boolean }>(sim: Sim, path: string): Promise<Totals> =>
  wholeCount(async () => {
    const answer = await sim.handle(new Request(`${sim.url}/__sim/${path}`));
    if (!answer.ok) throw new Error(`/__sim/${path} is answered with ${answer.status}`);
    return (await answer.json()) as Totals;
  });

/** SDKs that sent something, and flags that were read; these are counted from the whole log. */
export async function readersOf(sim: Sim, isNeeded: boolean): Promise<Pick<RunFacts, "sdks" | "flags">> {
  if (!isNeeded) return { sdks: { sdks: [], more: 0 }, flags: [] };
  const sdks = await counted<SdkTotals>(sim, "sdks");
  const { flags } = await counted<FlagTotals>(sim, "flag-decisions/totals");
  return { sdks, flags };
}

/** The results of capture v1 other than `ok`; they are looked for if an event was dropped. */
export async function resultsOf(sim: Sim, { names, otherNames }: Tally): Promise<VerdictSection | undefined> {
  if (otherNames === 0 && ![...names.values()].some(({ dropped }) => dropped > 0)) return undefined;
  const headers = { "content-type": "application/json" };
  const counts = await resultCounts(async <Reply>(method: string, path: string, body?: object) => {
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const answer = await sim.handle(new Request(`${sim.url}/__sim/${path}`, init));
    return (await answer.json()) as Reply;
  });
  return resultSection(counts);
}

/** Reads the source before the run, and measures afterwards which of its calls fired. @throws Failure usage */
export async function coverageOf(
  folder: string,
  min: number | undefined,
  shell: Shell,
): Promise<(sim: Sim) => Promise<VerdictSection>> {
  const { sourceIn } = await import("../call-coverage/command.ts");
  const found = await sourceIn([folder], shell, { tests: false, ignore: [], wrappers: [] });
  return async (sim) => {
    const { callCoverageSection, firedIn, measureCallCoverage } = await import("../call-coverage/measure.ts");
    const { flags } = await readersOf(sim, true);
    return callCoverageSection(measureCallCoverage(found, await firedIn(allEvents(sim), flags)), min);
  };
}

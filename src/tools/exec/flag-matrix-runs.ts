import { join } from "node:path";
import { clean, cleanLines } from "../../kernel/command/clean-text.ts";
import type { CommandEnd, Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { writeResult } from "../../kernel/command/result-file.ts";
import { loadScenario, ScenarioError } from "../../lab/scenario/load.ts";
import type { Scenario } from "../../lab/scenario/scenario.ts";
import type { ScenarioSource } from "../../lab/scenario/source.ts";
import { type Combination, combinationsOf, type MatrixFlag } from "../../testing/flag-matrix/combinations.ts";
import { flagMatrixFlags, MatrixFlagError, withFlags } from "../../testing/flag-matrix/scenario-flags.ts";
import type { MatrixVerdict } from "../../testing/flag-matrix/shapes.ts";
import { smallestFailing } from "../../testing/flag-matrix/smallest-failing.ts";
import type { VerdictSection } from "../../testing/run-report/shapes.ts";
import type { SignalRelay } from "./child-process.ts";
import type { ExecSettings } from "./exec-options.ts";
import { flagMatrixJunit, flagMatrixLines, flagMatrixMarkdown, shownCombination } from "./flag-matrix-text.ts";
import { appendStepSummary, makeResultFolder } from "./report-files.ts";
import type { RunOnce } from "./run-place.ts";

interface FlagMatrixRuns {
  readonly settings: ExecSettings;
  readonly shell: Shell;
  readonly scenario: ScenarioSource;
  /** The words of `--matrix`. */
  readonly keys: readonly string[];
  readonly strength: number | undefined;
  readonly relay: Pick<SignalRelay, "first">;
  readonly runOnce: RunOnce;
}

/** @throws Failure start */
async function scenarioIn(source: ScenarioSource): Promise<Scenario> {
  try {
    return await loadScenario(source);
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error;
    throw new Failure("start", cleanLines(`${error.message}; ${error.hint}`, 2_000).join("\n"), error);
  }
}

/** @throws Failure usage */
function flagsOf(keys: readonly string[], scenario: Scenario): MatrixFlag[] {
  try {
    return flagMatrixFlags(keys, scenario);
  } catch (error) {
    if (!(error instanceof MatrixFlagError)) throw error;
    throw new Failure("usage", `--matrix: ${clean(error.message, 1_000)}`, error);
  }
}

/** @throws Failure usage */
function combinations(flags: readonly MatrixFlag[], strength: number): Combination[] {
  try {
    return combinationsOf(flags, strength);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Failure("usage", `--matrix: ${clean(error.message, 1_000)}`, error);
  }
}

/** The combination as a part of its run's verdict. */
const sectionOf = (flags: Combination, number: number, count: number): VerdictSection => ({
  name: "matrix",
  title: `Flag combination ${number} of ${count}`,
  failed: false,
  summary: shownCombination(flags),
  total: 0,
  items: [],
  left_out: 0,
  text: null,
});

/** Runs the command with each combination, and prints what they show together. */
export async function runFlagMatrix(all: FlagMatrixRuns): Promise<CommandEnd> {
  const { settings, shell, keys, relay, runOnce } = all;
  const { values } = settings;
  const scenario = await scenarioIn(all.scenario);
  const flags = flagsOf(keys, scenario);
  const strength = all.strength ?? Math.min(2, flags.length);
  const rows = combinations(flags, strength);
  const runs: MatrixVerdict["runs"] = [];
  for (const [i, combination] of rows.entries()) {
    if (relay.first !== undefined) break;
    if (!values.quiet)
      shell.err.say(`phx-sim: combination ${i + 1} of ${rows.length}: ${shownCombination(combination)}`);
    const report = values.report === undefined ? undefined : join(values.report, String(i + 1));
    if (report !== undefined) makeResultFolder(report);
    const verdict = await runOnce(
      { ...settings, values: { ...values, report, junit: undefined } },
      {
        scenario: withFlags(scenario, combination),
        known: sectionOf(combination, i + 1, rows.length),
        isAnnounced: i > 0,
      },
    );
    if (typeof verdict === "string") return verdict;
    runs.push({ flags: combination, verdict });
  }
  const result = flagMatrixResult(runs, rows.length, strength);
  return conclude(result, all);
}

/** What the runs show together. @param count Number of all combinations */
export function flagMatrixResult(runs: MatrixVerdict["runs"], count: number, strength: number): MatrixVerdict {
  const results = runs.map(({ flags, verdict }) => ({ flags, failed: verdict.verdict === "failed" }));
  const cause = smallestFailing(results);
  const first = runs.find(({ verdict }) => verdict.verdict === "failed");
  return {
    schema_version: 1,
    verdict: first === undefined ? "passed" : "failed",
    exit_code: first?.verdict.exit_code ?? 0,
    strength,
    runs,
    left_out: count - runs.length,
    cause: cause.kind,
    smallest_failing: "smallest" in cause ? [...cause.smallest] : [],
  };
}

/** Writes and prints the result, and returns the exit code of the first failure. */
async function conclude(result: MatrixVerdict, { settings, shell }: FlagMatrixRuns): Promise<number> {
  const { report, junit, json, quiet } = settings.values;
  if (!quiet) shell.err.say(...flagMatrixLines(result, shell.errStyle));
  const document = JSON.stringify(result, null, 2);
  const files: (readonly [file: string, text: string, what: string])[] = [
    ...(report === undefined
      ? []
      : ([
          [join(report, "matrix.json"), `${document}\n`, "the report"],
          [join(report, "matrix.md"), flagMatrixMarkdown(result), "the report"],
        ] as const)),
    ...(junit === undefined ? [] : ([[junit, flagMatrixJunit(result), "--junit"]] as const)),
  ];
  let unwritten = 0;
  for (const [file, text, what] of files) {
    try {
      await writeResult(file, text, what);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      unwritten++;
      shell.err.say(`phx-sim: ${clean(error.message)}`);
    }
  }
  await appendStepSummary(flagMatrixMarkdown(result), shell);
  if (json) shell.out.say(document);
  shell.out.flush();
  return result.exit_code === 0 && unwritten > 0 ? 1 : result.exit_code;
}

import { join, resolve } from "node:path";
import { isObject, objectIn, objectsIn, parsedJson, textIn } from "../../kernel/base/json.ts";
import { callSim, wholeCount } from "../../kernel/command/ask-sim.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import { command, type Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { writeResult } from "../../kernel/command/result-file.ts";
import { findRunning, whereOptions } from "../../kernel/command/running-sim.ts";
import type { Settings } from "../../kernel/command/settings.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { fileEvents, simEvents } from "../../lab/plan/command-events.ts";
import type { FlagTotals } from "../../service/flags/decision-shapes.ts";
import type { Fired } from "./measure.ts";
import type { SourceFindings, SourceOptions } from "./source-files.ts";

const options = {
  folders: {
    kind: "folder",
    describe: "Folders or files with the source (default: this folder)",
    place: 1,
    optional: true,
    many: true,
  },
  report: { kind: "folder", describe: "Take the events from a report of exec instead of a running sim" },
  min: { kind: "count", describe: "Exit 1 if fewer than N percent of the calls fired" },
  wrapper: {
    describe: "Own function that captures the event in its first argument: track, analytics.track",
    many: true,
  },
  ignore: { describe: "Name of a folder or a file to leave out; packages, builds and tests are", many: true },
  "include-tests": { kind: "switch", describe: "Also count calls in tests" },
  project: { kind: "count", describe: "Only events of the project with this number" },
  lcov: { kind: "file", describe: "File to write in lcov's format, a line for each call" },
  json: { kind: "switch", describe: "Print the result as one JSON document" },
  ...whereOptions,
} as const;

export const coverage = command({
  name: "coverage",
  describe: "Show which SDK calls of the source fired: events that were never sent, flags never read",
  options,
  examples: [
    ["phx-sim coverage src", "with the events of the running sim"],
    ["phx-sim coverage --report phx-report --min 80", "in CI, after exec --report; exit code 1 below 80 %"],
    ["phx-sim coverage --wrapper track", "for an app whose own function captures"],
  ],
  confirms: true,
  run,
});

/** The call sites in the source. @throws Failure usage */
export async function sourceIn(
  paths: readonly string[],
  shell: Pick<Shell, "cwd">,
  options: SourceOptions,
): Promise<SourceFindings> {
  const { findSites } = await import("./source-files.ts");
  const all = paths.length > 0 ? paths : [shell.cwd];
  try {
    return await findSites(all, shell.cwd, options);
  } catch (error) {
    const path = isObject(error) && typeof error.path === "string" ? error.path : all.join(", ");
    throw new Failure(
      "usage",
      `coverage: ${clean(path)} cannot be read: ${reasonOf(error)}; give a folder with source files`,
      error,
    );
  }
}

async function firedInSim(settings: Settings<typeof options>, shell: Shell): Promise<Fired> {
  const { firedIn } = await import("./measure.ts");
  const { project } = settings.values;
  const running = await findRunning(settings, shell);
  const { flags } = await wholeCount(() => callSim<FlagTotals>(running, "GET", "flag-decisions/totals"));
  const served = flags.filter((it) => project === undefined || it.project === project);
  return firedIn(simEvents(running, { project }), served);
}

/** The events of a report, and the flags that its verdict has as served. */
async function firedInReport(folder: string): Promise<Fired> {
  const { firedIn } = await import("./measure.ts");
  const { readFile } = await import("node:fs/promises");
  const summary = parsedJson(await readFile(join(folder, "summary.json"), "utf8").catch(() => ""));
  const flags = isObject(summary) ? objectsIn(objectIn(summary, "flags").items) : [];
  const served = flags.map((flag) => ({
    key: textIn(flag, "key"),
    values: objectsIn(flag.values).map(({ value, served }) => ({
      value: typeof value === "string" || typeof value === "boolean" ? value : null,
      served: typeof served === "number" ? served : 0,
    })),
  }));
  return firedIn(fileEvents(join(folder, "events.ndjson")), served);
}

async function run(settings: Settings<typeof options>, shell: Shell) {
  const { values } = settings;
  const { folders, wrapper, ignore, report, min, lcov, json } = values;
  const found = await sourceIn(
    folders.map((it) => resolve(shell.cwd, it)),
    shell,
    { tests: values["include-tests"], ignore, wrappers: wrapper },
  );
  const fired = report === undefined ? await firedInSim(settings, shell) : await firedInReport(report);
  const { callCoverageLcov, callCoverageLines, callCoverageSummary, measureCallCoverage } = await import(
    "./measure.ts"
  );
  const result = measureCallCoverage(found, fired);
  if (result.sites.length === 0) throw new Failure("failed", clean(callCoverageSummary(result), 4_000));
  if (lcov !== undefined) await writeResult(lcov, callCoverageLcov(result), "--lcov");
  if (json) shell.out.say(JSON.stringify(result, null, 2));
  else {
    shell.out.say(...callCoverageLines(result).map((it) => clean(it, 600)));
    shell.err.say(`phx-sim: ${clean(callCoverageSummary(result), 4_000)}`);
  }
  if (min !== undefined && result.percent < min)
    throw new Failure("failed", `coverage is ${result.percent} %, below --min ${min}`);
  return "ok" as const;
}

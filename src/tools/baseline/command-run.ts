import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Sim } from "../../index.ts";
import { systemCode } from "../../kernel/base/errors.ts";
import { shortened } from "../../kernel/base/problem.ts";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { firstOf } from "../../testing/run-report/run-report.ts";
import type { VerdictSection } from "../../testing/run-report/shapes.ts";
import { type BaselineDiff, baselineHeadline, baselineLines, compareBaselines } from "./compare.ts";
import { BaselineError, readBaseline, updatedBaseline, writeBaseline } from "./file.ts";
import { type Baseline, baselineName, type RecordOptions } from "./record.ts";
import { createRecorder } from "./recorder.ts";

/** The result of comparing a run with the analytics baseline, or of updating that. */
export interface BaselineOutcome {
  /** undefined: the run was only recorded. */
  readonly section: VerdictSection | undefined;
  /** The run itself as the text of a baseline file; undefined if the command failed. */
  readonly record: string | undefined;
}

const mostItems = 100;
const mostTests = 20;

/** A section of the verdict. @param fix What to do about a change */
function sectionOf(summary: string, diff: BaselineDiff | undefined, fix: string): VerdictSection {
  const changes = diff ? [...diff.added, ...diff.removed, ...diff.changed] : [];
  const { items, left_out } = firstOf(changes, mostItems);
  const lines = diff ? baselineLines(diff) : [];
  return {
    name: "baseline",
    title: "analytics baseline",
    // --fail-on decides
    failed: false,
    summary,
    total: changes.length,
    items: items.map(({ what, name, property, text, tests }) => ({
      code: `${what}_changed`,
      what: [name, property].filter(Boolean).join(": "),
      sentence: text,
      fix,
      count: Math.max(1, tests.length),
      tests: firstOf(
        tests.map((it) => ({ project: null, name: it, count: 1 })),
        mostTests,
      ),
    })),
    left_out,
    text: lines.length === 0 ? null : [...lines, ...(fix === "" ? [] : [`→ ${fix}`])].join("\n"),
  };
}

const shownFile = (file: string, { cwd }: Pick<Shell, "cwd">): string => clean(shortened(file, cwd));

export const fileOf = (named: string | undefined, { cwd }: Pick<Shell, "cwd">): string =>
  named ?? resolve(cwd, baselineName);

/** A baseline file; undefined if there is none. @throws Failure usage */
async function baselineIn(file: string, shell: Pick<Shell, "cwd">): Promise<Baseline | undefined> {
  try {
    return readBaseline(await readFile(file, "utf8"), shownFile(file, shell));
  } catch (error) {
    if (error instanceof BaselineError) throw new Failure("usage", clean(error.message, 1_000), error);
    if (systemCode(error) === "ENOENT") return undefined;
    throw new Failure("usage", `${shownFile(file, shell)} cannot be read: ${reasonOf(error)}`, error);
  }
}

/** The same; one that is missing is an error, too. @throws Failure usage */
export async function baselineAt(file: string, shell: Pick<Shell, "cwd">): Promise<Baseline> {
  const found = await baselineIn(file, shell);
  if (found) return found;
  const how = "create it: phx-sim baseline update -- COMMAND";
  throw new Failure("usage", `there is no baseline ${shownFile(file, shell)}; ${how}`);
}

/** The names of the projects that no test made. */
async function projectNames(sim: Sim): Promise<Map<number, string>> {
  const answer = await sim.handle(new Request(`${sim.url}/__sim/projects`));
  const { projects } = (await answer.json()) as { projects: { id: number; name: string }[] };
  return new Map(projects.map(({ id, name }) => [id, id === sim.projectId ? "" : name]));
}

/** Records a run, and passes the record on when the command has ended. */
function recording(
  options: RecordOptions,
  finish: (run: Baseline, code: number) => BaselineOutcome | Promise<BaselineOutcome>,
) {
  const recorder = createRecorder(options);
  return {
    /** Begins; before the command starts. */
    watch(sim: Sim) {
      sim.onProject(recorder.addProject);
      sim.onLine(recorder.addLine);
    },
    /** @param code The command's exit code. @throws Failure failed */
    finish: async (sim: Sim, code: number) => finish(recorder.baseline(await projectNames(sim)), code),
  };
}

export type BaselineRun = ReturnType<typeof recording>;

/** Compares a run with a baseline; without one, the run is only recorded. @throws Failure usage */
export async function comparingRun(
  file: string | undefined,
  { complete, commandLine }: { complete: boolean; commandLine: readonly string[] },
  shell: Shell,
): Promise<BaselineRun> {
  const before = file === undefined ? undefined : await baselineAt(file, shell);
  return recording(before ?? { sdk: false, order: true }, (run, code) => {
    const record = code === 0 ? writeBaseline(run) : undefined;
    if (!before) return { section: undefined, record };
    const diff = compareBaselines(before, run, { complete });
    const fix = `if this is right: phx-sim baseline update -- ${clean(commandLine.join(" "), 200)}`;
    return { section: sectionOf(baselineHeadline(diff), diff, fix), record };
  });
}

interface UpdateOptions {
  readonly file: string;
  readonly prune: boolean;
  /** undefined: as in the file. */
  readonly sdk: boolean | undefined;
  readonly order: boolean | undefined;
}

/** The file before the update; a damaged one is no obstacle if all of it is replaced. @throws Failure usage */
async function fileBefore({ file, prune }: UpdateOptions, shell: Shell): Promise<Baseline | undefined> {
  try {
    return await baselineIn(file, shell);
  } catch (error) {
    if (prune && error instanceof Failure && error.cause instanceof BaselineError) return undefined;
    throw error;
  }
}

/** @throws Failure usage if tests that did not run would stay as they were recorded with other options */
function checkOptions(before: Baseline | undefined, options: RecordOptions, { prune }: UpdateOptions): void {
  if (!before || prune || (before.sdk === options.sdk && before.order === options.order)) return;
  throw new Failure("usage", "--sdk and --no-order change what is recorded of every test: add --prune");
}

/** Writes a run into a file. @throws Failure failed; then the file is as it was */
async function write(
  run: Baseline,
  before: Baseline | undefined,
  { file, prune }: UpdateOptions,
  shell: Shell,
): Promise<VerdictSection> {
  if (run.tests.size === 0) throw new Failure("failed", "there is nothing to write: no test ran, and no event arrived");
  const after = updatedBaseline(before, run, prune);
  const text = writeBaseline(after);
  const name = shownFile(file, shell);
  try {
    await writeWhole(file, [text], 0o666);
  } catch (error) {
    throw new Failure("failed", `${name} cannot be written: ${reasonOf(error)}`, error);
  }
  if (!before) return sectionOf(`${name} is written: ${counted(after.tests.size, "test")}`, undefined, "");
  const diff = compareBaselines(before, after, { complete: true });
  return sectionOf(`${name} is written: ${baselineHeadline(diff)}`, diff, "");
}

/** Writes a run into a baseline file, if the command passes. @throws Failure usage */
export async function updatingRun(options: UpdateOptions, shell: Shell): Promise<BaselineRun> {
  const before = await fileBefore(options, shell);
  const record = { sdk: options.sdk ?? before?.sdk ?? false, order: options.order ?? before?.order ?? true };
  checkOptions(before, record, options);
  return recording(record, async (run, code) => {
    if (code === 0) return { section: await write(run, before, options, shell), record: writeBaseline(run) };
    const failed = `${shownFile(options.file, shell)} is not written, because the command failed`;
    return { section: sectionOf(failed, undefined, ""), record: undefined };
  });
}

/** Writes the record of a run, as a report has it, into a baseline file. @throws Failure usage, failed */
export async function updateFrom(record: string, options: UpdateOptions, shell: Shell): Promise<readonly string[]> {
  const run = await baselineAt(record, shell);
  const before = await fileBefore(options, shell);
  checkOptions(before, run, options);
  const { title, summary, text } = await write(run, before, options, shell);
  return [`${title}: ${summary}`, ...(text === null ? [] : [text])];
}

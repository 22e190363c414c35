import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Sim } from "../../index.ts";
import { systemCode } from "../../kernel/base/errors.ts";
import { makeFolder } from "../../kernel/base/make-folder.ts";
import { counted } from "../../kernel/base/text.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { findingText } from "../../kernel/command/finding.ts";
import { type JunitCase, junitReport } from "../../kernel/command/junit.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import { outcomeText } from "../../state/journal/outcomes.ts";
import type { Mishap, RunVerdict, TestedProject } from "../../testing/run-report/shapes.ts";
import { baselineName } from "../baseline/record.ts";
import { allEvents } from "./run-findings.ts";
import { summaryMarkdown } from "./summary-text.ts";

/** Makes a folder for results, before the work whose results it is to hold. @throws Failure usage */
export function makeResultFolder(folder: string, what = "the report"): void {
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = systemCode(error) === "EEXIST" ? "it is a file" : reasonOf(error);
    throw new Failure("usage", `${what} cannot be put into ${clean(folder)}: ${reason}`, error);
  }
}

type Content = Iterable<string> | AsyncIterable<string | Uint8Array>;

export const verdictText = (verdict: RunVerdict): string => JSON.stringify(verdict, null, 2);

type FileRow = readonly [name: string, content: (sim: Sim, verdict: RunVerdict) => Promise<Content>];

const reportFiles: readonly FileRow[] = [
  ["events.ndjson", async (sim) => eventLines(sim)],
  ["requests.har", (sim) => harOf(sim)],
  ["summary.md", async (_, verdict) => [summaryMarkdown(verdict)]],
  ["summary.json", async (_, verdict) => [`${verdictText(verdict)}\n`]],
  ["report.html", async (sim, verdict) => [await pageOf(sim, verdict)]],
];

/** The record of a run that passed is one more file, for `phx-sim baseline update --from`. */
const filesWith = (record: string | undefined): readonly FileRow[] =>
  record ? [...reportFiles, [baselineName, async () => [record]]] : reportFiles;

export const reportPaths = (folder: string, record: string | undefined): string[] =>
  filesWith(record).map(([name]) => join(folder, name));

/** Writes the files of a report; each appears whole or not at all. @throws Failure failed */
export async function writeReport(
  folder: string,
  sim: Sim,
  verdict: RunVerdict,
  record: string | undefined,
): Promise<void> {
  try {
    for (const [name, content] of filesWith(record))
      await writeWhole(join(folder, name), await content(sim, verdict), 0o666);
  } catch (error) {
    throw new Failure("failed", `the report in ${clean(folder)} is incomplete: ${reasonOf(error)}`, error);
  }
}

async function* eventLines(sim: Sim): AsyncGenerator<string> {
  for await (const event of allEvents(sim)) yield `${JSON.stringify(event)}\n`;
}

async function pageOf(sim: Sim, verdict: RunVerdict): Promise<string> {
  const { reportPage, trafficOf } = await import("../../testing/run-report/report-client.ts");
  return reportPage(await trafficOf(sim), verdict);
}

const mostRequests = 10_000;

async function harOf(sim: Sim): Promise<Content> {
  const answer = await sim.handle(new Request(`${sim.url}/__sim/requests.har?limit=${mostRequests}`));
  if (!answer.ok || !answer.body) throw new Error(`requests.har is answered with ${answer.status}`);
  return Readable.from(answer.body);
}

/** Shows the summary on the page of a GitHub Actions job, which names a file for it. */
export async function appendStepSummary(markdown: string, shell: Shell): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file } = shell.env;
  if (!file) return;
  try {
    await appendFile(file, markdown);
  } catch (error) {
    shell.err.say(`phx-sim: the step summary cannot be written to ${clean(file)}: ${reasonOf(error)}`);
  }
}

const mostLines = 50;

const lineOf = (kind: string, it: Mishap): string =>
  `${kind} ${findingText({ ...it, what: clean(it.what, 200), sentence: clean(it.sentence) })}`;

const kinds = ["dropped", "rejected", "unmatched"] as const;

const kindText = (kind: (typeof kinds)[number]): string => (kind === "unmatched" ? kind : outcomeText(kind));

/** A test fails if it has a mishap of a kind that fails the run; others are its output. */
function testCase(test: TestedProject, verdict: RunVerdict): JunitCase {
  const found = kinds.flatMap((kind) =>
    verdict[kind].items
      .filter(({ tests }) => tests.items.some(({ project }) => project === test.project))
      .map((it) => ({ kind, line: lineOf(kindText(kind), it) })),
  );
  const name = clean(test.name, 500);
  const isFatal = (kind: string) => verdict.fail_on.includes(kind);
  const fatal = kinds.filter((kind) => isFatal(kind) && test[kind] > 0);
  const [first] = fatal;
  const output = found
    .filter(({ kind }) => !isFatal(kind))
    .map(({ line }) => line)
    .slice(0, mostLines);
  if (first === undefined) return { name, output };
  const message = fatal
    .map((kind) => `${counted(test[kind], kind === "dropped" ? "event" : "request")} ${kind}`)
    .join(", ");
  const lines = found.filter(({ kind }) => isFatal(kind)).map(({ line }) => line);
  return { name, failure: { type: first, message, lines: lines.slice(0, mostLines) }, output };
}

function linesOf(code: string, verdict: RunVerdict): string[] {
  const { plan, lint, sections } = verdict;
  if (code === "plan") return plan?.text.split("\n") ?? [];
  if (code === "lint")
    return lint.items.map((it) => findingText({ ...it, what: it.event ?? `request ${it.n}`, count: 1 }));
  if (code === "tape_missed") return verdict.tape?.text.split("\n") ?? [];
  const listed =
    code === "dropped" || code === "rejected" || code === "unmatched" || code === "egress"
      ? verdict[code].items
      : (sections.find(({ name }) => name === code)?.items ?? []);
  return listed.map((it) => lineOf(code, it));
}

/** The verdict as JUnit XML: a case for the command, each rule and section, and each test. */
export function junitOf(verdict: RunVerdict): string {
  const checks = ["command", ...verdict.fail_on, ...verdict.sections.map(({ name }) => name)];
  const nameOf = (code: string): string => (code === "command_failed" || code === "command_not_run" ? "command" : code);
  const failed = new Map(verdict.failures.map((it) => [nameOf(it.code), it]));
  const ruleCase = (name: string): JunitCase => {
    const failure = failed.get(name);
    const title = name === "command" ? name : `rule ${name}`;
    if (!failure) return { name: title };
    const lines = linesOf(failure.code, verdict).slice(0, mostLines);
    return { name: title, failure: { type: failure.code, message: failure.text, lines } };
  };
  const names = [...new Set([...checks, ...failed.keys()])];
  const { items, left_out } = verdict.tests;
  const rest: JunitCase[] =
    left_out > 0 ? [{ name: `${counted(left_out, "further test")}`, skipped: "not listed" }] : [];
  return junitReport("phx-sim exec", [...names.map(ruleCase), ...items.map((it) => testCase(it, verdict)), ...rest]);
}

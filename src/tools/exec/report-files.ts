import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Sim } from "../../index.ts";
import { systemCode } from "../../kernel/base/errors.ts";
import { makeFolder } from "../../kernel/base/make-folder.ts";
import { writeWhole } from "../../kernel/base/whole-file.ts";
import { clean } from "../../kernel/command/clean-text.ts";
import type { Shell } from "../../kernel/command/command.ts";
import { Failure } from "../../kernel/command/failure.ts";
import { reasonOf } from "../../kernel/command/system-reason.ts";
import type { RunVerdict } from "../../testing/run-report/shapes.ts";
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

/** The verdict as JSON, as it is printed and written. */
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

/** The files that `writeReport` writes. */
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

/** The newest N are in the report. */
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

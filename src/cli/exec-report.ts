import { renameSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Sim } from "../index.ts";
import { makeFolder } from "../kernel/make-folder.ts";
import { clean } from "./clean-text.ts";
import { allEvents } from "./exec-events.ts";
import { Failure } from "./failure.ts";
import { reasonOf, systemCode } from "./system-reason.ts";

/** Makes the report's folder, before the work whose report it is to hold. @throws Failure usage */
export function makeReportFolder(folder: string): void {
  try {
    makeFolder(folder);
  } catch (error) {
    const reason = systemCode(error) === "EEXIST" ? "it is a file" : reasonOf(error);
    throw new Failure("usage", `the report cannot be put into ${clean(folder)}: ${reason}`, error);
  }
}

/**
 * Writes events.ndjson (kept and dropped events), requests.har and summary.md; each appears whole or not at all.
 * @throws Failure failed
 */
export async function writeReport(folder: string, sim: Sim, summary: string): Promise<void> {
  const files: readonly (readonly [string, () => Promise<Content>])[] = [
    ["events.ndjson", async () => eventLines(sim)],
    ["requests.har", () => harOf(sim)],
    ["summary.md", async () => [summary]],
  ];
  try {
    for (const [name, content] of files) await writeWhole(join(folder, name), await content());
  } catch (error) {
    throw new Failure("failed", `the report in ${clean(folder)} is incomplete: ${reasonOf(error)}`, error);
  }
}

type Content = Iterable<string> | AsyncIterable<string | Uint8Array>;

async function writeWhole(file: string, content: Content): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await writeFile(draft, content);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

async function* eventLines(sim: Sim): AsyncGenerator<string> {
  for await (const event of allEvents(sim)) yield `${JSON.stringify(event)}\n`;
}

/** The newest N are in the report. */
const mostRequests = 10_000;

async function harOf(sim: Sim): Promise<Content> {
  const answer = await sim.handle(new Request(`${sim.url}/__sim/requests.har?limit=${mostRequests}`));
  if (!answer.ok || !answer.body) throw new Error(`requests.har is answered with ${answer.status}`);
  return Readable.fromWeb(answer.body);
}

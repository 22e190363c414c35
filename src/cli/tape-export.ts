import { createWriteStream, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeFolder } from "../kernel/make-folder.ts";
import { tapePlace } from "../tape/place.ts";
import type { TapeProblem } from "../tape/types.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { Failure } from "./failure.ts";
import { createProgress, sizeText } from "./progress.ts";
import { jsonLine, tapeProblemLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface ExportRequest {
  tape: string;
  out: string | undefined;
  force: boolean;
  unsafe: boolean;
  json: boolean;
}

const harName = (tape: string): string => `${basename(tape).replace(/(?:\.tape)?\.ndjson$/, "")}.har`;

function outPlace({ out, force }: ExportRequest, tape: string, shell: Shell): string {
  const place = out ?? resolve(shell.cwd, harName(tape));
  if (force || !existsSync(place)) return place;
  throw new Failure("failed", `${clean(place)} is there already; give another one with --out, or --force`);
}

/** The file appears whole or not at all. */
async function writeWhole(file: string, chunks: AsyncIterable<string>): Promise<void> {
  const draft = `${file}.${process.pid}.tmp`;
  makeFolder(dirname(file));
  try {
    await pipeline(Readable.from(chunks), createWriteStream(draft, { mode: 0o600, flush: true }));
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Writes a tape as HAR. @throws Failure */
export async function exportTape(request: ExportRequest, shell: Shell): Promise<"ok"> {
  const tape = tapePlace(request.tape, shell.cwd);
  const { exportHar } = await import("../tape/har/export.ts");
  const { readHeader } = await import("../tape/header.ts");
  await onFile(tape, () => readHeader(tape));
  const place = outPlace(request, tape, shell);
  const progress = createProgress(process.stderr, shell.env);
  let entries = -1;
  const counted = async function* (chunks: AsyncIterable<string>) {
    for await (const chunk of chunks) {
      yield chunk;
      entries++;
    }
  };
  const onProblem = (problem: TapeProblem) => shell.err.say(`phx-sim: ${tapeProblemLine(problem)}`);
  const onProgress = (bytes: number) =>
    progress.show(`exporting ${clean(basename(tape), 60)}: ${entries} entries, ${sizeText(bytes)} read`);
  const chunks = counted(exportHar(tape, { unsafe: request.unsafe, onProblem, onProgress }));
  await onFile(tape, () => onFile(place, () => writeWhole(place, chunks))).finally(() => progress.end());
  const exported = { har: place, entries: entries - 1, bytes: statSync(place).size };
  shell.out.say(
    request.json
      ? jsonLine(exported)
      : `${clean(place)}: ${exported.entries} ${exported.entries === 1 ? "entry" : "entries"}, ${sizeText(exported.bytes)}`,
  );
  return "ok";
}

import { counted } from "../kernel/counted.ts";
import { tapePlace } from "../tape/place.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { jsonLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface LearnRequest {
  a: string;
  b: string;
  write: boolean;
  json: boolean;
}

/** Proposes noise from two recordings of the same session; with `write` the second one knows it from then on. */
export async function learnFromTapes(request: LearnRequest, shell: Shell): Promise<"ok"> {
  const [a, b] = [tapePlace(request.a, shell.cwd), tapePlace(request.b, shell.cwd)];
  const { learnNoise } = await import("../tape/deck/learn.ts");
  const { readHeader } = await import("../tape/header.ts");
  await onFile(a, () => readHeader(a));
  const { noise: known } = await onFile(b, () => readHeader(b));
  const found = await onFile(a, () => learnNoise(a, b));
  const added = found.filter((path) => !known.includes(path));
  if (request.write && added.length > 0) await onFile(b, () => addNoise(b, added));
  const isWritten = request.write && added.length > 0;
  shell.out.say(
    ...(request.json
      ? [jsonLine({ noise: found, new: added, written: isWritten })]
      : found.map((it) => clean(it))),
  );
  if (!request.json) shell.err.say(`phx-sim: ${summaryOf(found, added, request, b)}`);
  return "ok";
}

async function addNoise(tape: string, added: readonly string[]): Promise<void> {
  const { rewriteHeader } = await import("../tape/rewrite.ts");
  await rewriteHeader(tape, (header) => ({
    ...header,
    noise: [...header.noise, ...added.filter((path) => !header.noise.includes(path))].sort(),
  }));
}

function summaryOf(
  found: readonly string[],
  added: readonly string[],
  { write }: LearnRequest,
  b: string,
): string {
  if (found.length === 0) return "the two recordings differ in nothing that is not known as noise";
  const paths = `${counted(found.length, "path")} differ${found.length === 1 ? "s" : ""} between the recordings`;
  if (added.length === 0) return `${paths}, all known to ${clean(b)} already`;
  if (write) return `${paths}; ${added.length} added to the noise of ${clean(b)}`;
  return `${paths}; look at them: what means nothing is noise, and --write adds all of them to ${clean(b)}`;
}

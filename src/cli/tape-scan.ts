import { counted } from "../kernel/counted.ts";
import { tapePlace } from "../tape/place.ts";
import { clean } from "./clean-text.ts";
import type { Shell } from "./command.ts";
import { jsonLine } from "./tape-lines.ts";
import { onFile } from "./tape-trouble.ts";

export interface ScanRequest {
  tapes: readonly string[];
  json: boolean;
}

/** Looks for secrets on tapes; fails where there is anything that looks like one. */
export async function scanTapes({ tapes, json }: ScanRequest, shell: Shell): Promise<"ok" | 1> {
  const { readHeader } = await import("../tape/header.ts");
  const { scanTape } = await import("../tape/redact/scan-tape.ts");
  const places = tapes.map((name) => tapePlace(name, shell.cwd));
  let count = 0;
  for (const tape of places) {
    await onFile(tape, async () => {
      await readHeader(tape);
      for await (const finding of scanTape(tape)) {
        count++;
        const { file, line, path, kind, detail } = finding;
        shell.out.say(json ? jsonLine(finding) : clean(`${file}:${line}: ${path}: ${kind}: ${detail}`, 500));
      }
    });
  }
  if (!json) shell.err.say(`phx-sim: ${summaryOf(count, places)}`);
  return count > 0 ? 1 : "ok";
}

function summaryOf(count: number, places: readonly string[]): string {
  const where = places.length === 1 ? clean(places[0] ?? "") : counted(places.length, "tape");
  if (count === 0) return `nothing that looks like a secret in ${where}`;
  const what = count === 1 ? "1 thing that looks" : `${count} things that look`;
  return `${what} like a secret in ${where}; do not share it: record again, or remove it with phx-sim tape prune`;
}

import { existsSync } from "node:fs";
import { startOf, wholeLines } from "./append-file.ts";
import { isUnborn, maxHeader, parseHeader } from "./header.ts";
import { sideTexts } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";
import type { Redactor, TapeHeader } from "./types.ts";
import { sideFolder, volumeFile } from "./volumes.ts";

/** A tape that is there already and is to grow. */
export interface Existing {
  header: TapeHeader;
  /** The last volume's file and number. */
  last: { file: string; n: number };
  /** The highest number that an exchange has. */
  highest: number;
}

/** Our writer puts the number first; a line of another writer's is parsed. */
function numberIn(line: string): number {
  const [, first] = /^\{"i":(\d{1,15})[,}]/.exec(line) ?? [];
  if (first !== undefined) return Number(first);
  try {
    const value: unknown = JSON.parse(line);
    const i = typeof value === "object" && value !== null && "i" in value ? value.i : 0;
    return typeof i === "number" && Number.isSafeInteger(i) ? i : 0;
  } catch {
    return 0;
  }
}

/** Files of the same tape only; one that was cut off before its header was whole counts as ours. */
function lastVolume(file: string, { id }: TapeHeader): number {
  let n = 1;
  for (let next = volumeFile(file, 2); existsSync(next); next = volumeFile(file, n + 1)) {
    if (!isUnborn(next) && parseHeader(next, firstLine(next)).id !== id) break;
    n++;
  }
  return n;
}

/** Everything that is on a tape already, so that its redactor goes on where it was. */
function readOn(file: string, last: number, redactor: Redactor): number {
  let highest = 0;
  for (let n = 1; n <= last; n++) {
    for (const line of wholeLines(volumeFile(file, n))) {
      highest = Math.max(highest, numberIn(line));
      redactor.reserve?.(line);
    }
  }
  if (redactor.reserve) for (const text of sideTexts(sideFolder(file))) redactor.reserve(text);
  return highest;
}

const firstLine = (file: string): string => startOf(file, maxHeader).split("\n", 1)[0] ?? "";

/** How to record with the redaction that a tape has. `none` is what --raw comes to. */
function wayTo(profile: string, taped: string): string {
  if (taped === "none") return "record with --raw";
  return `record ${profile === "none" ? "without --raw and " : ""}with --redact ${taped}`;
}

/**
 * What is known of a tape that is there already; undefined when there is none.
 * @throws TapeError when the file is no tape, of a newer format, or was redacted by other rules than the redactor's
 */
export function existingTape(file: string, redactor: Redactor): Existing | undefined {
  if (!existsSync(file) || isUnborn(file)) return undefined;
  const header = parseHeader(file, firstLine(file));
  if (header.redaction !== redactor.profile) {
    throw new TapeError(`${file} was redacted by the rules ${header.redaction}, not by ${redactor.profile}`, {
      file,
      line: 1,
      hint: `${wayTo(redactor.profile, header.redaction)}, or to another tape`,
    });
  }
  if (JSON.stringify(header.rules ?? {}) !== JSON.stringify(redactor.rules ?? {})) {
    throw new TapeError(`${file} was redacted by other rules of your own than those in force`, {
      file,
      line: 1,
      hint: "record to another tape, or with the same redaction rules",
    });
  }
  const n = lastVolume(file, header);
  return { header, last: { file: volumeFile(file, n), n }, highest: readOn(file, n, redactor) };
}

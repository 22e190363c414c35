import { lstat, readdir, readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { systemCode } from "../../../kernel/base/errors.ts";
import { parsedJson } from "../../../kernel/base/json.ts";
import { isExchange } from "../format/exchange-shape.ts";
import { sideFolder } from "../format/place.ts";
import { fileLines } from "../format/read.ts";
import { fileTrouble } from "../format/tape-error.ts";
import type { TapeRules } from "./rules.ts";
import { type Suspicion, scanBytes, scanExchange, scanText } from "./scan.ts";

export interface SecretFinding extends Suspicion {
  file: string;
  /** From 1; 0 in a side file. */
  line: number;
}

export interface ScanTally {
  exchanges: number;
  side_files: number;
  /** Headers, parameters and leaves of bodies. */
  places: number;
  redacted: number;
}

export interface TapeScanOptions {
  rules?: TapeRules | undefined;
  tally?: ScanTally;
}

export const newTally = (): ScanTally => ({ exchanges: 0, side_files: 0, places: 0, redacted: 0 });

/** Longer lines and larger side files are reported as findings, because they are not searched. */
const mostBytes = 64 * 1024 * 1024;

const unread = (file: string, line: number): SecretFinding => ({
  file,
  line,
  path: "",
  kind: "unreadable",
  detail: `more than ${mostBytes} bytes: not scanned`,
});

type Rules = TapeScanOptions["rules"];

function scanLine(text: string, rules: Rules, tally: ScanTally): Suspicion[] {
  const value = parsedJson(text);
  if (!isExchange(value)) return scanText(text, { rules });
  const places = new Set<string>();
  const found = scanExchange(value, { rules, onPlace: (path) => places.add(path) });
  tally.exchanges++;
  tally.places += places.size;
  tally.redacted += value.redacted.length;
  return found;
}

async function* scanLines(file: string, rules: Rules, tally: ScanTally): AsyncGenerator<SecretFinding> {
  for await (const { line, text } of fileLines(file, mostBytes)) {
    if (text === undefined) yield unread(file, line);
    else for (const found of scanLine(text, rules, tally)) yield { file, line, ...found };
  }
}

async function sideFiles(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort().map((name) => join(folder, name));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

async function* scanSideFile(file: string, rules: Rules, tally: ScanTally): AsyncGenerator<SecretFinding> {
  const stat = await lstat(file);
  if (!stat.isFile()) return;
  tally.side_files++;
  if (stat.size > mostBytes) yield unread(file, 0);
  else for (const found of scanBytes(await readFile(file), { rules })) yield { file, line: 0, ...found };
}

/** What looks like a secret: in lines, damaged ones too, then in side files. @throws TapeError when unreadable */
export async function* scanTape(
  file: string,
  { rules, tally = newTally() }: TapeScanOptions = {},
): AsyncGenerator<SecretFinding> {
  try {
    yield* scanLines(file, rules, tally);
    for (const side of await sideFiles(sideFolder(file))) yield* scanSideFile(side, rules, tally);
  } catch (error) {
    throw fileTrouble(basename(file), "read", error);
  }
}

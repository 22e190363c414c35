import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** A tape's file name in two: its stem, and how it ends. */
function split(file: string): { stem: string; ending: string } {
  const [ending = ""] = /(?:\.tape)?(?:\.ndjson)?$/.exec(file) ?? [];
  return { stem: file.slice(0, file.length - ending.length), ending };
}

/** The file of a tape's n-th volume: `name.tape.ndjson`, `name.2.tape.ndjson` … */
export function volumeFile(file: string, n: number): string {
  const { stem, ending } = split(file);
  return n <= 1 ? file : `${stem}.${n}${ending}`;
}

/** The files that may be a tape's volumes, in order: as many as there are without a gap. */
export function* volumeFiles(file: string): Generator<string> {
  yield file;
  for (let n = 2; existsSync(volumeFile(file, n)); n++) yield volumeFile(file, n);
}

/** The first volume's file, given the n-th. */
function firstVolume(file: string, n: number | undefined): string {
  const { stem, ending } = split(file);
  const tail = `.${n}`;
  return n !== undefined && n > 1 && stem.endsWith(tail) ? `${stem.slice(0, -tail.length)}${ending}` : file;
}

/** The folder of a tape's side files, which all its volumes share. */
export const sideFolder = (file: string, volume?: number): string => {
  const first = firstVolume(file, volume);
  return join(dirname(first), `${basename(first).replace(/\.ndjson$/, "")}.d`);
};

import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/** Where tapes that are given by their name lie, below the folder one works in. */
export const tapesFolder = "tapes";

/** How the names of tape files end. */
export const tapeEnding = ".tape.ndjson";

/** A name, and not a path: no slash, and not how a file of lines ends. */
const isName = (given: string): boolean => !/[\\/]|\.ndjson$/.test(given);

/**
 * The file that a tape's name or path stands for: `checkout` is `tapes/checkout.tape.ndjson` below `folder`; whatever
 * has a slash in it or ends in `.ndjson` is a path from `folder`.
 */
export const tapePlace = (given: string, folder: string): string =>
  isName(given) ? resolve(folder, tapesFolder, `${given}${tapeEnding}`) : resolve(folder, given);

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

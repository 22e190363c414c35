import { resolve } from "node:path";

/** Where tapes that are given by their name lie, below the folder one works in. */
export const tapesFolder = "tapes";

export const tapeEnding = ".tape.ndjson";

/** A name, and not a path: no slash, and not how a file of lines ends. */
const isName = (given: string): boolean => !/[\\/]|\.ndjson$/.test(given);

/**
 * The file of a tape's name or path: `checkout` is `tapes/checkout.tape.ndjson` below `folder`; what has a slash or
 * ends in `.ndjson` is a path.
 */
export const tapePlace = (given: string, folder: string): string =>
  isName(given) ? resolve(folder, tapesFolder, `${given}${tapeEnding}`) : resolve(folder, given);

export const sideFolder = (file: string): string => `${file.replace(/\.ndjson$/, "")}.d`;

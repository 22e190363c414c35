import { systemCode } from "../../../kernel/base/errors.ts";

/** A problem with a whole tape: one line, with a hint how to fix it. */
export class TapeError extends Error {
  readonly file: string;
  /** From 1; where a line is to blame. */
  readonly line: number | undefined;
  readonly hint: string;

  constructor(message: string, at: { file: string; line?: number; hint: string; cause?: unknown }) {
    super(message, at.cause === undefined ? undefined : { cause: at.cause });
    this.name = "TapeError";
    this.file = at.file;
    this.line = at.line;
    this.hint = at.hint;
  }
}

const reasons: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  ENOENT: ["there is no such file", "check the name: `phx-sim tape list` lists the tapes"],
  ENOTDIR: ["a part of its path is not a folder", "choose another place"],
  EISDIR: ["it is a folder", "name the file in it that ends in .tape.ndjson"],
  EACCES: ["permission denied", "change its permissions, or choose another place"],
  EPERM: ["permission denied", "change its permissions, or choose another place"],
  EROFS: ["the file system is read-only", "choose another place"],
  ENOSPC: ["the disk is full", "free some space"],
  EDQUOT: ["the disk quota is used up", "free some space"],
  EFBIG: ["a file may not grow that large here", "raise the limit (ulimit -f), or record with smaller files"],
  EBADF: ["it is closed", "start the recording again"],
  EMFILE: ["too many files are open", "close some, or raise the limit (ulimit -n)"],
};

export function systemReason(error: unknown): readonly [what: string, hint: string] {
  const message = error instanceof Error ? error.message : String(error);
  const code = systemCode(error);
  return (Object.hasOwn(reasons, code) ? reasons[code] : undefined) ?? [message, "choose another place"];
}

/** A failed file access as a `TapeError`; a `TapeError` stays as it is. */
export function fileTrouble(file: string, doing: string, error: unknown): TapeError {
  if (error instanceof TapeError) return error;
  const [what, hint] = systemReason(error);
  return new TapeError(`${file} cannot be ${doing}: ${what}`, { file, hint, cause: error });
}

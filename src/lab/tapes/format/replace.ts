import { renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { releaseLock, takeLock } from "../../../kernel/store/lock.ts";
import { sideFolder } from "./place.ts";
import { sideNames } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";

/** A new recording beside a tape that it replaces when it is whole; until then the tape stays as it is. */
export interface Replacement {
  readonly draft: string;
  /** The draft replaces the tape. Its writer must be closed. @throws the system's error */
  keep(): void;
  /** The tape stays; the draft is removed. @throws the system's error */
  drop(): void;
}

function removeTape(file: string): void {
  rmSync(file, { force: true });
  rmSync(sideFolder(file), { recursive: true, force: true });
}

function moveSideFiles(from: string, to: string): void {
  const names = sideNames(from);
  if (names.length > 0) makeFolder(to, 0o700);
  for (const name of names) renameSync(join(from, name), join(to, name));
}

/**
 * Locks a tape and names the file for the recording that is to replace it. What a crash left there is removed.
 * @throws TapeError when another writer has the tape; the system's error
 */
export function replaceTape(file: string): Replacement {
  const unlock = lockTape(file);
  // Not the name of a tape: an incomplete recording is neither listed nor replayed.
  const draft = `${file}.new`;
  const end = (work: () => void): void => {
    try {
      work();
    } finally {
      unlock();
    }
  };
  try {
    removeTape(draft);
  } catch (error) {
    unlock();
    throw error;
  }
  return {
    draft,
    keep: () =>
      end(() => {
        const [sides, kept] = [sideFolder(file), new Set(sideNames(sideFolder(draft)))];
        moveSideFiles(sideFolder(draft), sides);
        renameSync(draft, file);
        for (const name of sideNames(sides)) if (!kept.has(name)) rmSync(join(sides, name), { force: true });
        removeTape(draft);
      }),
    drop: () => end(() => removeTape(draft)),
  };
}

/**
 * Locks a tape for writing; the function it returns releases it. A lock whose process has ended is taken over.
 * @throws TapeError when another writer has it; the system's error when the folder cannot be written
 */
export function lockTape(file: string): () => void {
  const lock = `${file}.lock`;
  const holder = takeLock(lock);
  if (holder === undefined) return () => releaseLock(lock);
  const who = holder === "contended" ? "another process" : `pid ${holder.pid}`;
  const own = holder !== "contended" && holder.pid === process.pid ? ", this process" : "";
  throw new TapeError(`${file} is being recorded by ${who}${own}`, {
    file,
    hint: `stop that recording, or choose another name than ${basename(file)}`,
  });
}

import { renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { releaseLock, takeLock } from "../../../kernel/store/lock.ts";
import { sideFolder } from "./place.ts";
import { sideNames } from "./side-files.ts";
import { TapeError } from "./tape-error.ts";

function removeTape(file: string): void {
  rmSync(file, { force: true });
  rmSync(sideFolder(file), { recursive: true, force: true });
}

function moveSideFiles(from: string, to: string): void {
  const names = sideNames(from);
  if (names.length > 0) makeFolder(to, 0o700);
  for (const name of names) renameSync(join(from, name), join(to, name));
}

/** A new recording beside a tape that it replaces when it is whole; until then the tape stays as it is. */
export class Replacement {
  /** Not the name of a tape: an incomplete recording is neither listed nor replayed. */
  readonly draft: string;
  readonly #file: string;
  readonly #unlock: () => void;

  /** Locks the tape. @throws TapeError when another writer has it; the system's error */
  constructor(file: string) {
    this.draft = `${file}.new`;
    this.#file = file;
    this.#unlock = lockTape(file);
    try {
      // what a crash left there
      removeTape(this.draft);
    } catch (error) {
      this.#unlock();
      throw error;
    }
  }

  /** The draft replaces the tape. Its writer must be closed. @throws the system's error */
  keep(): void {
    try {
      const [sides, kept] = [sideFolder(this.#file), new Set(sideNames(sideFolder(this.draft)))];
      moveSideFiles(sideFolder(this.draft), sides);
      renameSync(this.draft, this.#file);
      for (const name of sideNames(sides)) if (!kept.has(name)) rmSync(join(sides, name), { force: true });
      removeTape(this.draft);
    } finally {
      this.#unlock();
    }
  }

  /** The tape stays; the draft is removed. @throws the system's error */
  drop(): void {
    try {
      removeTape(this.draft);
    } finally {
      this.#unlock();
    }
  }
}

/** The function it returns releases the lock. @throws TapeError when another writer has it; the system's error */
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

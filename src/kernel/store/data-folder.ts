import { accessSync, constants, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { writeDraft } from "../base/draft.ts";
import { messageOf, StorageRefusal, systemCode } from "../base/errors.ts";
import { makeFolder } from "../base/make-folder.ts";
import { type Bytes, FileBytes, type FileMode } from "./bytes.ts";
import { holderText, isSame, type LockHolder, newHolder, readHolder, releaseLock, takeLock } from "./lock.ts";

/** Trouble with a file or folder of the user's: said in one line, with what to do about it. */
export class DataFolderError extends Error {
  readonly file: string;
  /** From 1; where a line is to blame. */
  readonly line: number | undefined;
  readonly hint: string;

  constructor(message: string, at: { file: string; line?: number; hint: string; cause?: unknown }) {
    super(message, at.cause === undefined ? undefined : { cause: at.cause });
    this.name = "DataFolderError";
    this.file = at.file;
    this.line = at.line;
    this.hint = at.hint;
  }
}

const locatorName = "run.json";

/** System error code → cause and fix. Other codes are reported in the system's words. */
const causes: Record<string, readonly [what: string, hint: string]> = {
  EEXIST: ["is a file, not a directory", "choose another folder with --data, or use --memory"],
  ENOTDIR: ["is not a directory, or lies below a file", "choose another folder with --data, or use --memory"],
  EACCES: ["cannot be used: permission denied", "change its permissions, or choose another with --data"],
  EPERM: ["cannot be used: permission denied", "change its permissions, or choose another with --data"],
  EROFS: ["is on a read-only file system", "choose another folder with --data, or use --memory"],
  ENOSPC: ["cannot be written: the disk is full", "free some space, or use --memory"],
  EDQUOT: ["cannot be written: the disk quota is used up", "free some space, or use --memory"],
  ENOENT: ["cannot be created there", "choose another folder with --data, or use --memory"],
};

export const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

export function folderError(path: string, error: unknown): DataFolderError {
  const [what, hint] = causes[systemCode(error)] ?? [
    `cannot be used: ${messageOf(error)}`,
    "choose another folder with --data, or use --memory",
  ];
  return new DataFolderError(`data folder ${path} ${what}`, { file: path, hint, cause: error });
}

export function fileError(file: string, error: unknown): DataFolderError {
  const reasons: Record<string, string> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a directory",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
  };
  const reason = reasons[systemCode(error)] ?? messageOf(error);
  return new DataFolderError(`${file} cannot be opened: ${reason}`, {
    file,
    hint: "put that right, or use another folder with --data, or --memory",
    cause: error,
  });
}

export function openBytes(file: string, mode?: FileMode): Bytes {
  try {
    return new FileBytes(file, mode);
  } catch (error) {
    throw fileError(file, error);
  }
}

/** Makes the folder where needed, checks it, takes its lock. @throws DataFolderError if unusable, or held by a running sim */
export function openDataFolder(path: string) {
  const folder = resolve(path);
  try {
    prepare(folder);
    return locked(folder);
  } catch (error) {
    throw error instanceof DataFolderError ? error : folderError(folder, error);
  }
}

/** `*` keeps the data out of git; a folder that already held something else is not ours to ignore. */
function prepare(folder: string): void {
  makeFolder(folder);
  accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  if (readdirSync(folder).length === 0) writeFileSync(join(folder, ".gitignore"), "*\n");
}

function locked(folder: string) {
  const lock = join(folder, locatorName);
  let mine = newHolder();
  const holder = takeLock(lock, mine);
  if (holder === "contended") {
    throw new DataFolderError(`data folder ${folder} is being taken by another phx-sim right now`, {
      file: lock,
      hint: "start again, or use --data or --memory",
    });
  }
  if (holder) throw inUse(folder, lock, holder);
  let held = true;
  let known = markOf(lock);
  /** Set once another sim has the folder: its files have what this one does not know. */
  let lost: StorageRefusal | undefined;

  /**
   * Makes the folder and the locator again if another program deleted or changed them; returns true if it did.
   * @throws StorageRefusal when another sim has the folder now; the system's error
   */
  function hold(): boolean {
    if (lost) throw lost;
    if (!held || (known !== undefined && known === markOf(lock))) return false;
    const found = readHolder(lock);
    const isOurs = found !== undefined && isSame(found, mine);
    if (!isOurs) {
      prepare(folder);
      const other = takeLock(lock, mine);
      if (other === "contended") throw new StorageRefusal(`${lock} is being changed by another program`);
      if (other) {
        held = false;
        lost = new StorageRefusal(takenText(folder, other));
        throw lost;
      }
    }
    known = markOf(lock);
    return !isOurs;
  }

  return {
    /** Absolute. */
    path: folder,
    file: (name: string) => join(folder, name),
    /** Writes the locator that client commands read; pid and start time are added. */
    announce(info: Readonly<Record<string, unknown>>) {
      mine = { ...info, ...mine };
      if (!held) return;
      replaceFile(lock, holderText(mine));
      known = markOf(lock);
    },
    hold,
    /** Gives the folder back. Harmless when done twice. */
    release() {
      if (held) releaseLock(lock, mine);
      held = false;
    },
  };
}

/** Differs when another program wrote the file. */
export function markOf(file: string): string | undefined {
  const found = statSync(file, { throwIfNoEntry: false });
  return found && `${found.ino} ${found.size} ${found.mtimeMs}`;
}

const takenText = (folder: string, { pid, url }: LockHolder): string =>
  `another phx-sim (pid ${pid}${typeof url === "string" ? ` at ${url}` : ""}) has the data folder ${folder} now: this one stores nothing more; stop it`;

function inUse(folder: string, lock: string, holder: LockHolder): DataFolderError {
  const where = typeof holder.url === "string" ? ` at ${holder.url}` : "";
  return new DataFolderError(`data folder ${folder} is in use by pid ${holder.pid}${where}`, {
    file: lock,
    hint: "stop it, or use --data or --memory",
  });
}

/** Path of the lock of a data folder, which is its locator, too. */
export const lockPath = (folder: string): string => join(resolve(folder), locatorName);

/** The locator of a data folder, running or stale (see `isRunning`); undefined if there is none to read. */
export const readLocator = (path: string): LockHolder | undefined => readHolder(join(path, locatorName));

/** Readers see the old text or the new one, never a part. */
function replaceFile(path: string, content: string): void {
  const draft = join(dirname(path), `.${locatorName}.${process.pid}.tmp`);
  writeDraft(draft, content);
  renameSync(draft, path);
}

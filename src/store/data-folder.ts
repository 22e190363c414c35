import {
  accessSync,
  constants,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { makeFolder } from "../kernel/make-folder.ts";

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

/** What run.json holds: the process that has the folder, and whatever that sim announced. */
interface Locator {
  pid: number;
  /** When the process started, in the system's ticks; tells a reused pid. Linux only. */
  started?: string;
  url?: string;
  [fact: string]: unknown;
}

/** A data folder that is ours alone until `release`. */
interface DataFolder {
  /** Absolute. */
  readonly path: string;
  /** Absolute path of a file in it. */
  file(name: string): string;
  /** Writes the locator that client commands read; pid and start time are added. */
  announce(info: Readonly<Record<string, unknown>>): void;
  /** Gives the folder back. Harmless when done twice. */
  release(): void;
}

const locatorName = "run.json";

/** System error code → what the user did, and what to do. Codes that are missing are told as the system says them. */
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

/** Did the system refuse an access to a file? */
export const isSystemError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** The system's error about a data folder, in our words. */
export function folderError(path: string, error: unknown): DataFolderError {
  const [what, hint] = causes[codeOf(error)] ?? [
    `cannot be used: ${error instanceof Error ? error.message : String(error)}`,
    "choose another folder with --data, or use --memory",
  ];
  return new DataFolderError(`data folder ${path} ${what}`, { file: path, hint, cause: error });
}

/** The system's error about one file of the data folder. */
export function fileError(file: string, error: unknown): DataFolderError {
  const reasons: Record<string, string> = {
    EACCES: "permission denied",
    EPERM: "permission denied",
    EISDIR: "it is a directory",
    EROFS: "the file system is read-only",
    ENOSPC: "the disk is full",
  };
  const reason = reasons[codeOf(error)] ?? (error instanceof Error ? error.message : String(error));
  return new DataFolderError(`${file} cannot be opened: ${reason}`, {
    file,
    hint: "put that right, or use another folder with --data, or --memory",
    cause: error,
  });
}

/**
 * Creates the folder where needed, checks it and takes its lock.
 * @throws DataFolderError when it cannot be used, or another running sim has it.
 */
export function openDataFolder(path: string): DataFolder {
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

function locked(folder: string): DataFolder {
  const lock = join(folder, locatorName);
  const mine = { pid: process.pid, started: startOf(process.pid) };
  take(folder, lock, mine);
  let held = true;
  return {
    path: folder,
    file: (name) => join(folder, name),
    announce(info) {
      if (held) replaceFile(lock, text({ ...info, ...mine }));
    },
    release() {
      if (held && isOurs(readLocator(folder), mine)) rmSync(lock, { force: true });
      held = false;
    },
  };
}

const isOurs = (found: Locator | undefined, mine: Locator): boolean =>
  found?.pid === mine.pid && found.started === mine.started;

const text = (locator: Locator): string => `${JSON.stringify(locator, null, 2)}\n`;

/** A second try follows when the holder left (or a stale lock was moved away) in between. */
function take(folder: string, lock: string, mine: Locator): void {
  for (let tries = 0; tries < 3; tries++) {
    if (createLock(lock, mine)) return;
    const holder = readText(lock);
    if (holder === undefined) continue;
    const found = parseLocator(holder);
    if (found && isRunning(found)) throw inUse(folder, lock, found);
    moveStaleAway(lock, holder);
  }
  throw new DataFolderError(`data folder ${folder} is being taken by another phx-sim right now`, {
    file: lock,
    hint: "start again, or use --data or --memory",
  });
}

/** The lock appears whole or not at all: written beside it, then linked, which fails if there is one. */
function createLock(lock: string, mine: Locator): boolean {
  const draft = `${lock}.${process.pid}.tmp`;
  writeFileSync(draft, text(mine), { mode: 0o600 });
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    return createWithoutLinks(lock, mine, error);
  } finally {
    unlinkSync(draft);
  }
}

/** Some mounted file systems know no hard links; exclusive creation is nearly as good. */
function createWithoutLinks(lock: string, mine: Locator, linkError: unknown): boolean {
  if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"].includes(codeOf(linkError))) throw linkError;
  try {
    writeFileSync(lock, text(mine), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Another sim may have replaced the stale lock since we read it: then what we moved is put back. */
function moveStaleAway(lock: string, expected: string): void {
  const aside = `${lock}.${process.pid}.stale`;
  try {
    renameSync(lock, aside);
    if (readText(aside) !== expected) linkSync(aside, lock);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(codeOf(error))) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function inUse(folder: string, lock: string, holder: Locator): DataFolderError {
  const where = typeof holder.url === "string" ? ` at ${holder.url}` : "";
  return new DataFolderError(`data folder ${folder} is in use by pid ${holder.pid}${where}`, {
    file: lock,
    hint: "stop it, or use --data or --memory",
  });
}

/** Does the process that wrote the locator still run? A pid that was given to another process does not count. */
export function isRunning(locator: Locator): boolean {
  try {
    process.kill(locator.pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return false;
  }
  const started = startOf(locator.pid);
  return locator.started === undefined || started === undefined || locator.started === started;
}

/** Start time in clock ticks since boot (field 22 of /proc/PID/stat; the name before it may hold anything). */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

/** The locator of a data folder, running or stale (ask `isRunning`); undefined when there is none to read. */
export function readLocator(path: string): Locator | undefined {
  const found = readText(join(path, locatorName));
  return found === undefined ? undefined : parseLocator(found);
}

function parseLocator(found: string): Locator | undefined {
  try {
    const value: unknown = JSON.parse(found);
    return isLocator(value) ? value : undefined;
  } catch {
    // Cut off by a crash: nobody holds the folder.
    return undefined;
  }
}

const isLocator = (value: unknown): value is Locator =>
  typeof value === "object" &&
  value !== null &&
  "pid" in value &&
  Number.isSafeInteger(value.pid) &&
  Number(value.pid) > 0;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ESRCH"].includes(codeOf(error))) return undefined;
    throw error;
  }
}

/** Readers see the old text or the new one, never a part. */
function replaceFile(path: string, content: string): void {
  const draft = join(dirname(path), `.${locatorName}.${process.pid}.tmp`);
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, path);
}

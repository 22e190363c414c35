import { randomUUID } from "node:crypto";
import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { writeDraft } from "../base/draft.ts";
import { systemCode } from "../base/errors.ts";

export interface LockHolder {
  pid: number;
  /** When the process started, in the system's ticks; distinguishes a reused pid. Linux only. */
  started?: string;
  [fact: string]: unknown;
}

const thisProcess = (): LockHolder => {
  const started = startOf(process.pid);
  return { pid: process.pid, ...(started !== undefined && { started }) };
};

export const newHolder = (): LockHolder => ({ ...thisProcess(), lock: randomUUID() });

export const holderText = (holder: LockHolder): string => `${JSON.stringify(holder, null, 2)}\n`;

/**
 * Takes a lock file for this process, from a process that has ended if need be. Returns undefined if it was taken,
 * else the process that holds it; "contended" if others take and release it all the time.
 * @throws the system's error
 */
export function takeLock(file: string, mine = thisProcess()): LockHolder | "contended" | undefined {
  // a second try follows if the holder released it, or a stale lock was moved away, in between
  for (let tries = 0; tries < 3; tries++) {
    if (create(file, mine)) return undefined;
    const text = readText(file);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (holder && isRunning(holder)) return holder;
    moveStaleAway(file, text);
  }
  return "contended";
}

export function releaseLock(file: string, mine = thisProcess()): void {
  const found = readHolder(file);
  if (found && isSame(found, mine)) rmSync(file, { force: true });
}

export const isSame = (one: LockHolder, other: LockHolder): boolean =>
  one.pid === other.pid && one.started === other.started && one.lock === other.lock;

/** The lock appears whole or not at all: it is written beside its place, then linked, which fails if one exists. */
function create(file: string, mine: LockHolder): boolean {
  const draft = `${file}.${process.pid}.tmp`;
  writeDraft(draft, holderText(mine));
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    return createWithoutLinks(file, mine, error);
  } finally {
    unlinkSync(draft);
  }
}

/** Some mounted file systems have no hard links; exclusive creation is nearly as good. */
function createWithoutLinks(file: string, mine: LockHolder, linkError: unknown): boolean {
  if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EXDEV"].includes(systemCode(linkError))) throw linkError;
  try {
    writeFileSync(file, holderText(mine), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Another process may have replaced the stale lock since it was read: then the moved one is put back. */
function moveStaleAway(file: string, expected: string): void {
  const aside = `${file}.${process.pid}.stale`;
  try {
    renameSync(file, aside);
    if (readText(aside) !== expected) linkSync(aside, file);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(systemCode(error))) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** True if the process that wrote the lock is running. A process that was given its pid later does not count. */
export function isRunning(holder: LockHolder): boolean {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (systemCode(error) !== "EPERM") return false;
  }
  const started = startOf(holder.pid);
  return holder.started === undefined || started === undefined || holder.started === started;
}

/** Start time in clock ticks since boot (field 22 of /proc/PID/stat; the name before it may hold anything). */
function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
}

export function readHolder(file: string): LockHolder | undefined {
  const text = readText(file);
  return text === undefined ? undefined : parseHolder(text);
}

function parseHolder(text: string): LockHolder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : undefined;
  } catch {
    // cut off by a crash: no process holds it
    return undefined;
  }
}

const isHolder = (value: unknown): value is LockHolder =>
  typeof value === "object" &&
  value !== null &&
  "pid" in value &&
  Number.isSafeInteger(value.pid) &&
  Number(value.pid) > 0;

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES", "ESRCH"].includes(systemCode(error))) return undefined;
    throw error;
  }
}

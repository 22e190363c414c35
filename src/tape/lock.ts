import { linkSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { systemCode, TapeError } from "./tape-error.ts";

/** Locks that this process holds: a restarted container may have the pid of the one that crashed. */
const held = new Set<string>();

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** The process that has the lock; undefined when it is gone, or the lock is not readable as one. */
function holderOf(lock: string, text: string): number | undefined {
  const pid = /^\d{1,10}$/.test(text.trim()) ? Number(text) : 0;
  if (pid === 0) return undefined;
  const isAlive = pid === process.pid ? held.has(lock) : isRunning(pid);
  return isAlive ? pid : undefined;
}

/** It appears whole or not at all. Some mounted file systems know no hard links: exclusive creation is nearly as good. */
function create(lock: string): boolean {
  const draft = `${lock}.${process.pid}.tmp`;
  writeFileSync(draft, `${process.pid}\n`, { mode: 0o600 });
  try {
    linkSync(draft, lock);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    return createWithoutLink(lock);
  } finally {
    unlinkSync(draft);
  }
}

function createWithoutLink(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw error;
  }
}

/** Another process may have replaced the stale lock since it was read: then what was moved is put back. */
function moveAway(lock: string, expected: string): void {
  const aside = `${lock}.${process.pid}.stale`;
  try {
    renameSync(lock, aside);
    if (readText(aside) !== expected) linkSync(aside, lock);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes(systemCode(error))) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

const inUse = (file: string, pid: number): TapeError =>
  new TapeError(`${file} is being recorded by pid ${pid}${pid === process.pid ? ", this process" : ""}`, {
    file,
    hint: `stop that recording, or choose another name than ${basename(file)}`,
  });

/**
 * Takes a tape for writing; what is returned gives it back. A lock whose process is gone is taken over.
 * @throws TapeError when another writer has it; the system's error when the folder cannot be written
 */
export function lockTape(file: string): () => void {
  const lock = `${file}.lock`;
  for (let tries = 0; tries < 3 && !create(lock); tries++) {
    const text = readText(lock);
    if (text === undefined) continue;
    const holder = holderOf(lock, text);
    if (holder !== undefined) throw inUse(file, holder);
    moveAway(lock, text);
  }
  if (readText(lock)?.trim() !== String(process.pid)) throw inUse(file, 0);
  held.add(lock);
  return () => {
    if (held.delete(lock)) rmSync(lock, { force: true });
  };
}

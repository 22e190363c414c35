import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { FileBytes, writeAll } from "./bytes.ts";

/**
 * A switch replaces the whole state or nothing of it: each store writes its new files into a folder beside the old ones, and one
 * rename of that folder commits the switch. A start finishes a committed switch, and discards any other.
 */

export interface SwitchPart {
  /** Writes the new file under the same name, or what is appended to the old one as `tailName`. @throws the system's error */
  write(folder: string): void;
  take(): void;
}

const draftName = "next.tmp";
const decidedName = "next";

/** Caches of a file, changes to it, and facts about it, which are deleted when the file is replaced. */
const companions: Readonly<Record<string, readonly string[]>> = {
  "world.json": ["world.changes.ndjson"],
  // the new one may be empty, which the next start must not report
  "people.ndjson": ["people.idx", "contents.json"],
  "traffic.ndjson": ["requests.idx", "events.idx"],
};

const tailShape = /^(.+)\.from-(\d+)$/;

export const tailName = (name: string, offset: number): string => `${name}.from-${offset}`;

export function writeSynced(file: string, content: Buffer): void {
  const fd = openSync(file, "wx", 0o600);
  try {
    writeAll(fd, content);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** @throws the system's error; then nothing has changed */
export function switchFiles(folder: string, parts: readonly SwitchPart[]): void {
  if (parts.length === 0) return;
  const draft = join(folder, draftName);
  const decided = join(folder, decidedName);
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft);
    for (const part of parts) part.write(draft);
    renameSync(draft, decided);
    addTails(folder, decided);
  } catch (error) {
    takeBack(decided, draft);
    throw error;
  }
  moveFiles(folder, decided);
  for (const part of parts) part.take();
}

/** Switches in a folder that the next start finishes or discards. */
export const unfinishedSwitches = (folder: string): { file: string; detail: string }[] =>
  [
    { file: join(folder, decidedName), detail: "a restore, import or reset, which the next start finishes" },
    { file: join(folder, draftName), detail: "an unfinished restore, import or reset, which the next start removes" },
  ].filter(({ file }) => existsSync(file));

function takeBack(decided: string, draft: string): void {
  if (existsSync(decided)) renameSync(decided, draft);
  rmSync(draft, { recursive: true, force: true });
}

/** Finishes a switch that a crash interrupted if it was committed. @throws the system's error */
export function finishSwitch(folder: string, onNotice: (text: string) => void): void {
  const draft = join(folder, draftName);
  const decided = join(folder, decidedName);
  rmSync(draft, { recursive: true, force: true });
  if (!existsSync(decided)) return;
  if (addTails(folder, decided)) {
    moveFiles(folder, decided);
  } else {
    // The files changed since: the switch was undone, and only its folder could not be removed.
    rmSync(decided, { recursive: true, force: true });
    onNotice(`${decided} does not fit the files beside it and is removed: an unfinished restore or import`);
  }
}

/** Appends come first: unlike a rename, they can fail on a full disk. Returns true if all of them fit. */
function addTails(folder: string, decided: string): boolean {
  return readdirSync(decided).every((entry) => {
    const [, name, offset] = tailShape.exec(entry) ?? [];
    if (name === undefined) return true;
    const tail = join(decided, entry);
    const isAdded = addTail(join(folder, name), Number(offset), readFileSync(tail));
    if (isAdded) rmSync(tail);
    return isAdded;
  });
}

function addTail(file: string, offset: number, tail: Buffer): boolean {
  const bytes = new FileBytes(file);
  try {
    const there = bytes.read(offset, tail.length + 1);
    if (bytes.size < offset || !tail.subarray(0, there.length).equals(there)) return false;
    bytes.append(tail.subarray(there.length));
    return true;
  } finally {
    bytes.close();
  }
}

function moveFiles(folder: string, decided: string): void {
  for (const name of readdirSync(decided)) {
    for (const it of companions[name] ?? []) rmSync(join(folder, it), { force: true });
    renameSync(join(decided, name), join(folder, name));
  }
  rmSync(decided, { recursive: true, force: true });
}

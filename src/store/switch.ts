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
import { fileBytes, writeAll } from "./bytes.ts";

/**
 * A switch replaces this state with another, whole or not at all: each store writes its files into a folder
 * beside the old ones, and one rename of that folder decides. A start finishes what was decided, and forgets what was not.
 */

/** What one store does for a switch. */
export interface SwitchPart {
  /**
   * Writes what takes the place of its file, under the same name, or what is added to it, under `tailName`.
   * @throws the system's error
   */
  write(folder: string): void;
  /** Takes over what is in place now. */
  take(): void;
}

const draftName = "next.tmp";
const decidedName = "next";

/** Caches of a file, and changes to it: they go when another file takes its place. */
const companions: Readonly<Record<string, readonly string[]>> = {
  "world.json": ["world.changes.ndjson"],
  "people.ndjson": ["people.idx"],
  "traffic.ndjson": ["requests.idx", "events.idx"],
};

const tailShape = /^(.+)\.from-(\d+)$/;

/** Name of a file that holds what is added to another one from the offset on. */
export const tailName = (name: string, offset: number): string => `${name}.from-${offset}`;

/** Writes a file that the disk has when this returns. @throws the system's error */
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

/** What a start finishes or forgets in a folder, as text. */
export const unfinishedSwitches = (folder: string): { file: string; detail: string }[] =>
  [
    { file: join(folder, decidedName), detail: "a restore, import or reset, which the next start finishes" },
    {
      file: join(folder, draftName),
      detail: "an unfinished restore, import or reset, which the next start removes",
    },
  ].filter(({ file }) => existsSync(file));

function takeBack(decided: string, draft: string): void {
  if (existsSync(decided)) renameSync(decided, draft);
  rmSync(draft, { recursive: true, force: true });
}

/** Finishes the switch that a crash interrupted, if it was decided. @throws the system's error */
export function finishSwitch(folder: string, onNotice: (text: string) => void): void {
  const draft = join(folder, draftName);
  const decided = join(folder, decidedName);
  rmSync(draft, { recursive: true, force: true });
  if (!existsSync(decided)) return;
  if (addTails(folder, decided)) {
    moveFiles(folder, decided);
  } else {
    // The files went on without the switch: it was taken back, and only its folder could not be removed.
    rmSync(decided, { recursive: true, force: true });
    onNotice(`${decided} does not fit the files beside it and is removed: an unfinished restore or import`);
  }
}

/** These come first: unlike a rename, they can fail on a full disk. Returns whether all of them fit. */
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
  const bytes = fileBytes(file);
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

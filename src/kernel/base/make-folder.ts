import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder and those above it. Node's recursive `mkdirSync` never returns where the system reports ENOENT though
 * the parent exists, as in /proc.
 * @throws the system's error
 */
export function makeFolder(path: string, mode?: number): void {
  const folder = resolve(path);
  const make = () => mkdirSync(folder, mode === undefined ? {} : { mode });
  try {
    make();
  } catch (error) {
    if (isFolder(folder)) return;
    const parent = dirname(folder);
    const isOrphan = error instanceof Error && "code" in error && error.code === "ENOENT" && !existsSync(parent);
    if (!isOrphan) throw error;
    makeFolder(parent, mode);
    make();
  }
}

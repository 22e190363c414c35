import { openSync, rmSync, writeFileSync } from "node:fs";

/** Exclusive (O_EXCL): what another program puts at the path meanwhile, such as a link, fails and is not followed. */
const isNew = "wx";

/** Opens a new, empty file that is to replace another one. What a crash left at its path is removed. @throws the system's error */
export function openDraft(path: string): number {
  rmSync(path, { force: true });
  return openSync(path, isNew, 0o600);
}

export function writeDraft(path: string, content: string | Buffer, mode = 0o600): void {
  rmSync(path, { force: true });
  writeFileSync(path, content, { flag: isNew, mode });
}

import { closeSync, fdatasyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Bytes, MemoryBytes } from "../../../kernel/store/bytes.ts";
import { openBytes } from "../../../kernel/store/data-folder.ts";

/** The place of people.ndjson: a data folder or memory. */
export interface PersonHome {
  readonly name: string;
  readonly index: string | undefined;
  /** Bytes from which changes are written. */
  readonly flushFrom: number;
  open(): Bytes;
  draft(): Bytes;
  take(draft: Bytes): Bytes;
  /** True if a write can fail, so that changes must be revertible. */
  readonly canFail: boolean;
}

const fileName = "people.ndjson";

export function folderHome(folder: string): PersonHome {
  const name = join(folder, fileName);
  const draft = `${name}.tmp`;
  return {
    name,
    index: join(folder, "people.idx"),
    canFail: true,
    flushFrom: 1,
    open: () => openBytes(name),
    draft() {
      rmSync(draft, { force: true });
      return openBytes(draft, "ax+");
    },
    take(written) {
      written.close();
      syncFile(draft);
      renameSync(draft, name);
      return openBytes(name);
    },
  };
}

/** In memory waiting loses nothing, and many small pieces would cost more than their content. */
export const memoryHome = (): PersonHome => ({
  name: fileName,
  index: undefined,
  canFail: false,
  flushFrom: 256 * 1024,
  open: () => new MemoryBytes(),
  draft: () => new MemoryBytes(),
  take: (written) => written,
});

function syncFile(path: string): void {
  const fd = openSync(path, "r+");
  fdatasyncSync(fd);
  closeSync(fd);
}

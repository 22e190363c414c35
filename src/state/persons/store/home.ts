import { closeSync, fdatasyncSync, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../../kernel/base/errors.ts";
import { type Bytes, MemoryBytes } from "../../../kernel/store/bytes.ts";
import { DataFolderError, openBytes } from "../../../kernel/store/data-folder.ts";
import { lineNumber } from "../../../kernel/store/lines.ts";

/** The place of people.ndjson: a data folder or memory. */
export interface PersonHome {
  readonly name: string;
  readonly index: string | undefined;
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

export function damagedLine(name: string, bytes: Bytes, offset: number, cause: unknown): DataFolderError {
  const line = lineNumber(bytes, offset);
  return new DataFolderError(`${name}:${line} cannot be read: ${messageOf(cause)}`, {
    file: name,
    line,
    hint: "correct or delete that line, or move the file away to start without stored people",
    cause,
  });
}

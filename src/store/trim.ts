import { closeSync, fdatasync, fdatasyncSync, openSync, renameSync, rmSync, write } from "node:fs";
import { promisify } from "node:util";
import { readDuration } from "../kernel/time-text.ts";
import { type Bytes, writeAll } from "./bytes.ts";

/** What is kept of a log: at most this many bytes, or what is not older than this many ms. */
export interface Keep {
  bytes?: number;
  ms?: number;
}

const megabyte = 1024 * 1024;
const sizes: Readonly<Record<string, number>> = { MB: megabyte, GB: 1024 * megabyte };
const sizeShape = /^(\d{1,6}(?:\.\d{1,3})?)\s?(MB|GB)$/i;

/** What `readKeep` takes, in words. */
export const keepExpected = "a size of at least 1MB (500MB, 2GB), an age (12h, 7d), or both: 2GB,7d";

/** A size, an age, or both with a comma between them; undefined for anything else. */
export function readKeep(text: string): Keep | undefined {
  const keep: Keep = {};
  for (const part of text.split(",").map((it) => it.trim())) {
    const [, count, unit = ""] = sizeShape.exec(part) ?? [];
    const bytes = count === undefined ? undefined : Number(count) * (sizes[unit.toUpperCase()] ?? 0);
    const ms = bytes === undefined ? readDuration(part) : undefined;
    const isNew = bytes === undefined ? keep.ms === undefined : keep.bytes === undefined;
    if (!isNew || !((bytes ?? 0) >= megabyte || (ms ?? 0) > 0)) return undefined;
    Object.assign(keep, bytes === undefined ? { ms } : { bytes });
  }
  return keep;
}

const chunkSize = 1024 * 1024;

const writeTo = promisify(write);
const syncTo = promisify(fdatasync);

/** Where the copy is written; a crash leaves it behind. */
const draftOf = (path: string): string => `${path}.trimmed.tmp`;

/** Removes what a crash left behind. */
export const dropDraft = (path: string): void => rmSync(draftOf(path), { force: true });

/** A copy of the end of a file, beside it. */
export interface Draft {
  /** Copies what came since, and takes the file's place. @throws the system's error; then nothing has changed */
  finish(): void;
  drop(): void;
}

/**
 * Copies a file from an offset on, behind `head`, a chunk at a time: the file is appended to meanwhile. `isOver` ends it
 * early. @throws the system's error
 */
export async function draftFrom(
  { bytes, path }: { bytes: Bytes; path: string },
  from: number,
  head: Buffer,
  isOver: () => boolean,
): Promise<Draft> {
  const draft = draftOf(path);
  const fd = openSync(draft, "w", 0o600);
  let at = from;
  const drop = () => {
    closeSync(fd);
    rmSync(draft, { force: true });
  };
  const copied: Draft = {
    drop,
    finish() {
      try {
        for (let part = bytes.read(at, chunkSize); part.length > 0; part = bytes.read(at, chunkSize)) {
          writeAll(fd, part);
          at += part.length;
        }
        fdatasyncSync(fd);
        renameSync(draft, path);
      } catch (error) {
        drop();
        throw error;
      }
      closeSync(fd);
    },
  };
  try {
    writeAll(fd, head);
    while (bytes.size - at > chunkSize && !isOver()) {
      const part = bytes.read(at, chunkSize);
      for (let done = 0; done < part.length; )
        done += (await writeTo(fd, part, done, part.length - done, null)).bytesWritten;
      at += part.length;
    }
    await syncTo(fd);
    return copied;
  } catch (error) {
    drop();
    throw error;
  }
}

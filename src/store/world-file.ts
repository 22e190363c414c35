import {
  closeSync,
  existsSync,
  fdatasync,
  fstatSync,
  fsyncSync,
  futimesSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
} from "node:fs";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import type { World } from "../model/world.ts";
import { writeAll } from "./bytes.ts";
import { DataFolderError, fileError } from "./data-folder.ts";
import { type Migration, migrate, migrations, UnknownVersionError } from "./migrations.ts";
import { type ReadSection, worldKeys } from "./world/document.ts";
import { digestOf, type Seal, type Section, sealedText, sealIn, sealRoom } from "./world/layout.ts";

const hint = "correct it, or move it away to start again from the scenario";

/** A file that nobody touched since we wrote it: its values need no checking, and are read when they are asked for. */
export interface SealedWorld {
  /** @throws DataFolderError when the file was changed since it was opened and before `keep` */
  read: ReadSection;
  /** Reads the rest into memory: from now on nobody can change it under us. */
  keep(): void;
  /** Lets go of the file. */
  release(): void;
}

/** Up to this size, in bytes, a file is read as a whole when it is opened. */
const smallFile = 256 * 1024;

/**
 * Opens a sealed world.json; undefined when it is not, or no longer, what we wrote, or of another version. A large one is known by its
 * size and modification time alone, so that opening it takes no time; when these differ (it was copied), by its digest.
 * @throws DataFolderError when it cannot be read.
 */
export function openSealed(file: string, version: number): SealedWorld | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const sealed = openedSealed(file, openSync(file, "r"));
    if (sealed?.read("version").toString() === String(version)) return sealed;
    sealed?.release();
    return undefined;
  } catch (error) {
    throw error instanceof DataFolderError ? error : fileError(file, error);
  }
}

function openedSealed(file: string, fd: number): SealedWorld | undefined {
  let isHeld = false;
  try {
    const { size, mtimeMs } = fstatSync(fd);
    const tail = readAt(fd, Math.max(0, size - (size > smallFile ? sealRoom : size)), size);
    const seal = sealIn(tail, size);
    if (!seal || !worldKeys.every((key) => seal.sections.has(key))) return undefined;
    const isUntouched = size > smallFile && mtimeMs === seal.written * 1000;
    if (!isUntouched) return inMemory(size === tail.length ? tail : readAt(fd, 0, size), seal);
    isHeld = true;
    return onDisk(file, fd, seal);
  } finally {
    if (!isHeld) closeSync(fd);
  }
}

function inMemory(bytes: Buffer, seal: Seal): SealedWorld | undefined {
  if (digestOf(bytes.subarray(0, seal.end)) !== seal.sha256) return undefined;
  return { read: (key) => bytes.subarray(...spanOf(seal, key)), keep() {}, release() {} };
}

function onDisk(file: string, held: number, seal: Seal): SealedWorld {
  let bytes: Buffer | undefined;
  let fd: number | undefined = held;

  /** An editor may write into the file that is being read. */
  function readHeld(start: number, end: number): Buffer {
    const found = fd === undefined ? Buffer.alloc(0) : readAt(fd, start, end);
    if (fd !== undefined && fstatSync(fd).mtimeMs === seal.written * 1000) return found;
    throw new DataFolderError(`${file} was changed while it was being read`, { file, hint: "start again" });
  }

  function release(): void {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  }

  return {
    read(key) {
      const [start, end] = spanOf(seal, key);
      return bytes ? bytes.subarray(start, end) : readHeld(start, end);
    },
    keep() {
      if (fd === undefined) return;
      bytes = readHeld(0, seal.end);
      release();
    },
    release,
  };
}

const spanOf = ({ sections }: Seal, key: string): readonly [number, number] => sections.get(key) ?? [0, 0];

function readAt(fd: number, start: number, end: number): Buffer {
  const buffer = Buffer.allocUnsafeSlow(end - start);
  let done = 0;
  while (done < buffer.length) {
    const got = readSync(fd, buffer, done, buffer.length - done, start + done);
    if (got === 0) break;
    done += got;
  }
  return buffer.subarray(0, done);
}

/**
 * The document of a file as it stands there, in the newest version; undefined when there is no file.
 * @throws DataFolderError with the place when the text is not JSON, or has a version that we do not know.
 */
export function readWorldFile(
  file: string,
  steps: readonly Migration[] = migrations,
): JsonObject | undefined {
  if (!existsSync(file)) return undefined;
  // `seal` is how version 1 called it.
  const { seal: _old, sealed: _new, ...document } = parsed(file, textOf(file));
  try {
    return migrate(document, steps);
  } catch (error) {
    if (!(error instanceof UnknownVersionError)) throw error;
    const advice = error.isNewer ? "use a newer phx-sim, or another folder with --data" : hint;
    throw new DataFolderError(`${file}: ${error.message}`, { file, hint: advice, cause: error });
  }
}

function textOf(file: string): string {
  try {
    // Some editors put a byte order mark in front.
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw fileError(file, error);
  }
}

function parsed(file: string, text: string): JsonObject {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    const { line, column } = syntaxErrorAt(text) ?? { line: 1, column: 1 };
    throw new DataFolderError(`${file}:${line}:${column} is not JSON`, { file, line, hint, cause });
  }
  if (!isObject(value)) throw new DataFolderError(`${file} does not hold a JSON object`, { file, hint });
  return value;
}

/** A new edition of world.json, written beside the old one. */
export interface WorldDraft {
  /** Puts it in the place of the old one once the disk has it: the old text or the new one, also after a power loss. */
  publish(): void;
  /** The same without waiting for the disk; nothing happens when `isWanted` says no by then. */
  publishInTime(isWanted: () => boolean, done: (error: unknown) => void): void;
}

/** Before the writing, in seconds: no later edit can have the modification time that the file is given. */
const stampAge = 2;

/** @throws the system's error */
export function writeDraft(file: string, sections: readonly Section[]): WorldDraft {
  const draft = `${file}.tmp`;
  const written = Math.floor(Date.now() / 1000) - stampAge;
  const pieces = sealedText(sections, written);
  const fd = openSync(draft, "w", 0o600);
  try {
    for (const piece of pieces) writeAll(fd, piece);
    futimesSync(fd, written, written);
  } catch (error) {
    closeSync(fd);
    throw error;
  }
  return {
    publish() {
      try {
        fsyncSync(fd);
      } finally {
        closeSync(fd);
      }
      renameSync(draft, file);
    },
    publishInTime(isWanted, done) {
      fdatasync(fd, (failure) => {
        closeSync(fd);
        if (!isWanted()) return;
        try {
          if (failure) throw failure;
          renameSync(draft, file);
          done(undefined);
        } catch (error) {
          done(error);
        }
      });
    },
  };
}

/**
 * Checks a document that people may have edited.
 * @throws DataFolderError naming the path in the document and what is wrong there.
 */
export async function checkedWorld(file: string, document: JsonObject): Promise<World> {
  // zod costs as much as the rest of the start: loaded only when there is something to check.
  const { WorldSchema } = await import("../model/world.schema.ts");
  const result = WorldSchema.safeParse(document);
  if (result.success) return result.data;
  const [first, ...others] = result.error.issues;
  const further = others.length > 0 ? ` (and ${others.length} more)` : "";
  throw new DataFolderError(`${file}: ${pathText(first?.path ?? [])}: ${first?.message}${further}`, {
    file,
    hint,
  });
}

/** `feature_flags[2].filters.groups`; the document itself has no path. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "") || "the document";

import { existsSync, renameSync, rmSync } from "node:fs";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";
import { type CollectionName, collections, emptyWorld, type World } from "../../model/world.ts";
import { type Bytes, fileBytes } from "../bytes.ts";
import type { Damage } from "../damage.ts";
import { DataFolderError, fileError } from "../data-folder.ts";
import { lineNumber, repairTail, sealed, textsOf } from "../lines.ts";
import type { Step, WorldDocument } from "./document.ts";

/**
 * world.changes.ndjson: a line for each change that world.json does not have yet. Lines hold whole documents,
 * so it does no harm to apply one again that world.json has already.
 */
export interface ChangesFile {
  /** Offset behind the last line. */
  readonly size: number;
  /** Appends with one write. @throws the system's error; then nothing was written. */
  append(lines: Buffer): void;
  /** Cuts the lines off from the offset on. */
  cut(offset: number): void;
  /** Lets go of the lines before the offset: world.json has them. */
  dropBefore(offset: number): void;
  /** Deletes the file. */
  remove(): void;
}

/** The text of a line, with its newline, or nothing. `grown` is asked when nothing can go wrong any more. */
export function changeLine(
  steps: readonly Step[],
  grown: () => Readonly<Record<string, number>>,
  textOf: WorldDocument["text"],
): string {
  const texts = steps.map((step) => stepText(step, textOf));
  const sequences = JSON.stringify(grown());
  if (texts.length === 0 && sequences === "{}") return "";
  return `${sealed(`{"steps":[${texts.join()}],"sequences":${sequences}}`)}\n`;
}

const stepText = (step: Step, textOf: WorldDocument["text"]): string =>
  "put" in step ? `{"put":"${step.put}","document":${textOf(step.document)}}` : JSON.stringify(step);

/** A line that puts another world in the place of what was there before it. */
export const replaceLine = (world: World): string => `${sealed(JSON.stringify({ replace: world }))}\n`;

export function openChanges(path: string): ChangesFile {
  // Made when there is something to write: most runs change nothing.
  let bytes: Bytes | undefined = existsSync(path) ? fileBytes(path) : undefined;

  function keepFrom(from: Bytes, offset: number): Bytes {
    const draft = `${path}.tmp`;
    rmSync(draft, { force: true });
    const kept = fileBytes(draft);
    kept.append(from.read(offset, from.size - offset));
    kept.close();
    renameSync(draft, path);
    from.close();
    return fileBytes(path);
  }

  return {
    get size() {
      return bytes?.size ?? 0;
    },
    append(lines) {
      bytes ??= fileBytes(path);
      bytes.append(lines);
    },
    cut(offset) {
      if (bytes && bytes.size > offset) bytes.truncate(offset);
    },
    dropBefore(offset) {
      if (!bytes || offset === 0) return;
      if (offset === bytes.size) bytes.truncate(0);
      else bytes = keepFrom(bytes, offset);
    },
    remove() {
      bytes?.close();
      bytes = undefined;
      rmSync(path, { force: true });
    },
  };
}

/** Bytes at the beginning that show whether a file is one of ours. */
const sniffed = 64 * 1024;

/** Lines as a change or a replacement. */
type Line = { replace: World } | { steps: Step[]; sequences: Record<string, number> };

/**
 * Applies the lines of a file to the world. An unfinished last line is cut off; one that cannot be read is skipped. Both are reported.
 * Returns whether there was any line.
 * @throws DataFolderError when it is a file of something else
 */
export function replayChanges(
  path: string,
  world: WorldDocument,
  notice: (text: string) => void,
  report: (damage: Damage) => void,
): boolean {
  if (!existsSync(path)) return false;
  const bytes = opened(path);
  try {
    readChanges(bytes, path, world, report);
    repairTail(bytes, path, notice);
    return bytes.size > 0;
  } finally {
    bytes.close();
  }
}

/** Applies the complete lines to the world, and reports those that cannot be read. @throws DataFolderError */
export function readChanges(
  bytes: Bytes,
  path: string,
  world: WorldDocument,
  report: (damage: Damage) => void,
): void {
  const start = bytes.read(0, sniffed);
  if (start.includes("\n") && !/"(?:steps|replace)":/.test(start.toString("latin1")))
    throw new DataFolderError(
      `${path}:1: it is not a changes file of phx-sim, or its first line is damaged`,
      {
        file: path,
        line: 1,
        hint: "move it away to start without the last changes",
      },
    );
  for (const { offset, text } of textsOf(bytes, 0)) {
    try {
      if (text === undefined) throw new Error("its checksum does not match");
      apply(world, readLine(text));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const detail = `this line is damaged (${reason}): the change that it held is lost`;
      report({ file: path, line: lineNumber(bytes, offset), detail });
    }
  }
}

function opened(path: string): Bytes {
  try {
    return fileBytes(path);
  } catch (error) {
    throw fileError(path, error);
  }
}

function apply(world: WorldDocument, line: Line): void {
  if ("replace" in line) {
    world.load(line.replace);
    return;
  }
  for (const step of line.steps) world.replay(step);
  world.sequences.raise(line.sequences);
}

/** @throws Error saying what is wrong with the line, without its place. */
function readLine(text: string): Line {
  const line: Json = JSON.parse(text);
  if (!isObject(line)) throw new Error("the line is not an object");
  if ("replace" in line) return { replace: worldIn(line.replace) };
  const { steps, sequences } = line;
  if (!Array.isArray(steps)) throw new Error('"steps" must be a list');
  return { steps: steps.map(stepIn), sequences: sequencesIn(sequences) };
}

function worldIn(value: Json | undefined): World {
  const { version } = emptyWorld();
  if (!isObject(value) || value.version !== version)
    throw new Error(`it does not hold a world of version ${version}`);
  const missing = Object.keys(emptyWorld()).find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw new Error(`the world lacks "${missing}"`);
  // We wrote it after checking; nobody edits this file.
  return value as unknown as World;
}

function stepIn(value: Json): Step {
  if (isObject(value)) {
    const { put, remove, document, id } = value;
    if (isName(put) && isObject(document) && isId(document.id))
      return { put, document: { ...document, id: document.id } };
    if (isName(remove) && isId(id)) return { remove, id };
  }
  throw new Error("a step must put or remove a document");
}

const isName = (name: Json | undefined): name is CollectionName => collections.some((it) => it === name);

const isId = (id: Json | undefined): id is number | string =>
  typeof id === "number" || typeof id === "string";

function sequencesIn(value: Json | undefined): Record<string, number> {
  const isNumbers = (it: JsonObject): it is Record<string, number> =>
    Object.values(it).every((number) => typeof number === "number");
  if (!isObject(value) || !isNumbers(value)) throw new Error('"sequences" must hold numbers');
  return value;
}

import { existsSync, renameSync, rmSync } from "node:fs";
import { messageOf } from "../../../kernel/base/errors.ts";
import { isObject, type Json, type JsonObject } from "../../../kernel/base/json.ts";
import { type Bytes, FileBytes } from "../../../kernel/store/bytes.ts";
import type { Damage } from "../../../kernel/store/damage.ts";
import { DataFolderError, openBytes } from "../../../kernel/store/data-folder.ts";
import { lineNumber, repairTail, sealed, textsOf } from "../../../kernel/store/lines.ts";
import { emptyWorld, type World } from "../world.ts";
import { type Id, isCollection, type Step, type WorldDocument, worldKeys } from "./document.ts";

/**
 * world.changes.ndjson: a line for each change that world.json does not have yet. Lines hold whole documents,
 * so it does no harm to apply one again that world.json already has.
 */
export class ChangesFile {
  readonly #path: string;
  #bytes: Bytes | undefined;

  constructor(path: string) {
    this.#path = path;
    if (existsSync(path)) this.#bytes = openBytes(path);
  }

  /**
   * Applies the lines to the world. Removes an unfinished last line, skips lines that cannot be read, and reports both.
   * Returns whether there was any line.
   * @throws DataFolderError when the file is not a changes file
   */
  replay(world: WorldDocument, notice: (text: string) => void, report: (damage: Damage) => void): boolean {
    if (!this.#bytes) return false;
    try {
      readChanges(this.#bytes, this.#path, world, report);
      repairTail(this.#bytes, this.#path, notice);
      return this.size > 0;
    } catch (error) {
      this.#bytes.close();
      throw error;
    }
  }

  get path(): string {
    return this.#path;
  }

  get bytes(): Bytes | undefined {
    return this.#bytes;
  }

  get size(): number {
    return this.#bytes?.size ?? 0;
  }

  append(lines: string): void {
    this.#bytes ??= new FileBytes(this.#path);
    this.#bytes.append(Buffer.from(lines));
  }

  cut(offset: number): void {
    if (this.size > offset) this.#bytes?.truncate(offset);
  }

  /** Removes the lines before the offset: world.json has them. */
  dropBefore(offset: number): void {
    if (!this.#bytes || offset === 0) return;
    if (offset === this.#bytes.size) {
      this.#bytes.truncate(0);
      return;
    }
    const draft = `${this.#path}.tmp`;
    rmSync(draft, { force: true });
    const kept = new FileBytes(draft, "ax+");
    kept.append(this.#bytes.read(offset, this.#bytes.size - offset));
    kept.close();
    renameSync(draft, this.#path);
    this.#bytes.close();
    this.#bytes = new FileBytes(this.#path);
  }

  remove(): void {
    this.#bytes?.close();
    this.#bytes = undefined;
    rmSync(this.#path, { force: true });
  }
}

/** The line of a change, with its newline; empty when the change has no effect. @throws TypeError when JSON cannot represent it */
export function changeLine(steps: readonly Step[], grown: () => Readonly<Record<string, number>>): string {
  const texts = JSON.stringify(steps);
  // Last: nothing can fail after it, and its numbers are returned only once.
  const sequences = JSON.stringify(grown());
  if (steps.length === 0 && sequences === "{}") return "";
  return `${sealed(`{"steps":${texts},"sequences":${sequences}}`)}\n`;
}

export const replaceLine = (world: World): string => `${sealed(JSON.stringify({ replace: world }))}\n`;

type Line = { steps: Step[]; sequences: Record<string, number> } | { replace: World };

const sniffed = 64 * 1024;

export function readChanges(bytes: Bytes, path: string, world: WorldDocument, report: (damage: Damage) => void): void {
  const start = bytes.read(0, sniffed);
  if (start.includes("\n") && !/"(?:steps|replace)":/.test(start.toString("latin1")))
    throw new DataFolderError(`${path}:1: it is not a changes file of phx-sim, or its first line is damaged`, {
      file: path,
      line: 1,
      hint: "move it away to start without the last changes",
    });
  for (const { offset, text } of textsOf(bytes, 0)) {
    try {
      if (text === undefined) throw new Error("its checksum does not match");
      apply(world, readLine(text));
    } catch (error) {
      const detail = `this line is damaged (${messageOf(error)}): the change that it held is lost`;
      report({ file: path, line: lineNumber(bytes, offset), detail });
    }
  }
}

function apply(world: WorldDocument, line: Line): void {
  if ("replace" in line) {
    world.load(line.replace);
    return;
  }
  for (const step of line.steps) world.apply(step);
  world.raiseSequences(line.sequences);
}

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
  if (!isObject(value) || value.version !== version) throw new Error(`it does not hold a world of version ${version}`);
  const missing = worldKeys.find((key) => !Object.hasOwn(value, key));
  if (missing !== undefined) throw new Error(`the world lacks "${missing}"`);
  // It was checked before it was written, and its line has a checksum.
  return value as unknown as World;
}

function stepIn(value: Json): Step {
  if (isObject(value)) {
    const { put, remove, document, id } = value;
    if (isCollection(put) && isObject(document) && isId(document.id))
      return { put, document: { ...document, id: document.id } };
    if (isCollection(remove) && isId(id)) return { remove, id };
  }
  throw new Error("a step must put or remove a document");
}

const isId = (id: Json | undefined): id is Id => typeof id === "number" || typeof id === "string";

function sequencesIn(value: Json | undefined): Record<string, number> {
  const isNumbers = (it: JsonObject): it is Record<string, number> =>
    Object.values(it).every((number) => typeof number === "number");
  if (!isObject(value) || !isNumbers(value)) throw new Error('"sequences" must hold numbers');
  return value;
}

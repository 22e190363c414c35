import { createHash } from "node:crypto";
import { closeSync, existsSync, fdatasync, fsyncSync, readFileSync, renameSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { promisify } from "node:util";
import { openDraft } from "../../../kernel/base/draft.ts";
import { isObject, type Json, type JsonObject, pathText } from "../../../kernel/base/json.ts";
import { syntaxErrorAt } from "../../../kernel/base/json-syntax.ts";
import { safeParse } from "../../../kernel/base/safe-parse.ts";
import { counted } from "../../../kernel/base/text.ts";
import { writeAll } from "../../../kernel/store/bytes.ts";
import { DataFolderError, fileError } from "../../../kernel/store/data-folder.ts";
import { collections, type World } from "../world.ts";
import { clashOf, worldKeys } from "./document.ts";
import { type Migration, migrate, migrations, UnknownVersionError } from "./migrations.ts";

/**
 * world.json: a key a line, in a collection a document a line, and as the last key a seal with the digest of everything before
 * it. A file whose seal matches was written by phx-sim and needs no check; any other may be edited by hand and is checked.
 */

export const sealMark = ',\n  "sealed": ';
const ending = "\n}\n";
const hint = "correct it, or move it away to start again from the scenario";

/** Characters that are serialized at once: a few milliseconds. */
const pieceLength = 256 * 1024;

function* worldPieces(world: World): Generator<Buffer> {
  const hash = createHash("sha256");
  let text = "";
  for (const part of worldTexts(world)) {
    text += part;
    if (text.length < pieceLength) continue;
    const piece = Buffer.from(text);
    hash.update(piece);
    yield piece;
    text = "";
  }
  const documents = Object.fromEntries(collections.map((name) => [name, world[name].length]));
  const seal = JSON.stringify({ sha256: hash.update(text).digest("hex"), documents });
  yield Buffer.from(`${text}${sealMark}${seal}${ending}`);
}

function* worldTexts(world: World): Generator<string> {
  for (const [i, key] of worldKeys.entries()) {
    yield `${i === 0 ? "{" : ","}\n  ${JSON.stringify(key)}: `;
    const value: unknown = world[key];
    if (!Array.isArray(value) || value.length === 0) {
      yield JSON.stringify(value);
      continue;
    }
    for (const [n, document] of value.entries()) yield `${n === 0 ? "[" : ","}\n    ${JSON.stringify(document)}`;
    yield "\n  ]";
  }
}

export function isSealed(bytes: Buffer): boolean {
  const end = bytes.lastIndexOf(sealMark);
  if (end === -1) return false;
  const [, digest] = /^\{"sha256":"(\w+)".*\}\n\}\n$/.exec(bytes.toString("utf8", end + sealMark.length)) ?? [];
  return digest === createHash("sha256").update(bytes.subarray(0, end)).digest("hex");
}

/**
 * Writes world.json beside the old file, and replaces that when the disk has all of it: after a crash or power loss the file is the
 * old one or the new one.
 * @throws the system's error
 */
export function writeWorldFile(file: string, world: World): void {
  const draft = `${file}.tmp`;
  const fd = openDraft(draft);
  try {
    for (const piece of worldPieces(world)) writeAll(fd, piece);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
}

/** The same in steps, of the document as it is now. Replaces the file only while `isCurrent`. @throws the system's error */
export async function writeInBackground(file: string, live: World, isCurrent: () => boolean): Promise<void> {
  const draft = `${file}.tmp`;
  // A change makes a new list: these lists stay as they are.
  const world = { ...live };
  const fd = openDraft(draft);
  try {
    for (const piece of worldPieces(world)) {
      writeAll(fd, piece);
      await nextTurn();
      // The draft may now belong to another write.
      if (!isCurrent()) return;
    }
    await synced(fd);
  } finally {
    closeSync(fd);
  }
  if (isCurrent()) renameSync(draft, file);
}

const synced = promisify(fdatasync);

/** Documents that an edited world.json lacks. @param seal How many each collection had when phx-sim last wrote it */
export function missingDocuments(document: JsonObject, seal: Json | undefined): string[] {
  const written = isObject(seal) && isObject(seal.documents) ? seal.documents : {};
  return Object.entries(written).flatMap(([name, count]) => {
    const list = document[name];
    if (!Array.isArray(list) || typeof count !== "number" || list.length >= count) return [];
    const missing = count - list.length;
    return [
      `${name}: ${missing} of the ${counted(count, "document")} that phx-sim wrote ${missing === 1 ? "is" : "are"} missing: removed by hand, or lost`,
    ];
  });
}

interface WorldText {
  document: JsonObject;
  isSealed: boolean;
  missing: readonly string[];
}

/** Undefined when there is no file. @throws DataFolderError with the position if it is not JSON, or of an unknown version */
export function readWorldFile(file: string, steps: readonly Migration[] = migrations): WorldText | undefined {
  if (!existsSync(file)) return undefined;
  const bytes = bytesOf(file);
  // `seal` is its name in version 1.
  const { seal: _old, sealed: seal, ...found } = parsed(file, textOf(bytes));
  try {
    const document = migrate(found, steps);
    const isWhole = isSealed(bytes);
    const missing = isWhole ? [] : missingDocuments(found, seal);
    return { document, isSealed: found.version === document.version && isWhole, missing };
  } catch (error) {
    if (!(error instanceof UnknownVersionError)) throw error;
    const advice = error.isNewer ? "use a newer phx-sim, or another folder with --data" : hint;
    throw new DataFolderError(`${file}: ${error.message}`, { file, hint: advice, cause: error });
  }
}

export function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw fileError(file, error);
  }
}

/** Some editors add a byte order mark. */
export const textOf = (bytes: Buffer): string => bytes.toString("utf8").replace(/^\ufeff/, "");

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

/** The world of a file, checked if it was edited. @throws DataFolderError with the path in the document and the mistake */
export async function checkedWorld(file: string, { document, isSealed }: WorldText): Promise<World> {
  // A sealed document was checked before it was written.
  if (isSealed && worldKeys.every((key) => Object.hasOwn(document, key))) return document as unknown as World;
  const issues: WorldIssue[] = [];
  const world = await validWorld(document, issues);
  const [first, ...others] = issues;
  const further = others.length > 0 ? ` (and ${others.length} more)` : "";
  if (first) throw new DataFolderError(`${file}: ${placeText(first.path)}: ${first.message}${further}`, { file, hint });
  if (!world) throw new DataFolderError(`${file} is not a world`, { file, hint });
  const clash = clashOf(world);
  if (clash) throw new DataFolderError(`${file}: ${clash}`, { file, hint: "give each its own" });
  return world;
}

export interface WorldIssue {
  path: readonly PropertyKey[];
  message: string;
}

export async function validWorld(document: JsonObject, issues: WorldIssue[]): Promise<World | undefined> {
  // zod costs as much as the rest of the start: loaded only when there is something to check.
  const { WorldSchema } = await import("../world.schema.ts");
  const result = safeParse(WorldSchema, document);
  if (!result.success) issues.push(...result.error.issues);
  return result.data;
}

export const placeText = (path: readonly PropertyKey[]): string => pathText(path) || "the document";

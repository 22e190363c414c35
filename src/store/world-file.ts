import { closeSync, existsSync, fdatasync, fsyncSync, openSync, readFileSync, renameSync } from "node:fs";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import { collections, emptyWorld, type World } from "../model/world.ts";
import { writeAll } from "./bytes.ts";
import type { Damage } from "./damage.ts";
import { DataFolderError, fileError } from "./data-folder.ts";
import { type Migration, migrate, migrations, UnknownVersionError } from "./migrations.ts";
import { clashOf, type ReadSection, worldKeys } from "./world/document.ts";
import {
  digestOf,
  isOurLayout,
  type Seal,
  type Section,
  salvage,
  sealedText,
  sealIn,
} from "./world/layout.ts";

const hint = "correct it, or move it away to start again from the scenario";

/**
 * Opens a sealed world.json: its values need no checking, and are read when they are asked for. Undefined when it is not, or no longer,
 * what we wrote, or of another version.
 * @throws DataFolderError when it cannot be read.
 */
export function openSealed(file: string, version: number): ReadSection | undefined {
  if (!existsSync(file)) return undefined;
  const bytes = bytesOf(file);
  const seal = sealIn(bytes);
  if (!seal || !worldKeys.every((key) => seal.sections.has(key))) return undefined;
  if (digestOf(bytes.subarray(0, seal.end)) !== seal.sha256) return undefined;
  const read: ReadSection = (key) => bytes.subarray(...spanOf(seal, key));
  return read("version").toString() === String(version) ? read : undefined;
}

function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw fileError(file, error);
  }
}

const spanOf = ({ sections }: Seal, key: string): readonly [number, number] => sections.get(key) ?? [0, 0];

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

/** Some editors put a byte order mark in front. */
const textOf = (file: string): string =>
  bytesOf(file)
    .toString("utf8")
    .replace(/^\ufeff/, "");

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

/** @throws the system's error */
export function writeDraft(file: string, sections: readonly Section[]): WorldDraft {
  const draft = `${file}.tmp`;
  const pieces = sealedText(sections);
  const fd = openSync(draft, "w", 0o600);
  try {
    for (const piece of pieces) writeAll(fd, piece);
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
  const issues: WorldIssue[] = [];
  const world = await worldIn(document, issues);
  const [first, ...others] = issues;
  const further = others.length > 0 ? ` (and ${others.length} more)` : "";
  if (first)
    throw new DataFolderError(`${file}: ${pathText(first.path)}: ${first.message}${further}`, { file, hint });
  if (!world) throw new DataFolderError(`${file} is not a world`, { file, hint });
  const clash = clashOf(world);
  if (clash) throw new DataFolderError(`${file}: ${clash}`, { file, hint: "give each its own" });
  return world;
}

interface WorldIssue {
  path: readonly PropertyKey[];
  message: string;
}

/** Undefined, with its issues, when the document is not a world. */
async function worldIn(document: JsonObject, issues: WorldIssue[]): Promise<World | undefined> {
  // zod costs as much as the rest of the start: loaded only when there is something to check.
  const { WorldSchema } = await import("../model/world.schema.ts");
  const result = WorldSchema.safeParse(document);
  if (!result.success) issues.push(...result.error.issues);
  return result.data;
}

/**
 * What can be read of a world.json that we wrote and that was damaged since: a line that is not JSON costs its document, and so does a
 * document that is not valid. Undefined when the file is not one of ours, or has no readable version.
 */
export async function salvagedWorld(
  file: string,
  report: (damage: Damage) => void,
): Promise<World | undefined> {
  const text = textOf(file);
  if (!isOurLayout(text)) return undefined;
  const { document, damaged } = documentIn(text);
  const { version } = emptyWorld();
  if (document.version !== version) return undefined;
  for (const line of damaged)
    report({ file, line, detail: "this line is damaged: the document that it held is lost" });
  for (;;) {
    const issues: WorldIssue[] = [];
    const world = await worldIn(document, issues);
    if (world) return withoutClashes(world, file, report);
    for (const [place, { path, message }] of placesOf(issues)) {
      report({ file, line: null, detail: `${pathText(path)}: ${message}: ${place} is lost` });
      drop(document, path);
    }
  }
}

/** A document that is JSON as a whole, or line by line. */
function documentIn(text: string): { document: JsonObject; damaged: number[] } {
  const empty = { ...emptyWorld() } as unknown as JsonObject;
  try {
    const found: Json = JSON.parse(text);
    if (isObject(found)) return { document: { ...empty, version: null, ...found }, damaged: [] };
  } catch {
    // Read line by line below.
  }
  const { document, damaged } = salvage(text, worldKeys);
  return { document: { ...empty, version: null, ...document }, damaged };
}

/** The first issue of each document or value, the last documents first: removing one moves those behind it. */
function placesOf(issues: readonly WorldIssue[]): Map<string, WorldIssue> {
  const places = new Map<string, WorldIssue>();
  const backwards = issues.toSorted((a, b) => Number(b.path[1] ?? 0) - Number(a.path[1] ?? 0));
  for (const issue of backwards) {
    const place = pathText(issue.path.slice(0, typeof issue.path[1] === "number" ? 2 : 1));
    if (!places.has(place)) places.set(place, issue);
  }
  return places;
}

function drop(document: JsonObject, [key, index]: readonly PropertyKey[]): void {
  const list = document[String(key)];
  if (Array.isArray(list) && typeof index === "number") list.splice(index, 1);
  else document[String(key)] = ({ ...emptyWorld() } as unknown as JsonObject)[String(key)] ?? null;
}

/** Of documents that share an id, and of projects that share a key, the first counts. */
function withoutClashes(world: World, file: string, report: (damage: Damage) => void): World {
  const kept: Record<string, unknown> = { ...world };
  for (const name of collections) {
    const seen = new Set<unknown>();
    kept[name] = (world[name] as readonly { id: unknown; api_key?: unknown }[]).filter((it) => {
      const keys = name === "projects" ? [it.id, it.api_key] : [it.id];
      const isTaken = keys.some((key) => seen.has(key));
      if (isTaken)
        report({
          file,
          line: null,
          detail: `${name}: a second document with the id or key ${keys.join(" or ")} is lost`,
        });
      for (const key of keys) seen.add(key);
      return !isTaken;
    });
  }
  // Lists of a world, some of them shorter.
  return kept as unknown as World;
}

/** `feature_flags[2].filters.groups`; the document itself has no path. */
export const pathText = (path: readonly PropertyKey[]): string =>
  path
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("")
    .replace(/^\./, "") || "the document";

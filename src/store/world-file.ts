import { createHash } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { isObject, type Json, type JsonObject } from "../kernel/json.ts";
import { syntaxErrorAt } from "../kernel/json-syntax.ts";
import type { World } from "../model/world.ts";
import { DataFolderError, fileError } from "./data-folder.ts";
import { type Migration, migrate, migrations, UnknownVersionError } from "./migrations.ts";

const hint = "correct it, or move it away to start again from the scenario";

/** Digest of the document as it was parsed: layout does not matter, the order of keys does. */
const sealOf = (document: object): string =>
  createHash("sha256").update(JSON.stringify(document)).digest("hex");

/**
 * Text of world.json. The seal is its last key and says that the rest was written by us: then nobody has to
 * check it when it is read again.
 */
const sealed = (world: World): string => `${JSON.stringify({ ...world, seal: sealOf(world) }, null, 2)}\n`;

/** A document as it was found. */
interface FoundWorld {
  document: JsonObject;
  /** Was it written by us and not touched since? */
  isSealed: boolean;
}

/**
 * The document of a file; undefined when there is no file.
 * @throws DataFolderError with the place when the text is not JSON, or has a version that we do not know.
 */
export function readWorldFile(
  file: string,
  steps: readonly Migration[] = migrations,
): FoundWorld | undefined {
  if (!existsSync(file)) return undefined;
  const { seal, ...document } = parsed(file, textOf(file));
  try {
    const migrated = migrate(document, steps);
    return { document: migrated, isSealed: migrated === document && seal === sealOf(document) };
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

/** The old text or the new one, never a part, also after a power loss. */
export function writeWorldFile(file: string, world: World): void {
  const draft = `${file}.tmp`;
  const fd = openSync(draft, "w", 0o600);
  try {
    writeFileSync(fd, sealed(world));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(draft, file);
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

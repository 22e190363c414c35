import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "../../base/make-folder.ts";
import { losslessJson, maxDecoded, plainBody, plainBytes } from "./bodies.ts";
import type { Exchange, TapeBody } from "./exchange.ts";
import { sideFolder } from "./place.ts";
import { systemReason } from "./tape-error.ts";

/** Bodies of more bytes lie in side files. */
const inlineLimit = 64 * 1024;

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The only names that a side file can have: nothing in a tape can lead out of its folder. */
export const isSideName = (name: string): boolean => /^[0-9a-f]{64}$/.test(name);

function isThere(file: string, size: number): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === size;
}

/** Readers see the whole file or none. */
function writeWhole(folder: string, name: string, bytes: Buffer): void {
  const file = join(folder, name);
  if (isThere(file, bytes.length)) return;
  makeFolder(folder, 0o700);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, bytes, { mode: 0o600 });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

const kindOf = (body: TapeBody): { as?: "json" | "text" } => {
  if ("json" in body) return { as: "json" };
  return "text" in body ? { as: "text" } : {};
};

/**
 * Puts a large body (redacted already) into a file of `folder`, named by the hash of its content; others are returned
 * as they are. @throws the system's error when it cannot be written
 */
export function putAside(folder: string, body: TapeBody): TapeBody {
  if ("file" in body || "omitted" in body) return body;
  const bytes = plainBytes(body);
  if (bytes.length <= inlineLimit) return body;
  const file = sha256(bytes);
  writeWhole(folder, file, bytes);
  return { file, bytes: bytes.length, ...kindOf(body) };
}

/** The contents of a folder's side files, whatever they are, in turn; none where there is no folder. */
export function* sideTexts(folder: string): Generator<string> {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    if (isSideName(name) && lstatSync(file).isFile()) yield readFileSync(file, "latin1");
  }
}

/** What is in a side file, or why it cannot be used. */
type Found = { body: TapeBody } | { trouble: string };

async function found(path: string, side: { file: string; as?: "json" | "text" }): Promise<Found> {
  if (!isSideName(side.file)) return { trouble: "its name is not the hash of a content" };
  try {
    const stat = await lstat(path);
    if (!stat.isFile()) return { trouble: "it is not a file" };
    if (stat.size > maxDecoded) return { trouble: `it is larger than ${maxDecoded} bytes` };
    const bytes = await readFile(path);
    if (sha256(bytes) !== side.file) return { trouble: "its content is not what was recorded" };
    return { body: restored(bytes, side.as) };
  } catch (error) {
    return { trouble: systemReason(error)[0] };
  }
}

function restored(bytes: Buffer, as: "json" | "text" | undefined): TapeBody {
  if (as === undefined) return { b64: bytes.toString("base64") };
  const json = as === "json" ? losslessJson(bytes.toString("utf8")) : undefined;
  return json === undefined ? plainBody(bytes, false) : { json };
}

/** Called for a body that cannot be read. */
type OnTrouble = (detail: string) => void;

/**
 * A body with what its side file holds in its place; bodies that are on the tape itself stay as they are. `tape` is
 * the tape's file, `volume` the number in its header. A side file that is missing or was changed is reported, and the body
 * becomes `{omitted: "unreadable"}`.
 */
export async function readBody(
  tape: string,
  body: TapeBody | undefined,
  volume?: number,
  onTrouble: OnTrouble = () => {},
): Promise<TapeBody | undefined> {
  if (body === undefined || !("file" in body)) return body;
  const result = await found(join(sideFolder(tape, volume), body.file), body);
  if ("body" in result) return result.body;
  onTrouble(`side file ${body.file}: ${result.trouble}`);
  return { omitted: "unreadable", bytes: body.bytes };
}

/** An exchange with what is in side files of `folder` in its place; what cannot be read stays as it is. */
export function withSides(exchange: Exchange, folder: string): Exchange {
  const { req, res } = exchange;
  const [asked, answer] = [sideBody(req.body, folder), sideBody(res?.body, folder)];
  if (asked === req.body && answer === res?.body) return exchange;
  return {
    ...exchange,
    req: { ...req, ...(asked && { body: asked }) },
    res: res && { ...res, ...(answer && { body: answer }) },
  };
}

function sideBody(body: TapeBody | undefined, folder: string): TapeBody | undefined {
  if (body === undefined || !("file" in body) || !isSideName(body.file)) return body;
  const bytes = contentOf(join(folder, body.file));
  if (bytes === undefined || createHash("sha256").update(bytes).digest("hex") !== body.file) return body;
  const json = body.as === "json" ? losslessJson(bytes.toString("utf8")) : undefined;
  if (json !== undefined) return { json };
  return body.as === undefined ? { b64: bytes.toString("base64") } : plainBody(bytes, false);
}

function contentOf(file: string): Buffer | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile() || stat.size > maxDecoded) return undefined;
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

import { createHash } from "node:crypto";
import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeDraft } from "../../../kernel/base/draft.ts";
import { makeFolder } from "../../../kernel/base/make-folder.ts";
import { losslessJson, maxDecoded, plainBody, plainBytes } from "./bodies.ts";
import type { Exchange, TapeBody } from "./exchange.ts";
import { sideName } from "./exchange-shape.ts";
import { systemReason } from "./tape-error.ts";

export const inlineLimit = 64 * 1024;

const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** Readers see the whole file or none. */
function writeWhole(folder: string, name: string, bytes: Buffer): void {
  const file = join(folder, name);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile() && found.size === bytes.length) return;
  makeFolder(folder, 0o700);
  const draft = `${file}.${process.pid}.tmp`;
  try {
    writeDraft(draft, bytes);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function putAside(folder: string, body: TapeBody | undefined): TapeBody | undefined {
  if (body === undefined || "file" in body || "omitted" in body) return body;
  const bytes = plainBytes(body);
  if (bytes.length <= inlineLimit) return body;
  const file = sha256(bytes);
  writeWhole(folder, file, bytes);
  const as = "json" in body ? "json" : "text" in body ? "text" : undefined;
  return { file, bytes: bytes.length, ...(as && { as }) };
}

function withBodies(exchange: Exchange, change: (body: TapeBody | undefined) => TapeBody | undefined): Exchange {
  const { req, res } = exchange;
  const [sent, answer] = [change(req.body), change(res?.body)];
  if (sent === req.body && answer === res?.body) return exchange;
  return {
    ...exchange,
    req: { ...req, ...(sent && { body: sent }) },
    res: res && { ...res, ...(answer && { body: answer }) },
  };
}

/** Large bodies go to files of `folder`, named by the hash of their content. @throws the system's error */
export const withBodiesAside = (exchange: Exchange, folder: string): Exchange =>
  withBodies(exchange, (body) => putAside(folder, body));

/** The exchange with what side files of `folder` hold in its place, as `readBody` does. */
export const withSides = (exchange: Exchange, folder: string, onTrouble?: (detail: string) => void): Exchange =>
  withBodies(exchange, (body) => readBody(folder, body, onTrouble));

export const sideNames = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { withFileTypes: true })
        .filter((it) => it.isFile() && sideName.test(it.name))
        .map(({ name }) => name)
    : [];

function contentOf(file: string, hash: string): Buffer | string {
  if (!sideName.test(hash)) return "its name is not the hash of a content";
  try {
    const stat = lstatSync(file);
    if (!stat.isFile()) return "it is not a file";
    if (stat.size > maxDecoded) return `it is larger than ${maxDecoded} bytes`;
    const bytes = readFileSync(file);
    return sha256(bytes) === hash ? bytes : "its content is not what was recorded";
  } catch (error) {
    return systemReason(error)[0];
  }
}

/** A side file that is missing or was changed is reported, and the body becomes `{omitted: "unreadable"}`. */
export function readBody(
  folder: string,
  body: TapeBody | undefined,
  onTrouble: (detail: string) => void = () => {},
): TapeBody | undefined {
  if (body === undefined || !("file" in body)) return body;
  const found = contentOf(join(folder, body.file), body.file);
  if (typeof found === "string") {
    onTrouble(`side file ${body.file}: ${found}`);
    return { omitted: "unreadable", bytes: body.bytes };
  }
  if (body.as === undefined) return { b64: found.toString("base64") };
  const json = body.as === "json" ? losslessJson(found.toString("utf8")) : undefined;
  return json === undefined ? plainBody(found, false) : { json };
}

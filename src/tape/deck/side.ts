import { createHash } from "node:crypto";
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { maxDecoded, plainBody } from "../decode.ts";
import { losslessJson } from "../json-text.ts";
import { isSideName } from "../side-files.ts";
import type { Exchange, TapeBody } from "../types.ts";

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

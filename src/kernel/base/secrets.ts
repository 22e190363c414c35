import { isUtf8 } from "node:buffer";
import zlib from "node:zlib";

/**
 * Keys of the service by their prefix; `phc_` is the public project key and no secret. A letter right before one may be
 * the end of an escape: `%3Dphx_…`, `\nphx_…`. What has another letter, or stands behind one, is a key if it is as long as
 * one: `php_version` is none.
 */
const keys =
  /(?:(?:\b|(?<=%[\dA-Fa-f]{2}|\\[bfnrt]|\\u[\dA-Fa-f]{4}))(ph[arsx](?:_|%5[Ff]))(?:[\w-]|%[\dA-Fa-f]{2}){4,}|(?<![A-Za-z])(ph[abd-z](?:_|%5[Ff]))[A-Za-z0-9]{20,}(?:[\w-]|%[\dA-Fa-f]{2})*)/g;
const anyKey = /ph[abd-z](?:_|%5[Ff])/;

const masked = (text: string): string => (anyKey.test(text) ? text.replace(keys, "$1$2***") : text);

/** Base64 of a key, by its place in a group of three bytes; starts of base64 of gzip, of base64 of JSON or a key; a key in hex. */
const anyEncoded =
  /cGh[h-z0-6]X[w-z0-3]|[HXn3]Bo[YZa-e][FVl1][89+/_-]|[BFJNRVZdhlptx159]wa[GH][BFJNRVZdhlptx159]f|H4sI|ZXlK|Y0do|7068(?:6[1-9a-fA-F]|7[\daA])5[fF]/;
/** Slashes may be escaped, in JSON or in an address. */
const encodedRun = /(?:[A-Za-z0-9+/_-]|\\\/|%2[bBfF]){10,}={0,2}/g;
const hexOnly = /^(?:[\da-fA-F]{2})+$/;
/** What unpacks to more is not kept. */
const mostUnpacked = 32 * 1024 * 1024;
/** Base64 in base64 is followed so deep. */
const deepest = 4;

/** The text of bytes; undefined if they are gzip that cannot be read. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes.toString(isUtf8(bytes) ? "utf8" : "latin1");
  try {
    const options = { maxOutputLength: mostUnpacked, finishFlush: zlib.constants.Z_SYNC_FLUSH };
    return zlib.gunzipSync(bytes, options).toString("latin1");
  } catch {
    return undefined;
  }
}

/** A run of characters that may be base64 or hex, without keys: encoded again, or `***` where that is not possible. */
function maskRun(found: string, layers: number): string {
  const run = found.replace(/\\\//g, "/").replace(/%2b/gi, "+").replace(/%2f/gi, "/");
  const clean = (text: string): boolean => maskLayers(text, layers) === text;
  const encoding = hexOnly.test(run) ? "hex" : /[-_]/.test(run) ? "base64url" : "base64";
  const bytes = Buffer.from(run, encoding);
  const text = textOf(bytes);
  if (text === undefined) return "***";
  if (!clean(text)) return isUtf8(bytes) ? Buffer.from(maskLayers(text, layers)).toString(encoding) : "***";
  // a run may begin in the middle of a group
  const isCut = [1, 2, 3].some((skip) => !clean(Buffer.from(run.slice(skip), encoding).toString("latin1")));
  return isCut ? "***" : found;
}

function maskLayers(text: string, layers: number): string {
  const plain = masked(text);
  if (layers === 0 || !anyEncoded.test(plain)) return plain;
  return plain.replace(encodedRun, (found) => (anyEncoded.test(found) ? maskRun(found, layers - 1) : found));
}

/** `phx_abc…` becomes `phx_***`: which kind of key came is worth knowing. Also in base64 and hex, and in gzip in base64. */
export const maskKeys = (text: string): string => maskLayers(text, deepest);

const secretName = String.raw`[\w.$-]*(?:password|passphrase|secret|private_key|access_key|credential|api_key|token|client_email)[\w.$-]*`;
const jsonField = new RegExp(String.raw`("${secretName}"\s*:\s*)"(?:[^"\\]|\\.)*"?`, "gi");
const formField = new RegExp(`((?:^|&)${secretName}=)[^&]*`, "gi");
const partField = new RegExp(String.raw`(name="${secretName}"(?:\r\n[^\r\n]+)*\r\n\r\n)[\s\S]*?(?=\r\n--|$)`, "gi");

/**
 * Masks the values of fields whose names say that they are secret, in the text of a JSON, form or multipart
 * body. It works on text, because a body that cannot be parsed may hold a password as well.
 */
export const maskSecretFields = (text: string): string =>
  text.replace(jsonField, '$1"***"').replace(formField, "$1***").replace(partField, "$1***");

/** An address as it may be shown: keys, and the values of parameters (of its fragment, too) whose names say that they are secret. */
export function maskTargetSecrets(target: string): string {
  const at = target.search(/[?#]/);
  return at === -1 ? maskKeys(target) : maskKeys(`${target.slice(0, at + 1)}${maskSecretFields(target.slice(at + 1))}`);
}

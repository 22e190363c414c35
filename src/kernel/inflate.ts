import * as zlib from "node:zlib";
import { SimError } from "./errors.ts";

/** Undoes one compression of a body; the result has at most `limit` bytes. */
type Inflate = (bytes: Buffer, limit: number) => Buffer;

/** The failure of a body that decodes to more than `limit` bytes. */
export const tooLarge = (limit: number): SimError =>
  new SimError(
    "payload_too_large",
    `maximum event size exceeded: the decoded payload is larger than ${limit} bytes`,
  );

/** The failure of a body whose bytes are not what they should be; `why` is the service's text. */
export const undecodable = (why: string): SimError =>
  new SimError("undecodable_payload", `failed to decode request: ${why}`);

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

const isOverflow = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

/** Unpacks to at most `limit` bytes; the two ways to fail are told in the caller's words. */
function unpackWithin(
  unpack: Unpack,
  bytes: Buffer,
  limit: number,
  failure: (isTooLarge: boolean, cause: unknown) => SimError,
): Buffer {
  try {
    return unpack(bytes, { maxOutputLength: limit });
  } catch (cause) {
    throw failure(isOverflow(cause), cause);
  }
}

/** `unpackWithin` for gzip. @throws what `failure` makes of it */
export const gunzipWithin = (
  bytes: Buffer,
  limit: number,
  failure: (isTooLarge: boolean, cause: unknown) => SimError,
): Buffer => unpackWithin(zlib.gunzipSync, bytes, limit, failure);

const bounded =
  (unpack: Unpack, why: string): Inflate =>
  (bytes, limit) =>
    unpackWithin(unpack, bytes, limit, (isTooLarge) => (isTooLarge ? tooLarge(limit) : undecodable(why)));

/** zlib-wrapped when the first byte says so, else raw. Upstream capture v1 util.rs sniffs the same byte. */
const unpackDeflate: Unpack = (bytes, options) =>
  bytes[0] === 0x78 ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);

const isUnpack = (value: unknown): value is Unpack => typeof value === "function";

/** Node has zstd from 22.15 on. */
const unpackZstd: unknown = Reflect.get(zlib, "zstdDecompressSync");

export const gunzip: Inflate = bounded(zlib.gunzipSync, "invalid GZIP data");

/** By the name in Content-Encoding; what this Node cannot do is absent. */
export const inflaters: ReadonlyMap<string, Inflate> = new Map([
  ["gzip", gunzip],
  ["deflate", bounded(unpackDeflate, "deflate decompression failed")],
  ["br", bounded(zlib.brotliDecompressSync, "br decompression failed")],
  ...(isUnpack(unpackZstd) ? [["zstd", bounded(unpackZstd, "zstd decompression failed")] as const] : []),
]);

/** Do the bytes start like a gzip member? */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

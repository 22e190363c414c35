import zlib from "node:zlib";
import { SimError } from "../base/errors.ts";
import { type Work, waitFor } from "../base/work.ts";

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

/** Unpacks to at most `limit` bytes; the caller words both errors. */
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

const badDeflate = "deflate decompression failed";
const badBrotli = "br decompression failed";

/** zlib-wrapped when the first byte says so, else raw. Upstream capture v1 util.rs sniffs the same byte. */
const unpackDeflate: Unpack = (bytes, options) =>
  bytes[0] === 0x78 ? zlib.inflateSync(bytes, options) : zlib.inflateRawSync(bytes, options);

const isUnpack = (value: unknown): value is Unpack => typeof value === "function";

/** Node has zstd from 22.15 on. */
const unpackZstd: unknown = Reflect.get(zlib, "zstdDecompressSync");

const badGzip = "invalid GZIP data";

/** One chunk for the whole result, if the size at the end of the bytes is true; node's own are 16 KB, and joined. */
const unpackGzip: Unpack = (bytes, options) => {
  const size = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return zlib.gunzipSync(bytes, { ...options, chunkSize: Math.max(1024, Math.min(size + 1, 1024 * 1024)) });
};

export const gunzip: Inflate = bounded(unpackGzip, badGzip);

type UnpackLater = (
  bytes: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void;

/** The same on a thread of the system, for bodies whose unpacking takes long. */
const boundedLater =
  (unpack: UnpackLater, why: string) =>
  (bytes: Buffer, limit: number): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      unpack(bytes, { maxOutputLength: limit }, (error, result) => {
        if (!error) resolve(result);
        else reject(isOverflow(error) ? tooLarge(limit) : undecodable(why));
      });
    });

const unpackDeflateLater: UnpackLater = (bytes, options, done) =>
  bytes[0] === 0x78 ? zlib.inflate(bytes, options, done) : zlib.inflateRaw(bytes, options, done);

/** By the name in Content-Encoding; what this Node cannot do is absent. */
export const inflaters: ReadonlyMap<string, Inflate> = new Map([
  ["gzip", gunzip],
  ["deflate", bounded(unpackDeflate, badDeflate)],
  ["br", bounded(zlib.brotliDecompressSync, badBrotli)],
  ...(isUnpack(unpackZstd) ? [["zstd", bounded(unpackZstd, "zstd decompression failed")] as const] : []),
]);

const laterInflaters: ReadonlyMap<string, (bytes: Buffer, limit: number) => Promise<Buffer>> = new Map([
  ["gzip", boundedLater(zlib.gunzip, badGzip)],
  ["deflate", boundedLater(unpackDeflateLater, badDeflate)],
  ["br", boundedLater(zlib.brotliDecompress, badBrotli)],
]);

/** Less than this is unpacked at once: it takes less time than a thread. */
const smallPacked = 32 * 1024;

/** Undoes the compression of that name, which must be one of `inflaters`; a large body does not hold up other calls. */
export function* inflated(name: string, bytes: Buffer, limit: number): Work<Buffer> {
  const later = bytes.length > smallPacked ? laterInflaters.get(name) : undefined;
  if (later) return yield* waitFor(later(bytes, limit));
  return inflaters.get(name)?.(bytes, limit) ?? bytes;
}

/** True if the bytes start like a gzip member. */
export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

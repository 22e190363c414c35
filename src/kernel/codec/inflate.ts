import zlib from "node:zlib";
import { SimError } from "../base/errors.ts";
import { type Work, waitFor } from "../base/work.ts";

/** Undoes one compression of a body; the result has at most `limit` bytes. */
type Inflate = (bytes: Buffer, limit: number) => Buffer;

export const tooLarge = (limit: number): SimError =>
  new SimError("payload_too_large", `maximum event size exceeded: the decoded payload is larger than ${limit} bytes`);

export const undecodable = (why: string): SimError =>
  new SimError("undecodable_payload", `failed to decode request: ${why}`);

type UnpackLater = (
  bytes: Buffer,
  options: { maxOutputLength: number },
  done: (error: Error | null, result: Buffer) => void,
) => void;

type Unpack = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;

const isOverflow = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";

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
): Buffer => unpackWithin(unpackGzip, bytes, limit, failure);

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

/** Where the compressed data of a gzip member begin. @throws Error if its header is none */
function afterGzipHeader(bytes: Buffer): number {
  const flags = bytes[3] ?? 0;
  let at = 10;
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b || bytes[2] !== 8 || (flags & 0xe0) !== 0) throw new Error(badGzip);
  if (flags & 4) at += 2 + bytes.readUInt16LE(at);
  // name, then comment
  for (const flag of [8, 16]) if (flags & flag) at = bytes.indexOf(0, at) + 1 || bytes.length;
  if (flags & 2) at += 2;
  return at;
}

interface Inflated {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

const isInflated = (value: unknown): value is Inflated =>
  typeof value === "object" && value !== null && "buffer" in value && "engine" in value;

/** The data of a gzip member, if checksum and size behind it are right. What comes after them is not read. */
function checkedMember(bytes: Buffer, from: number, found: unknown): Buffer {
  if (!isInflated(found)) throw new Error(badGzip);
  const { buffer, engine } = found;
  const end = from + engine.bytesWritten;
  const isRight = bytes.readUInt32LE(end) === zlib.crc32(buffer) && bytes.readUInt32LE(end + 4) === buffer.length;
  if (!isRight) throw new Error(badGzip);
  return buffer;
}

/** One chunk for the whole result, if the size at the end of the bytes is true; node's own are 16 KB, and joined. */
const unpackOptions = (bytes: Buffer, options: { maxOutputLength: number }) => {
  const size = bytes.length < 4 ? 0 : bytes.readUInt32LE(bytes.length - 4);
  return { ...options, info: true, chunkSize: Math.max(1024, Math.min(size + 1, 1024 * 1024)) };
};

/** The first member, as flate2's GzDecoder of the service. */
const unpackGzip: Unpack = (bytes, options) => {
  const from = afterGzipHeader(bytes);
  return checkedMember(bytes, from, zlib.inflateRawSync(bytes.subarray(from), unpackOptions(bytes, options)));
};

export const gunzip: Inflate = bounded(unpackGzip, badGzip);

const unpackGzipLater: UnpackLater = (bytes, options, done) => {
  const from = afterGzipHeader(bytes);
  zlib.inflateRaw(bytes.subarray(from), unpackOptions(bytes, options), (error, found) => {
    try {
      if (error) done(error, found);
      else done(null, checkedMember(bytes, from, found));
    } catch {
      done(new Error(badGzip), Buffer.alloc(0));
    }
  });
};

/** The same on a thread of the system, for bodies whose unpacking takes long. */
const boundedLater =
  (unpack: UnpackLater, why: string) =>
  (bytes: Buffer, limit: number): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const fail = (error: unknown) => reject(isOverflow(error) ? tooLarge(limit) : undecodable(why));
      try {
        unpack(bytes, { maxOutputLength: limit }, (error, result) => (error ? fail(error) : resolve(result)));
      } catch (error) {
        fail(error);
      }
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
  ["gzip", boundedLater(unpackGzipLater, badGzip)],
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

export const isGzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b;

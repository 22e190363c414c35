import * as zlib from "node:zlib";
import { packLz64 } from "../kernel/lz64-pack.ts";
import type { TapeBody, Wire } from "./types.ts";

type Encode = (bytes: Buffer, inner: string | undefined) => Buffer;

/** The base64 alphabet's `+`, `/` and `=` have a meaning of their own in a form. */
const formOf = (data: string, inner: string | undefined): string =>
  `data=${encodeURIComponent(data)}${inner === "base64" || inner === "lz64" ? `&compression=${inner}` : ""}`;

const zstd: unknown = Reflect.get(zlib, "zstdCompressSync");
const isCompress = (value: unknown): value is (bytes: Buffer) => Buffer => typeof value === "function";

const encoders: ReadonlyMap<string, Encode> = new Map<string, Encode>([
  ["gzip", (bytes) => zlib.gzipSync(bytes)],
  ["deflate", (bytes) => zlib.deflateSync(bytes)],
  ["br", (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["base64", (bytes) => Buffer.from(bytes.toString("base64"))],
  ["lz64", (bytes) => Buffer.from(packLz64(bytes.toString("utf8")))],
  ["form", (bytes, inner) => Buffer.from(formOf(bytes.toString("utf8"), inner))],
  ...(isCompress(zstd) ? [["zstd", (bytes: Buffer) => zstd(bytes)] as const] : []),
]);

/**
 * The bytes of a body without its encodings; none for no body.
 * @throws TypeError for a body that is omitted, or in a side file (read it first: `readBody`)
 */
export function plainBytes(body: TapeBody | undefined): Buffer {
  if (body === undefined) return Buffer.alloc(0);
  if ("json" in body) return Buffer.from(JSON.stringify(body.json));
  if ("text" in body) return Buffer.from(body.text);
  if ("b64" in body) return Buffer.from(body.b64, "base64");
  if ("file" in body) throw new TypeError(`the body is in the side file ${body.file}: read it first`);
  throw new TypeError(`the body was not kept (${body.omitted}, ${body.bytes} bytes)`);
}

/**
 * A body as it travelled: its decoded content is the recorded one, its compressed bytes need not be. An encoding
 * that this Node does not know (zstd before 22.15) is a TypeError.
 * @throws TypeError also for a body that is omitted, or in a side file
 */
export function encodeBody(body: TapeBody | undefined, wire: Wire): Buffer {
  const plain = plainBytes(body);
  if (body === undefined) return plain;
  return wire.encodings.reduceRight((bytes, encoding, i) => {
    const encode = encoders.get(encoding);
    if (!encode) throw new TypeError(`${encoding} is not an encoding that can be made here`);
    return encode(bytes, wire.encodings[i + 1]);
  }, plain);
}

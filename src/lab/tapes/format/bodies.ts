import { isUtf8 } from "node:buffer";
import zlib from "node:zlib";
import lz from "lz-string";
import { SimError } from "../../../kernel/base/errors.ts";
import { isTooDeep, type Json } from "../../../kernel/base/json.ts";
import { endOfString } from "../../../kernel/base/json-bounds.ts";
import { atOnce } from "../../../kernel/base/work.ts";
import { fromBase64, isBase64, isLooseBase64 } from "../../../kernel/codec/base64.ts";
import { readForm } from "../../../kernel/codec/form.ts";
import { gunzip, inflaters, isGzip } from "../../../kernel/codec/inflate.ts";
import { unpackLz64 } from "../../../kernel/codec/lz64.ts";
import { type Exchange, type HeaderPairs, headerOf, type TapeBody, type WireForm } from "./exchange.ts";

export const maxDecoded = 64 * 1024 * 1024;

export type Decoded = Pick<Exchange["req"], "body" | "wire">;

interface Wrapped {
  bytes: Buffer;
  /** Compression that the query or a form announced and that was not met yet. */
  hint: string | undefined;
  encodings: string[];
  limit: number;
}

/** Why decoding ended early: `bytes` are as far as it got. */
class Stuck extends Error {
  readonly tooLarge: boolean;

  constructor(encoding: string, cause: unknown) {
    super(`${encoding}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.tooLarge = cause instanceof SimError && cause.code === "payload_too_large";
  }
}

function undo(body: Wrapped, encoding: string, decode: (bytes: Buffer, limit: number) => Buffer): void {
  try {
    body.bytes = decode(body.bytes, body.limit);
  } catch (cause) {
    throw new Stuck(encoding, cause);
  }
  body.encodings.push(encoding);
}

/** Tokens of Content-Encoding, outermost first; `x-gzip` is gzip (RFC 9110 §8.4.1.3). */
const announced = (headers: HeaderPairs): string[] =>
  headerOf(headers, "content-encoding")
    ?.split(",")
    .map((it) => it.trim().toLowerCase().replace(/^x-/, ""))
    .filter((it) => it !== "" && it !== "identity")
    .reverse() ?? [];

const noDecoder = "not an encoding that can be undone here";
const unreadable: Readonly<Record<string, string>> = {
  zstd: `Node ${process.versions.node} cannot decompress it, 22.15 and later can`,
};

/** An Accept-Encoding without the codings that cannot be undone here: a service answers in one that is offered. */
export function readableCodings(value: string): string {
  const all = value.split(",");
  const kept = all.filter((it) => {
    const name = (it.split(";")[0] ?? "").trim().toLowerCase().replace(/^x-/, "");
    return /^(?:|\*|identity)$/.test(name) || inflaters.has(name);
  });
  return kept.length === all.length ? value : kept.join(",").trim() || "identity";
}

const mostEncodings = 8;

function undoAnnounced(body: Wrapped, headers: HeaderPairs): void {
  for (const encoding of announced(headers).slice(0, mostEncodings)) {
    const inflate = inflaters.get(encoding);
    if (!inflate) throw new Stuck(encoding, new Error(unreadable[encoding] ?? noDecoder));
    undo(body, encoding, inflate);
  }
}

/** Fields beside `data` that mean nothing once the body is decoded. A form with others stays a form: they may matter. */
const idleFields: ReadonlySet<string> = new Set(["data", "compression", "ver", "_", "ip", "sent_at"]);

function isDataForm(bytes: Buffer): boolean {
  if (!bytes.includes("data=") || !isUtf8(bytes)) return false;
  const front = bytes.toString("utf8", 0, 256);
  if (!/^[\w.]{1,32}=/.test(front)) return false;
  const names = [...new URLSearchParams(bytes.toString("utf8")).keys()];
  return names.every((name) => idleFields.has(name)) && names.filter((it) => it === "data").length === 1;
}

/** Does base64 hide something of ours? A mere word could be base64, too. */
function holdsBody(bytes: Buffer): boolean {
  const inside = fromBase64(bytes.subarray(0, 8));
  return isGzip(inside) || startsLikeJson(inside);
}

const startsLikeJson = (bytes: Buffer): boolean => bytes[0] === 0x7b || bytes[0] === 0x5b;

const isLz64 = (hint: string | undefined): boolean => hint === "lz64" || hint === "lz-string";
const isBase64Hint = (hint: string | undefined): boolean => hint === "base64" || hint === "b64";

/** A lone character or mere padding decodes to no bytes at all: as text it is kept. */
const isAnnouncedBase64 = ({ hint, bytes }: Wrapped): boolean =>
  isBase64Hint(hint) && isLooseBase64(bytes) && fromBase64(bytes).length > 0;

function undoForm(body: Wrapped): void {
  const { data, compression } = readForm(body.bytes.toString("utf8"));
  body.bytes = data ?? Buffer.alloc(0);
  body.hint = compression?.toLowerCase() ?? body.hint;
  body.encodings.push("form");
}

/** What SDKs wrap a body in without a header; looked for in this order until nothing is found. */
const layers: readonly { found(body: Wrapped): boolean; undo(body: Wrapped): void }[] = [
  { found: ({ bytes }) => isGzip(bytes), undo: (body) => undo(body, "gzip", gunzip) },
  { found: ({ bytes }) => isDataForm(bytes), undo: undoForm },
  {
    found: ({ hint, bytes }) => isLz64(hint) && isBase64(bytes),
    undo(body) {
      undo(body, "lz64", (bytes, limit) => atOnce(unpackLz64(bytes, limit)));
      body.hint = undefined;
    },
  },
  {
    found: (body) => (isBase64(body.bytes) && holdsBody(body.bytes)) || isAnnouncedBase64(body),
    undo(body) {
      undo(body, "base64", fromBase64);
      body.hint = undefined;
    },
  },
];

/** The bytes of an answer without its Content-Encoding; undefined: it cannot be undone within the limit. */
export function unpackedBytes(bytes: Buffer, headers: HeaderPairs, limit: number): Buffer | undefined {
  const body: Wrapped = { bytes, hint: undefined, encodings: [], limit };
  try {
    undoAnnounced(body, headers);
    return body.bytes;
  } catch (error) {
    if (error instanceof Stuck) return undefined;
    throw error;
  }
}

function undoSniffed(body: Wrapped): void {
  while (body.encodings.length < mostEncodings && !startsLikeJson(body.bytes)) {
    const layer = layers.find((it) => it.found(body));
    if (!layer) return;
    layer.undo(body);
  }
}

const hintOf = (target: string): string | undefined => {
  const mark = target.indexOf("?");
  if (mark === -1) return undefined;
  return new URLSearchParams(target.slice(mark + 1)).get("compression")?.toLowerCase();
};

const isJsonType = (headers: HeaderPairs): boolean =>
  /^\s*application\/(?:[\w.-]+\+)?json\b/i.test(headerOf(headers, "content-type") ?? "");

/** Plain bytes as a body: JSON where nothing of it gets lost, else text, else base64. */
export function plainBody(bytes: Buffer, asJson = startsLikeJson(bytes)): TapeBody {
  if (!isUtf8(bytes)) return { b64: bytes.toString("base64") };
  const text = bytes.toString("utf8");
  const json = asJson ? losslessJson(text) : undefined;
  return json === undefined ? { text } : { json };
}

/**
 * A body as the tape has it. `headers` are its message's; `target` is a request's path and query, and makes it look for
 * what the SDKs wrap bodies in without a header (gzip in text/plain, base64 and lz64 in `data=`): leave it out for
 * answers. What cannot be undone stays as far as it got, and `wire.trouble` has the reason. What is larger than `limit`
 * bytes when decoded is left out: the secrets in it could not be found.
 */
export function decodeBody(bytes: Buffer, headers: HeaderPairs, target?: string, limit: number = maxDecoded): Decoded {
  const wire = { bytes: bytes.length, encodings: [] as string[] };
  if (bytes.length === 0) return { wire };
  const body: Wrapped = { bytes, hint: hintOf(target ?? ""), encodings: wire.encodings, limit };
  let stuck: Stuck | undefined;
  try {
    undoAnnounced(body, headers);
    if (target !== undefined) undoSniffed(body);
  } catch (error) {
    if (!(error instanceof Stuck)) throw error;
    stuck = error;
  }
  const outcome = stuck ? { ...wire, trouble: stuck.message } : wire;
  if (stuck?.tooLarge || body.bytes.length > limit) {
    return { body: { omitted: "too_large", bytes: bytes.length }, wire: outcome };
  }
  const isJson = startsLikeJson(body.bytes) || isJsonType(headers);
  return { body: plainBody(body.bytes, isJson), wire: outcome };
}

type Encode = (bytes: Buffer, inner: string | undefined) => Buffer;

/** The base64 alphabet's `+`, `/` and `=` have a meaning of their own in a form. */
const formOf = (data: string, inner: string | undefined): string =>
  `data=${encodeURIComponent(data)}${inner === "base64" || inner === "lz64" ? `&compression=${inner}` : ""}`;

const zstd: unknown = Reflect.get(zlib, "zstdCompressSync");
const isCompress = (value: unknown): value is (bytes: Buffer) => Buffer => typeof value === "function";

const packLz64 = (bytes: Buffer): Buffer => Buffer.from(lz.compressToBase64(bytes.toString("utf8")));

const encoders: ReadonlyMap<string, Encode> = new Map<string, Encode>([
  ["gzip", (bytes) => zlib.gzipSync(bytes)],
  ["deflate", (bytes) => zlib.deflateSync(bytes)],
  ["br", (bytes) => zlib.brotliCompressSync(bytes, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })],
  ["base64", (bytes) => Buffer.from(bytes.toString("base64"))],
  ["lz64", packLz64],
  ["form", (bytes, inner) => Buffer.from(formOf(bytes.toString("utf8"), inner))],
  ...(isCompress(zstd) ? [["zstd", (bytes: Buffer) => zstd(bytes)] as const] : []),
]);

/** @throws TypeError for a body that is omitted, or in a side file (read it first: `readBody`) */
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
export function encodeBody(body: TapeBody | undefined, wire: WireForm): Buffer {
  const plain = plainBytes(body);
  if (body === undefined) return plain;
  return wire.encodings.reduceRight((bytes, encoding, i) => {
    const encode = encoders.get(encoding);
    if (!encode) throw new TypeError(`${encoding} is not an encoding that can be made here`);
    return encode(bytes, wire.encodings[i + 1]);
  }, plain);
}

function* numbersIn(text: string): Generator<string> {
  const pattern = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
  for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
    if (found[0] === '"') pattern.lastIndex = endOfString(text, found.index) + 1;
    else yield found[0];
  }
}

/** One spelling for a decimal's value: sign, digits without zeros at the ends, and the place of the point. */
function decimalOf(spelled: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(spelled) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const plain = digits.replace(/0+$/, "");
  const scale = Number(exponent) - fraction.length + digits.length - plain.length;
  return plain === "" ? `${sign}0` : `${sign}${plain}e${scale}`;
}

const isKept = (spelled: string): boolean => decimalOf(spelled) === decimalOf(JSON.stringify(Number(spelled)));

/** Up to 15 digits fit a double; without one of these nothing can be lost. Dates have a `-0`, too, after a digit. */
const mayLose = /[\d.]{16}|\d[eE][-+\d]|(?<!\w)-0/;

const keepsNumbers = (text: string): boolean => {
  if (!mayLose.test(text)) return true;
  for (const spelled of numbersIn(text)) if (!isKept(spelled)) return false;
  return true;
};

/**
 * Undefined if it is not JSON, is deeper than the service reads, or has a number that parsing would change (an id above
 * 2^53, -0, more digits than a double has).
 */
export function losslessJson(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text);
    return isTooDeep(value) || !keepsNumbers(text) ? undefined : value;
  } catch {
    return undefined;
  }
}

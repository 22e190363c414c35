import { isUtf8 } from "node:buffer";
import { fromBase64, isBase64, isLooseBase64 } from "../kernel/base64.ts";
import { SimError } from "../kernel/errors.ts";
import { readForm } from "../kernel/form.ts";
import { gunzip, inflaters, isGzip } from "../kernel/inflate.ts";
import { unpackLz64 } from "../kernel/lz64.ts";
import { atOnce } from "../kernel/work.ts";
import { headerOf } from "./headers.ts";
import { losslessJson } from "./json-text.ts";
import type { HeaderPairs, TapeBody, Wire } from "./types.ts";

/** Most bytes that a body may have when it is decoded. */
export const maxDecoded = 64 * 1024 * 1024;

export interface Decoded {
  /** Absent: there is none. */
  body?: TapeBody;
  wire: Wire;
}

/** A body on its way to plain text. */
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
  (headerOf(headers, "content-encoding") ?? "")
    .split(",")
    .map((it) => it.trim().toLowerCase().replace(/^x-/, ""))
    .filter((it) => it !== "" && it !== "identity")
    .reverse();

/** More than anybody stacks. */
const mostEncodings = 8;

function undoAnnounced(body: Wrapped, headers: HeaderPairs): void {
  for (const encoding of announced(headers).slice(0, mostEncodings)) {
    const inflate = inflaters.get(encoding);
    if (!inflate) throw new Stuck(encoding, new Error("not an encoding that can be undone here"));
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

interface Layer {
  found(body: Wrapped): boolean;
  undo(body: Wrapped): void;
}

/** What SDKs wrap a body in without a header that says so; looked for in this order until nothing is found. */
const layers: readonly Layer[] = [
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
 * answers. What cannot be undone stays as far as it got, and `wire.trouble` says why. What is larger than `limit`
 * bytes when decoded is left out: nobody could tell which secrets are in it.
 */
export function decodeBody(
  bytes: Buffer,
  headers: HeaderPairs,
  target?: string,
  limit: number = maxDecoded,
): Decoded {
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
  const told = stuck ? { ...wire, trouble: stuck.message } : wire;
  if (stuck?.tooLarge || body.bytes.length > limit) {
    return { body: { omitted: "too_large", bytes: bytes.length }, wire: told };
  }
  const isJson = startsLikeJson(body.bytes) || isJsonType(headers);
  return { body: plainBody(body.bytes, isJson), wire: told };
}

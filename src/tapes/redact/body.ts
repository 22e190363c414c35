import { isUtf8 } from "node:buffer";
import type { Work } from "../../base/work.ts";
import type { HeaderPairs, TapeBody, Wire } from "../format/exchange.ts";
import { repackable } from "./packed.ts";
import type { Sieve } from "./sieve.ts";

/** A body, and what is known about it. */
export interface Bulk {
  body: TapeBody;
  headers: HeaderPairs;
  wire: Wire;
  /** `req.body`, `res.body` */
  path: string;
  /** An answer's pictures and fonts are the service's own. */
  isAnswer: boolean;
  /** The compression that the URL announces, if any. */
  hint: string | null;
}

const headerOf = ({ headers }: Bulk, name: string): string =>
  headers.find(([it]) => it.toLowerCase() === name)?.[1] ?? "";

const code = /javascript|ecmascript|text\/css|text\/html|\bxml\b|wasm/i;
const media = /^(?:image|font|audio|video)\/(?!svg)/i;
/** Compressions of whole bodies that a decoder has to know; what lz64 makes is text, the others make bytes. */
const announced = { b64: /gzip|br|deflate|zstd|compress|lz64|lz-string/i, text: /lz64|lz-string/i };

const omitted = (bytes: number): TapeBody => ({ omitted: "redacted", bytes });

/** Does it say that it is compressed, and nobody could unpack it? Then nobody can say what is in it. */
function isLocked(bulk: Bulk, form: "b64" | "text"): boolean {
  const pattern = announced[form];
  if (bulk.wire.encodings.some((it) => pattern.test(it))) return false;
  return pattern.test(headerOf(bulk, "content-encoding")) || pattern.test(bulk.hint ?? "");
}

/** The boundary that the header names, else the one that the body begins with. Undefined: the body has no parts. */
const boundaryOf = (type: string, latin1: string): string | undefined => {
  if (!/^multipart\//i.test(type)) return undefined;
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(type) ?? [];
  const named = quoted ?? bare;
  if (named !== undefined && latin1.includes(`--${named}`)) return named;
  return /^--([^\r\n]{1,200})\r?\n/.exec(latin1)?.[1];
};

/** One part: its name may make it secret, its content may be anything. Undefined: bytes that hold a secret. */
function sievePart(part: string, path: string, sieve: Sieve): string | undefined {
  const split = /\r?\n\r?\n/.exec(part);
  // What stands around the parts, or a part that was cut off.
  if (split === null) return sieveLatin1(part, path, sieve);
  const head = part.slice(0, split.index);
  const lead = part.slice(0, split.index + split[0].length);
  const content = part.slice(lead.length).replace(/\r?\n$/, "");
  const end = part.slice(lead.length + content.length);
  const name = /\bname="([^"]*)"/i.exec(head)?.[1] ?? /\bname=([^;\s]+)/i.exec(head)?.[1] ?? "part";
  const at = `${path}.${name}`;
  const safeHead = sieveLatin1(lead, at, sieve);
  if (safeHead === undefined) return undefined;
  if (sieve.judge.secrecy(name) !== undefined) {
    const value = Buffer.from(content, "latin1").toString("utf8");
    return safeHead + Buffer.from(sieve.named(name, value, at)).toString("latin1") + end;
  }
  const after = sieveLatin1(content, at, sieve);
  return after === undefined ? undefined : safeHead + after + end;
}

const sieveLatin1 = (bytes: string, path: string, sieve: Sieve): string | undefined =>
  sieveBytes(Buffer.from(bytes, "latin1"), path, sieve)?.toString("latin1");

function sieveParts(latin1: string, boundary: string, path: string, sieve: Sieve): string | undefined {
  const parts = latin1.split(`--${boundary}`).map((part) => sievePart(part, path, sieve));
  return parts.some((part) => part === undefined) ? undefined : parts.join(`--${boundary}`);
}

/** Bytes that are no text: looked at as text of one and of two bytes per character, in either order. */
const seenAs: readonly ((bytes: Buffer) => string)[] = [
  (bytes) => bytes.toString("latin1"),
  (bytes) => bytes.toString("utf16le"),
  (bytes) =>
    Buffer.from(bytes.subarray(bytes.length % 2))
      .swap16()
      .toString("utf16le"),
];

/** The bytes with their secrets replaced; undefined: they hold some that cannot be replaced, or cannot be read. */
export function sieveBytes(bytes: Buffer, path: string, sieve: Sieve): Buffer | undefined {
  const packed = repackable(bytes);
  if (packed === "unreadable") return undefined;
  const text = packed?.text ?? (isUtf8(bytes) ? bytes.toString("utf8") : undefined);
  if (text !== undefined) {
    const after = sieve.text(text, path);
    if (after === text) return bytes;
    return packed ? packed.pack(after) : Buffer.from(after);
  }
  const isClean = seenAs.every((seen) => sieve.text(seen(bytes), path) === seen(bytes));
  return isClean ? bytes : undefined;
}

function sieveText(text: string, bulk: Bulk, sieve: Sieve): TapeBody {
  const type = headerOf(bulk, "content-type");
  const boundary = boundaryOf(type, text);
  if (boundary === undefined) {
    return {
      text: bulk.isAnswer && code.test(type) ? sieve.code(text, bulk.path) : sieve.text(text, bulk.path),
    };
  }
  const bytes = Buffer.from(text);
  const after = sieveParts(bytes.toString("latin1"), boundary, bulk.path, sieve);
  return after === undefined
    ? omitted(bytes.length)
    : { text: Buffer.from(after, "latin1").toString("utf8") };
}

function sieveBase64(b64: string, bulk: Bulk, sieve: Sieve): TapeBody {
  const bytes = Buffer.from(b64, "base64");
  const type = headerOf(bulk, "content-type");
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  if (bulk.isAnswer && media.test(type) && !isPacked) return { b64 };
  const latin1 = bytes.toString("latin1");
  const boundary = boundaryOf(type, latin1);
  const parts = boundary === undefined ? undefined : sieveParts(latin1, boundary, bulk.path, sieve);
  const after =
    boundary === undefined ? sieveBytes(bytes, bulk.path, sieve) : parts && Buffer.from(parts, "latin1");
  return after === undefined ? omitted(bytes.length) : { b64: after.toString("base64") };
}

/** A body without its secrets; what cannot be read is left out. A side file was redacted when it was written. */
export function* sieveBody(bulk: Bulk, sieve: Sieve): Work<TapeBody> {
  const { body, path } = bulk;
  if ("file" in body || "omitted" in body) return body;
  if ("json" in body) {
    const json = yield* sieve.json(body.json, path);
    return json === undefined ? omitted(bulk.wire.bytes) : { json };
  }
  if (isLocked(bulk, "text" in body ? "text" : "b64")) return omitted(bulk.wire.bytes);
  return "text" in body ? sieveText(body.text, bulk, sieve) : sieveBase64(body.b64, bulk, sieve);
}

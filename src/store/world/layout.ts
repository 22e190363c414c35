import { createHash } from "node:crypto";
import { isObject, type Json } from "../../kernel/json.ts";

/** A key of world.json with the bytes of its value, in pieces: a world is copied once. */
export type Section = readonly [key: string, value: readonly Buffer[]];

/** Where a value stands in the file, in bytes. */
type Span = readonly [start: number, end: number];

/** The last key of world.json: it says that we wrote what stands before it, and where. */
export interface Seal {
  /** Digest of the bytes before the seal. */
  sha256: string;
  /** The modification time that the file was given, in seconds since the epoch. */
  written: number;
  sections: ReadonlyMap<string, Span>;
  /** Where the bytes that it covers end. */
  end: number;
}

const mark = ',\n  "sealed": ';
const ending = "\n}\n";

/** A seal is shorter than this, in bytes. */
export const sealRoom = 4096;

export const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The text of world.json in two pieces: a key a line, in a list a document a line, and at the end the seal. */
export function sealedText(sections: readonly Section[], written: number): [covered: Buffer, seal: Buffer] {
  const parts: Buffer[] = [];
  const spans: Record<string, Span> = {};
  let end = 0;
  const add = (part: Buffer) => {
    parts.push(part);
    end += part.length;
  };
  for (const [key, value] of sections) {
    add(Buffer.from(`${end === 0 ? "{" : ","}\n  ${JSON.stringify(key)}: `));
    const start = end;
    for (const piece of value) add(piece);
    spans[key] = [start, end];
  }
  const covered = Buffer.concat(parts, end);
  const seal = JSON.stringify({ sha256: digestOf(covered), written, sections: spans });
  return [covered, Buffer.from(`${mark}${seal}${ending}`)];
}

/** The seal at the end of a file of `size` bytes, whose last bytes are given; undefined without a usable one. */
export function sealIn(tail: Buffer, size: number): Seal | undefined {
  const at = tail.lastIndexOf(mark);
  const text = tail.toString("utf8", at + mark.length);
  if (at === -1 || !text.endsWith(ending)) return undefined;
  const end = size - tail.length + at;
  try {
    const found: Json = JSON.parse(text.slice(0, -ending.length));
    const seal = sealOf(found, end);
    // Bytes were added or taken away: nothing stands where the seal says.
    return seal && lastEnd(seal) === end ? seal : undefined;
  } catch {
    return undefined;
  }
}

function sealOf(found: Json, end: number): Seal | undefined {
  if (!isObject(found)) return undefined;
  const { sha256, written, sections } = found;
  if (typeof sha256 !== "string" || typeof written !== "number" || !isObject(sections)) return undefined;
  const spans = new Map<string, Span>();
  for (const [key, span] of Object.entries(sections)) {
    if (!isSpan(span)) return undefined;
    spans.set(key, span);
  }
  return { sha256, written, sections: spans, end };
}

const isSpan = (span: Json): span is [number, number] =>
  Array.isArray(span) && span.length === 2 && span.every((it) => Number.isSafeInteger(it));

const lastEnd = ({ sections }: Seal): number => Math.max(0, ...[...sections.values()].map(([, end]) => end));

const bytesOf = (text: string): Buffer => Buffer.from(text);

const open = bytesOf("[\n    ");
const between = bytesOf(",\n    ");
const close = bytesOf("\n  ]");
const indent = 4;
const newline = 0x0a;
const comma = 0x2c;

const none = bytesOf("[]");

/** A list with one of the texts a line, in pieces. */
export function listText(texts: readonly Buffer[]): Buffer[] {
  const pieces: Buffer[] = [];
  for (const text of texts) pieces.push(pieces.length === 0 ? open : between, text);
  if (pieces.length === 0) return [none];
  pieces.push(close);
  return pieces;
}

/** The texts that `listText` put together. */
export function textsIn(list: Buffer): Buffer[] {
  const texts: Buffer[] = [];
  let start = list.indexOf(newline) + 1;
  for (let end = list.indexOf(newline, start); start > 0 && end !== -1; end = list.indexOf(newline, start)) {
    texts.push(list.subarray(start + indent, list[end - 1] === comma ? end - 1 : end));
    start = end + 1;
  }
  return texts;
}

import { createHash } from "node:crypto";
import { isObject, type Json, type JsonObject } from "../../kernel/json.ts";

/** A key of world.json with the bytes of its value, in pieces: a world is copied once. */
export type Section = readonly [key: string, value: readonly Buffer[]];

/** Where a value stands in the file, in bytes. */
type Span = readonly [start: number, end: number];

/** The last key of world.json: it says that we wrote what stands before it, and where. */
export interface Seal {
  /** Digest of the bytes before the seal. */
  sha256: string;
  sections: ReadonlyMap<string, Span>;
  /** Where the bytes that it covers end. */
  end: number;
}

const mark = ',\n  "sealed": ';
const ending = "\n}\n";

export const digestOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

/** The text of world.json in two pieces: a key a line, in a list a document a line, and at the end the seal. */
export function sealedText(sections: readonly Section[]): [covered: Buffer, seal: Buffer] {
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
  const seal = JSON.stringify({ sha256: digestOf(covered), sections: spans });
  return [covered, Buffer.from(`${mark}${seal}${ending}`)];
}

/** The seal at the end of a file; undefined without a usable one. */
export function sealIn(file: Buffer): Seal | undefined {
  const end = file.lastIndexOf(mark);
  const text = file.toString("utf8", end + mark.length);
  if (end === -1 || !text.endsWith(ending)) return undefined;
  try {
    const found: Json = JSON.parse(text.slice(0, -ending.length));
    return sealOf(found, end);
  } catch {
    return undefined;
  }
}

function sealOf(found: Json, end: number): Seal | undefined {
  if (!isObject(found)) return undefined;
  const { sha256, sections } = found;
  if (typeof sha256 !== "string" || !isObject(sections)) return undefined;
  const spans = new Map<string, Span>();
  for (const [key, span] of Object.entries(sections)) {
    if (!isSpan(span)) return undefined;
    spans.set(key, span);
  }
  return { sha256, sections: spans, end };
}

const isSpan = (span: Json): span is [number, number] =>
  Array.isArray(span) && span.length === 2 && span.every((it) => Number.isSafeInteger(it));

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

/** What can still be read of a text that `sealedText` made. */
interface Salvaged {
  /** The values by their keys. */
  document: JsonObject;
  /** Numbers of the lines that cannot be read, from 1. */
  damaged: number[];
}

const keyLine = /^ {2}"(\w+)": (.*?),?$/;
const listEnd = /^ {2}\],?$/;

/** Reads a text line by line: a key a line, in a list a document a line. `keys` are those of a world, in their order. */
export function salvage(text: string, keys: readonly string[]): Salvaged {
  const document: JsonObject = {};
  const damaged: number[] = [];
  /** The list that the next documents are in, and the key that was read last. */
  let list: Json[] | undefined;
  let last = "";

  /** Documents without a list: its first line is damaged. */
  function nextList(): Json[] {
    last = keys[keys.indexOf(last) + 1] ?? last;
    const made: Json[] = [];
    document[last] ??= made;
    return made;
  }

  for (const [i, line] of text.split("\n").entries()) {
    const [, key, value = ""] = keyLine.exec(line) ?? [];
    if (line === "{" || line === "}" || line === "" || listEnd.test(line)) continue;
    if (line.startsWith(mark.slice(2))) break;
    if (key !== undefined && keys.includes(key)) {
      last = key;
      list = value === "[" ? [] : undefined;
      const found = list ?? jsonIn(value);
      if (found === undefined) damaged.push(i + 1);
      else document[key] = found;
      continue;
    }
    const found = line.startsWith("    ") ? jsonIn(line.replace(/,$/, "")) : undefined;
    list ??= found === undefined ? undefined : nextList();
    if (found === undefined) damaged.push(i + 1);
    else list?.push(found);
    if (found === undefined && !line.startsWith("    ")) list = undefined;
  }
  return { document, damaged };
}

function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Did `sealedText` make the text, however it was changed since? */
export const isOurLayout = (text: string): boolean =>
  text.startsWith('{\n  "version": ') || text.includes(mark);

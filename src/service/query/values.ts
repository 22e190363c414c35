import type { Json } from "../../kernel/base/json.ts";
import { createHashIndex } from "../../state/journal/log/hash-index.ts";

/** Distinct values of a column by their codes; code 0 is the missing value. They only grow. */
export interface Distinct<T> {
  readonly values: readonly T[];
  /** What they take, in bytes; an estimate. */
  readonly bytes: number;
  codeOf(value: T): number;
}

/** Gives codes to JSON in bytes. */
export interface ByteCodes {
  codeAt(bytes: Buffer, from: number, to: number): number;
}

/** An array with room for at least `length` numbers; a larger one, if it is made, starts with the same numbers. */
export function withRoom<A extends Uint32Array | Float64Array | Buffer>(array: A, length: number): A {
  if (length <= array.length) return array;
  const size = Math.max(length, Math.ceil(array.length * 1.5), 256);
  const larger = Buffer.isBuffer(array)
    ? Buffer.allocUnsafe(size)
    : array instanceof Float64Array
      ? new Float64Array(size)
      : new Uint32Array(size);
  larger.set(array);
  // of the same kind
  return larger as A;
}

/** What an entry of an array takes without its value, and a string without its characters, in bytes. */
const entryBytes = 28;

/** A hash of the bytes of [from, to), never 0. */
function hashOf(bytes: Buffer, from: number, to: number): number {
  let hash = 0x811c9dc5 ^ (to - from);
  let at = from;
  for (; at + 4 <= to; at += 4) {
    const low = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8);
    const high = (bytes[at + 2] ?? 0) | ((bytes[at + 3] ?? 0) << 8);
    hash = Math.imul(hash ^ (low | (high << 16)), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  for (; at < to; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 13), 0x85ebca6b);
  return (hash ^ (hash >>> 16)) >>> 0 || 1;
}

/** Codes of texts of bytes, which are kept one after the other. A text is known by its row from then on. */
function createTextCodes() {
  let texts: Buffer = Buffer.alloc(0);
  let ends = new Uint32Array(0);
  let hashes = new Uint32Array(0);
  let codes = new Uint32Array(0);
  let count = 0;
  let used = 0;
  // what is looked for
  let bytes = texts;
  let from = 0;
  let to = 0;
  let hash = 0;

  const index = createHashIndex(
    (row) => hashes[row] ?? 0,
    0,
    () => -1,
  );

  function isSame(row: number): boolean {
    const start = row === 0 ? 0 : (ends[row - 1] ?? 0);
    const length = to - from;
    if ((ends[row] ?? 0) - start !== length) return false;
    for (let i = 0; i < length; i++) if (texts[start + i] !== bytes[from + i]) return false;
    return true;
  }

  return {
    get bytes() {
      return texts.length + (ends.length + hashes.length + codes.length) * 4 + count * 6;
    },
    /** The row of the text in the bytes; -1 for none. */
    find(inBytes: Buffer, first: number, end: number, guess = -1): number {
      bytes = inBytes;
      from = first;
      to = end;
      if (guess !== -1 && isSame(guess)) return guess;
      hash = hashOf(inBytes, first, end);
      return index.find(hash, isSame);
    },
    codeOf: (row: number): number => codes[row] ?? 0,
    /** Adds the text that was not found last. @returns its row */
    add(code: number): number {
      texts = withRoom(texts, used + to - from);
      ends = withRoom(ends, count + 1);
      hashes = withRoom(hashes, count + 1);
      codes = withRoom(codes, count + 1);
      bytes.copy(texts, used, from, to);
      used += to - from;
      ends[count] = used;
      hashes[count] = hash;
      codes[count] = code;
      index.add(hash, count);
      return count++;
    },
  };
}

/** JSON has several texts for some values, such as `1.0` and `1`; a value has one of these. */
function textOf(value: Json): string {
  if (typeof value !== "number") return JSON.stringify(value);
  return Object.is(value, -0) ? "0" : String(value);
}

/** Distinct JSON values; objects and arrays are the same value if their texts are the same. */
export function distinctJson(): Distinct<Json | undefined> & ByteCodes {
  const values: (Json | undefined)[] = [undefined];
  const codes = createTextCodes();
  let sizes = 0;

  function codeOf(value: Json | undefined): number {
    if (value === undefined) return 0;
    const text = Buffer.from(textOf(value));
    const known = codes.find(text, 0, text.length);
    if (known !== -1) return codes.codeOf(known);
    codes.add(values.length);
    sizes += typeof value === "object" ? 4 * text.length : text.length;
    return values.push(value) - 1;
  }

  return {
    values,
    get bytes() {
      return codes.bytes + sizes + entryBytes * values.length;
    },
    codeOf,
    codeAt(bytes, from, to) {
      if (from === to) return 0;
      const known = codes.find(bytes, from, to);
      if (known !== -1) return codes.codeOf(known);
      const code = codeOf(JSON.parse(bytes.toString("utf8", from, to)));
      if (codes.find(bytes, from, to) === -1) codes.add(code);
      return code;
    },
  };
}

/** Distinct texts; "" has code 0. */
export interface DistinctTexts extends Distinct<string> {
  /** The code of a text that is there. */
  find(text: string): number | undefined;
}

export function distinctTexts(): DistinctTexts {
  const values = [""];
  const known = new Map([["", 0]]);
  let sizes = 0;
  return {
    values,
    get bytes() {
      return sizes + 2 * entryBytes * values.length;
    },
    find: (text) => known.get(text),
    codeOf(text) {
      const code = known.get(text);
      if (code !== undefined) return code;
      known.set(text, values.length);
      sizes += text.length;
      return values.push(text) - 1;
    },
  };
}

/** Gives codes to texts that are made of JSON in bytes. */
export interface TextCodes extends ByteCodes {
  /** The row of a text, for `codeOf`; `guess` is the row that it probably has. */
  rowAt(bytes: Buffer, from: number, to: number, guess: number | undefined): number;
  codeOf(row: number): number;
}

/** The codes of the texts that `read` makes of JSON. */
export function textsIn(texts: Distinct<string>, read: (value: Json) => string): TextCodes {
  const { find, add, codeOf } = createTextCodes();
  function rowAt(bytes: Buffer, from: number, to: number, guess: number | undefined): number {
    const known = find(bytes, from, to, guess);
    return known === -1 ? add(texts.codeOf(read(JSON.parse(bytes.toString("utf8", from, to))))) : known;
  }
  return { rowAt, codeOf, codeAt: (bytes, from, to) => (from === to ? 0 : codeOf(rowAt(bytes, from, to, undefined))) };
}

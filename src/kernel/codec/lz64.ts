import type { Work } from "../base/work.ts";
import { tooLarge, undecodable } from "./inflate.ts";

/**
 * The base64 form of lz-string, which posthog-js sent up to about 1.20. Own code because the package unpacks without a
 * limit: 1 MB can become 50 GB, and its callback does not see the output.
 *
 * Format: 6 bits per base64 character, most significant first, read as numbers with the least
 * significant bit first. A number is the index of an earlier piece of output, or 0 / 1 for a new
 * character of 8 / 16 bits, or 2 for the end.
 */
const values = new Uint8Array(256).fill(0xff);
[..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"].forEach((char, value) => {
  values[char.charCodeAt(0)] = value;
});

interface Bits {
  take(width: number): number;
}

function bitsOf(text: Buffer): Bits {
  let index = 0;
  let left = 0;
  let value = 0;
  const refill = (): boolean => {
    const next = values[text[index++] ?? 0x3d] ?? 0xff;
    value = next;
    left = 6;
    return next !== 0xff;
  };
  return {
    take(width) {
      let number = 0;
      for (let bit = 0; bit < width; bit++) {
        if (left === 0 && !refill()) return -1;
        left--;
        number |= ((value >> left) & 1) << bit;
      }
      return number;
    },
  };
}

function unitBuffer(limit: number) {
  let units = new Uint16Array(Math.min(4096, limit));
  let length = 0;
  const push = (unit: number): void => {
    if (length === limit) throw tooLarge(limit);
    if (length === units.length) {
      const larger = new Uint16Array(Math.min(units.length * 2, limit));
      larger.set(units);
      units = larger;
    }
    units[length++] = unit;
  };
  return {
    get length() {
      return length;
    },
    push,
    /** Appends a copy of earlier output; it may overlap what is being appended. */
    repeat(start: number, count: number): void {
      for (let i = 0; i < count; i++) push(units[start + i] ?? 0);
    },
    bytes: (): Uint8Array => new Uint8Array(units.buffer, 0, length * 2),
  };
}

const broken = () => undecodable("decompress_lz64: failed decompress to UTF16");

/** Codes 0 and 1 announce a new character, 2 the end; pieces are numbered from 3. */
const end = 2;
const firstPiece = 3;

const unitsPerStep = 16 * 1024;

const widthFor = (pieces: number): number => Math.max(3, 32 - Math.clz32(firstPiece + pieces));

/**
 * Each piece of the dictionary is a stretch of the output: where it starts and how long it is. The
 * piece that a code adds is the output of the code before it and one unit more, which is a stretch, too.
 */
function* unpack(text: Buffer, limit: number): Work<Uint8Array> {
  const bits = bitsOf(text);
  const output = unitBuffer(limit);
  const starts: number[] = [];
  const lengths: number[] = [];
  let before = { start: 0, length: 0 };
  let stepFrom = 0;
  for (let code = bits.take(2); code !== end; code = bits.take(widthFor(starts.length))) {
    const start = output.length;
    const piece = code - firstPiece;
    if (code === 0 || code === 1) {
      const unit = bits.take(code === 0 ? 8 : 16);
      if (unit === -1) throw broken();
      output.push(unit);
      starts.push(start);
      lengths.push(1);
    } else if (piece >= 0 && piece < starts.length) {
      output.repeat(starts[piece] ?? 0, lengths[piece] ?? 0);
    } else if (piece === starts.length && before.length > 0) {
      output.repeat(before.start, before.length + 1);
    } else {
      throw broken();
    }
    if (before.length > 0) {
      starts.push(before.start);
      lengths.push(before.length + 1);
    }
    before = { start, length: output.length - start };
    if (output.length - stepFrom < unitsPerStep) continue;
    stepFrom = output.length;
    yield;
  }
  return output.bytes();
}

/** @throws SimError undecodable_payload; payload_too_large above `limit` bytes of UTF-8 */
export function* unpackLz64(text: Buffer, limit: number): Work<Buffer> {
  const units = yield* unpack(text, limit);
  yield;
  let utf8: Buffer;
  try {
    utf8 = Buffer.from(new TextDecoder("utf-16le", { fatal: true, ignoreBOM: true }).decode(units));
  } catch {
    throw undecodable("decompress_lz64: failed UTF16 to UTF8 conversion");
  }
  if (utf8.length > limit) throw tooLarge(limit);
  return utf8;
}

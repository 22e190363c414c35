import { isUtf8 } from "node:buffer";
import zlib from "node:zlib";

export interface Packed {
  text: string;
  pack(text: string): Buffer;
}

/** What decodes to more is neither searched nor kept. */
const mostBytes = 32 * 1024 * 1024;

/** Cut-off bodies give what they have: a request that was broken off holds secrets, too. */
const partly = { maxOutputLength: mostBytes, finishFlush: zlib.constants.Z_SYNC_FLUSH };

interface Packing {
  is(bytes: Buffer): boolean;
  unpack(bytes: Buffer): Buffer;
  pack(bytes: Buffer): Buffer;
  /** True if the first bytes are unmistakable: bytes that cannot be unpacked are not harmless. */
  certain: boolean;
}

/** Deflate with a window of 256 bytes to 32 KB, and a right check sum (RFC 1950 §2.2). */
const isZlibHeader = (header: number): boolean =>
  (header & 0x0f00) === 0x0800 && header >>> 12 <= 7 && header % 31 === 0;

const packings: readonly Packing[] = [
  {
    is: (bytes) => bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8,
    unpack: (bytes) => zlib.gunzipSync(bytes, partly),
    pack: (bytes) => zlib.gzipSync(bytes),
    certain: true,
  },
  {
    is: (bytes) => bytes.length > 8 && isZlibHeader(bytes.readUInt16BE(0)),
    unpack: (bytes) => zlib.inflateSync(bytes, partly),
    pack: (bytes) => zlib.deflateSync(bytes),
    certain: false,
  },
];

function unpacked(packing: Packing, bytes: Buffer): Buffer | undefined {
  try {
    return packing.unpack(bytes);
  } catch {
    return undefined;
  }
}

/** A text of letters and the like: bytes that happen to be UTF-8 are not worth a look. */
function textOf(bytes: Buffer): string | undefined {
  if (bytes.length < 4 || !isUtf8(bytes)) return undefined;
  const text = bytes.toString("utf8");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what no text has
  return /[\x00-\x08\x0e-\x1a]/.test(text) ? undefined : text;
}

/** The text in some bytes. `unreadable`: they are compressed, but damaged or too large to be searched. */
export function repackable(bytes: Buffer, layers = 3): Packed | "unreadable" | undefined {
  for (const packing of packings) {
    // "hello" begins like a zlib stream, too: what can be read as text is text.
    if (!packing.is(bytes) || (!packing.certain && textOf(bytes) !== undefined)) continue;
    const plain = unpacked(packing, bytes);
    if (plain === undefined && packing.certain) return "unreadable";
    if (plain === undefined) continue;
    // A file can be made that unpacks to itself.
    const inner = layers === 0 ? "unreadable" : repackable(plain, layers - 1);
    if (inner === "unreadable") return inner;
    const latin1: Packed = { text: plain.toString("latin1"), pack: (text) => Buffer.from(text, "latin1") };
    const { text, pack } = inner ?? latin1;
    return { text, pack: (after) => packing.pack(pack(after)) };
  }
  const text = textOf(bytes);
  return text === undefined ? undefined : { text, pack: (after) => Buffer.from(after, "utf8") };
}

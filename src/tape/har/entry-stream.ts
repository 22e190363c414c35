import { HarError } from "./errors.ts";

/** What a HAR is cut into: the text of one entry, or how large one was that is not kept. */
export type EntryPiece = { readonly entry: Buffer } | { readonly tooLarge: number };

/** What is left when all was read: the HAR without its entries, and whether it came to its end. */
interface Around {
  readonly text: string;
  readonly isWhole: boolean;
}

export interface EntryScanner {
  /** The entries that end in this chunk. @throws HarError when there is too much besides the entries */
  scan(chunk: Buffer): EntryPiece[];
  /** Has `log.entries` begun? */
  readonly hasBegun: boolean;
  end(): Around;
}

export interface ScanLimits {
  /** Bytes of one entry; a text of V8 cannot be longer than 512 MB. */
  entry: number;
  /** Bytes of all that is no entry. */
  around: number;
}

const usualLimits: ScanLimits = { entry: 192 * 1024 * 1024, around: 16 * 1024 * 1024 };

/** Bytes that count in JSON. */
const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const openObject = 0x7b;
const closeObject = 0x7d;
const openArray = 0x5b;
const closeArray = 0x5d;

/** `log` and `entries` are found at these depths; nothing deeper needs its keys. */
const deepestKey = 2;
const entriesDepth = 3;
const longestKey = 16;

/** Bytes that are kept until their piece is whole; beyond the limit they are only counted. */
function createPieces(limit: number) {
  let parts: Buffer[] = [];
  let bytes = 0;
  return {
    add(part: Buffer): void {
      bytes += part.length;
      if (bytes > limit) parts = [];
      else parts.push(part);
    },
    isOver: () => bytes > limit,
    take(): EntryPiece {
      const piece = bytes > limit ? { tooLarge: bytes } : { entry: Buffer.concat(parts) };
      parts = [];
      bytes = 0;
      return piece;
    },
    text: () => Buffer.concat(parts).toString("utf8"),
  };
}

/** Follows JSON byte by byte: how deep it is, and under which keys. Texts may be cut anywhere. */
function createFollower() {
  let depth = 0;
  let isText = false;
  let isEscaped = false;
  let text = "";
  const keys = ["", "", ""];
  const inText = (byte: number): void => {
    if (isEscaped) isEscaped = false;
    else if (byte === backslash) isEscaped = true;
    else if (byte === quote) isText = false;
    else if (depth <= deepestKey && text.length < longestKey) text += String.fromCharCode(byte);
  };
  return {
    depth: () => depth,
    keys,
    /** Takes a byte; true when it is one that opens or closes. */
    take(byte: number): boolean {
      if (isText) {
        inText(byte);
        return false;
      }
      if (byte === quote) {
        isText = true;
        text = "";
      } else if (byte === colon && depth <= deepestKey) keys[depth] = text;
      else if (byte === openObject || byte === openArray) depth++;
      else if (byte === closeObject || byte === closeArray) depth--;
      else return false;
      return byte !== quote && byte !== colon;
    },
  };
}

/**
 * Finds the entries of a HAR in a stream of any length: nothing but the entry in hand and the little text around
 * the entries is kept. What is wrong inside an entry is for its reader to find.
 */
export function createEntryScanner(limits: ScanLimits = usualLimits): EntryScanner {
  const follower = createFollower();
  const around = createPieces(limits.around);
  const inner = createPieces(limits.entry);
  let place: "before" | "between" | "in" | "after" = "before";

  /** Where the text goes on, after the byte that opened or closed something. */
  const turn = (byte: number): typeof place => {
    const depth = follower.depth();
    const opensEntries =
      place === "before" &&
      byte === openArray &&
      depth === entriesDepth &&
      follower.keys[1] === "log" &&
      follower.keys[2] === "entries";
    if (opensEntries) return "between";
    if (place === "between" && depth > entriesDepth) return "in";
    if (place === "between" && depth < entriesDepth) return "after";
    return place === "in" && depth === entriesDepth ? "between" : place;
  };

  const keep = (part: Buffer): void => {
    if (place === "in") inner.add(part);
    else if (place !== "between") around.add(part);
  };

  return {
    get hasBegun() {
      return place !== "before";
    },
    scan(chunk) {
      const found: EntryPiece[] = [];
      let from = 0;
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] ?? 0;
        if (!follower.take(byte)) continue;
        const next = turn(byte);
        if (next === place) continue;
        // What opens belongs to what it opens, what closes to what it closes; but the array's brackets are around it.
        const to = place === "before" || place === "in" ? i + 1 : i;
        keep(chunk.subarray(from, to));
        if (place === "in") found.push(inner.take());
        place = next;
        from = to;
      }
      keep(chunk.subarray(from));
      if (around.isOver()) {
        throw new HarError(`more than ${limits.around >> 20} MB besides the entries: this is no HAR`);
      }
      return found;
    },
    end: () => ({ text: around.text(), isWhole: follower.depth() === 0 && place !== "in" }),
  };
}

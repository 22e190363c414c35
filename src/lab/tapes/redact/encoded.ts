import { decodedPart } from "./fields.ts";
import { repackable } from "./packed.ts";
import { hasShape } from "./shapes.ts";

export interface Inside {
  text(plain: string): string;
  /** A stretch that holds a secret which cannot be cut out of it. */
  whole(stretch: string): string;
}

const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;
const unbrokenRun = /(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}/g;
/** The same, or lines of base64 as mail has them. Line breaks may be escaped. */
const brokenRun =
  /(?:[A-Za-z0-9+/_-]{32,76}(?:\r?\n|(?:\\r)?\\n)){1,100000}[A-Za-z0-9+/_-]{1,76}={0,2}|[A-Za-z0-9+/_-]{16,}={0,2}/g;
const hasBrokenRun = /(?:\n|\\n)(?<=[A-Za-z0-9+/_-]{32}(?:\r?\n|(?:\\r)?\\n))[A-Za-z0-9+/_-]/;
/** The search for lines is slow, and few texts have them. */
const base64RunsOf = (text: string): RegExp => (hasBrokenRun.test(text) ? brokenRun : unbrokenRun);
/** How base64 of `{"`, `[{"` and gzip begins: a path may stand right before it. */
const base64Start = /eyJ|ey[AIo]|W3si|H4sI/;
const percentByte = /%[\da-fA-F]{2}/;
const urlRun = /[\w.~%+/=!*'()-]{6,}/g;
/** Escaped once; or several times, as in JSON that is a string in JSON. */
const escapes = [
  /\\u00([2-7][\da-fA-F])|\\x([2-7][\da-fA-F])/g,
  /\\{2,16}u00([2-7][\da-fA-F])|\\{2,16}x([2-7][\da-fA-F])/g,
];

/** ASCII in UTF-16: every other character is zero. */
const wideRun = /(?:[\t\n\r -~]\0){6,}|(?:\0[\t\n\r -~]){6,}/g;
const narrow = (run: string): string => run.replaceAll("\0", "");

const isUrlSafe = (run: string): boolean => /[-_]/.test(run);

function toBase64(bytes: Buffer, like: string): string {
  if (isUrlSafe(like)) return bytes.toString("base64url");
  const text = bytes.toString("base64");
  return like.endsWith("=") || like.length % 4 === 0 ? text : text.replace(/=+$/, "");
}

/** Every shape has eight printable characters in a row, except logins of URLs. */
const mayHoldShape = /[ -~]{8}|:\/\/|\0/;

/** Whatever the first byte of a run was cut off from: the bytes are right at one of four places. */
const hidesShape = (run: string): boolean =>
  [0, 1, 2, 3].some((skip) => {
    const latin1 = Buffer.from(run.slice(skip), "base64").toString("latin1");
    if (!mayHoldShape.test(latin1)) return false;
    return hasShape(latin1) || (latin1.match(wideRun) ?? []).some((it) => hasShape(narrow(it)));
  });

function replaceRun(found: string, inside: Inside): string {
  if (uuid.test(found)) return found;
  const run = found.replace(/\s|\\[rn]/g, "");
  const hex = /^(?:[\da-fA-F]{2}){8,}$/.test(run) ? replaceHex(run, inside) : run;
  if (hex !== run) return hex;
  const start = run.search(base64Start);
  if (start > 0) {
    const rest = replaceRun(run.slice(start), inside);
    if (rest !== run.slice(start)) return run.slice(0, start) + rest;
  }
  return replaceBase64(run, inside) ?? (hidesShape(run) ? inside.whole(run) : found);
}

function replaceBase64(run: string, inside: Inside): string | undefined {
  const packed = repackable(Buffer.from(run, "base64"));
  if (packed === "unreadable") return inside.whole(run);
  if (packed === undefined) return undefined;
  const after = inside.text(packed.text);
  return after === packed.text ? undefined : toBase64(packed.pack(after), run);
}

function replaceHex(run: string, inside: Inside): string {
  const packed = repackable(Buffer.from(run, "hex"));
  if (packed === undefined || packed === "unreadable") return run;
  const after = inside.text(packed.text);
  return after === packed.text ? run : packed.pack(after).toString("hex");
}

function replacePercent(run: string, inside: Inside): string {
  if (!percentByte.test(run)) return run;
  const plain = decodedPart(run);
  const after = inside.text(plain);
  return after === plain ? run : encodeURIComponent(after);
}

/** Printable ASCII that was escaped without need; quotes and backslashes keep what they stand for. */
const withoutEscapes = (text: string, pattern: RegExp): string =>
  text.replace(pattern, (found, unicode?: string, byte?: string) => {
    const char = String.fromCharCode(Number.parseInt(unicode ?? byte ?? "", 16));
    return char === '"' || char === "\\" || char === "\x7f" ? found : char;
  });

function replaceEscaped(text: string, inside: Inside): string {
  if (!/\\[ux]/.test(text)) return text;
  for (const pattern of escapes) {
    const plain = withoutEscapes(text, pattern);
    const after = plain === text ? text : inside.text(plain);
    if (after !== plain) return after;
  }
  return text;
}

function replaceWide(text: string, inside: Inside): string {
  if (!text.includes("\0")) return text;
  return text.replace(wideRun, (run) => {
    const plain = narrow(run);
    const after = inside.text(plain);
    if (after === plain) return run;
    return [...after].map((it) => (run.startsWith("\0") ? `\0${it}` : `${it}\0`)).join("");
  });
}

/** A string of bytes, one per character, as posthog-js packs parts of recordings. */
function replaceBinary(text: string, inside: Inside): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: bytes
  if (!/^(?:\x1f\x8b|[\x08\x18\x28\x38\x48\x58\x68\x78][\x00-\xff])[\x00-\xff]*$/.test(text)) return text;
  const packed = repackable(Buffer.from(text, "latin1"));
  if (packed === undefined) return text;
  if (packed === "unreadable") return inside.whole(text);
  const after = inside.text(packed.text);
  return after === packed.text ? text : packed.pack(after).toString("latin1");
}

function base64Text(run: string): string | undefined {
  const packed = uuid.test(run) ? undefined : repackable(Buffer.from(run.replace(/\s|\\[rn]/g, ""), "base64"));
  return packed === "unreadable" ? undefined : packed?.text;
}

const mostOpened = 6;

/** What is encoded, in plain: to compare texts that may have been encoded in different ways. */
export function openedText(text: string, layers = mostOpened): string {
  if (text.length < 6 || layers === 0) return text;
  const open = (run: string, plain: string | undefined): string =>
    plain === undefined || plain === run ? run : openedText(plain, layers - 1);
  return text
    .replace(urlRun, (run) => (percentByte.test(run) ? open(run, decodedPart(run)) : run))
    .replace(base64RunsOf(text), (run) => {
      const start = Math.max(0, run.search(base64Start));
      const plain = base64Text(run) ?? base64Text(run.slice(start));
      return open(run, plain);
    });
}

/** Looks into whatever is encoded in a text: escapes, percent-encoding, base64, hex, compressed bytes. */
export function replaceEncoded(text: string, inside: Inside): string {
  const binary = replaceBinary(text, inside);
  if (binary !== text) return binary;
  const unescaped = replaceEscaped(replaceWide(text, inside), inside);
  const plain = percentByte.test(unescaped)
    ? unescaped.replace(urlRun, (run) => replacePercent(run, inside))
    : unescaped;
  return plain.replace(base64RunsOf(plain), (run) => replaceRun(run, inside));
}

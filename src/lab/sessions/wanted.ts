import { isUtf8 } from "node:buffer";
import { constants, gunzipSync } from "node:zlib";
import { isGzip } from "../../kernel/codec/inflate.ts";
import type { ValueWriting } from "./rrweb.ts";

interface Wanted {
  readonly text: string;
  /** Of a number with or without separators, such as that of a card or of an account. */
  readonly digits: RegExp | undefined;
}

const fewestDigits = 6;
/** What people and forms write between digits. */
const separator = "[\\s._\\-/()\\u2010-\\u2013\\u2022\\u00b7]{0,2}";
/** A quick look: `fewestDigits` of them, not far apart. */
const hasNumber = /(?:\d\D{0,2}){6}/;
const isNumber = /^\+?[\d\s.\-/()]+$/;
/** The number of an account (IBAN) has letters, too. */
const isAccount = /^[A-Z]{2}\d{2}[A-Z\d ]{10,40}$/;

function digitsOf(text: string): RegExp | undefined {
  const isOne = isNumber.test(text) || isAccount.test(text);
  const digits = text.replace(/[^A-Z\d]/g, "");
  if (!isOne || digits.replace(/\D/g, "").length < fewestDigits) return undefined;
  return new RegExp(`(?<![A-Z\\d])${[...digits].join(separator)}(?![A-Z\\d])`);
}

/** White space, characters that a page does not show, and forms of a letter. */
const isUneven = /[\t\n\r\f]| {2}|[\u0080-\uffff]/;

/** A text as a page shows it: white space is one blank, letters have one form. */
const asShown = (text: string): string =>
  isUneven.test(text)
    ? text
        .normalize("NFKC")
        .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
        .replace(/\s+/g, " ")
    : text;

const base64Run = /[A-Za-z0-9+/_-]{16,}={0,2}/g;

/** What decompresses to more is not searched. */
const mostUnpacked = { maxOutputLength: 32 * 1024 * 1024, finishFlush: constants.Z_SYNC_FLUSH };

function unpacked(bytes: Buffer): Buffer {
  if (!isGzip(bytes)) return bytes;
  try {
    return gunzipSync(bytes, mostUnpacked);
  } catch {
    return bytes;
  }
}

function encodedIn(text: string): string[] {
  return (text.match(base64Run) ?? []).flatMap((run) => {
    if (!/[a-z]/.test(run) || !/[A-Z]/.test(run)) return [];
    const bytes = unpacked(Buffer.from(run, "base64"));
    const inner = isUtf8(bytes) ? bytes.toString("utf8") : "";
    return inner === "" || /[^\P{Cc}\t\n\r]/u.test(inner) ? [] : [inner];
  });
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const escaped: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

const character = (code: number, otherwise: string): string =>
  code <= 0x10ffff ? String.fromCodePoint(code) : otherwise;

/** A run of `%XX` as UTF-8; bytes that are not UTF-8 become U+FFFD. */
const bytesOf = (run: string): string => Buffer.from(run.replaceAll("%", ""), "hex").toString("utf8");

const escapes: readonly (readonly [sign: RegExp, plain: (text: string) => string])[] = [
  [/\w\+\w/, (text) => text.replaceAll("+", " ")],
  [/%[0-9a-f]{2}/i, (text) => text.replace(/(?:%[0-9a-f]{2})+/gi, bytesOf).replaceAll("+", " ")],
  [
    /&(?:#\d|#x[\da-f]|[a-z]+;)/i,
    (text) =>
      text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));?/gi, (all, dec, hex, name) =>
        name === undefined
          ? character(dec === undefined ? Number.parseInt(hex, 16) : Number(dec), all)
          : (named[name.toLowerCase()] ?? all),
      ),
  ],
  [
    /\\/,
    (text) =>
      text.replace(/\\(?:u([\da-f]{4})|x([\da-f]{2})|(.))/gi, (_, long, short, one) =>
        one === undefined ? String.fromCharCode(Number.parseInt(long ?? short, 16)) : (escaped[one] ?? one),
      ),
  ],
  // CSS writes a character by its number: `\40 ` is `@`
  [
    /\\[\da-f]{2}/i,
    (text) => text.replace(/\\([\da-f]{1,6})\s?/gi, (all, hex) => character(Number.parseInt(hex, 16), all)),
  ],
];

/** JSON in a parameter of a URL in JSON is escaped three times. */
const deepest = 3;
const mostForms = 8;

/** What a text may stand for: itself, then without its escapes. */
function formsOf(text: string): readonly string[] {
  const forms = [text];
  let round: readonly string[] = forms;
  for (let depth = 0; depth < deepest && round.length > 0 && forms.length < mostForms; depth++) {
    const next = new Set(
      round
        .filter((it) => hasEscape.test(it))
        .flatMap((it) => escapes.flatMap(([sign, plain]) => (sign.test(it) ? plain(it) : []))),
    );
    round = [...next].filter((it) => !forms.includes(it));
    forms.push(...round);
  }
  return forms;
}

const hasEscape = new RegExp(escapes.map(([{ source }]) => source).join("|"), "i");

/** What to look for. Upper and lower case differ. */
export function valuesOf(texts: readonly string[]) {
  const wanted: Wanted[] = texts.map((it) => {
    const text = asShown(it);
    return { text, digits: digitsOf(text) };
  });
  const shortest = Math.min(
    ...wanted.map(({ text }) => Math.min(text.length, text.replace(/\D/g, "").length || text.length)),
  );
  const hasDigits = wanted.some(({ digits }) => digits !== undefined);

  function inForm(written: string, writing: ValueWriting, found: Map<number, ValueWriting>): void {
    const form = asShown(written);
    const numbers = hasDigits && hasNumber.test(form);
    for (const [index, { text, digits }] of wanted.entries()) {
      if (found.has(index)) continue;
      if (form.includes(text)) found.set(index, writing);
      else if (numbers && digits?.test(form)) found.set(index, writing === "text" ? "digits" : writing);
    }
  }

  return {
    /** Indexes of the values that the text has, each with the way in which it is written. */
    in(text: string) {
      const found = new Map<number, ValueWriting>();
      if (text.length < shortest) return found;
      inForm(text, "text", found);
      const forms = hasEscape.test(text) ? formsOf(text) : [text];
      for (const form of forms.slice(1)) inForm(form, "encoded", found);
      for (const form of forms) for (const inner of encodedIn(form)) inForm(inner, "encoded", found);
      return found;
    },
  };
}

export type Values = ReturnType<typeof valuesOf>;

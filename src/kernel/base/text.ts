/** `1 event`, `2 events`. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** ` ×3`; nothing for one. */
export const times = (count: number): string => (count === 1 ? "" : ` ×${count}`);

/** The first ten, separated by commas. */
export const listed = (words: readonly (string | number)[]): string =>
  words.length > 10 ? `${words.slice(0, 10).join(", ")} …` : words.join(", ");

/** Orders by code points, as a database without a language does. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The text of a value from outside: an object's own `toString` may be anything, and `String` throws then. */
export function stringOf(value: unknown): string {
  try {
    return String(value);
  } catch {
    return JSON.stringify(value);
  }
}

/** A text for addresses and headers; half of a surrogate pair becomes U+FFFD, as in UTF-8. */
export const uriText = (text: string): string => encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd"));

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Without percent signs; the text itself if one of them is wrong. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A word for a POSIX shell, in single quotes. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Characters that can move a cursor, start an escape sequence, end a line, hide or reorder text on a
 * terminal: controls (C0, C1), format characters (bidirectional marks, zero-width, tags), line
 * separators, lone surrogates.
 */
export const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function spelled(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}

/** Text of unknown origin on one line, safe on every terminal: unsafe characters are spelled out. */
export const spelledOut = (text: string): string => text.replace(unsafeCharacters, spelled);

/** A text as a step of an address; half of a surrogate pair, which has no form there, becomes U+FFFD. */
export const addressStep = (text: string | number): string =>
  encodeURIComponent(String(text).replace(/\p{Cs}/gu, "\ufffd"));

/** An English noun with its article: `a survey`, `an action`. */
export const withArticle = (noun: string): string => `${/^[aeio]/.test(noun) ? "an" : "a"} ${noun}`;

export const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: unknown): text is string => typeof text === "string" && uuidShape.test(text);

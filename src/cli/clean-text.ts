/**
 * Characters that can move a cursor, start an escape sequence, end a line, hide or reorder text on a
 * terminal: controls (C0, C1), format characters (bidirectional marks, zero-width, tags), line
 * separators, lone surrogates.
 */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

function spelled(char: string): string {
  const hex = (char.codePointAt(0) ?? 0).toString(16);
  if (hex.length <= 2) return `\\x${hex.padStart(2, "0")}`;
  return hex.length <= 4 ? `\\u${hex.padStart(4, "0")}` : `\\u{${hex}}`;
}

/**
 * Text of unknown origin, safe on a terminal and on one line: unsafe characters are spelled out, length is
 * capped.
 */
export function clean(text: string, limit = 400): string {
  const cut = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return cut.replace(unsafe, spelled);
}

/** A parsed JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Own property or undefined: keys come from users, and `constructor` must be absent. */
export const own = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** The service's JSON parser refuses deeper nesting (serde_json's recursion limit). */
const maxDepth = 128;

/** Are there more than `limit` brackets that open something? Native search, from hit to hit. */
function hasManyOpenings(text: string, limit: number): boolean {
  let left = limit;
  for (const char of openings) {
    for (let at = text.indexOf(char); at !== -1; at = text.indexOf(char, at + 1)) if (--left < 0) return true;
  }
  return false;
}

const openings = ["{", "["] as const;

/**
 * Is the text nested deeper than `limit`? Text with few brackets is cleared at native speed;
 * the rest is walked once, outside of strings.
 */
export function isTooDeep(text: string, limit: number = maxDepth): boolean {
  if (text.length <= 2 * limit || !hasManyOpenings(text, limit)) return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === quote) {
      i = endOfString(text, i);
    } else if (char === 0x7b || char === 0x5b) {
      if (++depth > limit) return true;
    } else if (char === 0x7d || char === 0x5d) {
      depth--;
    }
  }
  return false;
}

const quote = 0x22;
const backslash = 0x5c;

/** Index of the quote that closes the string opened at `start` (or the end of the text). */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  for (let char = text.charCodeAt(i); char !== quote && i < text.length; char = text.charCodeAt(i)) {
    i += char === backslash ? 2 : 1;
  }
  return i;
}

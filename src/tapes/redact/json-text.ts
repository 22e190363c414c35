import { isTooDeep, type Json } from "../../base/json.ts";

/** Deeper values are not walked; as text they are looked at all the same. */
export const mostDepth = 200;

const startsLikeJson = /^\s*[{["]/;
const token = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** A private character marks numbers on their way: they must come out digit by digit as they went in. */
const mark = "\ue0f7";
const marked = new RegExp(`"${mark}([-+.\\deE]+)"`, "g");

/** The digits of a number that is kept as text while a JSON text is rewritten; undefined for any other string. */
export const digitsOf = (value: string): string | undefined =>
  value.startsWith(mark) ? value.slice(mark.length) : undefined;

function parsed(text: string): Json | undefined {
  try {
    const value: Json = JSON.parse(text.replace(token, (it) => (it.startsWith('"') ? it : `"${mark}${it}"`)));
    return isTooDeep(value, mostDepth) ? undefined : value;
  } catch {
    return undefined;
  }
}

/**
 * Rewrites the value of a JSON text; what is not touched keeps its digits, and a text in which nothing
 * changes its whitespace. Undefined: it is no JSON, or too deep. Numbers come as strings, see `digitsOf`.
 */
export function rewriteJson(text: string, rewrite: (value: Json) => Json): string | undefined {
  if (!startsLikeJson.test(text) || text.includes(mark)) return undefined;
  const value = parsed(text);
  if (value === undefined) return undefined;
  const before = JSON.stringify(value);
  const after = JSON.stringify(rewrite(value));
  // A key that came twice is gone after parsing: what it held must not stay behind.
  if (after === before && !hasDoubleKeys(text, before)) return text;
  return after.replace(marked, "$1");
}

/** Fewer strings and numbers than the text has: a later key has replaced an earlier one. */
const hasDoubleKeys = (text: string, parsedText: string): boolean =>
  (text.match(token) ?? []).length !== (parsedText.match(token) ?? []).length;

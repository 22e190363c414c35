import { isObject, type Json } from "../../base/json.ts";

/**
 * A test for a glob, in which `*` matches any characters. Each piece is searched once, from left to right, so that no
 * pattern is slow.
 */
export function globTest(pattern: string): (text: string) => boolean {
  const pieces = pattern.split("*");
  const first = pieces[0] ?? "";
  if (pieces.length === 1) return (text) => text === first;
  const last = pieces.at(-1) ?? "";
  const between = pieces.slice(1, -1);
  return (text) => {
    if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
      return false;
    const end = text.length - last.length;
    let at = first.length;
    for (const piece of between) {
      const found = text.indexOf(piece, at);
      if (found === -1 || found + piece.length > end) return false;
      at = found + piece.length;
    }
    return true;
  };
}

/** True if the value contains the text: in a string, a number as written, or a key or value inside. */
export function holdsText(value: Json, lower: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(lower);
  if (typeof value !== "object") return String(value).includes(lower);
  if (value === null) return false;
  if (Array.isArray(value)) return value.some((it) => holdsText(it, lower));
  for (const [name, it] of Object.entries(value))
    if (name.toLowerCase().includes(lower) || holdsText(it, lower)) return true;
  return false;
}

/** The items of a list; another value alone. */
const spread = (value: Json): readonly Json[] => (Array.isArray(value) ? value : [value]);

const isIndex = (step: string): boolean => /^\d+$/.test(step);

function stepInto(value: Json, step: string): readonly Json[] {
  if (Array.isArray(value) && isIndex(step)) return value.slice(Number(step), Number(step) + 1);
  return spread(value).flatMap((it) => {
    const inner = isObject(it) && Object.hasOwn(it, step) ? it[step] : undefined;
    return inner === undefined ? [] : [inner];
  });
}

/**
 * The values at a path: `items.0.sku` is of the first item, `items.sku` of every item. Undefined if there is none.
 * Inherited names are absent unless they were sent.
 */
export function valuesAt(
  properties: Readonly<Record<string, Json>>,
  path: readonly string[],
): Json | undefined {
  let found: readonly Json[] = [properties];
  for (const step of path) found = found.flatMap((it) => stepInto(it, step));
  return found.length === 0 ? undefined : [...found];
}

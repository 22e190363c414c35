import type { Json } from "../../base/json.ts";

/** Does a text fit? */
export type TextTest = (text: string) => boolean;

/**
 * A glob, in which `*` stands for any characters. Each piece is looked for once, from left to right: no pattern
 * makes it slow.
 */
export function globTest(pattern: string): TextTest {
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

/** Is the text in the value: in a text, in a number as it is written, in a name or a value inside? */
export function holdsText(value: Json, lower: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(lower);
  if (typeof value !== "object") return String(value).includes(lower);
  if (value === null) return false;
  if (Array.isArray(value)) return value.some((it) => holdsText(it, lower));
  for (const [name, it] of Object.entries(value))
    if (name.toLowerCase().includes(lower) || holdsText(it, lower)) return true;
  return false;
}

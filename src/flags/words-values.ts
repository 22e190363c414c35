import type { Json } from "../kernel/json.ts";

const longestText = 80;

/** A value in a sentence: text in quotes, all else as JSON; long ones are cut. Browser-safe. */
export function valueWords(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

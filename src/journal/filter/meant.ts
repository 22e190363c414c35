import { nearest } from "../../base/nearest.ts";

/** The known word that was probably meant: one that goes on like this, or is spelled nearly so. */
export function meant(word: string, known: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const longer = lower.length > 1 ? known.find((it) => it.startsWith(lower)) : undefined;
  return longer ?? nearest(word, known);
}

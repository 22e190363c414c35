import type { HeaderPairs } from "./types.ts";

/** A flat list name, value, name, value … as pairs. */
export const pairsOf = (flat: readonly string[]): [name: string, value: string][] =>
  Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

/** The value of a header; several of the same name are joined by commas, as HTTP reads them. */
export function headerOf(headers: HeaderPairs, name: string): string | undefined {
  const found = headers.filter(([it]) => it.toLowerCase() === name).map(([, value]) => value);
  return found.length === 0 ? undefined : found.join(", ");
}

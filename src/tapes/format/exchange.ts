import type { Json } from "../../base/json.ts";
import type { HeaderPairs, TapeBody } from "./exchange-shape.ts";

export type { Exchange, HeaderPairs, TapeBody, WireForm } from "./exchange-shape.ts";

/** A flat list name, value, name, value … as pairs. */
export const pairsOf = (flat: readonly string[]): [name: string, value: string][] =>
  Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

/** The value of a header; several of the same name are joined by commas, as HTTP reads them. */
export function headerOf(headers: HeaderPairs, name: string): string | undefined {
  const found = headers.filter(([it]) => it.toLowerCase() === name).map(([, value]) => value);
  return found.length === 0 ? undefined : found.join(", ");
}

/** The JSON of a body; undefined for any other. */
export const jsonOf = (body: TapeBody | undefined): Json | undefined =>
  body !== undefined && "json" in body ? body.json : undefined;

/** Path and query of a URL, as they are written. */
export function targetOf(url: string): string {
  const rest = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** The text as a part of a regular expression. */
export const escapedPattern = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");

import type { Json } from "../../../kernel/base/json.ts";
import type { HeaderPairs, TapeBody } from "./exchange-shape.ts";

export type { Exchange, HeaderPairs, TapeBody, WireForm } from "./exchange-shape.ts";

/** A flat list name, value, name, value … as pairs. */
export function pairsOf(flat: readonly string[]): [name: string, value: string][] {
  const pairs: [string, string][] = [];
  for (let i = 1; i < flat.length; i += 2) pairs.push([flat[i - 1] ?? "", flat[i] ?? ""]);
  return pairs;
}

/** The value of a header; several of the same name are joined by commas, as HTTP reads them. */
export function headerOf(headers: HeaderPairs, name: string): string | undefined {
  const found = headers
    .filter(([it]) => it.length === name.length && it.toLowerCase() === name)
    .map(([, value]) => value);
  return found.length === 0 ? undefined : found.join(", ");
}

export const jsonOf = (body: TapeBody | undefined): Json | undefined =>
  body !== undefined && "json" in body ? body.json : undefined;

export function targetOf(url: string): string {
  const rest = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}

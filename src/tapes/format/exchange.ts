import type { Json } from "../../base/json.ts";

/** A body as the tape has it: decoded, redacted. */
export type TapeBody =
  | { json: Json }
  | { text: string }
  | { b64: string }
  /** In a side file of `<tape>.d/`, named by its hash; `as`: what it is, absent for bytes. */
  | { file: string; bytes: number; as?: "json" | "text" }
  | { omitted: string; bytes: number };

/** How a body travelled, so that it can be sent in the same way. */
export interface Wire {
  bytes: number;
  /** Outermost first: `gzip`, `br`, `deflate`, `base64`, `form`, `lz64` …; sniffed ones as the SDKs send them. */
  encodings: readonly string[];
  /** Why it could not be decoded further, e.g. `gzip: not gzip data`. */
  trouble?: string;
}

export type HeaderPairs = readonly (readonly [name: string, value: string])[];

/** One request and its answer: one line of a tape. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  i: number;
  at: string;
  /** Name of its route (`routeOf`), e.g. `flags`, `capture`, `GET /api/projects/:id/dashboards`. */
  route: string;
  req: {
    method: string;
    url: string;
    http: string;
    /** Order, case and duplicates as received. */
    headers: HeaderPairs;
    wire: Wire;
    /** Absent: none. */
    body?: TapeBody;
  };
  res: {
    status: number;
    reason: string;
    http: string;
    headers: HeaderPairs;
    wire: Wire;
    body?: TapeBody;
    ttfb: number;
    total: number;
  } | null;
  /** False: cut off; never replayed unless asked for. */
  complete: boolean;
  aborted?: "client" | "upstream";
  /** Where placeholders stand, e.g. `req.headers.authorization`, `req.body.api_key`. */
  redacted: readonly string[];
  client?: string;
}

/** A flat list name, value, name, value … as pairs. */
export const pairsOf = (flat: readonly string[]): [name: string, value: string][] =>
  Array.from({ length: Math.floor(flat.length / 2) }, (_, i) => [flat[2 * i] ?? "", flat[2 * i + 1] ?? ""]);

/** The value of a header; several of the same name are joined by commas, as HTTP reads them. */
export function headerOf(headers: HeaderPairs, name: string): string | undefined {
  const found = headers.filter(([it]) => it.toLowerCase() === name).map(([, value]) => value);
  return found.length === 0 ? undefined : found.join(", ");
}

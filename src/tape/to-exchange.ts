import { type Decoded, decodeBody } from "./decode.ts";
import { pairsOf } from "./headers.ts";
import { routeOf } from "./routes.ts";
import type { Exchange, HeaderPairs, RawAnswer, RawBody, RawExchange } from "./types.ts";

export interface ToExchange {
  i: number;
  /** Most bytes of a decoded body; larger ones are left out. */
  bodyLimit: number;
  /** Are the bodies of this target left out? */
  isBodyless(target: string): boolean;
}

type Omitted = "too_large" | "excluded" | "not_kept";

const omit = (omitted: Omitted, bytes: number): Decoded => ({
  body: { omitted, bytes },
  wire: { bytes, encodings: [] },
});

function decoded(raw: RawBody, headers: HeaderPairs, target: string | undefined, limit: number): Decoded {
  if (Buffer.isBuffer(raw)) return decodeBody(raw, headers, target, limit);
  return omit(raw.omitted, raw.bytes);
}

const sizeOf = (raw: RawBody): number => (Buffer.isBuffer(raw) ? raw.length : raw.bytes);

/** Path and query of a URL. */
const targetOf = (url: string): string => url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "") || "/";

function answerOf(raw: RawAnswer, limit: number): NonNullable<Exchange["res"]> {
  const headers = pairsOf(raw.headers);
  const { status, reason, http, ttfb, total } = raw;
  return { status, reason, http, headers, ...decoded(raw.body, headers, undefined, limit), ttfb, total };
}

/** What a door saw, decoded: secrets are still in it. */
export function toExchange(raw: RawExchange, { i, bodyLimit, isBodyless }: ToExchange): Exchange {
  const headers = pairsOf(raw.headers);
  const target = targetOf(raw.url);
  const size = sizeOf(raw.body);
  const request =
    size > 0 && isBodyless(target) ? omit("excluded", size) : decoded(raw.body, headers, target, bodyLimit);
  return {
    i,
    at: new Date(raw.at).toISOString(),
    route: routeOf(raw.method, target),
    req: { method: raw.method, url: raw.url, http: raw.http, headers, ...request },
    res: raw.answer && answerOf(raw.answer, bodyLimit),
    complete: raw.answer !== null && raw.aborted === undefined,
    ...(raw.aborted && { aborted: raw.aborted }),
    redacted: [],
    ...(raw.client !== undefined && { client: raw.client }),
  };
}
